package cilium

import (
	"fmt"
	"strconv"

	"github.com/vppdrill/vppdrill/ipam"
)

// ledgerSlack is PoolTermConfig.LedgerSlack's default, sweepMost how many entries of before the ledger's start are
// deleted in one go: nodes wait meanwhile.
const (
	ledgerSlack = 128
	sweepMost   = 32
)

// termLedger is what one leader knows of the entries by which blocks are given out.
//
// A ledger that has grown too long is begun anew: all that it says is appended once more, its start is set to the first
// of these, and what was before is deleted in time. A leader that was deposed before could append where an entry has
// been deleted. So a leader that has appended checks whether the ledger still begins where it did: the start is set
// before anything is deleted.
type termLedger struct {
	// start and startAt are the ledger's first version and the revision of the record that says so.
	start   uint64
	startAt int64
	// entries are the revisions of the entries from start on, dead what is to be deleted.
	entries map[uint64]int64
	dead    []Entry
	// sweeping is how many of dead are to be deleted now.
	sweeping int
}

// open reads where the ledger begins, and writes version 1 where no leader has.
func (t *PoolTerm) open() {
	t.ask(func(id uint64) Effect { return ReadStart{id} }, func(r Stored) {
		switch {
		case r.Outcome == ipam.Done && len(r.Entries) == 0:
			// A conflict is another leader's start, which is read in the next round.
			t.ask(func(id uint64) Effect { return SetStart{ID: id, Version: 1} }, func(r Stored) {
				if r.Outcome != ipam.Done && r.Outcome != ipam.Conflict {
					t.unread(r)
					return
				}
				t.open()
			})
			return
		case r.Outcome != ipam.Done:
			t.unread(r)
			return
		}
		var err error
		if t.ledger.start, err = strconv.ParseUint(r.Entries[0].Value, 10, 64); err != nil {
			t.end(fmt.Errorf("the ledger's start cannot be read: %w", err))
			return
		}
		t.ledger.startAt = r.Entries[0].Revision
		t.read()
	})
}

// read reads every entry. Where the ledger is begun anew meanwhile, entries may be missing, and it is read again.
func (t *PoolTerm) read() {
	t.ask(func(id uint64) Effect { return ReadLedger{id} }, func(list Stored) {
		if list.Outcome != ipam.Done {
			t.unread(list)
			return
		}
		t.ask(func(id uint64) Effect { return ReadStart{id} }, func(r Stored) {
			switch {
			case r.Outcome != ipam.Done || len(r.Entries) != 1:
				t.unread(r)
			case r.Entries[0].Revision != t.ledger.startAt:
				t.open()
			default:
				t.restore(list.Entries)
			}
		})
	})
}

func (t *PoolTerm) unread(r Stored) {
	t.end(fmt.Errorf("the ledger cannot be read: %s", r.Outcome.Because(r.Why)))
}

// restore applies the ledger. Entries at its end that do not follow from the ones before are struck: a store that has
// lost its data may get one from a deposed leader, late, and no leader could append where it stands. What nodes show is
// entered again by adoption.
func (t *PoolTerm) restore(entries []Entry) {
	var stray []Entry
	for _, e := range entries {
		if e.Key < EntryKey(t.ledger.start) {
			t.ledger.dead = append(t.ledger.dead, e)
			continue
		}
		c, err := ParseClaim(e.Value)
		if err == nil {
			err = t.cfg.Pools.Apply(c)
		}
		if err == nil {
			stray = stray[:0]
			t.ledger.entries[c.Version] = e.Revision
			continue
		}
		t.say(Note{e.Key + " does not follow: " + err.Error()})
		stray = append(stray, e)
	}
	t.strike(stray)
}

// strike deletes entries that do not follow; then the resources come.
func (t *PoolTerm) strike(stray []Entry) {
	if len(stray) == 0 {
		t.say(Follow{})
		return
	}
	t.ask(func(id uint64) Effect { return StrikeEntry{id, stray[0]} }, func(r Stored) {
		if r.Outcome != ipam.Done {
			t.end(fmt.Errorf("ledger entry %s is not known to be struck: %s", stray[0].Key, r.Outcome.Because(r.Why)))
			return
		}
		t.strike(stray[1:])
	})
}

// append puts entries into the ledger, one after the other. An answer that did not come may stand for an entry that is
// there.
func (t *PoolTerm) append(entries []Claim, then func()) {
	if len(entries) == 0 {
		then()
		return
	}
	c := entries[0]
	t.ask(func(id uint64) Effect { return AppendEntry{id, c} }, func(r Stored) {
		switch {
		case r.Outcome == ipam.Conflict:
			t.end(fmt.Errorf("ledger entry %d is another leader's", c.Version))
			return
		case r.Outcome != ipam.Done:
			t.end(fmt.Errorf("ledger entry %s is not known to be written: %s", c, r.Outcome.Because(r.Why)))
			return
		}
		t.ledger.entries[c.Version] = r.Revision
		if len(entries) > 1 {
			t.append(entries[1:], then)
			return
		}
		t.confirm(then)
	})
}

// confirm checks that the ledger still begins where it did.
func (t *PoolTerm) confirm(then func()) {
	t.ask(func(id uint64) Effect { return ReadStart{id} }, func(r Stored) {
		switch {
		case r.Outcome != ipam.Done || len(r.Entries) != 1:
			t.end(fmt.Errorf("it is not known whether the ledger still begins where it did: %s", r.Outcome.Because(r.Why)))
		case r.Entries[0].Revision != t.ledger.startAt:
			t.end(fmt.Errorf("another leader has begun the ledger anew, with version %s", r.Entries[0].Value))
		default:
			then()
		}
	})
}

// long reports whether the ledger has many more entries than it needs.
func (t *PoolTerm) long() bool {
	n := len(t.ledger.entries)
	return n > t.cfg.LedgerSlack && // its needs have not to be counted each time
		n > 2*len(t.cfg.Pools.Records())+t.cfg.LedgerSlack
}

// compact begins a ledger anew that has grown too long, and reports whether it does: one without entries would begin
// with version 1.
func (t *PoolTerm) compact() bool {
	entries := t.cfg.Pools.Restate()
	if len(entries) == 0 {
		return false
	}
	first := entries[0].Version
	t.append(entries, func() {
		set := func(id uint64) Effect { return SetStart{ID: id, Version: first, Revision: t.ledger.startAt} }
		t.ask(set, func(r Stored) {
			if r.Outcome != ipam.Done {
				t.end(fmt.Errorf("it is not known whether the ledger begins with version %d: %s", first, r.Outcome.Because(r.Why)))
				return
			}
			t.ledger.start, t.ledger.startAt = first, r.Revision
			for _, version := range sortedKeys(t.ledger.entries) {
				if version < first {
					t.ledger.dead = append(t.ledger.dead, Entry{Key: EntryKey(version), Revision: t.ledger.entries[version]})
					delete(t.ledger.entries, version)
				}
			}
			t.say(Note{fmt.Sprintf("the ledger is begun anew with version %d and %d entries", first, len(entries))})
		})
	})
	return true
}

// sweep deletes one entry of before the ledger's start. What is not known to be gone the next leader finds.
func (t *PoolTerm) sweep() {
	l := &t.ledger
	e := l.dead[len(l.dead)-1]
	l.dead, l.sweeping = l.dead[:len(l.dead)-1], l.sweeping-1
	t.ask(func(id uint64) Effect { return StrikeEntry{id, e} }, func(r Stored) {
		if r.Outcome == ipam.Unknown {
			l.sweeping = 0
		}
	})
}
