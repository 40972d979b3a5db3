package vppmodel

// gaps are the known differences of the whole from VPP 25.10, one sentence each. Those of single messages are in their
// rows.
var gaps = []string{
	"NAT but NAT44-ED, ACLs of MACs, session, punt redirect, sub-interfaces, IPIP, VLAN rewrite, SR and MPLS messages are unknown.",
	"No packet is forwarded for anybody: no MAC is learned, no neighbor resolved by ARP or ND, no entry ages, no counter counts.",
	"Neighbor ages are 0 and stats_index values are arbitrary: the model has neither a clock nor a stats segment.",
	"/32 and /128 entries of source recursive-resolution, which VXLAN destinations and recursive next hops create, are absent.",
	"Link-local IPv6 addresses are neither generated nor stored; adding one other than as /128 is -59, deleting one -60.",
	"Random MACs are a function of PID and creation order; VPP draws 02:fe plus four bytes from its clock.",
	"Dumps are sorted by index, address or ID; VPP sends some of them in hash order.",
	"Only events of interfaces, neighbors and DHCP leases can be watched; those for which nobody drains the channel are lost.",
}
