package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// compared: every operation on a key that is absent or present, at the right revision and at wrong ones; random ones by
// two clients against a twin that is a map.
func compared(t *testing.T, s Server) {
	users := []*user{newUser(t, s), newUser(t, s)}
	twin := map[string]agent.StoreItem{}
	var revision int64
	c := engine.Seeded(1)
	for n := range 150 {
		u := users[c.Pick("user", len(users))]
		r := agent.StoreRequest{Key: prefix + string(rune('a'+c.Pick("key", 3))), Value: fmt.Sprint("value ", n)}
		r.Op = [...]agent.StoreOp{agent.StoreCreate, agent.StoreUpdate, agent.StoreDelete}[c.Pick("operation", 3)]
		present, there := twin[r.Key]
		r.Revision = [...]int64{present.ModRevision, present.ModRevision, 0, revision, present.ModRevision + 1, present.ModRevision - 1}[c.Pick("revision", 6)]
		met := there && r.Revision == present.ModRevision
		if r.Op == agent.StoreCreate {
			r.Revision, met = 0, !there
		}
		got := u.ask(r)
		what := fmt.Sprintf("%s of %s at revision %d, present %+v", r.Op, r.Key, r.Revision, present)
		switch {
		case met && got.Err != agent.StoreOK:
			t.Fatalf("%s: refused: %s", what, got.Err)
		case !met && got.Err == agent.StoreOK:
			t.Fatalf("%s: done, although its comparison does not hold", what)
		case !met:
			if !there {
				present = agent.StoreItem{Key: r.Key, Deleted: true}
			}
			if got.Err != agent.StoreConflict || !slices.Equal(got.Items, []agent.StoreItem{present}) {
				t.Fatalf("%s: answered %s with %+v, which is not what is there", what, got.Err, got.Items)
			}
			continue
		case got.Revision <= revision:
			t.Fatalf("%s: done at revision %d behind %d", what, got.Revision, revision)
		}
		revision = got.Revision
		item := agent.StoreItem{Key: r.Key, Value: r.Value, ModRevision: revision}
		if r.Op == agent.StoreDelete {
			item.Value, item.Deleted = "", true
			delete(twin, r.Key)
		} else {
			twin[r.Key] = item
		}
		if !slices.Equal(got.Items, []agent.StoreItem{item}) {
			t.Fatalf("%s: answered with %+v, want %+v", what, got.Items, item)
		}
	}
	users[0].shows(twin)
}

// shows: a list is what the twin has.
func (u *user) shows(twin map[string]agent.StoreItem) {
	u.t.Helper()
	got := u.list().Items
	same := len(got) == len(twin)
	for _, item := range got {
		same = same && twin[item.Key] == item
	}
	if !same {
		u.t.Fatalf("listed %+v, want %+v", got, twin)
	}
}

// unknown: requests and answers get lost. What is told as done is there, what is told as unavailable is there or not,
// and the same request again finds out.
func unknown(t *testing.T, s Server) {
	u := newUser(t, s)
	value, revision := "0", u.put(prefix+"a", "0")
	done, undone := 0, 0
	for n := 1; n <= 12; n++ {
		r := agent.StoreRequest{Op: agent.StoreUpdate, Key: prefix + "a", Value: fmt.Sprint(n), Revision: revision}
		u.client.Lose(n%2 == 0)
		if got := u.ask(r); got.Err != agent.StoreUnavailable {
			t.Fatalf("the answer to an update was lost, and the client is told %s", got.Err)
		}
		items := u.list().Items
		if len(items) != 1 || items[0].Value != value && items[0].Value != r.Value {
			t.Fatalf("after an update from %q to %q without an answer the key holds %+v", value, r.Value, items)
		}
		again := u.ask(r) // repeated as a late request is: it names what it expects to find
		switch {
		case items[0].Value == r.Value:
			done++
			if again.Err != agent.StoreConflict || !slices.Equal(again.Items, items) {
				t.Fatalf("an update that was done is done again: %s with %+v, present %+v", again.Err, again.Items, items)
			}
			value, revision = r.Value, items[0].ModRevision
		default:
			undone++
			if again.Err != agent.StoreOK {
				t.Fatalf("an update that was lost is refused when it is repeated: %s with %+v", again.Err, again.Items)
			}
			value, revision = r.Value, again.Revision
		}
	}
	if done == 0 || undone == 0 {
		t.Fatalf("%d updates without an answer were done and %d not: both must occur", done, undone)
	}
}
