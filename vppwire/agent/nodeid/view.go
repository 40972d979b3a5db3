package nodeid

import (
	"iter"
	"net/netip"
	"slices"
	"time"
)

// view is what is known of the records.
type view struct {
	// entries ascend by ID. Deleted ones stay, so that a late delivery cannot bring them back.
	entries []entry
	// lost counts the lost entries, those in whose places others stand among them; lostAt is when the last was lost.
	lost   int
	lostAt time.Time
	// irregular counts live irregular entries: 0 means that nobody has pods outside of the plan's blocks.
	irregular int
	// revision is the store's, up to which list and watch have told everything.
	revision int64
	// store is the identity of the store's data, 0 before the first answer.
	store uint64
	// listed: the view has been complete once. stale: it may have missed something, and the store is listed again.
	listed, stale bool
}

// entry is one record as last seen: a cluster of a thousand nodes has a million of these.
type entry struct {
	id        uint32
	deleted   bool
	malformed bool
	// irregular is what the networks of a record lie in that is not regular, see Plan.Regular; nil of one that is.
	irregular *cover
	// lost: the record was live and is not in a list of a store that is not complete. Its node is reached by it until it
	// is written again or another one of the node's is, or the Node object is gone.
	lost bool
	// former is a lost entry in whose place this record stands and does not mean what it says: see displaced. It is never
	// changed.
	former *entry
	rev    int64
	// reading is unread of one that is deleted, and says nothing of one that is malformed.
	*reading
	// rest is nil for a record that is not released.
	rest *rest
}

// rest is what is known of a released ID.
type rest struct {
	// released is when its record says that it was.
	released time.Time
	// until is when this Machine gives the ID to somebody by what it has seen of it, zero where somebody else has seen all
	// of it.
	until time.Time
}

// live reports whether the record says that somebody holds the ID.
func (e *entry) live() bool { return !e.deleted && e.rest == nil }

// says is what the record says: its networks and addresses are everybody's and not to be changed. Only for entries that
// are not malformed or deleted.
func (e *entry) says() Record {
	n := e.record
	n.ID = e.id // the key decides
	return n
}

