package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// watched: a watch tells every change behind its revision once, in order, those of the past first; what was there
// before is not told.
func watched(t *testing.T, s Server) {
	writer, reader := newUser(t, s), newUser(t, s)
	writer.put(prefix+"a", "before")
	base := reader.list().Revision
	var want []agent.StoreItem
	change := func(n int) {
		key := prefix + string(rune('a'+n%3))
		item := agent.StoreItem{Key: key, Value: fmt.Sprint(n)}
		if n%4 == 3 {
			present := writer.ask(agent.StoreRequest{Op: agent.StoreCreate, Key: key, Value: "made"})
			if present.Err == agent.StoreOK {
				want = append(want, present.Items...)
			}
			item = agent.StoreItem{Key: key, Deleted: true}
			item.ModRevision = writer.must(agent.StoreOK, agent.StoreRequest{Op: agent.StoreDelete, Key: key, Revision: present.Items[0].ModRevision}).Revision
		} else {
			item.ModRevision = writer.put(key, item.Value)
		}
		want = append(want, item)
	}
	for n := range 5 {
		change(n)
	}
	id := reader.watch(base)
	for n := range 5 {
		change(5 + n)
	}
	reader.until("a watch tells every change", func() bool { return len(reader.changes(id)) >= len(want) || reader.lost[id] })
	if got := reader.changes(id); !slices.Equal(got, want) {
		t.Fatalf("the watch tells\n%+v\nwant\n%+v", got, want)
	}
}

// changes are the items that a watch has told, in order; revisions that do not grow are an error.
func (u *user) changes(id uint64) (items []agent.StoreItem) {
	u.t.Helper()
	last := int64(0)
	for _, c := range u.told[id] {
		if c.Revision <= last {
			u.t.Fatalf("watch %d tells revision %d behind %d", id, c.Revision, last)
		}
		last = c.Revision
		for _, item := range c.Items {
			if item.ModRevision != c.Revision {
				u.t.Fatalf("watch %d tells %+v at revision %d", id, item, c.Revision)
			}
			items = append(items, item)
		}
	}
	return items
}

// newer: a client's newer watch ends its older one without a word.
func newer(t *testing.T, s Server) {
	u := newUser(t, s)
	base := u.put(prefix+"a", "0")
	old := u.watch(base)
	young := u.watch(base)
	u.put(prefix+"a", "1")
	u.until("the newer watch tells", func() bool { return len(u.told[young]) > 0 })
	u.put(prefix+"a", "2")
	u.until("the newer watch tells", func() bool { return len(u.told[young]) > 1 })
	if len(u.told[old]) > 0 || u.lost[old] {
		t.Fatalf("the older watch tells %+v, lost %t", u.told[old], u.lost[old])
	}
}

// compacted: a watch that would begin in forgotten history is refused; one behind the present begins.
func compacted(t *testing.T, s Server) {
	u := newUser(t, s)
	first := u.put(prefix+"a", "0")
	u.put(prefix+"a", "1")
	present := u.put(prefix+"b", "2")
	s.Compact()
	u.must(agent.StoreCompacted, agent.StoreRequest{Op: agent.StoreWatch, Key: prefix, Revision: first})
	if got := u.list().Items; len(got) != 2 {
		t.Fatalf("after a compaction the list shows %+v", got)
	}
	id := u.watch(present)
	revision := u.put(prefix+"a", "3")
	u.until("a watch from the compacted revision tells what comes", func() bool { return len(u.changes(id)) > 0 })
	if got, want := u.changes(id), []agent.StoreItem{{Key: prefix + "a", Value: "3", ModRevision: revision}}; !slices.Equal(got, want) {
		t.Fatalf("the watch tells %+v, want %+v", got, want)
	}
}

// missed: a client is cut off while keys change and are deleted, and the history of it is compacted. Its watch either
// tells all of it, or is told as lost; a list then does not show what was deleted.
func missed(t *testing.T, s Server) {
	writer, reader := newUser(t, s), newUser(t, s)
	at := writer.put(prefix+"a", "0")
	id := reader.watch(reader.list().Revision)
	writer.put(prefix+"b", "1")
	reader.until("the watch tells", func() bool { return len(reader.changes(id)) == 1 })
	reader.client.Cut(true)
	writer.must(agent.StoreOK, agent.StoreRequest{Op: agent.StoreDelete, Key: prefix + "a", Revision: at})
	writer.put(prefix+"b", "2")
	s.Compact()
	writer.put(prefix+"b", "3")
	reader.client.Cut(false)
	all := func() bool { return len(reader.changes(id)) == 4 }
	reader.until("a watch that missed a deletion tells it, or is told as lost", func() bool { return reader.lost[id] || all() })
	if !reader.lost[id] && !reader.changes(id)[1].Deleted {
		t.Fatalf("the watch tells %+v and has missed the deletion", reader.changes(id))
	}
	for reader.lost[id] {
		r := reader.ask(agent.StoreRequest{Op: agent.StoreList, Key: prefix})
		if r.Err == agent.StoreUnavailable {
			continue // its connection is not there yet
		}
		if len(r.Items) != 1 || r.Items[0].Value != "3" {
			t.Fatalf("the list shows %+v", r.Items)
		}
		break
	}
}

// wiped: lost data is told by another identity, nothing is compared with what it held, and what watched it ends.
func wiped(t *testing.T, s Server) {
	u := newUser(t, s)
	var revision int64
	for n := range 20 {
		revision = u.put(prefix+"a", fmt.Sprint(n))
	}
	before := u.list()
	id := u.watch(before.Revision)
	s.Wipe()
	u.until("the watch of lost data ends", func() bool { return u.lost[id] })
	r := u.ask(agent.StoreRequest{Op: agent.StoreUpdate, Key: prefix + "a", Value: "x", Revision: revision})
	for r.Err == agent.StoreUnavailable {
		r = u.ask(agent.StoreRequest{Op: agent.StoreUpdate, Key: prefix + "a", Value: "x", Revision: revision})
	}
	if r.Err != agent.StoreConflict {
		t.Fatalf("an update of a key that was lost is answered %s", r.Err)
	}
	after := u.list()
	if len(after.Items) > 0 || before.Store == 0 || after.Store == 0 || after.Store == before.Store {
		t.Fatalf("the store was %d and is %d after its data was lost; it shows %+v", before.Store, after.Store, after.Items)
	}
}
