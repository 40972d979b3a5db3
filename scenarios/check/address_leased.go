package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const addressLeasedName = "address-leased"

// addressLeased: a node whose address comes by DHCP goes by the one that the server has given its VPP, VPP has it on its interface, and
// no two nodes were given the same one.
func addressLeased() fact.Law {
	return fact.Law{
		Name:  addressLeasedName,
		Why:   "An address that a server has given to somebody else meanwhile brings a node's packets there.",
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
			return occasions, broken(addressLeasedName, s.At, n.Name, "the node goes by %s, and %s is leased", n.Address, n.Leased)
		}
		if n.VPP == nil {
			continue
		}
		has := false
		for f := range n.VPP.Interfaces() {
			has = has || f.Type == fact.TypeNIC && slices.Contains(f.Addrs, n.Leased)
		}
		if !has {
			return occasions, broken(addressLeasedName, s.At, n.Name, "%s is leased, and no interface of VPP has it", n.Leased)
		}
	}
	return occasions, nil
}
