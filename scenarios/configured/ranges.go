package configured

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// rangeSettings are the ranges of which the node's addresses are that follow from its ID, in each family, where ranges stay.
func (d *node) rangeSettings(n *fact.NodeState) (list []fact.Setting) {
	c := &d.s.Config
	plan, err := c.IPAM.Plan()
	if err != nil || d.Rearranged {
		return nil
	}
	within := func(what string, r netip.Prefix, a netip.Addr) {
		if r.IsValid() && a.IsValid() {
			list = append(list, setting("whether "+what+" "+a.String()+" is of "+r.String(), true, r.Contains(a)))
		}
	}
	first := fact.SecondFamily{Address: n.Address, VXLANAddress: n.VXLANAddress, HostSubnet: n.HostSubnet}
	if c.Wiring.StealNIC || c.Leases(n.Name) || c.Settings(n.Name).IP.IsValid() {
		first.Address = netip.Prefix{} // which does not follow from the ID
	}
	families := []*fact.SecondFamily{&first, n.Second}
	for i, p := range plan.Families() {
		if f := families[i]; f != nil {
			within("the node's address", p.NodeInterconnect, f.Address.Addr())
			within("the node's VXLAN address", p.VXLAN, f.VXLANAddress)
			within("the link between VPP and Linux", p.VPPHostSubnet, f.HostSubnet.Addr())
			list = append(list, d.hostEnd(n, f.HostSubnet)...)
		}
	}
	if !n.ByID {
		return list
	}
	for _, b := range n.Blocks {
		if p := plan.OfFamily(b.Prefix.Addr()); p != nil && !b.Draining {
			within("the node's block", p.PodSubnet, b.Prefix.Addr())
		}
	}
	return list
}

// hostEnd is the address of VPP's end of its link to Linux, the first of the link's range; Linux has the second.
func (d *node) hostEnd(n *fact.NodeState, link netip.Prefix) (list []fact.Setting) {
	for i := range n.VPP.Interfaces() {
		for _, a := range i.Addrs {
			if link.IsValid() && link.Contains(a.Addr()) {
				list = append(list, setting("the address of VPP's end of the link to Linux, "+i.Name, link.Masked().Addr().Next(), a.Addr()))
			}
		}
	}
	return list
}
