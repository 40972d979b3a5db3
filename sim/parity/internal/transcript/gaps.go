package transcript

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Gap is a known difference between the model and VPP, with its reason.
type Gap struct{ Name, Why string }

// gaps are those that comparing meets; what no request can reach is in vppmodel.Gaps alone.
var gaps = []Gap{
	{"link-speed", "the model has no carrier whose speed and duplex an interface could tell"},
	{"local0", "VPP 25.10 dies of a neighbor on local0, and when local0 becomes a bridge's BVI; the model does both, and nobody is asked"},
	{"neighbor-without-ethernet", "VPP 25.10 dies of a neighbor on an interface without Ethernet, like an L3 VXLAN tunnel; the model adds it, and nobody " +
		"is asked"},
	{"asking-without-ethernet", "VPP 25.10 dies when a packet has it ask for a neighbor out of an interface without Ethernet, like an L3 VXLAN tunnel that has an address; " +
		"such packets are not sent"},
	{"bvi-without-ethernet", "VPP 25.10 dies when an interface without Ethernet, like an L3 VXLAN tunnel, becomes a BVI; the model does it, and " +
		"nobody is asked"},
	{"bridged-loopback", "a loopback that is an ordinary member of a bridge, or was refused as the BVI of VPP's own one, hears what it sends: VPP 25.10 dies of its own packets some time " +
		"after routes or addresses use it; the model forwards nothing, and nobody is asked"},
	{"learning", "a loopback that is up and bridged hears its own packets, so that VPP learns its MAC; the model forwards nothing and " +
		"learns nothing: L2 FIB entries that are not static are not compared"},
	{"table-of-tunnel", "VPP 25.10 dies when the table that a VXLAN tunnel sends through is deleted; the model deletes it, and nobody is asked"},
	{"table-deleted-with-routes", "VPP keeps a deleted table's routes in memory, and a table that is made later may have them; the " +
		"model deletes them with the table, and nobody is asked"},
	{"mixed-local-paths", "a route that is local by one of its paths is local by all of them in VPP; the model takes each path by " +
		"itself, and nobody is asked"},
	{"dead-neighbor", "VPP 25.10 dies when an interface is deleted with a static neighbor on it, and then a neighbor of the same address " +
		"on another interface is added or moves to another table; the model keeps both, and nobody is asked"},
	{"dead-neighbor-flushed", "VPP 25.10 dies when neighbors are flushed or replaced among which is a static one whose interface, a VXLAN tunnel, is gone; " +
		"the model deletes it, and nobody is asked, with interfaces of other kinds neither"},
	{"dead-path-flushed", "VPP 25.10 dies when a table is flushed after an attached route lost its interface, which had moved to another " +
		"table; the model flushes it, and nobody is asked"},
	{"dead-cover", "VPP 25.10 dies when a VXLAN tunnel, a recursive path or an interface's address is made that is covered by a route that lost its " +
		"interface or answers with an ICMP error, or when one that was covered by something better loses that; the model makes it, and nobody is asked"},
	{"dead-path-copied", "VPP 25.10 dies when a path is added to or taken from a route one of whose paths has lost its interface; the " +
		"model does it, and nobody is asked"},
	{"attached-beside-others", "VPP 25.10 takes a route with a path that is attached to an interface of another table for one that imports from " +
		"there, whatever its other paths are, and even when that path is just being taken away: it looks for the table of no interface or imports " +
		"from the route's own table, and dies at once or with the next neighbor; the model takes each path by itself, and nobody is asked"},
	{"shadowed-import", "VPP 25.10 forgets that an interface changed tables while a route that is attached to it is hidden by an address of " +
		"the same prefix: the route imports from its own table when it shows again, and VPP dies of the next neighbor there; the model has no " +
		"imports, and nobody is asked"},
	{"import-of-import", "VPP 25.10 dies when a route attached to an interface of another table brings along a route there that is itself " +
		"attached to an interface of another table; the model has no imports, and nobody is asked"},
	{"arp-to-nowhere", "VPP 25.10 dies of the next ARP packet in a bridge domain that forwards ARP to its unknown-unicast interface and has none; " +
		"the model forwards nothing of its own, and nobody is asked"},
	{"subnet-neighbor", "a loopback that is up hears its own ARP requests and neighbor solicitations, and VPP takes their source, the subnet's own address or its own of the link, for a " +
		"neighbor; the model solicits nothing: dynamic neighbors and routes of a subnet's own address are not compared, and random calls do not limit how " +
		"many neighbors of IPv6 there are"},
	{"exporting-table", "VPP 25.10 dies when a table is deleted from which a route of another table, attached to an interface there, still brings " +
		"entries along; the model has no imports, and nobody is asked"},
	{"tunnel-in-itself", "VPP 25.10 wraps the packets of a VXLAN tunnel whose far end is routed into the tunnel itself until it dies, of the first " +
		"ARP request that it sends there; the model has such tunnels, and nobody is asked"},
	{"neighbor-below-its-route", "VPP 25.10 dies when a recursive route goes whose next hop it covers itself, where that is also a neighbor's address: " +
		"the neighbor's entry looks for its cover in the route that is being deleted; the model deletes it, and nobody is asked"},
	{"unreachable-paths", "VPP 25.10 takes an unreachable or prohibited path for one through local0: it dies of one in another table than " +
		"local0's, and of one that covers a VXLAN destination or recursive next hop; the model takes it, and random calls have none"},
	{"table-in-use", "VPP 25.10 dies when an interface is bound to a table that clients have deleted, and then gets an address or goes; the " +
		"model keeps the table until it is free, and nobody is asked"},
	{"address-of-other-length", "an address that is deleted with another length than it was added with leaves a count behind in VPP that " +
		"keeps its subnet's routes; the model counts what is there, and nobody is asked"},
	{"borrower-with-addresses", "an interface that borrows addresses and has, gets or lends any itself shares a list with its donor in VPP, " +
		"whose links break with the next change; the model keeps both lists whole, and nobody is asked"},
	{"recursive-resolution", "VPP keeps host entries of this source for VXLAN destinations and recursive next hops, which forward " +
		"like the entry that covers them; the model has none"},
	{"attached-export", "an attached route out of an interface of another table brings that interface's own addresses and neighbors along " +
		"as entries of this source; the model has none"},
	{"address-length-33", "the clash check reads past VPP's table of masks for an IPv4 address longer than 32 bits, so that its " +
		"answer is -105 or -59 by chance; the model says -59, and nobody is asked"},
	{"plugin-sources", "plugins register route sources of their own, from number 22 on; the model has no plugins that do, and no entries of theirs, as " +
		"NAT44's for its outer addresses in the tables of outside interfaces"},
	{"stn-without-interface", "VPP 25.10 dies when an STN rule names an interface that there is not: the plugin does not look; the model keeps the rule, and nobody is asked"},
	{"memif-mode", "VPP 25.10 dies of a memif in a mode that the plugin does not have: it takes back an interface that it has not made; the model refuses it, and nobody is asked"},
	{"memif-miscounted", "VPP 25.10 counts one user of a memif socket too few for each time that it could not listen, so that it makes a second interface of one ID, or lets the socket " +
		"go from under one; the model does the same, and nobody is asked"},
	{"acl-behind-mac", "VPP 25.10 dies of a frame for a MAC whose L2 FIB entry leads to an interface that is in no bridge domain and got an outbound ACL " +
		"there; the model forwards nothing of its own, and nobody is asked"},
	{"nat-moved", "NAT44 keeps what it counts for an interface by the table that it finds it in: VPP 25.10 forgets it when the interface moves; the model " +
		"has no such counts, and nobody is asked"},
	{"nat-side", "VPP 25.10 takes an interface that has one side of NAT44 off its list when the other side is taken from it, and leaves the feature on: it goes on remembering " +
		"packets; the model has none of it then, and nobody is asked"},
	{"nat-table", "a table that clients delete while NAT44 names it stays with what is in it; the model keeps it too, and nobody is asked what it holds"},
	{"deaf-interface", "VPP 25.10 stops reading an AF_PACKET interface, now and then, whose device went down and came up again: its count of received " +
		"packets stays; the model hears, and packets into such an interface are not compared"},
	{"stale-bvi-entry", "VPP 25.10 dies of a frame for the MAC that an interface had when it became a BVI, where it was given another one since and is gone: " +
		"its L2 FIB entry stays; such packets are not sent"},
	{"heard-by-uu-fwd", "VPP 25.10 dies of a frame that comes in on a bridge domain's interface for unknown unicast, unless that was a member before: its copy of the " +
		"domain's features is empty; the model drops the frame, and none is sent"},
	{"unsure-packets", "where a packet comes out depends on more than what dumps show, and the model says so instead of guessing: routes with several paths, " +
		"paths whose interface was deleted and whose index another one has, neighbors outside their interface's subnet, MACs that were learned, and " +
		"members of no bridge domain that are bridged; such packets are not compared"},
	{"refused-cursor", "VPP leaves the cursor of a refused sw_interface_tx_placement_get, and of a nat44_ed_output_interface_get without any such interface, as it " +
		"finds it in memory, the model says 0: cursors of these messages are not compared"},
	{"refused-mac", "VPP leaves the MAC of a refused sw_interface_get_mac_address, and that of an interface without Ethernet, as it finds it in " +
		"memory, the model says 0: it is not compared"},
	{"nested-context", "VPP leaves the context within the details of a bridge domain's members as it finds it in memory; it is not compared"},
	{"feature-bitmap", "resulting_feature_bitmap holds VPP's internal bits of input features; the model has the API's flags"},
}

