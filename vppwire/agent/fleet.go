package agent

import (
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// Fleet is what the agents of one process keep once, for all of them: what they want and know of a node is nearly the
// same on each of its peers. It is not safe for concurrent use.
type Fleet struct {
	objects *vppwire.ObjectSet
	known   *nodeid.Known
}

// NewFleet returns one that keeps nothing yet.
func NewFleet() *Fleet {
	return &Fleet{objects: vppwire.NewObjectSet(), known: nodeid.NewKnown()}
}

// Share has an agent that has not been stepped yet keep such things together with others.
func (a *Agent) Share(s *Fleet) {
	a.wire.Share(s.objects)
	a.ids.Share(s.known)
}
