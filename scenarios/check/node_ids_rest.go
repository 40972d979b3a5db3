package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

const idsRestName = "node-ids-rest"

// nodeIDsRest: the ID of a node that has left is not acted on by another one, or by a later node of the same name, before its
// quarantine has passed.
//
// The quarantine that is judged begins when the node leaves; agents begin theirs when they hear of it, so that theirs ends later. A
// store that loses its data loses the quarantines in it: who has no record in it when leaving, or left before, is not judged. A
// snapshot has no history.
func nodeIDsRest() scenarios.Law {
	return scenarios.Law{
		Name:  idsRestName,
		Why:   "Neighbor tables, tunnels and connections still mean the node that left: the next one with its ID gets its packets.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.NodeIDs, scenarios.IDRests, scenarios.Records, scenarios.Sandboxes, scenarios.Disturbances},
		Watch: func() scenarios.Watcher {
			return &idRestWatcher{ids: map[string]uint32{}, resting: map[uint32]restingID{}, records: map[uint32]bool{}}
		},
	}
}

// restingID is whose an ID was and until when it is nobody's.
type restingID struct {
	node        string
	left, until time.Duration
}

type idRestWatcher struct {
	ids     map[string]uint32
	resting map[uint32]restingID
	// records are the IDs that have one.
	records map[uint32]bool
	checks  int64
}

func (w *idRestWatcher) Checks() int64 { return w.checks }

func (w *idRestWatcher) Observe(f *scenarios.Fact) error {
	switch f.Kind {
	case scenarios.FactNodeGone:
		if f.Text != scenarios.NodeLeft {
			return nil
		}
		if id := w.ids[f.Node]; w.records[id] {
			w.resting[id] = restingID{f.Node, f.At, f.At + f.Rest}
		}
		delete(w.ids, f.Node)
	case scenarios.FactRecord:
		w.records[f.Record.ID] = f.Record.After.UID != ""
	case scenarios.FactDisturbed:
		if f.Text == (scenarios.WipeStore{}).Verb() {
			clear(w.resting)
			clear(w.records)
		}
	case scenarios.FactNodeID:
		if f.Number == 0 || w.ids[f.Node] == f.Number {
			return nil
		}
		w.ids[f.Node] = f.Number
		r, rests := w.resting[f.Number]
		if !rests {
			return nil
		}
		w.checks++
		delete(w.resting, f.Number)
		if f.At < r.until {
			return broken(idsRestName, f.At, f.Node, "%s acts on node ID %d, %s after %s left with it, and it should rest for %s: look at who released its record, when it was claimed, and by whose clock",
				f.Node, f.Number, f.At-r.left, r.node, r.until-r.left)
		}
	}
	return nil
}