// Gaps returns the known differences in a fixed order.
func Gaps() []Gap { return slices.Clone(gaps) }

// fieldGaps are fields that are not compared.
var fieldGaps = []hidden{
	{"sw_interface_details", "link_speed", "link-speed"},
	{"sw_interface_details", "link_duplex", "link-speed"},
	{"bridge_domain_details", "context", "nested-context"},
	{"bridge_flags_reply", "resulting_feature_bitmap", "feature-bitmap"},
	{"sw_interface_tx_placement_get_reply", "cursor", "refused-cursor"},
	{"nat44_ed_output_interface_get_reply", "cursor", "refused-cursor"},
	{"sw_interface_get_mac_address_reply", "retval mac_address", "refused-mac"},
}

// skipped names the gap for which a whole line is not compared, if there is one.
func skipped(line string) string {
	switch {
	case subnetNeighbor.MatchString(line):
		return "subnet-neighbor"
	case strings.HasPrefix(line, "ip_route_v2_details "):
		return unknownSource(line)
	}
	if id, found := strings.CutPrefix(line, "fib_source_details "); found {
		if _, rest, ok := strings.Cut(id, "src.id="); ok {
			number, _, _ := strings.Cut(rest, " ")
			if n, err := strconv.Atoi(number); err == nil && n >= firstPluginSource {
				return "plugin-sources"
			}
		}
	}
	if strings.HasPrefix(line, "l2_fib_table_details ") && !strings.Contains(line, " static_mac=true") && !strings.Contains(line, " filter_mac=true") {
		return "learning"
	}
	return ""
}

