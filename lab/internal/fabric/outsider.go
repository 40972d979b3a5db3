package fabric

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
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

// OnWire implements lab.Wired.
func (f *Fabric) OnWire() (netns, link string) { return Path(f.name), Wire }
