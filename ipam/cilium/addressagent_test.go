package cilium

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: an agent of single addresses tells what pods use, keeps what a plugin has asked for, and lets go of a marked
// address only when the node's agent has dropped it for good. Method: golden stories; each command prints the effects
// of one event:
//
//	agent [pre=N]                                  a life of node a's agent
//	node-is [UID] | list | after N
//	see [pool=N] [IP=STATE …] [owner=UID]          its resource: so many addresses, and the handshake of some
//	held [busy]                                    the node's agent has what it was told last
//	ask POD | take POD | refuse POD | release POD  a plugin asks, a pod gets an address or finds none, a pod goes
//	wrote OUTCOME                                  answers the write, performed where it is done
func TestAddressAgentStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories/addressagent", func(t *testing.T, path string) {
		var s *storyAgent
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "agent" {
				s = newStoryAgent(t, d)
				return ""
			}
			s.out.Reset()
			s.play(t, d)
			if why := s.agent.Pending(); why != "" {
				fmt.Fprintf(&s.out, "(%s)\n", why)
			}
			return s.out.String()
		})
	})
}

type storyAgent struct {
	now   time.Time
	alloc *ExpiringNode
	agent *AddressAgent
	view  Object
	write Effect
	told  []netip.Prefix
	busy  bool
	out   strings.Builder
}

func newStoryAgent(t *testing.T, d *datadriven.TestData) *storyAgent {
	s := &storyAgent{now: epoch}
	var err error
	if s.alloc, err = NewExpiringNode(nth(0), netip.MustParseAddr("169.254.1.1")); err != nil {
		t.Fatal(err)
	}
	c := AddressAgentConfig{Node: "a", Alloc: s.alloc, Mode: "crd", PodCIDR: netip.MustParsePrefix("10.0.0.0/24"), Pick: nth(0), Routes: func() []Route { return nil }}
	d.MaybeScanArgs(t, "pre", &c.Watermarks.PreAllocate)
	if s.agent, err = NewAddressAgent(c); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *storyAgent) play(t *testing.T, d *datadriven.TestData) {
	var name string
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	owner := ipam.Owner{Network: "k8s", ContainerID: name, IfName: "eth0"}
	switch d.Cmd {
	case "node-is":
		s.step(NodeIs{name})
	case "list":
		ev := Listed{}
		if s.view.exists() {
			ev.Objects = []Object{s.view}
		}
		s.step(ev)
	case "see":
		s.change(t, d)
		s.step(Seen{s.view})
	case "held":
		s.busy = d.HasArg("busy")
		if _, err := s.alloc.SetBlocks(s.now, s.told); err != nil {
			t.Fatal(err)
		}
		s.look()
	case "ask":
		addr, err := s.agent.Reserve(owner)
		fmt.Fprintf(&s.out, "%s %v\n", addr, err)
		s.look()
	case "take":
		l, _, err := s.alloc.Allocate(s.now, owner, ipam.Want{})
		fmt.Fprintf(&s.out, "%s %v\n", l.Addr, err)
		if err == nil {
			s.agent.Placed(owner.String())
		}
		s.look()
	case "refuse":
		s.agent.Refused(owner.String())
		s.look()
	case "release":
		s.alloc.Release(s.now, owner)
		s.look()
	case "after":
		n, _ := strconv.Atoi(name)
		s.now = s.now.Add(time.Duration(n) * time.Second)
		s.step(Woke{})
	case "wrote":
		s.wrote(name)
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
}

// look shows the machine the node's agent.
func (s *storyAgent) look() {
	seen := AgentSeen{Idle: !s.busy}
	for _, b := range s.alloc.Blocks() {
		seen.Held = append(seen.Held, b.Prefix)
	}
	s.step(seen)
}

// change makes the resource another one.
func (s *storyAgent) change(t *testing.T, d *datadriven.TestData) {
	n := &CiliumNode{Metadata: ObjectMeta{Name: "a", UID: "r"}}
	if s.view.exists() {
		n = s.view.Clone()
	}
	s.view = Object{CiliumNode: n, Revision: s.view.Revision + 1, Owner: s.view.Owner}
	n.Metadata.ResourceVersion = fmt.Sprint(s.view.Revision)
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "owner":
			s.view.Owner = a.Vals[0]
		case "pool":
			k, _ := strconv.Atoi(a.Vals[0])
			n.Spec.IPAM.Pool = AllocationMap{}
			for i := range k {
				n.Spec.IPAM.Pool[storyAddr(i+1)] = AllocationIP{Resource: "eni-0"}
			}
		default:
			ip, err := netip.ParseAddr(a.Key)
			if err != nil {
				t.Fatal(err)
			}
			if n.Status.IPAM.ReleaseIPs == nil {
				n.Status.IPAM.ReleaseIPs = map[netip.Addr]HandshakeState{}
			}
			n.Status.IPAM.ReleaseIPs[ip] = HandshakeState(a.Vals[0])
		}
	}
}

func (s *storyAgent) step(ev Event) {
	for _, e := range s.agent.Step(s.now, ev) {
		switch e := e.(type) {
		case WakeAt:
			if !e.At.IsZero() {
				fmt.Fprintf(&s.out, "wake +%s\n", e.At.Sub(s.now))
				continue
			}
		case TellAgent:
			s.told = e.Blocks
		case CreateResource, WriteResource:
			s.write = e
		}
		fmt.Fprintf(&s.out, "%s\n", e.AppendText(nil))
	}
}

func (s *storyAgent) wrote(as string) {
	o, _ := storyOutcome(as)
	w := Wrote{Outcome: o}
	var x Object
	switch e := s.write.(type) {
	case CreateResource:
		w.ID, x = e.ID, e.Object
		x.Metadata.UID = "r"
	case WriteResource:
		w.ID, x = e.ID, e.Object
	}
	if o == ipam.Done {
		x.CiliumNode, x.Revision = x.Clone(), s.view.Revision+1
		x.Metadata.ResourceVersion = fmt.Sprint(x.Revision)
		s.view, w.Object = x, x
	}
	s.step(w)
}
