package endpoints

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Served follows where clients get an endpoint, wherever they are. The zero Served knows of nothing.
type Served struct {
	fronts map[servedFront]scenarios.Service
	// kept are the fronts whose last service had affinity.
	kept map[servedFront]bool
}

// servedFront is an address and port of a service.
type servedFront struct {
	at    netip.AddrPort
	proto scenarios.Protocol
}

// Now takes all services as the API server has them from now on, and returns what that ends, then what it begins, in order of addresses. Where
// endpoints depend on the client's node, or clients keep theirs, nothing is told.
func (v *Served) Now(services []scenarios.ServiceState) (facts []fact.Fact) {
	now := map[servedFront]scenarios.Service{}
	if v.kept == nil {
		v.kept = map[servedFront]bool{}
	}
	for i := range services {
		s := &services[i]
		for _, front := range [...]struct {
			addr  netip.Addr
			local bool
		}{{s.ClusterIP, s.InternalPolicy == scenarios.NodeLocal}, {s.External, s.ExternalPolicy == scenarios.NodeLocal}} {
			f := servedFront{netip.AddrPortFrom(front.addr, uint16(s.Port)), s.Protocol}
			switch {
			case !front.addr.IsValid():
			case s.Affinity != 0:
				v.kept[f] = true
			case len(s.Endpoints) > 0 && !front.local && s.Distribution == "":
				now[f] = s.Service
			}
		}
	}
	begins := differing(now, v.fronts)
	for i := range begins {
		b := &begins[i]
		front := servedFront{b.Endpoint, scenarios.Protocol(b.Proto)}
		b.Kept = v.kept[front]
		delete(v.kept, front)
	}
	ends := differing(v.fronts, now)
	for i := range ends {
		ends[i].Gone = true
	}
	v.fronts = now
	for _, x := range append(ends, begins...) {
		facts = append(facts, fact.Fact{What: x})
	}
	return facts
}

// differing tells of the fronts that are otherwise or not among the others.
func differing(fronts, others map[servedFront]scenarios.Service) (list []fact.Served) {
	for f, s := range fronts { //vppdrill:unordered sorted below
		if other, ok := others[f]; !ok || other != s {
			list = append(list, fact.Served{Endpoint: f.at, Proto: string(f.proto), Gone: false, Kept: false})
		}
	}
	slices.SortFunc(list, func(a, b fact.Served) int {
		return cmp.Or(a.Endpoint.Compare(b.Endpoint), cmp.Compare(a.Proto, b.Proto))
	})
	return list
}
