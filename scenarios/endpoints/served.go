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
			case len(s.Endpoints) > 0 && !front.local:
				now[f] = s.Service
			}
		}
	}
	begins := differing(fact.FactServed, now, v.fronts)
	for i := range begins {
		f := &begins[i]
		front := servedFront{netip.AddrPortFrom(f.Addr, uint16(f.Number)), scenarios.Protocol(f.Text)}
		f.Kept = v.kept[front]
		delete(v.kept, front)
	}
	facts = append(differing(fact.FactUnserved, v.fronts, now), begins...)
	v.fronts = now
	return facts
}

// differing tells of the fronts that are otherwise or not among the others.
func differing(kind fact.FactKind, fronts, others map[servedFront]scenarios.Service) (facts []fact.Fact) {
	for f, s := range fronts { //vppdrill:unordered sorted below
		if other, ok := others[f]; !ok || other != s {
			facts = append(facts, fact.Fact{Kind: kind, Addr: f.at.Addr(), Number: uint32(f.at.Port()), Text: string(f.proto)})
		}
	}
	slices.SortFunc(facts, func(a, b fact.Fact) int {
		return cmp.Or(a.Addr.Compare(b.Addr), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Text, b.Text))
	})
	return facts
}
