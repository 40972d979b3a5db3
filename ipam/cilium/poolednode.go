package cilium

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// PooledNode is a Node whose owners get addresses of the pools that they asked for.
type PooledNode struct {
	*Node
	// Asked is the pool that an owner asked for, Named the pool that an annotation stands for; "" is a pod without one.
	Asked func(ipam.Owner) string
	Named func(annotation string) string
}

// Allocate implements ipam.Allocator.
func (n *PooledNode) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	w.Pool = n.Asked(o)
	return n.Node.Allocate(now, o, w)
}

// FreeFor is how many addresses a pod with that annotation could get now.
func (n *PooledNode) FreeFor(now time.Time, annotation string) uint64 {
	return n.FreeOf(now, n.Named(annotation))
}
