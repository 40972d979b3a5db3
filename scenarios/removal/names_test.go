package removal

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: an address of the host's that one link loses and another has is not gone, whether the other got it in this conversation or before;
// one that no other has is. Method: stories of operations, the last of which is asked about.
func TestAddressMoves(t *testing.T) {
	addr := netip.MustParsePrefix("10.20.0.1/16")
	add := func(link string) vppwire.LinuxOp { return vppwire.AddrAdd{Link: link, Addr: addr} }
	del := func(link string) vppwire.LinuxOp { return vppwire.AddrDel{Link: link, Addr: addr} }
	both := vppwire.LinuxState{Links: []vppwire.LinuxLink{{Name: "eth0", Addrs: []netip.Prefix{addr}}, {Name: "vpp1", Addrs: []netip.Prefix{addr}}}}
	for _, row := range []struct {
		what  string
		shown vppwire.LinuxState
		ops   []vppwire.LinuxOp
		moved bool
	}{
		{"of nobody else", vppwire.LinuxState{}, []vppwire.LinuxOp{del("eth0")}, false},
		{"got before", vppwire.LinuxState{}, []vppwire.LinuxOp{add("vpp1"), del("eth0")}, true},
		{"shown", both, []vppwire.LinuxOp{del("eth0")}, true},
		{"shown, then both", both, []vppwire.LinuxOp{del("eth0"), del("vpp1")}, false},
		{"of a pod", vppwire.LinuxState{}, []vppwire.LinuxOp{vppwire.AddrAdd{Netns: "pod", Link: "eth0", Addr: addr}, del("eth0")}, false},
		{"of a deleted link", both, []vppwire.LinuxOp{vppwire.LinkDel{Name: "vpp1"}, del("eth0")}, false},
	} {
		n := NewNames()
		n.ShownLinux(row.shown)
		for i, op := range row.ops {
			if r := n.Applied(op); i == len(row.ops)-1 && (r == nil) != row.moved {
				t.Errorf("%s: %+v", row.what, r)
			}
		}
	}
}
