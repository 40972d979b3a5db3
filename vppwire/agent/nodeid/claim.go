package nodeid

import (
	"fmt"
	"time"
)

// conflictsQuiet is how many lost races for an ID are nothing to talk about: upstream gave up after as many.
const conflictsQuiet = 10

// NoneFree begins what a Machine waits for when each ID has a record.
const NoneFree = "no node ID from "

// claim is the ID that the store has given us, and what is in the way of one.
type claim struct {
	Claim
	// acting: the claim is on disk, so the ID may be acted on.
	acting bool
	// lost says why an ID that is ours must not be used for anything new; empty when it may.
	lost string
	// removed: our own Node object is gone; others may release the ID any time, so we keep our hands off the store.
	removed bool
	// waiting says why no ID can be claimed now; full: all have records.
	waiting   string
	full      bool
	conflicts int
	// unsure is the revision of our record that a write of it which was given up may still find and change; 0: none.
	unsure int64
	// patientUntil is how long other nodes' records are waited for where the store has none, zero before the first look.
	patientUntil time.Time
	retryAt      time.Time // patientUntil, or the end of the first quarantine that stands in the way
}

// usable reports whether new addresses may be derived from the ID.
func (c *claim) usable() bool { return c.acting && c.lost == "" && !c.removed }

// identify takes the next step towards a record of ours in the store that says what is true. The store is listed and no
// request is outstanding.
func (m *Machine) identify() {
	c := &m.claim
	c.retryAt = time.Time{}
	if c.removed {
		return
	}
	if c.ID != 0 && m.uid != "" && m.uid != c.UID {
		if m.retake() {
			return
		}
		m.relinquish()
	}
	if c.ID == 0 {
		m.seek()
		return
	}
	// Whoever holds our ID may give it back, and we still act on it: we never announce that nobody has to wait for us.
	if m.checkOwner() && !m.dropTwin() && !m.dropAnnouncement() && !m.publish() && m.barrier.awaited {
		m.awaitRecords()
	}
}

// relinquish gives an ID up that was claimed for an earlier Node object of ours. Blocks and pods stay until a new ID is
// there: then the old block drains and is published under the new ID, which keeps others off it.
func (m *Machine) relinquish() {
	c := &m.claim
	m.log(Warn, "node ID %d belongs to Node UID %s, which is gone; a new one is claimed for %s", c.ID, c.UID, m.uid)
	*c = claim{}
	m.changed |= IDChanged
}

// seek finds our record or asks for a new one: the smallest ID, or a great one where small ones may be held unseen,
// that fits the plan, that nobody holds, and whose block no other node still has pods in.
func (m *Machine) seek() {
	if m.uid == "" {
		m.cannotClaim("the Node object of %s has not been seen", m.cfg.Name)
		return
	}
	most, known := m.plan.IDs()
	if !known {
		m.cannotClaim("no address ranges are known")
		return
	}
	if m.heldBack() {
		return
	}
	if e := m.recordOf(m.uid); e != nil {
		m.adopt(e.id)
		return
	}
	if first := m.assumedFirst(most); first != 0 {
		for i := range most {
			id := first - i
			if i >= first { // behind 1 comes the greatest
				id += most
			}
			if m.free(id) {
				m.claimFree(id)
				return
			}
		}
	} else if m.claimBehind(m.unregisteredBefore(), most) || m.claimBehind(0, most) {
		return
	}
	m.cannotClaim(NoneFree+"1 to %d is free", most)
	m.claim.full = true
	m.changed |= StandingChanged
}

// claimBehind asks for the smallest free ID behind the first `before` free ones; false when there is none. Nodes that
// start together leave each other room in the order of their names: each asks once, where all would race for the same
// ID and a thousand nodes make half a million requests.
func (m *Machine) claimBehind(before int, most uint32) bool {
	for id := uint32(1); id <= most && id != 0; id++ {
		if !m.free(id) {
			continue
		}
		if before == 0 {
			m.claimFree(id)
			return true
		}
		before--
	}
	return false
}

// free reports whether nobody holds an ID, and nobody has an address of its block.
func (m *Machine) free(id uint32) bool {
	c, e := &m.claim, m.view.entry(id)
	if e != nil && (e.live() || e.malformed) {
		return false
	}
	if e != nil && e.quarantined(m.now) {
		if c.retryAt.IsZero() || e.rest.until.Before(c.retryAt) {
			c.retryAt = e.rest.until
		}
		return false
	}
	block, ok := m.plan.Block(id)
	if !ok {
		return false
	}
	if block.IsValid() {
		if _, held := m.Holder(m.now, block); held {
			return false
		}
	}
	return true
}

