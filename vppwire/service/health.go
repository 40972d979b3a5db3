package service

import (
	"maps"
	"net/netip"
	"slices"
)

// Health is what a load balancer that asks this node for a service is to hear.
type Health struct {
	Name Name
	Port uint16
	// Local counts the ready endpoints of this node: addresses, whatever their ports.
	Local int
}

// Healths are those of all services with a port for it, in the order of their names. A port that two claim belongs to
// the first.
func (t *Table) Healths() []Health {
	var out []Health
	taken := map[uint16]bool{}
	for _, n := range slices.SortedFunc(maps.Keys(t.services), Name.Compare) {
		s := t.services[n]
		if !s.ExternalLocal || s.HealthPort == 0 || taken[s.HealthPort] {
			continue
		}
		taken[s.HealthPort] = true
		local := map[netip.Addr]bool{}
		for of := range s.slices { // in any order: a set
			for _, e := range t.slices[of].Endpoints {
				if e.Ready && t.place.own(e.Node) {
					local[e.Addr] = true
				}
			}
		}
		out = append(out, Health{n, s.HealthPort, len(local)})
	}
	return out
}
