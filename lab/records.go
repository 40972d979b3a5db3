package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
)

// heldIDs are the node IDs whose records are not marked as released, as the store tells of them.
type heldIDs struct {
	mu   sync.Mutex
	byID map[uint32]scenarios.HeldID
	// gone are the UIDs of nodes that have left.
	gone map[string]bool
	// owed is since when those whose duty it is could have released an ID.
	owed time.Time
}

// releaseGrace is how long agents may take to find that a node is gone which they have not heard of, releaseRank how long each of them
// leaves it to the ones before (vppwire/agent/nodeid: absentGrace, rankDelay). The rest is for what machines need.
const (
	releaseGrace = 40 * time.Second
	releaseRank  = 10 * time.Second
)

// changed notes what has become of a record.
func (h *heldIDs) changed(c *scenarios.RecordChange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byID == nil {
		h.byID = map[uint32]scenarios.HeldID{}
	}
	if c.After.UID == "" || c.After.Released {
		delete(h.byID, c.ID)
	} else {
		h.byID[c.ID] = scenarios.HeldID{ID: c.ID, Name: c.After.Name, UID: c.After.UID}
	}
}

// wiped forgets them all: the store has lost its data.
func (h *heldIDs) wiped() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.byID)
}

// left notes that a node has left.
func (h *heldIDs) left(uid string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone == nil {
		h.gone = map[string]bool{}
	}
	h.gone[uid], h.owed = true, time.Now()
}

// begins says that duties are counted from now on: somebody has come who could release, or hears again.
func (h *heldIDs) begins() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owed = time.Now()
}

// list are all, in the order of IDs. overdue is one of a node that has left, until when it may be held by a cluster of so many nodes; false
// for none.
func (h *heldIDs) list(nodes int) (list []scenarios.HeldID, overdue scenarios.HeldID, until time.Time, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.byID { //vppdrill:unordered sorted below
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b scenarios.HeldID) int { return cmp.Compare(a.ID, b.ID) })
	i := slices.IndexFunc(list, func(r scenarios.HeldID) bool { return h.gone[r.UID] })
	if i < 0 {
		return list, overdue, until, false
	}
	return list, list[i], h.owed.Add(releaseGrace + time.Duration(nodes)*releaseRank), true
}

// followRecords hears of nodes' records from now on.
func (w *World) followRecords() {
	w.control.store.Follow(etcd.StorePrefix+nodeid.Prefix, w.recordChanged)
}

// recordChanged tells what the store has done to a node's record: the store says so, not an agent. The key is etcd's.
func (w *World) recordChanged(key, before, after string) {
	if c, ok := storedChange(key, before, after); ok {
		w.held.changed(&c)
		w.Record.Tell(scenarios.Fact{Kind: scenarios.FactRecord, Node: c.After.Name, Record: &c}, "")
	}
}

// storedChange is a change of a record as etcd tells it.
func storedChange(key, before, after string) (scenarios.RecordChange, bool) {
	name, _ := strings.CutPrefix(key, etcd.StorePrefix)
	return timeline.RecordChange(name, before, after)
}

// unreleased says which ID of a node that has left somebody is still to release, "" for none or where nobody can. Once it is overdue the
// lab is quiet, and snapshots show it: see judged.
func (w *World) unreleased() string {
	nodes := w.inOrder()
	if !canRelease(nodes) {
		return ""
	}
	_, r, until, found := w.held.list(len(nodes))
	if !found || !time.Now().Before(until) {
		return ""
	}
	return fmt.Sprintf("node ID %d of %s, which has left, is not released", r.ID, r.Name)
}

// judged are the held IDs where nobody is still about to release one, none otherwise.
func (w *World) judged() []scenarios.HeldID {
	nodes := w.inOrder()
	if !canRelease(nodes) {
		return nil
	}
	list, _, until, found := w.held.list(len(nodes))
	if found && time.Now().Before(until) {
		return nil
	}
	return list
}

// canRelease reports whether every node that runs hears of the cluster and of the store, and some node runs.
func canRelease(nodes []*node) (some bool) {
	for _, n := range nodes {
		vpp, agent := n.running()
		if !n.isUp() || vpp == nil || agent == nil {
			continue
		}
		if !n.relays.api.hears() || !n.relays.store.hears() {
			return false
		}
		some = true
	}
	return some
}

// left tells that a node has left, and how long its ID is nobody's from now on.
func (w *World) left(name string) {
	rest := time.Duration(float64(w.agents().NodeIDQuarantine) * w.o.TimeScale)
	w.Record.Tell(scenarios.Fact{Kind: scenarios.FactNodeGone, Node: name, Text: scenarios.NodeLeft, Rest: rest - rest/restSlack}, name+" has left")
}
