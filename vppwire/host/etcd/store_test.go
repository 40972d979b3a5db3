package etcd

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/sim/store"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// told collects what a store tells.
type told struct{ ch chan agent.Event }

func listen() told { return told{make(chan agent.Event, 1000)} }

func (l told) tell(ev agent.Event) { l.ch <- ev }

// next waits for the next event; generous, as machines are slow at times.
func (l told) next(t testing.TB) agent.Event {
	t.Helper()
	select {
	case ev := <-l.ch:
		return ev
	case <-time.After(time.Minute):
		t.Fatal("the store says nothing")
		return nil
	}
}

func (l told) reply(t testing.TB, s *Store, r agent.StoreRequest) agent.StoreReply {
	t.Helper()
	s.Do(r, l.tell)
	reply, ok := l.next(t).(agent.StoreReply)
	if !ok || reply.ID != r.ID {
		t.Fatalf("%+v was answered %+v", r, reply)
	}
	return reply
}

// Goal: etcd through this package answers as the store that agents are tried on. Method: random requests to both; their
// revisions differ by what else is written, so that those of keys are compared by their order.
func TestAgreesWithModel(t *testing.T) {
	server := member(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		s := client(t, server, fmt.Sprintf("/round-%d/", round)).Store()
		model := store.New()
		l := listen()
		real := map[int64]int64{0: 0, 77: 1 << 40} // the model's revisions in etcd's numbers
		watch := listen()
		base := l.reply(t, s, agent.StoreRequest{ID: 1, Op: agent.StoreList, Key: "k/"})
		s.Do(agent.StoreRequest{ID: 2, Op: agent.StoreWatch, Key: "k/", Revision: base.Revision}, watch.tell)
		if r, ok := watch.next(t).(agent.StoreReply); !ok || r.Err != agent.StoreOK || r.Store == 0 {
			rt.Fatalf("watch: %+v", r)
		}
		var seen sink
		if _, err := model.Watch("k/", 1, &seen); err != agent.StoreOK {
			rt.Fatal(err)
		}
		for i := range rapid.IntRange(1, 12).Draw(rt, "requests") {
			key := rapid.SampledFrom([]string{"k/1", "k/2", "other"}).Draw(rt, "key")
			r := agent.StoreRequest{ID: uint64(10 + i), Key: key, Value: fmt.Sprint("value ", i)}
			item, _ := model.Get(key)
			revision := rapid.SampledFrom([]int64{item.ModRevision, item.ModRevision, 0, 77}).Draw(rt, "revision")
			var want store.Outcome
			switch rapid.IntRange(0, 3).Draw(rt, "operation") {
			case 0:
				r.Op, r.Key = agent.StoreList, "k/"
				want = model.List("k/")
			case 1:
				r.Op = agent.StoreCreate
				want = model.Txn(store.Op{Kind: store.OpCreate, Key: key, Value: r.Value})
			case 2:
				r.Op = agent.StoreUpdate
				want = model.Txn(store.Op{Kind: store.OpUpdate, Key: key, Value: r.Value, Revision: revision})
			case 3:
				r.Op = agent.StoreDelete
				want = model.Txn(store.Op{Kind: store.OpDelete, Key: key, Revision: revision})
			}
			r.Revision = real[revision]
			got := l.reply(t, s, r)
			if got.Err != want.Err || got.Store != base.Store {
				rt.Fatalf("%+v: %v from %d, the model says %v", r, got.Err, got.Store, want.Err)
			}
			if _, known := real[want.Revision]; !known {
				real[want.Revision] = got.Revision
			}
			translated := slices.Clone(want.Items)
			for i := range translated {
				translated[i].ModRevision = real[translated[i].ModRevision]
			}
			if d := cmp.Diff(translated, got.Items, cmpopts.EquateEmpty()); d != "" {
				rt.Fatalf("%+v (-model +etcd):\n%s", r, d)
			}
		}
		for _, want := range seen.changes {
			got, ok := watch.next(t).(agent.StoreChanged)
			for i := range want.Items {
				want.Items[i].ModRevision = real[want.Items[i].ModRevision]
			}
			want.Revision, want.Watch = real[want.Revision], 2
			if d := cmp.Diff(want, got); !ok || d != "" {
				rt.Fatalf("watch (-model +etcd):\n%s", d)
			}
		}
	})
}

// sink collects what the model's watch tells.
type sink struct{ changes []agent.StoreChanged }

