package fabric

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Outsider implements lab.Wired: the bridge's own end is somebody on the wire.
func (f *Fabric) Outsider(addr netip.Prefix, via netip.Addr, dsts []netip.Addr) (netns string, err error) {
	if err := f.SetAddresses(Wire, []netip.Prefix{addr}); err != nil {
		return "", err
	}
	err = f.With(Wire, "route to", func(l netlink.Link) error {
		for _, dst := range dsts {
			full := &net.IPNet{IP: dst.AsSlice(), Mask: net.CIDRMask(dst.BitLen(), dst.BitLen())}
			if err := f.RouteReplace(&netlink.Route{LinkIndex: l.Attrs().Index, Dst: full, Gw: via.AsSlice()}); err != nil {
				return fmt.Errorf("%s: %w", dst, err)
			}
		}
		return nil
	})
	return Path(f.name), err
}

// Gateway implements lab.Wired: the bridge's own end is the router. Its MAC stays the same whatever machines come and go, and its ARP
// requests name its address in the network that they ask.
func (f *Fabric) Gateway(addrs []netip.Prefix, others []netip.Addr) (netns string, err error) {
	for _, a := range others {
		addrs = append(addrs, netip.PrefixFrom(a, a.BitLen()))
	}
	if err := f.With(Wire, "set MAC of", func(l netlink.Link) error { return f.LinkSetHardwareAddr(l, mac(nobodyMAC, 0)) }); err != nil {
		return "", err
	}
	if err := spawn.Inside(Path(f.name), func() error { return Sysctl("ipv4/conf/"+Wire+"/arp_announce", "2") }); err != nil {
		return "", err
	}
	return Path(f.name), f.SetAddresses(Wire, addrs)
}

// OnWire implements lab.Wired.
func (f *Fabric) OnWire() (netns, link string) { return Path(f.name), Wire }
