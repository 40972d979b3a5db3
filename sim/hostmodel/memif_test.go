package hostmodel_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: a pod's program takes what its settings say, is a VPP's peer from then on, and is neither Linux' link nor there when its
// namespace or its folder has gone. Method: one life, looked at by views, by a dump, and as a VPP does.
func TestMemifProgram(t *testing.T) {
	const netns, folder, file = "/run/netns/p", "/run/memif/u/eth0", "/run/memif/u/eth0/memif.sock"
	settings := strings.Join([]string{"memif=memif", "id=0", "mac=02:00:00:00:00:01", "gateway-mac=02:00:00:00:00:02", "mtu=1400", "address=10.1.1.2/32",
		"gateway=10.1.1.1", "address=fd00:1::2/128", "gateway=fd00:1::1"}, "\n")
	begin := func() *hostmodel.Host {
		h := node(t)
		check(t, h.CreateNamespace(netns))
		check(t, h.Apply(vppwire.MemifFolderAdd{Path: folder, Settings: settings}))
		if link, _ := h.MemifEnd(file); link != "" || h.MemifPeer(file, 0, false) {
			t.Fatalf("%s is there before the program starts", link)
		}
		check(t, h.MemifJoin(netns, "eth0", folder))
		check(t, h.MemifJoin(netns, "eth0", folder)) // it is there
		return h
	}
	h := begin()
	l, ok := h.Link(netns, "eth0")
	if !ok || !l.Up || l.Type != "memif" || l.MTU != 1400 || l.MAC.String() != "02:00:00:00:00:01" || len(l.Addrs) != 2 {
		t.Errorf("the program is %+v, %t", l, ok)
	}
	for _, dst := range []string{"192.0.2.1", "2001:db8::1"} {
		r, ok := h.Route(netns, netip.MustParseAddr(dst))
		mac, known := h.Neighbor(netns, "eth0", r.Via)
		if !ok || !known || mac.String() != "02:00:00:00:00:02" {
			t.Errorf("to %s by %+v, %t, whose MAC is %s, %t", dst, r, ok, mac, known)
		}
	}
	if s, err := h.Dump(netns); err != nil || len(s.Links)+len(s.Routes)+len(s.Neighbors) > 0 {
		t.Errorf("Linux tells of %+v, %v", s, err)
	}
	if link, at := h.MemifEnd(file); link != "eth0" || at != netns || !h.MemifPeer(file, 0, true) {
		t.Errorf("VPP's peer is %s in %s", link, at)
	}
	h.RemoveNamespace(netns)
	if h.MemifPeer(file, 0, true) {
		t.Error("the program outlives its namespace")
	}
	h = begin()
	check(t, h.Apply(vppwire.MemifFolderDel{Path: folder}))
	if _, there := h.Link(netns, "eth0"); there || h.MemifPeer(file, 0, true) {
		t.Error("the program outlives its socket")
	}
	if err := h.MemifJoin(netns, "eth0", folder); err == nil {
		t.Error("a program starts without a folder")
	}
	check(t, h.Apply(vppwire.MemifFolderAdd{Path: folder, Settings: "mac=nonsense"}))
	if err := h.MemifJoin(netns, "eth0", folder); err == nil {
		t.Error("a program takes nonsense")
	}
}
