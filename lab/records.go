package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
)

// HeldIDs are the node IDs whose records are not marked as released, as the store tells of them.
type HeldIDs struct {
	mu   sync.Mutex
	byID map[uint32]fact.HeldID
	// gone are the UIDs of nodes that have left.
	gone map[string]bool
	// owed is since when those whose duty it is could have released an ID.
	owed time.Time
}

// releaseGrace is how long agents may take to find that a node is gone which they have not heard of, releaseRank how
// long each of them leaves it to the ones before (vppwire/agent/nodeid: absentGrace, rankDelay). The rest is for what
// machines need.
const (
	releaseGrace = 40 * time.Second
	releaseRank  = 10 * time.Second
)

// Changed notes what has become of a record.
func (h *HeldIDs) Changed(c *fact.RecordChange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byID == nil {
		h.byID = map[uint32]fact.HeldID{}
	}
	if c.After.UID == "" || c.After.Released {
		delete(h.byID, c.ID)
	} else {
		h.byID[c.ID] = fact.HeldID{ID: c.ID, Name: c.After.Name, UID: c.After.UID}
	}
}

// Wiped forgets them all: the store has lost its data.
func (h *HeldIDs) Wiped() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.byID)
}

// Left notes that a node has left.
func (h *HeldIDs) Left(uid string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone == nil {
		h.gone = map[string]bool{}
	}
	h.gone[uid], h.owed = true, time.Now()
}

// Begins says that duties are counted from now on: somebody has come who could release, or hears again.
func (h *HeldIDs) Begins() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owed = time.Now()
}

// free is the smallest ID that nobody holds. A released one that cools down is free: a node that waits for one gets it.
func (h *HeldIDs) free() uint32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := uint32(1)
	for {
		if _, held := h.byID[id]; !held {
			return id
		}
		id++
	}
}

// numberless reports whether there is no node ID for another node: each that the address ranges have room for is held.
func (w *World) numberless() bool {
	w.control.mu.Lock()
	pools := w.control.pools
	w.control.mu.Unlock()
	return pools.Room(w.held.free()) != nil
}

// List are all, in the order of IDs. overdue is one of a node that has left, until when it may be held by a cluster of
// so many nodes; false for none.
func (h *HeldIDs) List(nodes int) (list []fact.HeldID, overdue fact.HeldID, until time.Time, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.byID { //vppdrill:unordered sorted below
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b fact.HeldID) int { return cmp.Compare(a.ID, b.ID) })
	i := slices.IndexFunc(list, func(r fact.HeldID) bool { return h.gone[r.UID] })
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
	c, ok := storedChange(key, before, after)
	if !ok {
		return
	}
	w.held.Changed(&c)
	r := keptRecord{w.Now(), c}
	if n := w.node(c.After.Name); n == nil || !n.keepRecord(r) {
		w.tellRecords()
		w.Record.Tell(r.fact(), "")
	}
}

// keptRecord is a change of a node's record with its time since the run's start.
type keptRecord struct {
	at     time.Duration
	change fact.RecordChange
}

func (r keptRecord) fact() fact.Fact {
	return fact.Fact{At: r.at, Node: r.change.After.Name, What: r.change}
}

// keepRecord keeps a change of a node's own record until the agent is asked what it did around it: what agents do is
// heard of later than what the store does. False where nobody will be asked.
func (n *node) keepRecord(r keptRecord) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life == 0 || r.change.After.UID != n.uid() || r.change.After.Released {
		return false
	}
	n.kept = append(n.kept, r)
	return true
}

// recordsBefore tells the kept changes that come before the agent gives addresses from these blocks: up to the first
// record that names all which are new. n.mu is held.
func (n *node) recordsBefore(blocks []ipam.Block) {
	named := func(r keptRecord) bool {
		return !slices.ContainsFunc(blocks, func(b ipam.Block) bool {
			had := slices.ContainsFunc(n.blocks, func(x ipam.Block) bool { return x.Prefix == b.Prefix })
			return !had && !slices.Contains(r.change.Blocks, b.Prefix)
		})
	}
	if slices.Equal(blocks, n.blocks) {
		return
	}
	if i := slices.IndexFunc(n.kept, named); i >= 0 {
		n.tellKept(i + 1)
	}
}

// tellKept tells the first so many of the kept changes. n.mu is held.
func (n *node) tellKept(count int) {
	for _, r := range n.kept[:count] {
		n.w.Record.Tell(r.fact(), "")
	}
	n.kept = n.kept[count:]
}

// tellRecords tells all changes that are kept.
func (w *World) tellRecords() {
	for _, n := range w.inOrder() {
		n.mu.Lock()
		n.tellKept(len(n.kept))
		n.mu.Unlock()
	}
}

// storedChange is a change of a record as etcd tells it.
func storedChange(key, before, after string) (fact.RecordChange, bool) {
	name, _ := strings.CutPrefix(key, etcd.StorePrefix)
	return timeline.RecordChange(name, before, after)
}

// unreleased says which ID of a node that has left somebody is still to release, "" for none or where nobody can. Once
// it is overdue the lab is quiet, and snapshots show it: see judged.
func (w *World) unreleased() string {
	nodes := w.inOrder()
	if !canRelease(nodes) {
		return ""
	}
	_, r, until, found := w.held.List(len(nodes))
	if !found || !time.Now().Before(until) {
		return ""
	}
	return fmt.Sprintf("node ID %d of %s, which has left, is not released", r.ID, r.Name)
}

// judged are the held IDs where nobody is still about to release one, none otherwise.
func (w *World) judged() []fact.HeldID {
	nodes := w.inOrder()
	if !canRelease(nodes) {
		return nil
	}
	list, _, until, found := w.held.List(len(nodes))
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
	w.Record.Tell(fact.Fact{Node: name, What: fact.NodeGone{Left: true, Rest: rest - rest/restSlack}}, name+" has left")
}
