package vppwire_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// rig is one node without its agent: a Session on a modelled VPP and Linux.
type rig struct {
	t    interface{ Fatalf(string, ...any) }
	s    *vppwire.Session
	vpp  *vppmodel.VPP
	host *hostmodel.Host
	pid  uint32
	now  time.Time
	want map[string][]vppwire.Object
	// calls and writes count what was performed.
	calls, writes int
	log           []string
}

const nic = "GigabitEthernet0/8/0"

// ownNIC is a host with a NIC of its own, an address and a gateway there.
var ownNIC = hostmodel.Config{ID: 1, Devices: []hostmodel.Device{{Name: "eth0", Addrs: []netip.Prefix{netip.MustParsePrefix("192.168.16.1/24")}}},
	Routes: []vppwire.HostRoute{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Via: netip.MustParseAddr("192.168.16.100"), Link: "eth0", Metric: 100}}}

func newRig(t interface{ Fatalf(string, ...any) }) *rig {
	host, err := hostmodel.New(ownNIC)
	if err != nil {
		t.Fatalf("%v", err)
	}
	r := &rig{t: t, s: vppwire.NewSession(), host: host, now: time.Unix(0, 0), want: map[string][]vppwire.Object{}}
	r.startVPP()
	return r
}

func (r *rig) startVPP() {
	r.pid++
	r.vpp = vppmodel.New(vppmodel.Config{PID: r.pid, Host: r.host, NoNamespace: vppwire.ErrNoNamespace,
		NICs: []vppmodel.NIC{{Name: nic, MAC: [6]byte{2, 1, 1, 1, 1, 1}}}})
	r.s.Connect(r.pid)
}

func (r *rig) killVPP() {
	r.vpp.Kill()
	r.host.DropTaps()
	r.s.Disconnect()
}

func (r *rig) set(group string, objects []vppwire.Object) {
	r.want[group] = objects
	r.s.Set(group, objects)
}

// outcome decides what becomes of a call; the zero value performs it.
type outcome int

const (
	done outcome = iota
	vanished
	muted
	refused
)

// run performs calls until the Session has none, at most limit; back-offs are waited out.
func (r *rig) run(limit int, fate func() outcome) {
	for range limit {
		c, ok := r.s.Next(r.now)
		if !ok {
			at, waiting := r.s.WakeAt()
			if !waiting {
				return
			}
			r.now = at
			continue
		}
		r.calls++
		if c.Writes() {
			r.writes++
		}
		r.log = append(r.log, c.String())
		r.do(c, fate())
	}
	tail := r.log[max(0, len(r.log)-40):]
	r.t.Fatalf("not quiet after %d calls: %s\n%s\n%s", limit, r.s.Pending(), strings.Join(tail, "\n"), r.s.AppendPlan(nil))
}

// do lets fate have its way with a call.
func (r *rig) do(c vppwire.Call, fate outcome) {
	switch fate {
	case vanished:
		r.s.Feed(r.now, c.Unanswered())
	case muted:
		res := c.Unanswered()
		c.Do(context.Background(), vppwire.Dataplane{VPP: r.vpp, Linux: r.host})
		r.s.Feed(r.now, res)
	case refused:
		r.s.Feed(r.now, c.Refused(errors.New("refused")))
	default:
		res := c.Do(context.Background(), vppwire.Dataplane{VPP: r.vpp, Linux: r.host})
		if res.Err != nil {
			r.log = append(r.log, "  -> "+res.Err.Error())
		}
		r.s.Feed(r.now, res)
	}
}

func ok() outcome { return done }