func (v *view) find(id uint32) (int, bool) {
	if n := len(v.entries); n == 0 || v.entries[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(v.entries, id, func(e entry, id uint32) int {
		switch {
		case e.id < id:
			return -1
		case e.id > id:
			return 1
		}
		return 0
	})
}

// entry returns what is known of an ID, nil for nothing or deleted. Valid until the next change of the view.
func (v *view) entry(id uint32) *entry {
	if i, ok := v.find(id); ok && !v.entries[i].deleted {
		return &v.entries[i]
	}
	return nil
}

// counted keeps the number of live irregular entries.
func (v *view) counted(e *entry, by int) {
	if e.irregular != nil && e.live() {
		v.irregular += by
	}
}

// regularize asks the plan about every entry again.
func (v *view) regularize(plan Plan) {
	for i := range v.entries {
		if e := &v.entries[i]; !e.deleted && !e.malformed {
			v.counted(e, -1)
			e.irregular = coverOf(plan, e.id, e.record.PodNetworks)
			v.counted(e, 1)
		}
	}
}

// registered are the UIDs of nodes that have a record.
func (v *view) registered() map[string]bool {
	registered := make(map[string]bool, len(v.entries))
	for i := range v.entries {
		if e := &v.entries[i]; !e.deleted && !e.malformed {
			registered[e.uid] = true
		}
	}
	return registered
}

// ForeignKey ends the warning about a key below the records' that no agent writes. Whoever keeps all others from
// writing there has a key misread.
const ForeignKey = "is not a node record's: ignored"

// apply brings items into the view. An item that is not newer than what is known of its key is ignored.
func (m *Machine) apply(items []Item) {
	for i := range items {
		item := &items[i]
		if id, ok := parseKey(item.Key); ok {
			m.applyRecord(id, item)
		} else if !m.applyNote(item) {
			m.log(Warn, "store: key %q "+ForeignKey, item.Key)
		}
	}
}

func (m *Machine) applyRecord(id uint32, item *Item) {
	v := &m.view
	at, known := v.find(id)
	if known && v.entries[at].rev >= item.ModRevision {
		return
	}
	if !known {
		v.entries = slices.Insert(v.entries, at, entry{id: id, reading: unread})
	}
	e := &v.entries[at]
	same := known && !e.deleted && !item.Deleted && e.value == item.Value
	e.rev = item.ModRevision
	if same {
		return
	}
	released := e.uid
	if e.rest == nil {
		released = ""
	}
	m.fill(e, item)
	if v.lost > 0 && e.live() && !e.malformed {
		m.foundAgain(e.uid)
	}
	if e.deleted || e.malformed {
		m.barrier.unregistered = nil
	} else {
		m.accountedFor(e.uid)
	}
	if released != "" && e.live() && e.uid == released {
		m.takenBack(e)
	}
	if len(m.members.stale) > 0 && !e.live() {
		m.changed |= WantsJudge // somebody else has released it: nothing is left to wait for
	}
	if c := &m.claim; c.ID == 0 || e.id == c.ID || e.name == m.cfg.Name {
		m.changed |= WantsAct
	}
	m.emit(RecordChanged{ID: e.id})
	m.mayBeStale(e)
}

// fill sets an entry from an item. A value that cannot be read holds its ID and means nothing else.
func (m *Machine) fill(e *entry, item *Item) {
	v := &m.view
	v.counted(e, -1)
	defer v.counted(e, 1)
	was := *e
	m.known.unused(was.reading)
	if e.lost || e.former != nil {
		v.lost--
	}
	*e = entry{id: e.id, rev: item.ModRevision, reading: unread, deleted: item.Deleted}
	if item.Deleted {
		last := was.former
		if last == nil && m.losing && (was.lost || was.live() && !was.malformed && was.value != "") {
			last = was.asLost()
		}
		if last != nil {
			*e = *last
			e.rev = item.ModRevision
			v.lost++
			v.lostAt = m.now
		}
		return
	}
	e.reading = m.known.read(item.Value)
	n := &e.record
	if e.err != nil {
		e.malformed = true
		m.log(Warn, "store: %s: %v: left alone", item.Key, e.err)
		return
	}
	if !n.ReleasedAt.IsZero() {
		e.rest = &rest{released: n.ReleasedAt}
	}
	if e.former = m.displaced(&was, e); e.former != nil {
		v.lost++
	}
	switch {
	case e.live() || e.rest.released.Equal(rested):
	case was.rest != nil && was.rest.released.Equal(e.rest.released) && was.uid == e.uid:
		e.rest.until = was.rest.until
	default:
		m.beginsToRest(e)
	}
	e.irregular = coverOf(m.plan, e.id, n.PodNetworks)
}

// askForLost has the nodes listed again where a lost entry is of a node that has never been told of: its Node object
// may be gone for long, or its news may not have come yet.
func (m *Machine) askForLost() {
	s := &m.members
	if m.view.lost == 0 || s.listing || !slices.ContainsFunc(m.view.entries, func(e entry) bool { return e.lost && !s.present(&e) && !s.gone[e.uid] }) {
		return
	}
	s.ask(m)
}

// found makes a lost entry one that is deleted.
func (v *view) found(e *entry) {
	e.lost = false
	v.lost--
}

// foundAgain: the node of this UID has a record under another ID than a lost one.
func (m *Machine) foundAgain(uid string) {
	v := &m.view
	m.believe(func(former *entry) bool { return former.uid == uid })
	for i := range v.entries {
		if e := &v.entries[i]; e.lost && e.uid == uid {
			v.found(e)
			m.emit(RecordChanged{ID: e.id})
		}
	}
}

// ours reports whether a record is this node's.
func (m *Machine) ours(e *entry, uid string) bool {
	return !e.deleted && !e.malformed && uid != "" && e.uid == uid && e.name == m.cfg.Name
}

// recordOf is the first record of this node under a UID, nil where there is none.
func (m *Machine) recordOf(uid string) *entry {
	for i := range m.view.entries {
		if e := &m.view.entries[i]; m.ours(e, uid) {
			return e
		}
	}
	return nil
}

// quarantined reports whether a released ID may not be given out yet.
func (e *entry) quarantined(now time.Time) bool { return e.rest != nil && now.Before(e.rest.until) }

// Holder is another node whose record shows an address of a block.
type Holder struct {
	Name string
	// Free is when the block may be taken, where the node is gone already; zero while it lives.
	Free time.Time
}

// Holder finds another node that has an address of block, or had until its quarantine ends; false when there is none.
func (m *Machine) Holder(now time.Time, block netip.Prefix) (Holder, bool) {
	h := m.Holders(now, []netip.Prefix{block})[0]
	return h, h.Name != ""
}

// Holders is Holder for many blocks, in their order; one without a Name is nobody's. Each record is read once.
func (m *Machine) Holders(now time.Time, blocks []netip.Prefix) []Holder {
	out, open := make([]Holder, len(blocks)), len(blocks)
	for i := range m.view.entries {
		e := &m.view.entries[i]
		switch {
		case open == 0:
			return out
		case e.deleted || e.malformed || e.irregular == nil || e.id == m.claim.ID || m.ours(e, m.claim.UID) || !e.live() && !e.quarantined(now):
			continue
		case !slices.ContainsFunc(blocks, e.irregular.mayMeet):
			continue
		}
		networks := e.record.PodNetworks
		for k, block := range blocks {
			if out[k].Name != "" || !slices.ContainsFunc(networks, block.Overlaps) {
				continue
			}
			out[k].Name, open = e.name, open-1
			if !e.live() {
				out[k].Free = e.rest.until
			}
		}
	}
	return out
}

// IDs yields every ID that was ever seen in the store, ascending.
func (m *Machine) IDs() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := range m.view.entries {
			if !yield(m.view.entries[i].id) {
				return
			}
		}
	}
}
