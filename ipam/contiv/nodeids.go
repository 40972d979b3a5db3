package contiv

import (
	"fmt"
	"iter"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// LowestFreeNodeID is the ID that a new node claims: the smallest one >= 1 that is not among taken, in any order.
// It is 0 when every ID is taken. Callers claim it in a store by compare-and-swap and ask again when they lose.
func LowestFreeNodeID(taken iter.Seq[uint32]) uint32 {
	set := nodeIDSet()
	for id := range taken {
		set.Set(uint64(id))
	}
	id, ok := set.NextClear(1)
	if !ok {
		return 0
	}
	return uint32(id)
}

func nodeIDSet() *space.Bitmap { return space.NewBitmap(1 << 32) }

// NodeIDs is the cluster's table of node IDs. A released ID is free at once, so a new node may get a removed node's
// addresses; who minds lets removed nodes keep their ID for a while.
type NodeIDs struct {
	taken *space.Bitmap
	names map[uint32]string
	ids   map[string]uint32
}

// NewNodeIDs returns an empty table.
func NewNodeIDs() *NodeIDs {
	return &NodeIDs{taken: nodeIDSet(), names: make(map[uint32]string), ids: make(map[string]uint32)}
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
	t.taken.Set(uint64(id))
	t.names[id], t.ids[node] = node, id
	return nil
}

// AllocateNodeID returns the node's ID, giving it the smallest free one >= 1 when it has none.
func (t *NodeIDs) AllocateNodeID(node string) (uint32, error) {
	if id := t.ids[node]; id != 0 {
		return id, nil
	}
	id, ok := t.taken.NextClear(1)
	if !ok {
		return 0, fmt.Errorf("node %q: every node ID is taken", node)
	}
	return uint32(id), t.Claim(node, uint32(id))
}

// ReleaseNodeID frees an ID; false when nobody has it.
func (t *NodeIDs) ReleaseNodeID(id uint32) bool {
	node, ok := t.names[id]
	if ok {
		delete(t.names, id)
		delete(t.ids, node)
		t.taken.Clear(uint64(id))
	}
	return ok
}
