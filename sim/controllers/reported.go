package controllers

import (
	"maps"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// Reporter is a System whose nodes' agents say in objects what they have.
type Reporter interface {
	// Reported compares what a node's living agent has with what its object says, nil while it may be about to write it.
	Reported(node string) []scenarios.Setting
}

// Reported implements Reporter: which addresses are used, by whom.
func (s *crdSystem) Reported(node string) []scenarios.Setting {
	a := s.agents[node]
	if a == nil || a.pending() != "" {
		return nil
	}
	object, ok := s.env.Cluster.API.Get(cluster.KindResource, a.view.Key())
	if !ok || object.(*cluster.Resource).ResourceVersion != a.view.ResourceVersion {
		return nil
	}
	is, says := map[string]string{}, map[string]string{}
	for l := range a.alloc.Leases() {
		is[l.Addr.String()] = l.Owner.String()
	}
	for o, x := range a.asked { //vppdrill:unordered each address is another one
		is[x.addr.String()] = o.String()
	}
	for addr, x := range a.view.Value.(*cilium.CiliumNode).Status.IPAM.Used { //vppdrill:unordered a map is filled
		says[addr.String()] = x.Owner
	}
	return []scenarios.Setting{{Of: "status.ipam.used of its CiliumNode", Wanted: owners(is), Found: owners(says)}}
}

// owners are addresses in order of their text, each with whose it is.
func owners(of map[string]string) string {
	var list []string
	for _, addr := range slices.Sorted(maps.Keys(of)) {
		list = append(list, addr+" of "+of[addr])
	}
	return "[" + strings.Join(list, ", ") + "]"
}
