package linux

import (
	"net/netip"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: who knows another MAC for an address learns that of the link that has it now, also where the link had the address before and only the
// announcement was missing, and that of an heir where the address goes; without an announcement nobody learns. Method: the kernel's own neighbor table at the other end of a veth.
func TestAnnounce(t *testing.T) {
	paths := namespaces(t, 2)
	near, far := host(t, paths[0]), host(t, paths[1])
	apply(t, near, vppwire.VethAdd{Name: "vd0123", Peer: "eth0", PeerNetns: paths[1], MAC: nearMAC}, vppwire.LinkSet{Name: "vd0123", Up: true})
	apply(t, far, vppwire.LinkSet{Name: "eth0", Up: true, MAC: farMAC}, vppwire.AddrAdd{Link: "eth0", Addr: netip.MustParsePrefix("10.9.0.2/24")})
	p, err := far.at("")
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.link("eth0")
	if err != nil {
		t.Fatal(err)
	}
	addr, old := netip.MustParsePrefix("10.9.0.1/24"), vppwire.MAC{2, 0, 0, 0, 0, 9}
	known := func() (mac vppwire.MAC) {
		list, err := p.NeighList(l.Attrs().Index, netlink.FAMILY_V4)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		return vppwire.MAC(list[0].HardwareAddr)
	}
	for _, row := range []struct {
		announce, again bool
		want            vppwire.MAC
	}{{false, false, old}, {true, false, nearMAC}, {true, true, nearMAC}} {
		n := neighbor(l, addr.Addr())
		n.HardwareAddr, n.State = old[:], unix.NUD_STALE
		if err := p.NeighSet(n); err != nil {
			t.Fatal(err)
		}
		if !row.again {
			_ = near.Apply(vppwire.AddrDel{Link: "vd0123", Addr: addr}) // the first row has none
		}
		if err := near.Apply(vppwire.AddrAdd{Link: "vd0123", Addr: addr, Announce: row.announce}); (err != nil) != row.again {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Second); known() != row.want && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if mac := known(); mac != row.want {
			t.Errorf("announced %t, there before %t: %s is known, want %s", row.announce, row.again, mac, row.want)
		}
	}
	heir := vppwire.MAC{2, 0, 0, 0, 0, 3}
	apply(t, near, vppwire.AddrDel{Link: "vd0123", Addr: addr, Heir: heir})
	for end := time.Now().Add(time.Second); known() != heir && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if mac := known(); mac != heir {
		t.Errorf("after the address has gone to %s: %s is known", heir, mac)
	}
}
