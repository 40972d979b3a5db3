package cluster

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// slowStore is the obvious twin of Store: the list of all transactions, from which everything is found by reading it.
type slowStore struct {
	history   []agent.StoreItem // all changes
	revision  int64
	compacted int64
}

func (s *slowStore) get(key string) agent.StoreItem {
	for _, it := range slices.Backward(s.history) {
		if it.Key == key {
			if it.Deleted {
				break
			}
			return it
		}
	}
	return agent.StoreItem{Key: key, Deleted: true}
}

func (s *slowStore) list(prefix string) (items []agent.StoreItem) {
	seen := map[string]bool{}
	for _, it := range s.history {
		if strings.HasPrefix(it.Key, prefix) && !seen[it.Key] {
			seen[it.Key] = true
			if now := s.get(it.Key); !now.Deleted {
				items = append(items, now)
			}
		}
	}
	slices.SortFunc(items, func(a, b agent.StoreItem) int { return strings.Compare(a.Key, b.Key) })
	return items
}

func (s *slowStore) txn(ops []Op) Outcome {
	var failed []agent.StoreItem
	for _, op := range ops {
		now := s.get(op.Key)
		if op.Kind == OpCreate && !now.Deleted || op.Kind == OpCheck && now.ModRevision != op.Revision ||
			(op.Kind == OpUpdate || op.Kind == OpDelete) && (now.Deleted || now.ModRevision != op.Revision) {
			failed = append(failed, now)
		}
	}
	if len(failed) > 0 {
		return Outcome{Err: agent.StoreConflict, Revision: s.revision, Items: failed}
	}
	done := []agent.StoreItem{}
	for _, op := range ops {
		switch op.Kind {
		case OpPut, OpCreate, OpUpdate:
			done = append(done, agent.StoreItem{Key: op.Key, Value: op.Value, ModRevision: s.revision + 1})
		case OpDelete, OpRemove:
			if !s.get(op.Key).Deleted {
				done = append(done, agent.StoreItem{Key: op.Key, ModRevision: s.revision + 1, Deleted: true})
			}
		}
	}
	if len(done) > 0 {
		s.revision++
		s.history = append(s.history, done...)
	}
	return Outcome{Revision: s.revision, Items: done}
}

// listener collects what a watch is told.
type listener struct {
	got   []agent.StoreItem
	last  int64
	wrong string
	ended bool
}

func (l *listener) StoreChanged(revision int64, items []agent.StoreItem) {
	if revision <= l.last || len(items) == 0 {
		l.wrong = fmt.Sprintf("revision %d with %d items after revision %d", revision, len(items), l.last)
	}
	l.last = revision
	l.got = append(l.got, items...)
}

func (l *listener) StoreEnded() { l.ended = true }

func (l *listener) StoreCompacted() {}

// TestStoreAgainstTwin: random transactions, lists, watches and compactions give what the slow twin gives.
func TestStoreAgainstTwin(t *testing.T) {
	keys := []string{"a/1", "a/2", "a/20", "b/1", "ab"}
	prefixes := []string{"", "a/", "a/2", "b", "zz"}
	rapid.Check(t, func(t *rapid.T) {
		fast, slow := NewStore(), &slowStore{revision: 1}
		type opened struct {
			*listener
			prefix string
			after  int64
		}
		var watches []opened
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "action") {
			default:
				var ops []Op
				for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 3, rapid.ID).Draw(t, "keys") {
					op := Op{Kind: OpKind(rapid.IntRange(1, 6).Draw(t, "kind")), Key: key, Value: fmt.Sprint(step)}
					op.Revision = slow.get(key).ModRevision + int64(max(0, rapid.IntRange(-4, 1).Draw(t, "wrong")))
					ops = append(ops, op)
				}
				if diff := cmp.Diff(slow.txn(ops), fast.Txn(ops...)); diff != "" {
					t.Fatalf("%+v: (-slow +fast)\n%s", ops, diff)
				}
			case 7:
				prefix := rapid.SampledFrom(prefixes).Draw(t, "prefix")
				if diff := cmp.Diff(slow.list(prefix), fast.List(prefix).Items); diff != "" {
					t.Fatalf("list %q: (-slow +fast)\n%s", prefix, diff)
				}
			case 8:
				w := opened{&listener{}, rapid.SampledFrom(prefixes).Draw(t, "prefix"), int64(rapid.IntRange(0, int(slow.revision)+2).Draw(t, "after"))}
				_, err := fast.Watch(w.prefix, w.after, w)
				if (err == agent.StoreCompacted) != (w.after < slow.compacted) {
					t.Fatalf("watch after %d, compacted at %d: %v", w.after, slow.compacted, err)
				}
				if err == agent.StoreOK {
					watches = append(watches, w)
				}
			case 9:
				slow.compacted = max(slow.compacted, int64(rapid.IntRange(0, int(slow.revision)).Draw(t, "compact")))
				fast.Compact(slow.compacted)
			}
		}
		for _, w := range watches {
			var want []agent.StoreItem
			for _, it := range slow.history {
				if strings.HasPrefix(it.Key, w.prefix) && it.ModRevision > w.after {
					want = append(want, it)
				}
			}
			if diff := cmp.Diff(want, w.got); diff != "" || w.wrong != "" {
				t.Fatalf("watch %q after %d: %s (-slow +fast)\n%s", w.prefix, w.after, w.wrong, diff)
			}
		}
	})
}