// settled checks that the node is as wanted: a new Session that knows nothing finds nothing to write.
func (r *rig) settled() {
	if !r.s.Idle() {
		r.t.Fatalf("not idle: %s\n%s", r.s.Pending(), r.s.AppendPlan(nil))
	}
	for n := range r.vpp.Neighbors() {
		if _, alive := r.vpp.Interface(n.Index); !alive {
			r.t.Fatalf("neighbor %s is left on interface %d, which is gone\n%s", n.Addr, n.Index, strings.Join(r.log, "\n"))
		}
	}
	twin := &rig{t: r.t, s: vppwire.NewSession(), vpp: r.vpp, host: r.host, now: r.now, want: map[string][]vppwire.Object{}}
	for group, objects := range r.want {
		twin.s.Set(group, objects)
	}
	twin.s.AllowDelete()
	twin.s.Connect(r.pid)
	twin.run(5000, ok)
	if twin.writes > 0 || !twin.s.Idle() {
		r.t.Fatalf("a fresh Session finds %d things to write:\n%s\nhistory:\n%s", twin.writes, strings.Join(twin.log, "\n"), strings.Join(r.log, "\n"))
	}
}

func nodeFacts(id uint32) mode.Node {
	return mode.Node{
		ID: id, Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, 16, byte(id)}), 24),
		VXLAN: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, 30, byte(id)}), 24), NIC: nic,
		PodSubnets:  []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
		HostSubnets: []netip.Prefix{netip.MustParsePrefix("172.30.0.0/16")},
		HostSubnet:  netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 30, byte(id), 0}), 24),
		HostVPP:     netip.AddrFrom4([4]byte{172, 30, byte(id), 1}), HostLinux: netip.AddrFrom4([4]byte{172, 30, byte(id), 2}),
		HostAddrs: []netip.Addr{netip.AddrFrom4([4]byte{10, 20, 0, byte(id)})},
		Gateways:  []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(id), 1}), 24)},
	}
}

func peerFacts(id uint32) mode.Peer {
	return mode.Peer{ID: id, Address: netip.AddrFrom4([4]byte{192, 168, 16, byte(id)}), VXLAN: netip.AddrFrom4([4]byte{192, 168, 30, byte(id)}),
		PodNetworks: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(id), 0}), 24)},
		HostSubnet:  netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 30, byte(id), 0}), 24),
		Management:  []netip.Addr{netip.AddrFrom4([4]byte{10, 20, 0, byte(id)})}}
}

func podFacts(k int) mode.Pod {
	return mode.Pod{Container: fmt.Sprintf("c%063d", k), IfName: "eth0", Netns: fmt.Sprintf("/var/run/netns/cni-%d", k), Namespace: "default",
		Name: fmt.Sprintf("web-%d", k), Addr: netip.AddrFrom4([4]byte{10, 1, 1, byte(k + 2)}), Gateway: netip.AddrFrom4([4]byte{10, 1, 1, 1}), Number: uint32(k + 1)}
}

var wirings = []mode.Config{
	{Pod: mode.PodVeth, Node: mode.NodeVXLAN, Host: mode.HostTap, MTU: 1450, PodTable: 1},
	{Pod: mode.PodTap, Node: mode.NodeVXLAN, Host: mode.HostVeth, MTU: 1450, PodTable: 1, ScanNeighbors: true, StaleMinutes: 4},
	{Pod: mode.PodVeth, Node: mode.NodeL2, Host: mode.HostNone, MainTable: 5, PodTable: 7},
	{Pod: mode.PodTap, Node: mode.NodeL2, Host: mode.HostTap, MTU: 1450, PodTable: 1},
}

// Every wiring is reached without a refusal, and a second look finds nothing to write.
func TestConverge(t *testing.T) {
	for i, c := range wirings {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := newRig(t)
			r.s.AllowDelete()
			self := nodeFacts(1)
			r.set("node", c.NodeObjects(self))
			for id := uint32(2); id < 5; id++ {
				r.set(fmt.Sprintf("peer/%d", id), c.PeerObjects(self, peerFacts(id)))
			}
			for k := range 3 {
				if err := r.host.CreateNamespace(podFacts(k).Netns); err != nil {
					t.Fatal(err)
				}
				r.set(fmt.Sprintf("pod/%d", k), c.PodObjects(self, podFacts(k)))
			}
			r.run(1000, ok)
			for _, line := range r.log {
				if strings.HasPrefix(line, "  ->") {
					t.Errorf("refused:\n%s", strings.Join(r.log, "\n"))
					break
				}
			}
			r.settled()
			before := r.writes
			r.killVPP()
			r.startVPP()
			r.run(1000, ok)
			r.settled()
			if r.writes == before {
				t.Error("a restarted VPP needed nothing")
			}
			for group := range r.want {
				if group != "node" {
					r.set(group, nil)
				}
			}
			r.run(1000, ok)
			r.settled()
			r.set("node", nil)
			r.run(1000, ok)
			r.settled()
		})
	}
}

