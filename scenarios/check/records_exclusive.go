package check

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const recordsExclusiveName = "records-exclusive"

// recordsExclusive: beside the blocks that it gives addresses from, a node's record in the store names none that another node does. A node that gives
// addresses from a block for the first time has named it in its record before.
//
// A node that has not heard yet may name what another one has; it takes that back when it hears, does not name it once more while the other one's
// record has it, and in a cluster at rest no record does. A snapshot has no history.
func recordsExclusive() fact.Law {
	return fact.Law{
		Name:  recordsExclusiveName,
		Why:   "Everybody routes a block to the node whose record names it: what the pods of another one are sent there goes into nothing.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.Records, fact.Blocks, fact.NodeIDs, fact.ProgramLives, fact.Disturbances, fact.Sandboxes, fact.LongQuiet},
		Watch: func() fact.Watcher {
			return &blockWatcher{records: map[uint32]published{}, last: map[string][]netip.Prefix{}, nodes: map[string][]netip.Prefix{}, named: map[twice]bool{}}
		},
	}
}

// published is what a record says.
type published struct {
	fact.NodeRecord
	blocks []netip.Prefix
}

type blockWatcher struct {
	records map[uint32]published
	// last are the blocks of each machine's last record, by its UID, which the store may have lost since: to name them again is nothing new.
	last map[string][]netip.Prefix
	// nodes are the blocks of those that have some.
	nodes map[string][]netip.Prefix
	// named is what records named too early, and their nodes may have heard of since.
	named map[twice]bool
	// lost: the store has lost its data.
	lost   bool
	checks int64
}

// twice is a block of a node's record that overlaps one of another node.
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

// write judges the blocks that a record has not named before.
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
			return broken(recordsExclusiveName, f.At, name, "the record of %s names %s once more, and %s gives addresses from %s, as its record says: look at what it had seen of that",
				name, p, t.other, t.its)
		}
		if overlap {
			w.named[t] = true
		}
	}
	return nil
}

// overlapped is the first node that gives addresses from what a block of another one overlaps; false for none.
func (w *blockWatcher) overlapped(node string, p netip.Prefix) (twice, bool) {
	for _, other := range slices.Sorted(maps.Keys(w.nodes)) {
		if i := slices.IndexFunc(w.nodes[other], p.Overlaps); other != node && i >= 0 {
			return twice{node, other, p, w.nodes[other][i]}, true
		}
	}
	return twice{}, false
}

// atRest judges every record: everybody has heard of everything.
func (w *blockWatcher) atRest(f *fact.Fact) error {
	for _, id := range slices.Sorted(maps.Keys(w.records)) {
		r := w.records[id]
		if _, is := w.nodes[r.Name]; !is || r.Released {
			continue
		}
		for _, p := range r.blocks {
			w.checks++
			if t, overlap := w.overlapped(r.Name, p); overlap && !slices.Contains(w.nodes[r.Name], p) {
				return broken(recordsExclusiveName, f.At, r.Name, "the record of %s names %s, and %s gives addresses from %s: look at what takes a block back that another node has",
					r.Name, p, t.other, t.its)
			}
		}
	}
	return nil
}

// setBlocks judges the blocks that a node has not had before.
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
			return broken(recordsExclusiveName, f.At, f.Node, "%s gives addresses from %s, which its record does not name: look at what it waits for before it takes a block", f.Node, p)
		}
	}
	w.nodes[f.Node] = now
	return nil
}

func (w *blockWatcher) names(node string, p netip.Prefix) bool {
	for _, r := range w.records { //vppdrill:unordered any will do
		if r.Name == node && slices.Contains(r.blocks, p) {
			return true
		}
	}
	return false
}
