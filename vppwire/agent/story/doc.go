// Package story lets agents live through stories: what happens is written down line by line, and what the agents ask
// for and answer comes out line by line. The package's user is whoever changes an agent, or wants to know what it does
// when something breaks.
//
// A Lab has machines, each with a modelled VPP and Linux, a disk and perhaps an agent, and one store. It does only what
// it is told: time stands still but for Pass, and nothing is lost unless a field says so. It judges nothing; a scenario
// in the simulator (package sim) is what judges whole clusters.
//
// Start at New and Lab.Play. What is under way is performed in the order in which it was asked for, so the same story
// has the same outcome; Lab.Busy and Lab.Perform let a test choose another order, Lab.Mishap and Lab.Crash let things
// go wrong, and everything that a line of a story does can be done by a method as well. Watched holds a driver, the
// Lab's own included, to the contract of agent.Agent.Step.
//
// # Words of a story
//
// Lines about everybody:
//
//	box NAME                    a machine with a running VPP and no agent
//	settle                      perform what is under way; the end of a block does so too
//	pass DURATION               let time go by
//	pools GENERATION CIDR LEN   new address ranges; "external": nodes' pod CIDRs come from outside from now on
//	store off | on | lose-reply | lose-request | wipe | show | put KEY VALUE | delete KEY
//
// Lines about the machine that is named behind the word:
//
//	start, kill                 an agent's life; "up" is start and api
//	api [UID...]                tell the agent all nodes, and the pods of this node
//	vpp-kill, vpp-start         VPP's life; "reboot" ends VPP, namespaces and the agent
//	add POD CONTAINER           a CNI ADD; "add-at" has an address behind that another plugin chose, "add-wants" those that
//	                            the pod asks for; "fill N" adds p0, p1 and so on
//	del, check CONTAINER        a CNI DEL or CHECK; "status"; "gc CONTAINER..." names those that still live
//	withdraw REQUEST            nobody waits for "add c1" any more; "netns-gone CONTAINER", "route-gone CONTAINER"
//	node-seen, node-gone        the machine's Node object, told to everybody; "own-seen", "nodes-listed", "hide", "uid UID"
//	disk bad | good, journal-lost, watch-lost, own-address CIDR, cidrs CIDR..., patience DURATION
//	nat-external                VPP serves services and hides what pods send outside, by the machine's configuration
//	dhcp, static                whether the node's address is leased by DHCP, from the agent's next life on
//	vpp-nic NAME...             VPP starts anew, with physical interfaces
//	other-nic NAME CIDR | dhcp  a further interface by the machine's configuration
//	plan WORD                   what the agent wants and knows, the lines with a word
//	lease CIDR, lease-lost      what a DHCP server does to VPP's client
//	steal LINK | none           the host's NIC that VPP takes, from the agent's next life on; "links" tells it the host's links
//	return-nic                  the agent is to give the NIC back for good; "host" prints the host's links and routes
//	address-gone LINK CIDR      another hand takes an address off a link
//	scan on | off               whether VPP's neighbors age
//	nic NAME                    VPP's main interface by the machine's configuration
//	pod-if CIDR                 a range of addresses for VPP's ends of pod interfaces
//	pods-by veth|tap|macvlan    how pods are connected
//	gateway NODE ADDR           a gateway of NODE's own, in this machine's configuration
//	show, wrote, journal        print the state, whether VPP was written to since the last time, the disk
//
// To add a word, see act.go; something that may go wrong, Mishap.
package story
