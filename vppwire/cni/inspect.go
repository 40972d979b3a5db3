//go:build linux

package cni

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// hasLink reports whether a sandbox has an interface of the name. Where nobody can tell, the agent will.
func hasLink(sandbox int, name string) bool {
	h, err := netlink.NewHandleAt(netns.NsHandle(sandbox), unix.NETLINK_ROUTE)
	if err != nil {
		return false
	}
	defer h.Close()
	_, err = h.LinkByName(name)
	return err == nil
}

// inspect compares a sandbox with what was made in it. Addresses and routes that are there besides are a later
// plugin's.
func inspect(sandbox int, p parameters, want attachment) *failure {
	h, err := netlink.NewHandleAt(netns.NsHandle(sandbox), unix.NETLINK_ROUTE)
	if err != nil {
		return failed(types.ErrIOFailure, "%s: %s: %v", envNetns, p.netns, err)
	}
	defer h.Close()
	link, err := h.LinkByName(p.ifName)
	if err != nil {
		return mismatch("%s in %s: %v", p.ifName, p.netns, err)
	}
	if got := link.Attrs().HardwareAddr.String(); want.link.Mac != "" && !strings.EqualFold(got, want.link.Mac) {
		return mismatch("%s in %s has the hardware address %s, not %s", p.ifName, p.netns, got, want.link.Mac)
	}
	if link.Attrs().Flags&net.FlagUp == 0 {
		return mismatch("%s in %s is down", p.ifName, p.netns)
	}
	addrs, err := h.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return failed(types.ErrIOFailure, "addresses of %s in %s: %v", p.ifName, p.netns, err)
	}
	for _, a := range want.addrs {
		if !slices.ContainsFunc(addrs, func(got netlink.Addr) bool {
			prefix, ok := prefixOf(*got.IPNet)
			return ok && prefix == a
		}) {
			return mismatch("%s in %s does not have the address %v", p.ifName, p.netns, a)
		}
	}
	routes, err := h.RouteList(link, netlink.FAMILY_ALL)
	if err != nil {
		return failed(types.ErrIOFailure, "routes of %s in %s: %v", p.ifName, p.netns, err)
	}
	for _, w := range want.routes {
		if !slices.ContainsFunc(routes, func(got netlink.Route) bool { return sameRoute(got, w.Dst, w.GW) }) {
			return mismatch("%s has no route to %v by %v", p.netns, w.Dst, w.GW)
		}
	}
	return nil
}

func sameRoute(got netlink.Route, dst netip.Prefix, gw netip.Addr) bool {
	by, _ := netip.AddrFromSlice(got.Gw)
	if by.Unmap() != gw {
		return false
	}
	if got.Dst == nil { // the default route, as older kernels' answers are read
		return dst.Bits() == 0
	}
	to, ok := prefixOf(*got.Dst)
	return ok && to.Masked() == dst.Masked()
}
