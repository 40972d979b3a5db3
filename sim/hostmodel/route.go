package hostmodel

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

func (h *Host) routeSet(r vppwire.HostRoute) error {
	ns, l, dst, err := h.routeParts(r)
	if err != nil {
		return err
	}
	if !validRoute(dst, r) {
		return fmt.Errorf("route %s via %s link %q in %s: %w", r.Dst, r.Via, r.Link, ns, ErrInvalid)
	}
	if l != nil && !l.up {
		return fmt.Errorf("route %s over %s: %w", dst, l, ErrDown)
	}
	if r.Via.IsValid() {
		if own := ns.localOn(r.Via, l); own != nil {
			l = own
		} else if l = ns.routes.gateway(r.Via, l); l == nil {
			return fmt.Errorf("route %s in %s: a route to its gateway %s %w", dst, ns, r.Via, vppwire.ErrLinuxMissing)
		}
	}
	if !ns.routes.set(route{dst: dst, via: r.Via, link: l, metric: r.Metric}) {
		return fmt.Errorf("route %s in %s behind another to the same place: %w", dst, ns, vppwire.ErrLinuxExists)
	}
	return nil
}

// routeParts finds a route's namespace and, where it is given, link. The destination is masked for IPv6 only, as the
// kernel does.
func (h *Host) routeParts(r vppwire.HostRoute) (ns *namespace, l *link, dst netip.Prefix, err error) {
	if ns = h.namespace(r.Netns); ns == nil {
		return nil, nil, dst, fmt.Errorf("namespace %s: %w", r.Netns, vppwire.ErrNoNamespace)
	}
	if r.Link != "" {
		if l, err = h.at(r.Netns, r.Link); err != nil {
			return nil, nil, dst, err
		}
	}
	dst = r.Dst
	if dst.Addr().Is6() {
		dst = dst.Masked()
	}
	if dst.Addr().Is6() && r.Metric != 0 {
		return nil, nil, dst, fmt.Errorf("route %s in %s with a metric: %w", r.Dst, ns, ErrUnsupported)
	}
	if !dst.IsValid() || dst != dst.Masked() || dst.Addr().Is4In6() {
		return nil, nil, dst, fmt.Errorf("route %s in %s: %w", r.Dst, ns, ErrInvalid)
	}
	return ns, l, dst, nil
}

// validRoute checks the other fields of a route to set.
func validRoute(dst netip.Prefix, r vppwire.HostRoute) bool {
	if r.Via.IsValid() {
		return r.Via.Is4() == dst.Addr().Is4() && r.Via.Zone() == "" && !r.Via.IsUnspecified()
	}
	return r.Link != ""
}

// routeDel removes the first route to Dst that agrees with Via and Link where they are given.
func (h *Host) routeDel(r vppwire.HostRoute) error {
	ns, l, dst, err := h.routeParts(r)
	if err != nil {
		return err
	}
	if !ns.routes.del(dst, r.Via, l, r.Metric) {
		return fmt.Errorf("route %s via %s link %q in %s: %w", r.Dst, r.Via, r.Link, ns, vppwire.ErrLinuxMissing)
	}
	return nil
}

// localOn finds the link that is up and has via itself, nil for none; only a given one counts. The kernel takes one of
// the host's own IPv4 addresses for a gateway that is reached (net/ipv4/fib_semantics.c, fib_check_nh_v4_gw: RTN_LOCAL
// is as good as RTN_UNICAST).
func (ns *namespace) localOn(via netip.Addr, only *link) *link {
	if !via.Is4() {
		return nil
	}
	i, _ := slices.BinarySearchFunc(ns.locals, via, compareLocal)
	for ; i < len(ns.locals) && ns.locals[i].addr == via; i++ {
		if l := ns.locals[i].link; l.up && (only == nil || l == only) {
			return l
		}
	}
	return nil
}

// gateway finds the link that reaches via directly, nil for none. Only a given link is searched, and needs no route
// towards a link-local address. IPv4 passes over routes with a gateway of their own, IPv6 is stopped by them.
func (t *routes) gateway(via netip.Addr, only *link) *link {
	if only != nil && via.IsLinkLocalUnicast() && via.Is6() {
		return only
	}
	for i := t.next(via, 0); i < len(t.list); i = t.next(via, i+1) {
		r := &t.list[i]
		switch {
		case only != nil && r.link != only:
		case !r.via.IsValid():
			return r.link
		case via.Is6():
			return nil
		}
	}
	return nil
}
