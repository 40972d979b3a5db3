package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const recordsOwnedName = "records-owned"

// recordsOwned: a record of a node ID in the store, owned by one node's UID, is not overwritten by another UID unless
// it was released before, or its node's Node object was deleted and made anew while its machine lived: the ID is the machine's. The law
// node-ids-rest judges the quarantine.
//
// It is judged at the store's commit, so effects of a lost race, a late request or a repeated request show even when no
// agent acts on them. An operator or the node itself may delete a record; a wiped store holds none. A snapshot has no
// history.
func recordsOwned() fact.Law {
	return fact.Law{
		Name: recordsOwnedName,
		Rule: "A record of a node ID is not overwritten by another node before it was released.",
		Why: "A node whose record is overwritten loses its ID and addresses to another node, while its pods and its VPP " +
			"still use them.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.Records},
		Watch: func() fact.Watcher { return &recordWatcher{anew: map[string]bool{}} },
	}
}

type recordWatcher struct {
	// anew are nodes whose objects were deleted while their machines lived.
	anew   map[string]bool
	checks int64
}

func (w *recordWatcher) Checks() int64 { return w.checks }

func (w *recordWatcher) Observe(f *fact.Fact) error {
	x, ok := f.What.(fact.RecordChange)
	if !ok {
		if _, ok := f.What.(fact.Unregistered); ok {
			w.anew[f.Node] = true
		}
		return nil
	}
	w.checks++
	r := x
	if r.Before.UID == "" || r.After.UID == "" || r.Before.UID == r.After.UID || r.Before.Released ||
		r.Before.Name == r.After.Name && w.anew[r.After.Name] {
		return nil
	}
	return broken(recordsOwnedName, f.At, r.After.Name,
		"the record of node ID %d, owned by %s (UID %s), is overwritten by %s (UID %s): check what that node had seen of it",
		r.ID, r.Before.Name, r.Before.UID, r.After.Name, r.After.UID)
}
