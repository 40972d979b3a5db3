package nodeagent

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/faults"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// noted is a hand that notes what strikes and does nothing.
type noted struct {
	mu   sync.Mutex
	list []string
}

func (h *noted) CrashAgent(string, int) {}
func (h *noted) CrashVPP(string)        {}
func (h *noted) LosePower(string)       {}
func (h *noted) CompactStore()          {}
func (h *noted) Struck(_, what string, _ bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, what)
}

// Goal: an agent's process really suffers what is injected between it and VPP, Linux, disk, store and watches, and a pod comes and
// goes all the same. Method: a table of faults, each on a node of its own whose VPP and Linux are modelled; what struck is compared,
// what must not have been done is looked for, and another life finds what the pod was told.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		inject, struck string
		// lost: the agent has given up a connection to VPP.
		lost bool
	}{
		{"(Nth 1 (Request af_packet_create_v3 Mute))", "Mute strikes dataplane af_packet_create_v3", true},
		{"(Nth 1 (Request af_packet_create_v3 Vanish))", "Vanish strikes dataplane af_packet_create_v3", true},
		{"(Nth 1 (Request linux_link_set Mute))", "Mute strikes dataplane linux_link_set", true},
		{"(Nth 1 (Request linux_link_set (Refuse -1)))", "(Refuse -1) strikes dataplane linux_link_set", false},
		{"(Nth 1 (Request ip_route_add_del_v2 (Refuse -68)))", "(Refuse -68) strikes dataplane ip_route_add_del_v2", false},
		{"(Nth 1 (Request ip_route_add_del_v2 (Delay 20ms)))", "(Delay 20ms) strikes dataplane ip_route_add_del_v2", false},
		{"(Nth 1 (Request ip_route_add_del_v2 (Delay 2m)))", "(Delay 2m0s) strikes dataplane ip_route_add_del_v2", true},
		{"(Nth 1 (Request ip_route_add_del_v2 Duplicate))", "Duplicate strikes dataplane ip_route_add_del_v2", false},
		{"(Nth 1 (Kind store (Request create Mute)))", "Mute strikes store create", false},
		{"(Nth 1 (Kind store Vanish))", "Vanish strikes store list", false},
		{"(Nth 1 (Kind store (Refuse 0)))", "(Refuse 0) strikes store list", false},
		{"(Nth 1 (Kind store (Request watch (Delay 20ms))))", "(Delay 20ms) strikes store watch", false},
		{"(Nth 1 (Kind store-watch Vanish))", "Vanish strikes store-watch StoreChanged", false},
		{"(Nth 1 (Kind store-watch Duplicate))", "Duplicate strikes store-watch StoreChanged", false},
		{"(Nth 2 (Kind api-watch Vanish))", "Vanish strikes api-watch change", false},
		{"(First 2 (Kind api-watch (Delay 20ms)))", "(Delay 20ms) strikes api-watch change, (Delay 20ms) strikes api-watch change", false},
		{"(Nth 2 (Kind persist (Refuse 0)))", "(Refuse 0) strikes persist Persist", false},
		{"(First 2 (Kind persist (Delay 20ms)))", "(Delay 20ms) strikes persist Persist, (Delay 20ms) strikes persist Persist", false},
	} {
		t.Run(c.inject, func(t *testing.T) {
			n := newNode(t)
			hand := &noted{}
			began := time.Now()
			desk, err := faults.NewDesk(faults.Config{Faults: &scenarios.Faults{Inject: []string{c.inject}}, Seed: 1, Hand: hand,
				Now: func() time.Duration { return time.Since(began) }, Wall: func(d time.Duration) time.Duration { return d }})
			must(t, err)
			n.config.Faults = &faults.PortConfig{Socket: filepath.Join(filepath.Dir(n.config.Journal), "faults.sock"), CallTimeout: 100 * time.Millisecond,
				StoreTimeout: 100 * time.Millisecond}
			l, err := desk.Serve(n.config.Faults.Socket, "node-1")
			must(t, err)
			defer func() { _ = l.Close() }()
			n.begin()
			idle := func() bool { s := n.state("0"); return s.Pending == "" && s.VPPUp && s.ID != 0 }
			must(t, n.kernel.namespace("/run/netns/pod-a"))
			var r wire.Response
			n.until("the pod is added", func() bool { r = n.cni(wire.Add, "pod-a"); return r.Code == 0 })
			n.until("the agent is idle", idle)
			metrics, err := n.get("GET", "/metrics")
			must(t, err)
			if lost := strings.Contains(metrics, `outcome="lost"`); lost != c.lost {
				t.Errorf("an answer was lost: %t, want %t", lost, c.lost)
			}
			hand.mu.Lock()
			if have := strings.Join(hand.list, ", "); have != c.struck {
				t.Errorf("struck: %s, want %s", have, c.struck)
			}
			hand.mu.Unlock()
			n.end()
			n.begin()
			n.until("the second life is idle", idle)
			if s := n.state("0"); len(s.Restored) != 1 || s.Restored[0].Addr != r.Result.IPs[0].Address.Addr() || s.Writes != 0 {
				t.Errorf("the pod was told %s; restored %v, %d writes", r.Result.IPs[0].Address, s.Restored, s.Writes)
			}
			if r := n.cni(wire.Del, "pod-a"); r.Code != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}