// claimFree asks for an ID that is free.
func (m *Machine) claimFree(id uint32) {
	m.claim.waiting, m.claim.full = "", false
	m.write(Claim{id, m.uid}, m.view.entry(id))
}

// write asks for the record of a claim to be as the plan has it, over the record that is there. False when that is not
// to be written, or is there.
func (m *Machine) write(c Claim, present *entry) bool {
	var old *Record
	if present != nil && c.ID == m.claim.ID {
		r := present.says()
		old = &r
	}
	r, ok := m.plan.Record(c, old)
	if !ok {
		return false
	}
	value := r.String()
	switch {
	case present == nil:
		m.ask(Request{Op: Create, Key: recordKey(c.ID), Value: value})
	case value == present.value && (present.rev != m.claim.unsure || c != m.claim.Claim):
		return false
	default:
		m.ask(Request{Op: Update, Key: recordKey(c.ID), Value: value, Revision: present.rev})
	}
	return true
}

// unregisteredBefore counts the nodes without a record whose names come before ours.
func (m *Machine) unregisteredBefore() int {
	registered := m.view.registered()
	n := 0
	for name, other := range m.members.nodes.all() {
		if name < m.cfg.Name && !registered[m.known.name(other.uid)] {
			n++
		}
	}
	return n
}

// conflicted counts races for an ID that others have won; what they wrote is in the view by now.
func (m *Machine) conflicted() {
	if m.claim.ID != 0 {
		return
	}
	m.claim.conflicts++
	if m.claim.conflicts == conflictsQuiet+1 {
		m.log(Warn, "no node ID after %d attempts; going on", m.claim.conflicts)
	}
}

// adopt makes an ID ours that the store shows as ours. It is acted on when it is on disk.
func (m *Machine) adopt(id uint32) {
	m.claim = claim{Claim: Claim{id, m.uid}}
	m.log(Info, "node ID %d", id)
	m.emit(Save(m.claim.Claim))
	m.changed |= IDChanged | WantsAct
}

// saved lets the ID be acted on, unless another one has been claimed since.
func (m *Machine) saved(c Claim) {
	if m.claim.ID == 0 || m.claim.acting || m.claim.Claim != c {
		return
	}
	m.claim.acting = true
	m.changed |= ActingBegan | WantsJudge
}

// checkOwner compares the store with the ID that we act on. An ID that somebody else holds by now is never taken back:
// two nodes with one block are worse than one node without.
func (m *Machine) checkOwner() bool {
	c := &m.claim
	e := m.view.entry(c.ID)
	if e == nil || m.ours(e, c.UID) {
		if c.lost != "" {
			m.log(Info, "node ID %d is ours again", c.ID)
			c.lost = ""
			m.changed |= StandingChanged
		}
		return true
	}
	lost := fmt.Sprintf("node ID %d is held by node %q with UID %q", c.ID, e.name, e.uid)
	if c.lost != lost {
		c.lost = lost
		m.log(Error, "%s: no more addresses are given out", lost)
		m.changed |= StandingChanged
	}
	return false
}

// dropTwin deletes another record of ours, left by a claim whose answer was lost and that was done late; true when a
// request went out.
func (m *Machine) dropTwin() bool {
	if m.view.entry(m.claim.ID) == nil {
		return false
	}
	for i := range m.view.entries {
		if e := &m.view.entries[i]; e.id != m.claim.ID && m.ours(e, m.claim.UID) {
			m.log(Info, "node ID %d is ours too: returned", e.id)
			m.ask(Request{Op: Delete, Key: recordKey(e.id), Revision: e.rev})
			return true
		}
	}
	return false
}

// publish writes our record where it does not say what is true; true when a request went out.
func (m *Machine) publish() bool {
	e := m.view.entry(m.claim.ID)
	if m.uid == "" && (e == nil || !e.live()) {
		return false // perhaps we have been taken out of the cluster; our Node object tells
	}
	return m.write(m.claim.Claim, e)
}

func (m *Machine) cannotClaim(format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	m.claim.full = false
	if m.claim.waiting != why {
		m.claim.waiting = why
		m.log(Info, "no node ID yet: %s", why)
	}
}
