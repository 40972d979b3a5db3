package nodeid

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
)

// Claim is the ID that this node has in the store, whether it may be acted on or not; the zero Claim for none.
func (m *Machine) Claim() Claim { return m.claim.Claim }

// Acting is the ID that this node acts on: the claim is on disk. 0 for none.
func (m *Machine) Acting() uint32 {
	if !m.claim.acting {
		return 0
	}
	return m.claim.ID
}

// Usable reports whether new addresses may be derived from the ID.
func (m *Machine) Usable() bool { return m.claim.usable() && (m.uid == "" || m.uid == m.claim.UID) }

// UID is the own Node object's, empty while it has not been seen in this life.
func (m *Machine) UID() string { return m.uid }

// Removed reports whether the own Node object is gone. Trouble says why the ID must not be used for anything new, empty
// when it may; Waiting why none can be claimed now.
func (m *Machine) Removed() bool   { return m.claim.removed }
func (m *Machine) Trouble() string { return m.claim.lost }
func (m *Machine) Waiting() string { return m.claim.waiting }

// Full reports that none can be claimed because all have records; their quarantines count.
func (m *Machine) Full() bool { return m.claim.full }

// Peer is the record of an ID whose node others should reach: a living node that is not this one and does not count as
// gone. One whose record the store has lost is reached by what it said, until its Node object is gone, also where
// another node's record stands in its place for a while. regular is the plan's word about it.
func (m *Machine) Peer(id uint32) (r Record, regular, ok bool) {
	at, known := m.view.find(id)
	if !known {
		return Record{}, false, false
	}
	e := &m.view.entries[at]
	if e.former != nil {
		e = e.former
	}
	switch {
	case e.malformed || id == m.claim.ID || e.name == m.cfg.Name || m.members.gone[e.uid]:
		return Record{}, false, false
	case !e.lost && !e.live():
		return Record{}, false, false
	}
	return e.says(), e.irregular == nil, true
}

// Supersedes reports whether the record of an ID is of a machine that has come in the place of another ID's: it has its
// name and was written later, which may be before the Node object's news; or its Node object is there and the other
// one's is not.
func (m *Machine) Supersedes(id, other uint32) bool {
	at, known := m.view.find(id)
	was, before := m.view.find(other)
	if !known || !before {
		return false
	}
	e, old := &m.view.entries[at], &m.view.entries[was]
	if e.name == old.name {
		if e.lost || old.lost { // a store that has lost its data counts anew; IDs are given in turn
			return !e.lost || old.lost && id > other
		}
		return e.rev > old.rev
	}
	return m.members.present(e) && !m.members.present(old)
}

// Shows reports whether the view, our own record included, shows us as the holder of a block, and goes on doing so:
// nothing that we have asked for, answered or not, would take the block out of the record.
func (m *Machine) Shows(block netip.Prefix) bool { return m.Shown()(block) }

// Shown is Shows for many blocks, until the view changes: the records are read once.
func (m *Machine) Shown() func(block netip.Prefix) bool {
	none := func(netip.Prefix) bool { return false }
	own := m.view.entry(m.claim.ID)
	if own == nil || own.rev == m.claim.unsure || !m.ours(own, m.claim.UID) || !own.live() || m.view.stale || m.view.revision < own.rev {
		return none
	}
	shown := own.says().PodNetworks
	asked := m.store.asked
	if !m.overOwn(asked) {
		return func(block netip.Prefix) bool { return slices.Contains(shown, block) }
	}
	r, err := ParseRecord(asked.Value)
	if err != nil {
		return none
	}
	return func(block netip.Prefix) bool {
		return slices.Contains(shown, block) && slices.Contains(r.PodNetworks, block)
	}
}

// Irregular counts the nodes with addresses outside of what the plan gives their IDs; IrregularNetworks yields theirs.
func (m *Machine) Irregular() int { return m.view.irregular }

// IrregularNetworks yields the networks of the nodes that Irregular counts, in ID order.
func (m *Machine) IrregularNetworks() iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		for i := range m.view.entries {
			e := &m.view.entries[i]
			if e.irregular == nil || !e.live() {
				continue
			}
			for _, p := range e.says().PodNetworks {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// RecordsKnown reports whether the records have been listed once; NodesKnown whether the nodes have.
func (m *Machine) RecordsKnown() bool { return m.view.listed }
func (m *Machine) NodesKnown() bool   { return m.members.listed }

// Unsettled is one sentence about why the conversation with the store or the API server is not at rest, empty when it
// is.
func (m *Machine) Unsettled() string {
	s := &m.store
	switch {
	case s.asked.ID != 0:
		return "the store has not answered " + s.asked.Op.String() + " " + s.asked.Key
	case !m.view.listed || m.view.stale:
		return "the node records have to be listed"
	case s.watch == 0 || !s.watchConfirmed:
		return "the node records are not watched"
	case !m.claim.removed && m.uid == "":
		return "the own Node object has not been seen"
	}
	return ""
}

// Unclaimed reports whether this node goes on by itself to claim an ID.
func (m *Machine) Unclaimed() bool {
	return m.claim.ID == 0 && m.claim.waiting == "" && !m.claim.removed
}

// Unreleased is one sentence about an ID that this node may have to release, empty when there is none.
func (m *Machine) Unreleased() string {
	if s := m.members.stale; len(s) > 0 && m.claim.usable() {
		return fmt.Sprintf("node ID %d may have to be released", s[0].id)
	}
	return ""
}