func (s *sink) StoreChanged(revision int64, items []agent.StoreItem) {
	s.changes = append(s.changes, agent.StoreChanged{Revision: revision, Items: slices.Clone(items)})
}

func (s *sink) StoreEnded() {}

func (s *sink) StoreCompacted() {}

// Goal: a watch from a revision that etcd has forgotten is told as compacted; one from before a change tells the
// change; a newer watch ends an older one.
func TestWatch(t *testing.T) {
	server := member(t)
	c := client(t, server, "")
	s := c.Store()
	l := listen()
	first := l.reply(t, s, agent.StoreRequest{ID: 1, Op: agent.StoreCreate, Key: "k/1", Value: "a"})
	second := l.reply(t, s, agent.StoreRequest{ID: 2, Op: agent.StoreUpdate, Key: "k/1", Value: "b", Revision: first.Revision})
	third := l.reply(t, s, agent.StoreRequest{ID: 3, Op: agent.StoreDelete, Key: "k/1", Revision: second.Revision})
	watch := listen()
	if r := watch.reply(t, s, agent.StoreRequest{ID: 4, Op: agent.StoreWatch, Key: "k/", Revision: first.Revision}); r.Err != agent.StoreOK {
		t.Fatalf("%+v", r)
	}
	for _, want := range []agent.StoreChanged{
		{Watch: 4, Revision: second.Revision, Items: []agent.StoreItem{{Key: "k/1", Value: "b", ModRevision: second.Revision}}},
		{Watch: 4, Revision: third.Revision, Items: []agent.StoreItem{{Key: "k/1", ModRevision: third.Revision, Deleted: true}}},
	} {
		if d := cmp.Diff(agent.Event(want), watch.next(t)); d != "" {
			t.Fatal(d)
		}
	}
	if _, err := c.etcd.Compact(t.Context(), second.Revision); err != nil {
		t.Fatal(err)
	}
	newer := listen()
	if r := newer.reply(t, s, agent.StoreRequest{ID: 5, Op: agent.StoreWatch, Key: "k/", Revision: first.Revision}); r.Err != agent.StoreCompacted {
		t.Fatalf("%+v", r)
	}
	if r := newer.reply(t, s, agent.StoreRequest{ID: 6, Op: agent.StoreWatch, Key: "k/", Revision: third.Revision}); r.Err != agent.StoreOK {
		t.Fatalf("%+v", r)
	}
	l.reply(t, s, agent.StoreRequest{ID: 7, Op: agent.StoreCreate, Key: "k/2", Value: "c"})
	if ev, ok := newer.next(t).(agent.StoreChanged); !ok || ev.Watch != 6 {
		t.Fatalf("%+v", ev)
	}
	if len(watch.ch) > 0 {
		t.Fatalf("an ended watch says %+v", <-watch.ch)
	}
}

// Goal: a store that lost its data is known by another identity, and says so before it takes a write from before.
func TestLostData(t *testing.T) {
	server := member(t)
	c := client(t, server, "")
	s := c.Store()
	l := listen()
	first := l.reply(t, s, agent.StoreRequest{ID: 1, Op: agent.StoreCreate, Key: "k/1", Value: "a"})
	if _, err := c.etcd.Delete(t.Context(), c.prefix, clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	r := l.reply(t, s, agent.StoreRequest{ID: 2, Op: agent.StoreUpdate, Key: "k/1", Value: "b", Revision: first.Revision})
	if r.Err != agent.StoreConflict || r.Store == first.Store || r.Store == 0 {
		t.Fatalf("%+v after %+v", r, first)
	}
}

// Goal: no answer is unavailable, never a refusal.
func TestUnavailable(t *testing.T) {
	server := member(t)
	c := client(t, server, "")
	s := c.Store()
	l := listen()
	l.reply(t, s, agent.StoreRequest{ID: 1, Op: agent.StoreList, Key: "k/"})
	server.Close()
	for id, op := range []agent.StoreOp{agent.StoreList, agent.StoreCreate, agent.StoreWatch} {
		s.Do(agent.StoreRequest{ID: uint64(2 + id), Op: op, Key: "k/"}, l.tell)
	}
	for range 3 {
		if r, ok := l.next(t).(agent.StoreReply); !ok || r.Err != agent.StoreUnavailable {
			t.Fatalf("%+v", r)
		}
	}
}
