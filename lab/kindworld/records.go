package kindworld

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// records are those of node IDs as the API server had them last.
type records struct {
	// data is what the store's data is known by: with another one it has lost everything.
	data string
	// values are records by key; held are the IDs of those that are not released.
	values map[string]string
	held   lab.HeldIDs
}

// look turns a list of records into what has changed since the last one, in the order of keys. What comes and goes
// between two looks is not seen: an ID that is released cools down for longer.
func (r *records) look(list []kube.NodeIDRecord) (facts []fact.Fact) {
	now, data := map[string]string{}, ""
	for i := range list {
		if x := &list[i]; x.Spec.Key == "" {
			data = string(x.UID) // it stands for all of them
		} else {
			now[x.Spec.Key] = x.Spec.Record
		}
	}
	if r.data != "" && data != r.data { // to lose them all is no change of any of them
		r.held.Wiped()
		r.values = nil
	}
	r.data = data
	keys := slices.Sorted(maps.Keys(now))
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		if _, stays := now[key]; !stays {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		before, after := r.values[key], now[key]
		if c, ok := timeline.RecordChange(key, before, after); ok && before != after {
			r.held.Changed(&c)
			facts = append(facts, fact.Fact{Node: c.After.Name, What: c})
		}
	}
	r.values = now
	return facts
}

// recordTime is how long the API server may take to list the records; one that is stopped holds a look up by this.
const recordTime = 2 * time.Second

// lookAtRecords tells what has become of records. It is done behind the look at the agents and before what that has
// found is told: an agent writes its record before it acts on it.
func (w *World) lookAtRecords(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	var all []kube.NodeIDRecord
	err := w.conn.List(ctx, kube.RecordsPath, func(page []byte) error {
		var list struct{ Items []kube.NodeIDRecord }
		if err := json.Unmarshal(page, &list); err != nil {
			return err
		}
		all = append(all, list.Items...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	for _, f := range w.records.look(all) {
		w.Record.Tell(f, "")
	}
	return nil
}

// canRelease reports whether some node could release an ID.
func (w *World) canRelease() bool {
	return slices.ContainsFunc(w.inOrder(), func(n *node) bool {
		return n.up() != nil && n.vppUp && n.last.agent != nil && n.last.agent.ID != 0
	})
}

// unreleased says which ID of a node that has left is still to be released, "" for none and for one that is overdue:
// the snapshot shows it.
func (w *World) unreleased() string {
	_, r, until, found := w.records.held.List(len(w.inOrder()))
	if !found || !w.canRelease() || !time.Now().Before(until) {
		return ""
	}
	return fmt.Sprintf("node ID %d of %s, which has left, is not released", r.ID, r.Name)
}

// heldIDs are the IDs that are held, where nobody is still about to release one.
func (w *World) heldIDs() []fact.HeldID {
	list, _, until, found := w.records.held.List(len(w.inOrder()))
	if !w.canRelease() || found && time.Now().Before(until) {
		return nil
	}
	return list
}
