package vppmodel

import "slices"

// gaps are the known differences from VPP 25.10, one sentence each.
var gaps = []string{
	"NAT, ACL, STN, session, punt redirect, sub-interfaces, IPIP, memif, VLAN rewrite, SR and MPLS messages are unknown.",
	"No packet is forwarded for anybody: no MAC is learned, no neighbor resolved by ARP or ND, no entry ages, no counter counts.",
	"Neighbor ages are 0 and stats_index values are arbitrary: the model has neither a clock nor a stats segment.",
	"/32 and /128 entries of source recursive-resolution, which VXLAN destinations and recursive next hops create, are absent.",
	"Recursive routing loops are not detected; only a path through its own prefix is turned into a drop.",
	"A route of several paths is looked up as its first working path; VPP balances over all of the best preference.",
	"Paths of types DVR, INTERFACE_RX, SOURCE_LOOKUP, UDP_ENCAP, BIER_IMP and CLASSIFY, labels and RPF IDs are refused with -9.",
	"Paths of protocols other than IPv4 and IPv6 are refused with -157.",
	"Multicast tables do not exist: create_mfib is ignored and set_unnumbered compares unicast tables only.",
	"Link-local IPv6 addresses are neither generated nor stored; adding one other than as /128 is -59, deleting one -60.",
	"Deleting a table that still has routes destroys it with its routes once nothing locks it; VPP leaks the routes.",
	"A static neighbor of a deleted interface keeps a dead adjacency until its table changes; the order of VPP's own clean-up " +
		"callbacks, on which the moment depends for interfaces outside table 0, is not modelled.",
	"An interface made unnumbered while it has addresses keeps them; VPP loses track of them.",
	"Random MACs are a function of PID and creation order; VPP draws 02:fe plus four bytes from its clock.",
	"bridge_domain_add_del with ID ^0 picks the smallest free ID; VPP picks a pseudo-random one.",
	"resulting_feature_bitmap of bridge_flags holds the API's flag bits, not VPP's internal feature bits.",
	"Tap creation needs no /dev/net/tun or vhost-net; host_bridge is recorded, not acted on; host addresses and gateways reach " +
		"a Host only when it implements TapAddresser.",
	"AF_PACKET frame and block sizes, checksum flags and bridges as host devices are not checked.",
	"Setting the MAC of an AF_PACKET interface leaves its Linux device alone; VPP changes that too.",
	"sw_interface_details has no link speed and duplex.",
	"hw_interface_set_mtu does not check limits of drivers; NICs always have a carrier.",
	"A VXLAN decap_next_index other than ^0 and 1 is refused with -76.",
	"The DHCP client sends nothing: a lease comes from BindLease.",
	"Dumps are sorted by index, address or ID; VPP sends some of them in hash order.",
	"Only sw_interface_event and dhcp_compl_event can be watched; events for which nobody drains the channel are lost.",
}

// Gaps returns the known differences from VPP 25.10, one sentence each, in a fixed order. The caller may keep the slice.
func Gaps() []string { return slices.Clone(gaps) }
