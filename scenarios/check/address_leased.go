package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const addressLeasedName = "address-leased"

// addressLeased: a node that gets its address by DHCP uses the leased address, VPP has it on its interface, and no
// other node has the same lease.
func addressLeased() fact.Law {
	return fact.Law{
		Name: addressLeasedName,
		Rule: "A node that gets its address by DHCP uses exactly the leased one, and no other node has the same lease.",
		Why: "If a node keeps using an address that the DHCP server has leased to another machine, its packets go to " +
			"that machine.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.NodeLeases, fact.NodeIDs, fact.VPPTables},
		Check: checkLeased,
	}
}

func checkLeased(s fact.Snapshot) (occasions int64, err error) {
	given := map[netip.Addr]string{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.Leased.IsValid() || !lives(n) {
			continue
		}
		occasions++
		if other, twice := given[n.Leased.Addr()]; twice {
			return occasions, broken(addressLeasedName, s.At, n.Name, "%s is leased to %s too", n.Leased, other)
		}
		given[n.Leased.Addr()] = n.Name
		if n.AgentUp && n.ID != 0 && n.Address != n.Leased {
			return occasions, broken(addressLeasedName, s.At, n.Name, "the node uses %s, but its lease is for %s", n.Address,
				n.Leased)
		}
		if n.VPP == nil {
			continue
		}
		has := false
		for f := range n.VPP.Interfaces() {
			has = has || f.Type == fact.TypeNIC && slices.Contains(f.Addrs, n.Leased)
		}
		if !has {
			return occasions, broken(addressLeasedName, s.At, n.Name, "%s is leased, but no interface of VPP has it", n.Leased)
		}
	}
	return occasions, nil
}
