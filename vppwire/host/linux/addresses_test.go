package linux

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: the host's own addresses are listed, in order and without those of our links, and a change is told. Method: the
// kernel.
func TestHostAddrs(t *testing.T) {
	paths := namespaces(t, 2)
	h := host(t, paths[0])
	changed := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.WatchAddrs(ctx, func() { changed <- struct{}{} }) }()
	apply(t, h, vppwire.VethAdd{Name: "eth1", Peer: "x", PeerNetns: paths[1]}, vppwire.VethAdd{Name: "vd0123", Peer: "y", PeerNetns: paths[1]},
		vppwire.VethAdd{Name: "docker0", Peer: "z", PeerNetns: paths[1]}, vppwire.LinkSet{Name: "eth1", Up: true})
	add := func(link, addr string) {
		apply(t, h, vppwire.AddrAdd{Link: link, Addr: netip.MustParsePrefix(addr)})
	}
	add("eth1", "192.0.2.9/24")
	add("vd0123", "192.0.2.77/32")
	add("docker0", "192.0.2.78/32")
	add("eth1", "2001:db8::1/64")
	// The watch may have begun behind the first changes: one more each time until it is heard.
	deadline := time.After(time.Minute)
	for heard := false; !heard; {
		add("eth1", "192.0.2.1/24")
		select {
		case <-changed:
			heard = true
		case <-time.After(20 * time.Millisecond):
			apply(t, h, vppwire.AddrDel{Link: "eth1", Addr: netip.MustParsePrefix("192.0.2.1/24")})
		case <-deadline:
			t.Fatal("nobody was told")
		}
	}
	got, err := h.HostAddrs()
	want := []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.9"), netip.MustParseAddr("2001:db8::1")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a watch that was ended says nothing of it")
	}
}
