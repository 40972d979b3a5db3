package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const recordsOwnedName = "records-owned"

// recordsOwned: in the store, the record of a node ID that one node's UID has is not written over by another UID, unless it was
// marked as released before. That it has rested then is node-ids-rest's part.
//
// It is judged where the store commits, so that what a lost race, a late request or a repeated one does shows even when nobody acts
// on it. Deletion is by hand or by the node itself; a wiped store holds no records. A snapshot has no history.
func recordsOwned() fact.Law {
	return fact.Law{
		Name:  recordsOwnedName,
		Why:   "Whose record is written over has lost its ID and addresses to another node, while its pods and its VPP still use them.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.Records},
		Watch: func() fact.Watcher { return &recordWatcher{} },
	}
}

type recordWatcher struct{ checks int64 }

func (w *recordWatcher) Checks() int64 { return w.checks }

func (w *recordWatcher) Observe(f *fact.Fact) error {
	x, ok := f.What.(fact.RecordChange)
	if !ok {
		return nil
	}
	w.checks++
	r := x
	if r.Before.UID == "" || r.After.UID == "" || r.Before.UID == r.After.UID || r.Before.Released {
		return nil
	}
	return broken(recordsOwnedName, f.At, r.After.Name, "the record of node ID %d, which is %s's (UID %s), is written over by %s (UID %s): look at what that node had seen of it",
		r.ID, r.Before.Name, r.Before.UID, r.After.Name, r.After.UID)
}
