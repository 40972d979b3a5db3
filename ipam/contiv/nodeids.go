package contiv

import (
	"fmt"
	"iter"
	"math"
)

// FreeNodeIDs yields the IDs from 1 to most that are not taken, the smallest first: the order in which new nodes try them. A
// claim is made in a store by compare-and-swap; who loses asks again.
func FreeNodeIDs(most uint32, taken func(id uint32) bool) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for id := uint64(1); id <= uint64(most); id++ {
			if !taken(uint32(id)) && !yield(uint32(id)) {
				return
			}
		}
	}
}

// NodeIDs is the cluster's table of node IDs. A released ID is free at once, so a new node may get a removed node's
// addresses; who minds lets removed nodes keep their ID for a while.
type NodeIDs struct {
	names map[uint32]string
	ids   map[string]uint32
}

// NewNodeIDs returns an empty table.
func NewNodeIDs() *NodeIDs {
	return &NodeIDs{names: make(map[uint32]string), ids: make(map[string]uint32)}
}

// Claim gives a node exactly id, as found in a store. It refuses ID 0, an ID of another node and a second ID.
func (t *NodeIDs) Claim(node string, id uint32) error {
	switch other, taken := t.names[id]; {
	case id == 0 || node == "":
		return fmt.Errorf("node %q cannot have ID %d", node, id)
	case taken && other != node:
		return fmt.Errorf("node %q cannot have ID %d: node %q has it", node, id, other)
	case !taken && t.ids[node] != 0:
		return fmt.Errorf("node %q cannot have ID %d: it has ID %d", node, id, t.ids[node])
	}
	t.names[id], t.ids[node] = node, id
	return nil
}

// AllocateNodeID returns the node's ID, giving it the smallest free one >= 1 when it has none.
func (t *NodeIDs) AllocateNodeID(node string) (uint32, error) {
	if id := t.ids[node]; id != 0 {
		return id, nil
	}
	for id := range FreeNodeIDs(math.MaxUint32, func(id uint32) bool { return t.names[id] != "" }) {
		return id, t.Claim(node, id)
	}
	return 0, fmt.Errorf("node %q: every node ID is taken", node)
}

// ReleaseNodeID frees an ID; false when nobody has it.
func (t *NodeIDs) ReleaseNodeID(id uint32) bool {
	node, ok := t.names[id]
	delete(t.names, id)
	delete(t.ids, node)
	return ok
}
