package calico

import (
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
)

// Use is what an address is for. The zero Use is for nothing that is known: an address that a host keeps.
type Use struct {
	// Handle is by what it is released: of a pod's, its network and container.
	Handle string
	// Namespace and Pod are the pod's, where they are known.
	Namespace, Pod string
}

// HandleOf is the handle of a pod's address, as Calico's plugin makes it.
func HandleOf(o ipam.Owner) string { return o.Network + "." + o.ContainerID }

// NodeOf is the name of the node of an incarnation.
func NodeOf(host string) string {
	name, _, _ := strings.Cut(host, "/")
	return name
}

// owns reports whether a block's affinity is a host's. Calico itself writes names alone: its affinity is of every incarnation.
func owns(affinity, host string) bool {
	return affinity == host || affinity != "" && affinity == NodeOf(host)+"/"
}
