package check

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const idsRestName = "node-ids-rest"

// nodeIDsRest: no other node, nor a later node of the same name, acts on the ID of a departed node before its
// quarantine has passed. Nor does any node allocate from its blocks before that, even if they were reassigned.
//
// The judged quarantine begins when the node leaves. Agents start theirs when they are notified, so theirs ends later.
// A store that loses its data loses the quarantines in it: a node without a record when leaving, or that left before
// the loss, is not judged. A snapshot has no history.
func nodeIDsRest() fact.Law {
	return fact.Law{
		Name: idsRestName,
		Rule: "No node acts on the ID of a departed node, or allocates from its blocks, before the quarantine has passed.",
		Why: "Neighbor tables, tunnels and connections still refer to the departed node: the next node with its ID gets " +
			"its packets.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.NodeIDs, fact.Blocks, fact.IDRests, fact.Records, fact.Sandboxes, fact.Disturbances},
		Watch: func() fact.Watcher {
			return &idRestWatcher{ids: map[string]uint32{}, resting: map[uint32]restingID{}, records: map[uint32]bool{}, released: map[uint32]time.Duration{},
				blocks: map[string][]netip.Prefix{}}
		},
	}
}

// restingID is the previous node of an ID, and when its quarantine ends.
type restingID struct {
	node        string
	left, until time.Duration
}

type idRestWatcher struct {
	ids     map[string]uint32
	resting map[uint32]restingID
	// records are the IDs that have a record; released is since when those are that say so.
	records  map[uint32]bool
	released map[uint32]time.Duration
	// blocks are those that each node allocates from, left those of departed nodes, the oldest first.
	blocks map[string][]netip.Prefix
	left   []leftBlock
	checks int64
}

// leftBlock is a block of a departed node.
type leftBlock struct {
	prefix netip.Prefix
	restingID
}

func (w *idRestWatcher) Checks() int64 { return w.checks }

func (w *idRestWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.NodeGone:
		if !x.Left {
			return nil
		}
		if id := w.ids[f.Node]; w.records[id] {
			r := restingID{f.Node, f.At, f.At + x.Rest}
			if at, ok := w.released[id]; ok { // its Node object was deleted, or its agent silent, long before
				r.until = at + x.Rest
			}
			w.resting[id] = r
			for _, p := range w.blocks[f.Node] {
				w.left = append(w.left, leftBlock{p, r})
			}
		}
		delete(w.ids, f.Node)
		delete(w.blocks, f.Node)
	case fact.RecordChange:
		w.records[x.ID] = x.After.UID != ""
		if _, was := w.released[x.ID]; !x.After.Released {
			delete(w.released, x.ID)
		} else if !was {
			w.released[x.ID] = f.At
		}
	case fact.Disturbed:
		if x.By == (scenarios.WipeStore{}).Verb() {
			clear(w.resting)
			clear(w.records)
			clear(w.released)
			w.left = nil
		}
	case fact.NodeBlocks:
		return w.setBlocks(f, x)
	case fact.NodeID:
		if x.ID == 0 || w.ids[f.Node] == x.ID {
			return nil
		}
		w.ids[f.Node] = x.ID
		r, rests := w.resting[x.ID]
		if !rests {
			return nil
		}
		w.checks++
		delete(w.resting, x.ID)
		if f.At < r.until {
			return broken(idsRestName, f.At, f.Node,
				"%s acts on node ID %d, %s after %s left with it, but its quarantine is %s: check which agent released its "+
					"record, when it was claimed, and by which clock",
				f.Node, x.ID, f.At-r.left, r.node, r.until-r.left)
		}
	}
	return nil
}

// setBlocks replaces a node's blocks with the fact's. No new block may be in quarantine.
func (w *idRestWatcher) setBlocks(f *fact.Fact, x fact.NodeBlocks) error {
	had := w.blocks[f.Node]
	now := make([]netip.Prefix, 0, len(x.Blocks))
	for i := range x.Blocks {
		p := x.Blocks[i].Prefix
		now = append(now, p)
		if len(w.left) == 0 || slices.Contains(had, p) {
			continue
		}
		for i, l := range w.left {
			if !l.prefix.Overlaps(p) {
				continue
			}
			w.checks++
			w.left = slices.Delete(w.left, i, i+1)
			if f.At < l.until {
				return broken(idsRestName, f.At, f.Node,
					"%s allocates from %s, %s after %s left with %s, but its quarantine is %s: check what waits until the record of "+
						"%s is released",
					f.Node, p, f.At-l.restingID.left, l.node, l.prefix, l.until-l.restingID.left, l.node)
			}
			break
		}
	}
	w.blocks[f.Node] = now
	return nil
}
