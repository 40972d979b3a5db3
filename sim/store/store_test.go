package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

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
		if op.Kind == OpCreate && !now.Deleted || op.Kind == opCheck && now.ModRevision != op.Revision ||
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
		case opPut, OpCreate, OpUpdate:
			done = append(done, agent.StoreItem{Key: op.Key, Value: op.Value, ModRevision: s.revision + 1})
		case OpDelete, opRemove:
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
		fast, slow := New(), &slowStore{revision: 1}
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
