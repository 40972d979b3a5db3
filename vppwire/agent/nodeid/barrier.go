package nodeid

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// Keys of the store beside the node records.
const (
	// KeyComplete says whether everybody who holds an ID has a record. A store that has lost its data has not got it, and
	// neither has a new one. An administrator who knows better may write ValueComplete by hand.
	//
	// The key is created with valueLooking, and made ValueComplete by whoever sees it and has nobody to wait for: had the
	// store lost its data in between, there would be no such key to change. A create alone could reach a store that has
	// just been emptied.
	KeyComplete   = Prefix + "complete"
	valueLooking  = "looking"
	ValueComplete = "yes"
	// KeyAssumed is created, by whoever loses patience, before a store is marked complete in which nodes that exist have
	// no record. Such nodes may hold IDs all the same, mostly small ones: see assumedFirst.
	KeyAssumed   = Prefix + "assumed"
	valueAssumed = "yes"
	// prefixAnnounced and a node's name is that node's word that nobody has to wait for a record of its own; the value is
	// its Node object's UID.
	prefixAnnounced = Prefix + "new/"
)

// note is one of those keys as last seen.
type note struct {
	there bool
	value string
	rev   int64
}

func (n *note) take(item *Item) bool {
	if n.rev >= item.ModRevision {
		return false
	}
	*n = note{there: !item.Deleted, value: item.Value, rev: item.ModRevision}
	return true
}

// barrier is the bootstrap barrier: what holds claims back in a store that may not have everybody's record.
type barrier struct {
	complete, assumed note
	// own is our own announcement; others are kept by name, and only while they matter: see heeded.
	own    note
	others map[string]note
	// unregistered are the Node objects, by UID with their names, whose nodes have neither a record nor said that they
	// hold no ID; nil: not looked for yet. named is one of them, for people.
	unregistered map[string]string
	named        string
	// doubted: the store has lost data in this life, or before it, as our own record is not there. Its mark then says that
	// somebody has waited long enough to claim an ID, and nothing about who has written his record again: until
	// doubtedUntil nothing is taken because of it, as others who were cut off come back at the same time.
	doubted      bool
	doubtedUntil time.Time
	// awaited: the embedding waits for a complete store.
	awaited bool
}

// marked reports whether the store is marked complete.
func (b *barrier) marked() bool { return b.complete.there && b.complete.value == ValueComplete }

// heeded reports whether announcements of others matter: who has announced himself need not be waited for.
func (b *barrier) heeded(now time.Time) bool {
	return !b.marked() || b.doubted && !due(b.doubtedUntil, now)
}

// reset forgets what another store said.
func (b *barrier) reset() { b.complete, b.assumed, b.own, b.others = note{}, note{}, note{}, nil }

// forget deletes what a complete list at a revision has not got; self is this node's name.
func (b *barrier) forget(self string, listed map[string]bool, revision int64) {
	gone := func(key string, x *note) {
		if !listed[key] && x.rev <= revision {
			*x = note{rev: revision}
		}
	}
	gone(KeyComplete, &b.complete)
	gone(KeyAssumed, &b.assumed)
	gone(prefixAnnounced+self, &b.own)
	for name, x := range b.others { //vppdrill:unordered each by itself
		if gone(prefixAnnounced+name, &x); !x.there {
			delete(b.others, name)
		}
	}
}

// applyNote brings an item into the view that is no node record; false when it is none of ours.
func (m *Machine) applyNote(item *Item) bool {
	b := &m.barrier
	name, announced := strings.CutPrefix(item.Key, prefixAnnounced)
	switch {
	case item.Key == KeyComplete:
		was := b.marked()
		if !b.complete.take(item) {
			return true
		}
		if b.marked() {
			b.unregistered, b.named = nil, ""
			if !b.heeded(m.now) {
				b.others = nil
			}
			m.believe(func(*entry) bool { return true })
			m.changed |= Viewed
		} else if was {
			m.view.stale = true // announcements were not noted while it was there
		}
	case item.Key == KeyAssumed:
		b.assumed.take(item)
	case announced && name == m.cfg.Name:
		b.own.take(item)
	case announced:
		if !b.heeded(m.now) {
			return true // of no interest: a large cluster has many
		}
		other := b.others[name]
		if !other.take(item) {
			return true
		}
		if b.others == nil {
			b.others = map[string]note{}
		}
		b.others[name] = other
		if other.there {
			m.accountedFor(other.value)
		} else {
			b.unregistered = nil
		}
	default:
		return false
	}
	m.changed |= WantsAct
	return true
}

// heldBack reports whether claiming an ID has to wait.
func (m *Machine) heldBack() bool {
	if m.Complete() {
		return false
	}
	if e := m.recordOf(m.uid); e != nil {
		// Written by a claim while the store lost its data, so perhaps on somebody else's ID; or by a life whose journal
		// is gone, and then it does not matter which ID comes next. Others who take us for one whose record is there are told
		// first that we hold nothing: two who do this to each other would go on for ever, one's record gone as soon as the
		// other has claimed an ID because of it.
		if m.announce(m.uid) {
			return true
		}
		m.log(Info, "node ID %d: nothing is known of the claim, and the store is not complete: returned", e.id)
		m.ask(Request{Op: Delete, Key: recordKey(e.id), Revision: e.rev})
		return true
	}
	if why := m.awaitRecords(); why != "" {
		m.cannotClaim("%s", why)
	}
	return true
}

