package linux

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"

	"github.com/vppdrill/vppdrill/vppwire"
)

// notOurs are the beginnings of the names of links whose addresses are nobody's business beyond this machine: loopback,
// containers', and what VPP and this program make (after contiv/vpp 2.0, with our own devices added).
var notOurs = []string{"lo", "docker", "virbr", "vpp", vppwire.DevicePrefix}

// HostAddrs lists the addresses of the host's own links, link-local ones left out, in address order.
func (h *Host) HostAddrs() ([]netip.Addr, error) {
	state, err := h.Dump("")
	if err != nil {
		return nil, fmt.Errorf("the host's addresses: %w", err)
	}
	var addrs []netip.Addr
	for _, l := range state.Links {
		if slices.ContainsFunc(notOurs, func(p string) bool { return strings.HasPrefix(l.Name, p) }) {
			continue
		}
		for _, a := range l.Addrs {
			addrs = append(addrs, a.Addr())
		}
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return slices.Compact(addrs), nil
}

// WatchAddrs calls changed after an address of the host's has come or gone, until ctx ends or the kernel tells no more.
func (h *Host) WatchAddrs(ctx context.Context, changed func()) error {
	updates := make(chan netlink.AddrUpdate, 64)
	failed := make(chan error, 1)
	err := netlink.AddrSubscribeWithOptions(updates, ctx.Done(), netlink.AddrSubscribeOptions{Namespace: &h.own,
		ErrorCallback: func(err error) {
			select {
			case failed <- err:
			default:
			}
		}})
	if err != nil {
		return fmt.Errorf("watch the host's addresses: %w", err)
	}
	for u := range updates {
		if !u.LinkAddress.IP.IsLinkLocalUnicast() && !u.LinkAddress.IP.Equal(net.IPv4zero) {
			changed()
		}
	}
	select {
	case err := <-failed:
		return fmt.Errorf("watch the host's addresses: %w", err)
	default:
		return ctx.Err()
	}
}
