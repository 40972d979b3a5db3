package hostmodel

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: an operation is idle exactly when it is made a second time. Method: each once, asked before and after.
func TestIdle(t *testing.T) {
	h, err := New(Config{ID: 1, Devices: []Device{{Name: "eth0"}}})
	if err != nil {
		t.Fatal(err)
	}
	const pod = "/run/netns/pod"
	if err := h.CreateNamespace(pod); err != nil {
		t.Fatal(err)
	}
	if err := h.Apply(vppwire.VethAdd{Name: "v0", PeerNetns: pod, Peer: "eth0"}); err != nil {
		t.Fatal(err)
	}
	peer := netip.MustParseAddr("10.1.1.9")
	for _, op := range []vppwire.LinuxOp{
		vppwire.LinkSet{Netns: pod, Name: "eth0", Up: true, MTU: 1400},
		vppwire.OffloadSet{Netns: pod, Name: "eth0", Off: true},
		vppwire.LinkSet{Name: "v0", Up: true},
		vppwire.OffloadSet{Name: "v0", Off: true},
		vppwire.NeighSet{Netns: pod, Link: "eth0", Addr: peer, MAC: vppwire.MAC{2, 0, 0, 0, 0, 9}},
		vppwire.RouteSet{Route: vppwire.HostRoute{Netns: pod, Link: "eth0", Dst: netip.MustParsePrefix("10.1.1.9/32")}},
	} {
		if h.Idle(op) {
			t.Errorf("%T is idle before it was made", op)
		}
		if err := h.Apply(op); err != nil {
			t.Fatalf("%T: %v", op, err)
		}
		if !h.Idle(op) {
			t.Errorf("%T is not idle when it was made", op)
		}
	}
	if h.Idle(vppwire.LinkSet{Netns: pod, Name: "eth0", Up: true, MAC: vppwire.MAC{2, 0, 0, 0, 0, 1}}) {
		t.Error("a MAC is idle, and it forgets neighbors")
	}
}