// Complete reports whether every ID and every block that somebody holds has a record in the store; with a negative
// patience that is taken for granted.
func (m *Machine) Complete() bool {
	return m.cfg.Patience < 0 || m.barrier.marked() && (!m.barrier.doubted || due(m.barrier.doubtedUntil, m.now) || m.unregistered() == "")
}

// doubt: the store has lost data that we have seen, or written, before.
func (m *Machine) doubt() {
	if b := &m.barrier; !b.doubted {
		b.doubted, b.doubtedUntil = true, m.now.Add(m.cfg.Patience)
	}
}

// awaitRecords takes the next step towards a complete store: it says what has to be waited for, or asks for the mark.
// In a store without it, IDs and blocks without a record may be held all the same: the agents of their nodes may be
// down or cut off, while VPP forwards.
//
// Where records are found in such a store, it has lost its data and their owners have written them again, so nobody
// takes anything before every existing node has a record or has said that it holds no ID. Where there are none, this
// may be a cluster's first start, and some node may have no agent at all: that is waited for as long as
// Config.Patience. Whoever has waited marks the store, and nobody waits after that; but the IDs that the silent ones
// most likely hold are left to them.
func (m *Machine) awaitRecords() (why string) {
	c := &m.claim
	if !m.members.listed {
		return "the nodes have not been listed"
	}
	if name := m.unregistered(); name != "" {
		if c.ID == 0 && m.announce(m.uid) {
			return ""
		}
		why = "waits for the record of " + name + " and perhaps others"
		if m.barrier.marked() {
			c.retryAt = m.barrier.doubtedUntil
			return "the store has lost data: " + why
		}
		if slices.ContainsFunc(m.view.entries, func(e entry) bool { return !e.deleted }) {
			return "the store has lost data: " + why
		}
		if c.patientUntil.IsZero() {
			c.patientUntil = m.now.Add(m.cfg.Patience)
		}
		if !due(c.patientUntil, m.now) {
			c.retryAt = c.patientUntil
			return why
		}
		if !m.barrier.assumed.there {
			m.ask(Request{Op: Create, Key: KeyAssumed, Value: valueAssumed})
			return ""
		}
	}
	if mark := m.barrier.complete; mark.there {
		m.ask(Request{Op: Update, Key: KeyComplete, Value: ValueComplete, Revision: mark.rev})
	} else {
		m.ask(Request{Op: Create, Key: KeyComplete, Value: valueLooking})
	}
	return ""
}

// announce tells the others not to wait for a record of ours; true when a request went out.
func (m *Machine) announce(uid string) bool {
	own, key := &m.barrier.own, prefixAnnounced+m.cfg.Name
	switch {
	case m.Complete() || own.there && own.value == uid:
		return false
	case own.there:
		m.ask(Request{Op: Update, Key: key, Value: uid, Revision: own.rev})
	default:
		m.ask(Request{Op: Create, Key: key, Value: uid})
	}
	return true
}

// dropAnnouncement takes our word back when our record says more; true when a request went out.
func (m *Machine) dropAnnouncement() bool {
	own := &m.barrier.own
	if !own.there {
		return false
	}
	m.ask(Request{Op: Delete, Key: prefixAnnounced + m.cfg.Name, Revision: own.rev})
	return true
}

// assumedFirst is the ID from which one is looked for, downwards, in a store that was marked complete although nodes
// had no record, as long as there are such nodes; 0: the smallest is taken. A cluster that has claimed the smallest IDs
// has the upper half free, and where in it this node begins follows from its Node object, so that those who do this
// after different losses do not meet either.
func (m *Machine) assumedFirst(most uint32) uint32 {
	if !m.barrier.assumed.there || m.unregistered() == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(m.uid))
	return most - h.Sum32()%(most/2+1)
}

// Unrecorded names a node that may hold an ID without a record, in a store that is not known to be complete or is known
// to have lost data; empty when there is none.
func (m *Machine) Unrecorded() string {
	if m.cfg.Patience < 0 || m.Complete() && !m.barrier.doubted {
		return ""
	}
	return m.unregistered()
}

// accountedFor: the node whose Node object has this UID need not be waited for.
func (m *Machine) accountedFor(uid string) { delete(m.barrier.unregistered, uid) }

// unregistered names a node, other than this one, that has to be waited for; empty when there is none. It is found once
// and kept as long as it is one: with n nodes starting at the same time this is asked n times.
func (m *Machine) unregistered() string {
	b := &m.barrier
	if b.unregistered == nil {
		m.findUnregistered()
	}
	if len(b.unregistered) == 0 {
		return ""
	}
	if _, still := b.unregistered[b.named]; !still {
		// in any order: the greatest name is kept; where nodes start in the order of their names, it comes last
		for uid, name := range b.unregistered {
			if best, ok := b.unregistered[b.named]; !ok || name > best {
				b.named = uid
			}
		}
	}
	return b.unregistered[b.named]
}

func (m *Machine) findUnregistered() {
	registered, found := m.view.registered(), map[string]string{}
	for name, n := range m.members.nodes.all() {
		uid := m.known.name(n.uid)
		if other := m.barrier.others[name]; name != m.cfg.Name && !registered[uid] && !(other.there && other.value == uid) {
			found[uid] = name
		}
	}
	m.barrier.unregistered = found
}