// Whatever is lost, killed and changed in between: once nothing goes wrong any more, the node becomes what was last
// wanted, exactly. Groups come and go, addresses change, VPP dies, requests and replies vanish, the agent is replaced.
func TestConvergeWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t)
		c := rapid.SampledFrom(wirings).Draw(t, "wiring")
		fate := func() outcome {
			switch n := rapid.IntRange(0, 19).Draw(t, "fate"); n {
			case 0:
				return vanished
			case 1:
				return muted
			case 2:
				return refused
			default:
				return done
			}
		}
		r.s.AllowDelete()
		self := nodeFacts(1)
		r.set("node", c.NodeObjects(self))
		netns := map[int]bool{}
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1:
				k := rapid.IntRange(0, 3).Draw(t, "pod")
				if !netns[k] {
					if err := r.host.CreateNamespace(podFacts(k).Netns); err != nil {
						t.Fatalf("%v", err)
					}
					netns[k] = true
				}
				r.set(fmt.Sprintf("pod/%d", k), c.PodObjects(self, podFacts(k)))
			case 2:
				r.set(fmt.Sprintf("pod/%d", rapid.IntRange(0, 3).Draw(t, "pod")), nil)
			case 3:
				id := uint32(rapid.IntRange(2, 4).Draw(t, "peer"))
				p := peerFacts(id)
				p.Address = netip.AddrFrom4([4]byte{192, 168, 16, byte(id) + byte(rapid.IntRange(0, 1).Draw(t, "moved"))*10})
				r.set(fmt.Sprintf("peer/%d", id), c.PeerObjects(self, p))
			case 4:
				r.set(fmt.Sprintf("peer/%d", rapid.IntRange(2, 4).Draw(t, "peer")), nil)
			case 5:
				// Perhaps in the middle of a call, several times over.
				for range rapid.IntRange(1, 3).Draw(t, "crashes") {
					if rapid.Bool().Draw(t, "mid call") {
						for range rapid.IntRange(0, 30).Draw(t, "calls before") {
							if cl, any := r.s.Next(r.now); any {
								r.do(cl, done)
							}
						}
						if cl, any := r.s.Next(r.now); any {
							r.log = append(r.log, "broken off: "+cl.String())
						}
					}
					r.killVPP()
					r.startVPP()
				}
			case 6:
				self.Address = netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, 16, byte(rapid.IntRange(100, 101).Draw(t, "own"))}), 24)
				r.set("node", c.NodeObjects(self))
				for group := range r.want {
					var id uint32
					if _, err := fmt.Sscanf(group, "peer/%d", &id); err == nil && r.want[group] != nil {
						r.set(group, c.PeerObjects(self, peerFacts(id)))
					}
				}
			case 7:
				r.s = vppwire.NewSession()
				for group, objects := range r.want {
					r.s.Set(group, objects)
				}
				r.s.AllowDelete()
				r.s.Connect(r.pid)
			case 9:
				r.run(20000, ok)
			case 8:
				for range rapid.IntRange(0, 30).Draw(t, "calls") {
					cl, any := r.s.Next(r.now)
					if !any {
						break
					}
					r.log = append(r.log, cl.String())
					r.do(cl, fate())
				}
			}
		}
		r.run(20000, ok)
		r.settled()
	})
}
