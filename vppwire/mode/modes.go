package mode

import "github.com/vppdrill/vppdrill/vppwire"

// PodMode is how a pod is wired to VPP.
type PodMode uint8

// NodeMode is how nodes are interconnected.
type NodeMode uint8

// HostMode is how VPP is connected with its host's Linux.
type HostMode uint8

// The modes; each has its row below, and its file.
const (
	PodVeth PodMode = iota + 1
	PodTap
	PodMacvlan
	// PodNone gives pods addresses and no interfaces: nothing is wired, neither node nor peers nor pods.
	PodNone
)

// Node modes.
const (
	NodeVXLAN NodeMode = iota + 1
	NodeL2
)

// Host modes.
const (
	HostNone HostMode = iota
	HostVeth
	HostTap
)

var podModes = []struct {
	word string
	podWiring
}{
	PodVeth:    {"veth", podVeth{}},
	PodTap:     {"tap", podTap{}},
	PodMacvlan: {"macvlan", podMacvlan{}},
	PodNone:    {"none", podNone{}},
}

var nodeModes = []struct {
	word string
	nodeWiring
	// overlay: nodes reach each other's pods through an interface with an address of its own (Node.VXLAN, Peer.VXLAN).
	overlay bool
}{
	NodeVXLAN: {"vxlan", nodeVXLAN{}, true},
	NodeL2:    {"l2", nodeL2{}, false},
}

// hostModes: no wiring is no interconnect.
var hostModes = []struct {
	word string
	hostWiring
}{
	HostNone: {"none", nil},
	HostVeth: {"veth", hostVeth{}},
	HostTap:  {"tap", hostTap{}},
}

// podWiring is one way of wiring pods.
type podWiring interface {
	// name is the VPP name of the interface that a pod is routed by, macs the MACs of the pod and of its gateway.
	name(c Config, p Pod) string
	macs(n Node, p Pod) (pod, vpp vppwire.MAC)
	// shared: all pods have one interface, which is the node's.
	shared() bool
	// node adds what pods share.
	node(c Config, o *objects, n Node)
	// ends adds the interface, and the pod's end of it up to its MAC and MTU.
	ends(c Config, o *objects, p Pod, podMAC, vppMAC vppwire.MAC)
}

// nodeWiring is one way of interconnecting nodes.
type nodeWiring interface {
	// interconnect adds what the node needs for it beside the main interface.
	interconnect(c Config, o *objects, n Node)
	// betweenTables adds the routes that join the main and the pod VRF.
	betweenTables(c Config, o *objects, n Node)
	// peer adds the way to one other node.
	peer(c Config, o *objects, n Node, p Peer)
}

// hostWiring is one way of connecting VPP with its host.
type hostWiring interface {
	// name is the VPP name of VPP's end.
	name() string
	// ends adds both ends and returns what the Linux end belongs to, as vppwire.LinkState.Of.
	ends(c Config, o *objects, vppMAC, linuxMAC vppwire.MAC) (of string)
	// offload reports whether the Linux end's checksum offload has to go.
	offload() bool
}

func (m PodMode) String() string  { return podModes[m].word }
func (m NodeMode) String() string { return nodeModes[m].word }
func (m HostMode) String() string { return hostModes[m].word }

// PodModeOf is the pod mode of that name, false for an unknown one.
func PodModeOf(word string) (PodMode, bool) {
	for m := PodVeth; int(m) < len(podModes); m++ {
		if podModes[m].word == word {
			return m, true
		}
	}
	return 0, false
}

// HostModeOf is the host mode of that name, false for an unknown one.
func HostModeOf(word string) (HostMode, bool) {
	for m, row := range hostModes {
		if row.word == word {
			return HostMode(m), true
		}
	}
	return HostNone, false
}

// Wires reports whether anything is wired at all.
func (c Config) Wires() bool { return c.Pod != PodNone }

// Overlay reports whether nodes reach each other's pods through an interface with an address of its own.
func (c Config) Overlay() bool { return nodeModes[c.Node].overlay }

// Interconnected reports whether VPP is connected with its host's Linux.
func (c Config) Interconnected() bool { return hostModes[c.Host].hostWiring != nil }

// InterconnectName is the VPP name of the VPP end of the host interconnect; empty without one.
func (c Config) InterconnectName() string {
	if !c.Interconnected() {
		return ""
	}
	return hostModes[c.Host].name()
}

// PodMAC is the MAC of a pod's link.
func (c Config) PodMAC(n Node, p Pod) vppwire.MAC {
	mac, _ := c.podWired(p).macs(n, p)
	return mac
}

// SharesInterface reports whether all pods of a node have one VPP interface, which is the node's.
func (c Config) SharesInterface() bool { return podModes[c.Pod].shared() }

// PodInterface is the VPP name of a pod's interface.
func (c Config) PodInterface(p Pod) string { return c.podWired(p).name(c, p) }

// ownInterface is of wirings that give each pod an interface of its own; the two ends' MACs follow from the pod's name.
type ownInterface struct{}

func (ownInterface) macs(_ Node, p Pod) (pod, vpp vppwire.MAC) { return PodMACs(p.Container, p.IfName) }
func (ownInterface) shared() bool                              { return false }
func (ownInterface) node(Config, *objects, Node)               {}