// subnetNeighbor are the dynamic neighbors whose last bits are zero, or that are of an IPv6 link alone, and their host entries (source
// FIB_SOURCE_ADJ).
var subnetNeighbor = regexp.MustCompile(`^ip_neighbor_details neighbor\.sw_if_index=\d+ neighbor\.mac_address=\S+ neighbor\.ip_address=([0-9a-f:]+::|fe80::[0-9a-f:]+|[0-9.]+\.0)$|` +
	`^ip_route_v2_details (route\.table_id=\d+ )?route\.prefix=([0-9a-f:]+::/128|[0-9.]+\.0/32) (\S+ )?route\.src=15 `)

// unasked names the gap for which an answer is not compared at all, if there is one.
func unasked(want, got []string) string {
	if len(want) == 1 && len(got) == 1 && strings.HasPrefix(want[0], "sw_interface_get_mac_address_reply mac_address=") &&
		got[0] == "sw_interface_get_mac_address_reply" {
		return "refused-mac"
	}
	if len(want) == 1 && strings.HasPrefix(want[0], "ip_route_lookup_v2_reply ") {
		return unknownSource(want[0])
	}
	return ""
}

// unknownSource names the gap of a route whose source the model does not have.
func unknownSource(line string) string {
	switch {
	case strings.Contains(line, recursive):
		return "recursive-resolution"
	case strings.Contains(line, exported):
		return "attached-export"
	}
	if _, source, found := strings.Cut(line, " route.src="); found {
		number, _, _ := strings.Cut(source, " ")
		if n, err := strconv.Atoi(number); err == nil && n >= firstPluginSource {
			return "plugin-sources"
		}
	}
	return ""
}

// firstPluginSource is the first number behind VPP's own sources (src/vnet/fib/fib_source.h, FIB_SOURCE_LAST).
const firstPluginSource = 22

// How entries of the sources FIB_SOURCE_RR and FIB_SOURCE_AE show (src/vnet/fib/fib_source.h).
const (
	recursive = " route.src=18"
	exported  = " route.src=17"
)