// storeInput and storeOutput are one operation on one key. Values are unique, so "its ModRevision is the one seen with
// value expect" is the same as "its value is expect".
type storeInput struct {
	op            agent.StoreOp
	key           string
	expect, value string
}

type storeOutput struct {
	unknown, conflict bool
	value             string // the present one, "" for absent
}

// storeModel is what linearizability is checked against. An operation without an answer happened or did not.
var storeModel = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(storeInput).key
			byKey[key] = append(byKey[key], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		now, in, out := state.(string), input.(storeInput), output.(storeOutput)
		met := in.op == agent.StoreCreate && now == "" || in.op != agent.StoreCreate && now != "" && now == in.expect
		then := in.value // "" for a deletion
		switch {
		case in.op == agent.StoreList:
			if out.unknown || out.value == now {
				return []any{now}
			}
		case out.unknown && met:
			return []any{now, then}
		case out.unknown:
			return []any{now}
		case out.conflict && !met && out.value == now:
			return []any{now}
		case !out.conflict && met:
			return []any{then}
		}
		return nil
	},
	Equal: func(a, b any) bool { return a == b },
}

// TestStoreLinearizable: five clients work on three keys over links that lose and delay; the history of what they asked
// and heard, with unknown outcomes, is one of a register per key. The test is only worth something if outcomes of each
// sort occur, which it demands.
func TestStoreLinearizable(t *testing.T) {
	var unknown, conflicts int
	for seed := range uint64(20) {
		h := newStoreHistory(seed)
		h.run(300)
		unknown += h.unknown
		conflicts += h.conflicts
		if got := porcupine.CheckOperationsTimeout(storeModel.ToModel(), h.ops, 20*time.Second); got != porcupine.Ok {
			t.Fatalf("seed %d: history of %d operations: %s", seed, len(h.ops), got)
		}
	}
	if unknown < 100 || conflicts < 100 {
		t.Fatalf("too tame: %d unknown outcomes, %d conflicts", unknown, conflicts)
	}
}

type storeHistory struct {
	eng                *engine.Engine
	clients            []*storeActor
	ops                []porcupine.Operation
	left               int
	tick               int64
	unknown, conflicts int
}

// storeActor asks one thing at a time and remembers the revision of each key.
type storeActor struct {
	h      *storeHistory
	id     int
	client *StoreClient
	seen   map[string]agent.StoreItem
	asked  agent.StoreRequest
	input  storeInput
	called int64
	serial uint64
}

func newStoreHistory(seed uint64) *storeHistory {
	h := &storeHistory{eng: engine.New(engine.Seeded(seed))}
	net := NewNetwork(h.eng, NetworkConfig{Default: Link{DelayMin: time.Millisecond, DelayMax: 4 * time.Second, Loss: 0.05}})
	server := NewStoreServer(h.eng, net, net.Endpoint("store"), NewStore())
	for i := range 5 {
		a := &storeActor{h: h, id: i, seen: map[string]agent.StoreItem{}}
		a.client = server.Connect(net.Endpoint(fmt.Sprint("node-", i)), a.heard)
		h.clients = append(h.clients, a)
	}
	return h
}

func (h *storeHistory) run(n int) {
	h.left = n
	for _, a := range h.clients {
		a.ask()
	}
	for h.eng.Step() {
	}
}

// now is a time that orders what happens at one instant.
func (h *storeHistory) now() int64 {
	h.tick++
	return h.tick
}

func (a *storeActor) ask() {
	if a.h.left == 0 {
		return
	}
	a.h.left--
	a.serial++
	key := fmt.Sprint("key-", a.h.eng.Choose("key", 3))
	value := fmt.Sprintf("%d.%d", a.id, a.serial)
	seen := a.seen[key]
	r := agent.StoreRequest{ID: a.serial, Key: key, Value: value, Revision: seen.ModRevision}
	r.Op = []agent.StoreOp{agent.StoreList, agent.StoreCreate, agent.StoreUpdate, agent.StoreDelete}[a.h.eng.Choose("op", 4)]
	a.input = storeInput{op: r.Op, key: key, expect: seen.Value, value: value}
	if r.Op == agent.StoreDelete {
		a.input.value = ""
	}
	a.asked, a.called = r, a.h.now()
	a.client.Do(r)
}

func (a *storeActor) heard(ev agent.Event) {
	r := ev.(agent.StoreReply)
	var out storeOutput
	returned := a.h.now()
	switch r.Err {
	case agent.StoreUnavailable:
		out.unknown = true
		returned = math.MaxInt64 // it may still happen
		a.h.unknown++
	case agent.StoreConflict:
		out.conflict = true
		a.h.conflicts++
	}
	for _, it := range r.Items {
		if it.Key == a.asked.Key {
			a.seen[it.Key] = it
			out.value = it.Value
		}
	}
	if a.asked.Op == agent.StoreList && r.Err == agent.StoreOK && len(r.Items) == 0 {
		a.seen[a.asked.Key] = agent.StoreItem{}
	}
	a.h.ops = append(a.h.ops, porcupine.Operation{
		ClientId: a.id, Input: a.input, Output: out, Call: a.called, Return: returned,
	})
	a.ask()
}
