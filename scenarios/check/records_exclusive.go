package check

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const recordsExclusiveName = "records-exclusive"

// recordsExclusive: besides blocks that the node allocates from, its record in the store names no block that another
// node allocates from. A node names a block in its record before it allocates from it.
//
// A node that has not seen another node's record may name that node's block. It withdraws the block when it sees the
// record, and does not name it again while the record has it. In a settled cluster no record does. A snapshot has no
// history.
func recordsExclusive() fact.Law {
	return fact.Law{
		Name: recordsExclusiveName,
		Rule: "A node's record in the store names no block that another node allocates from.",
		Why: "Peers route a block to the node whose record names it: packets to pods of another node in that block are " +
			"lost.",
		When: fact.Always,
		Needs: []fact.Evidence{fact.Records, fact.Blocks, fact.NodeIDs, fact.ProgramLives, fact.Disturbances, fact.Sandboxes,
			fact.LongQuiet},
		Watch: func() fact.Watcher {
			return &blockWatcher{records: map[uint32]published{}, last: map[string][]netip.Prefix{},
				nodes: map[string][]netip.Prefix{}, named: map[twice]bool{}}
		},
	}
}

// published is the content of a record.
type published struct {
	fact.NodeRecord
	blocks []netip.Prefix
}

type blockWatcher struct {
	records map[uint32]published
	// last are the blocks of each machine's last record, by UID. If the store lost it, the machine may name them again.
	last map[string][]netip.Prefix
	// nodes are the blocks that nodes use.
	nodes map[string][]netip.Prefix
	// named holds blocks that records named too early; their nodes may have been notified since.
	named map[twice]bool
	// lost: the store has lost its data.
	lost   bool
	checks int64
}

// twice is a block of a node's record that overlaps a block of another node.
type twice struct {
	node, other string
	mine, its   netip.Prefix
}

func (w *blockWatcher) Checks() int64 { return w.checks }

func (w *blockWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.RecordChange:
		return w.write(f, x)
	case fact.Disturbed:
		if x.By == (scenarios.WipeStore{}).Verb() {
			clear(w.records)
			clear(w.named)
			w.lost = true
		}
	case fact.NodeBlocks:
		return w.setBlocks(f, x)
	case fact.NodeGone:
		if x.Left {
			delete(w.nodes, f.Node)
			maps.DeleteFunc(w.named, func(t twice, _ bool) bool { return t.node == f.Node || t.other == f.Node })
		}
	case fact.Quiet:
		return w.atRest(f)
	}
	return nil
}

// write judges blocks that the record names for the first time.
func (w *blockWatcher) write(f *fact.Fact, x fact.RecordChange) error {
	r := &x
	if r.After.UID == "" {
		delete(w.records, r.ID)
		return nil
	}
	w.records[r.ID] = published{r.After, slices.Clone(r.Blocks)}
	last := w.last[r.After.UID]
	w.last[r.After.UID] = w.records[r.ID].blocks
	if r.After.Released {
		return nil
	}
	name, mine := r.After.Name, w.nodes[r.After.Name]
	for _, p := range r.Blocks {
		if slices.Contains(mine, p) || slices.Contains(last, p) {
			continue
		}
		w.checks++
		t, overlap := w.overlapped(name, p)
		if overlap && w.named[t] && w.names(t.other, t.its) {
			return broken(recordsExclusiveName, f.At, name,
				"the record of %s names %s again, but %s allocates from %s, as its record says: check whether the first node had "+
					"seen that record",
				name, p, t.other, t.its)
		}
		if overlap {
			w.named[t] = true
		}
	}
	return nil
}

// overlapped is the first other node that allocates from an overlapping block, or false.
func (w *blockWatcher) overlapped(node string, p netip.Prefix) (twice, bool) {
	for _, other := range slices.Sorted(maps.Keys(w.nodes)) {
		if i := slices.IndexFunc(w.nodes[other], p.Overlaps); other != node && i >= 0 {
			return twice{node, other, p, w.nodes[other][i]}, true
		}
	}
	return twice{}, false
}

// atRest judges every record: every node has seen every change.
func (w *blockWatcher) atRest(f *fact.Fact) error {
	for _, id := range slices.Sorted(maps.Keys(w.records)) {
		r := w.records[id]
		if _, is := w.nodes[r.Name]; !is || r.Released {
			continue
		}
		for _, p := range r.blocks {
			w.checks++
			if t, overlap := w.overlapped(r.Name, p); overlap && !slices.Contains(w.nodes[r.Name], p) {
				return broken(recordsExclusiveName, f.At, r.Name,
					"the record of %s names %s, but %s allocates from %s: check what withdraws a block that another node has",
					r.Name, p, t.other, t.its)
			}
		}
	}
	return nil
}

// setBlocks judges the node's new blocks.
func (w *blockWatcher) setBlocks(f *fact.Fact, x fact.NodeBlocks) error {
	had := w.nodes[f.Node]
	now := make([]netip.Prefix, 0, len(x.Blocks))
	for i := range x.Blocks {
		p := x.Blocks[i].Prefix
		now = append(now, p)
		if slices.Contains(had, p) || w.lost {
			continue
		}
		w.checks++
		if !w.names(f.Node, p) {
			return broken(recordsExclusiveName, f.At, f.Node,
				"%s allocates from %s, which its record does not name: check what it waits for before it uses a block", f.Node, p)
		}
	}
	w.nodes[f.Node] = now
	return nil
}

func (w *blockWatcher) names(node string, p netip.Prefix) bool {
	for _, r := range w.records { //vppdrill:unordered any one is enough
		if r.Name == node && slices.Contains(r.blocks, p) {
			return true
		}
	}
	return false
}
