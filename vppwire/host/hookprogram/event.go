package hookprogram

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// What happens to the pod, as the settings call it.
const (
	PostAdd    = "postAdd"
	PreRemoval = "preRemoval"
)

// Event is what a program reads.
type Event struct {
	// Hook is PostAdd or PreRemoval.
	Hook string `json:"hook"`
	Node string `json:"node"`
	// PodNamespace, PodName and PodUID are as the container runtime told them; empty where it did not.
	PodNamespace string `json:"podNamespace"`
	PodName      string `json:"podName"`
	PodUID       string `json:"podUID"`
	// Network, ContainerID and IfName name the attachment; a pod may have several, and one after the other.
	Network     string `json:"network"`
	ContainerID string `json:"containerID"`
	IfName      string `json:"ifName"`
	// Netns is the path of the sandbox's network namespace, which may be gone before a removal.
	Netns string `json:"netns"`
	// VPPInterface is VPP's name of the pod's interface; empty where the agent has begun anew and not wired it yet.
	VPPInterface string `json:"vppInterface"`
	// Address is the pod's, SecondAddress that of the second family; without a length.
	Address       netip.Addr `json:"address"`
	SecondAddress netip.Addr `json:"secondAddress,omitzero"`
}

// eventOf is a hook in a program's words.
func eventOf(node string, h agent.Hook) Event {
	s := h.Sandbox
	e := Event{Hook: PostAdd, Node: node, PodNamespace: s.PodNamespace, PodName: s.PodName, PodUID: s.PodUID, Network: s.Owner.Network,
		ContainerID: s.Owner.ContainerID, IfName: s.Owner.IfName, Netns: s.Netns, VPPInterface: h.Interface, Address: h.Addr, SecondAddress: h.Second}
	if h.Before {
		e.Hook = PreRemoval
	}
	return e
}
