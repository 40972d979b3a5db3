package store

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Store is a key-value store with the guarantees of etcd v3: every transaction that writes gets the next revision,
// guards compare modification revisions, and a watch sees each change after its revision once, in revision order. It is
// a pure state machine without delays; StoreServer puts it behind a network. The zero Store is not usable: New.
type Store struct {
	revision  int64
	compacted int64
	byKey     map[string]*storeEntry
	ordered   []*storeEntry // by key
	log       []agent.StoreItem
	watches   []*Watch
	down      bool
	ops       int64
	// identity grows when all data is lost; etcd's cluster ID is as good as a number that never comes twice.
	identity uint64
	// Committed, where set, receives each change of a key: the state before and after it.
	Committed func(before, after agent.StoreItem)
}

type storeEntry struct {
	item agent.StoreItem
}

// New returns an empty store at revision 1, as a fresh etcd is.
func New() *Store {
	return &Store{revision: 1, identity: 1, byKey: make(map[string]*storeEntry)}
}

// OpKind is what one operation of a transaction does.
type OpKind uint8

// Kinds of operations.
const (
	// opPut writes Key whatever it holds.
	opPut OpKind = iota + 1
	// OpCreate writes Key if it does not exist.
	OpCreate
	// OpUpdate writes Key if its ModRevision is Revision.
	OpUpdate
	// OpDelete deletes Key if its ModRevision is Revision.
	OpDelete
	// opRemove deletes Key whatever it holds, as an operator does by hand; an absent key is no error.
	opRemove
	// opCheck only demands that Key's ModRevision is Revision; 0 demands that it is absent.
	opCheck
)

// Op is one operation of a transaction.
type Op struct {
	Kind       OpKind
	Key, Value string
	Revision   int64
}

// Outcome is what a transaction came to.
type Outcome struct {
	Err agent.StoreError
	// Revision is the store's after the transaction.
	Revision int64
	// Items are the keys written or deleted, in the operations' order. After StoreConflict they are the present states of
	// the keys whose guards failed; an absent key is a deleted item of revision 0.
	Items []agent.StoreItem
}

// Revision is that of the last writing transaction; 1 for a fresh store.
func (s *Store) Revision() int64 { return s.revision }

// Operations counts the transactions and lists that reached the store.
func (s *Store) Operations() int64 { return s.ops }

// Available reports whether the store answers.
func (s *Store) Available() bool { return !s.down }

// SetAvailable starts (false) or ends an outage. An outage ends every watch and fails every request; data survives it.
func (s *Store) SetAvailable(up bool) {
	s.down = !up
	if s.down {
		s.endWatches()
	}
}

// Wipe loses all data, as a replaced etcd volume does: no keys, no history, revision 1 again. Every watch ends;
// Committed is still called.
func (s *Store) Wipe() {
	s.endWatches()
	fresh := New()
	fresh.down, fresh.ops, fresh.identity, fresh.Committed = s.down, s.ops, s.identity+1, s.Committed
	*s = *fresh
}

// Identity distinguishes the present data from those before a loss.
func (s *Store) Identity() uint64 { return s.identity }

// Get returns a key's present state.
func (s *Store) Get(key string) (agent.StoreItem, bool) {
	e := s.byKey[key]
	if e == nil {
		return agent.StoreItem{}, false
	}
	return e.item, true
}

// List returns every key that starts with prefix, in key order. The slice is the caller's.
func (s *Store) List(prefix string) Outcome {
	if s.down {
		return Outcome{Err: agent.StoreUnavailable}
	}
	s.ops++
	return Outcome{Revision: s.revision, Items: s.Look(prefix)}
}

// Look returns what List does, for observers of the run.
func (s *Store) Look(prefix string) (items []agent.StoreItem) {
	first := sort.Search(len(s.ordered), func(i int) bool { return s.ordered[i].item.Key >= prefix })
	for _, e := range s.ordered[first:] {
		if !strings.HasPrefix(e.item.Key, prefix) {
			break
		}
		items = append(items, e.item)
	}
	return items
}

// Txn does all of ops under one revision, or none of them when a guard fails. A transaction that changes nothing takes
// no revision. Naming a key twice is a broken caller and panics, as etcd refuses it.
func (s *Store) Txn(ops ...Op) Outcome {
	if s.down {
		return Outcome{Err: agent.StoreUnavailable}
	}
	s.ops++
	if failed := s.unmet(ops); len(failed) > 0 {
		return Outcome{Err: agent.StoreConflict, Revision: s.revision, Items: failed}
	}
	return Outcome{Items: s.commit(ops), Revision: s.revision}
}

// unmet returns the present items of the keys whose guards do not hold.
func (s *Store) unmet(ops []Op) (failed []agent.StoreItem) {
	for i, op := range ops {
		for _, other := range ops[:i] {
			if other.Key == op.Key {
				panic(fmt.Sprintf("cluster: transaction names key %q twice", op.Key))
			}
		}
		item, ok := s.Get(op.Key)
		if !ok {
			item = agent.StoreItem{Key: op.Key, Deleted: true}
		}
		met := true
		switch op.Kind {
		case opPut, opRemove:
		case OpCreate:
			met = !ok
		case OpUpdate, OpDelete:
			met = ok && item.ModRevision == op.Revision
		case opCheck:
			met = item.ModRevision == op.Revision
		default:
			panic(fmt.Sprintf("cluster: unknown store operation %d", op.Kind))
		}
		if !met {
			failed = append(failed, item)
		}
	}
	return failed
}

// commit performs ops, whose guards hold, and notifies the watches.
func (s *Store) commit(ops []Op) []agent.StoreItem {
	next := s.revision + 1
	items := make([]agent.StoreItem, 0, len(ops))
	for _, op := range ops {
		switch op.Kind {
		case opCheck:
		case OpDelete, opRemove:
			before := s.present(op.Key)
			if s.drop(op.Key) {
				s.committed(before, agent.StoreItem{Key: op.Key, Deleted: true})
				items = append(items, agent.StoreItem{Key: op.Key, ModRevision: next, Deleted: true})
			}
		default:
			item := agent.StoreItem{Key: op.Key, Value: op.Value, ModRevision: next}
			before := s.present(op.Key)
			s.write(item)
			s.committed(before, item)
			items = append(items, item)
		}
	}
	if len(items) > 0 {
		s.revision = next
		s.log = append(s.log, items...)
		s.tell(next, items)
	}
	return items
}

func (s *Store) present(key string) agent.StoreItem {
	if e := s.byKey[key]; e != nil {
		return e.item
	}
	return agent.StoreItem{Key: key, Deleted: true}
}

func (s *Store) committed(before, after agent.StoreItem) {
	if s.Committed != nil {
		s.Committed(before, after)
	}
}

func (s *Store) write(item agent.StoreItem) {
	e := s.byKey[item.Key]
	if e == nil {
		e = &storeEntry{}
		s.byKey[item.Key] = e
		at := sort.Search(len(s.ordered), func(i int) bool { return s.ordered[i].item.Key >= item.Key })
		s.ordered = slices.Insert(s.ordered, at, e)
	}
	e.item = item
}

func (s *Store) drop(key string) bool {
	if s.byKey[key] == nil {
		return false
	}
	delete(s.byKey, key)
	at := sort.Search(len(s.ordered), func(i int) bool { return s.ordered[i].item.Key >= key })
	s.ordered = slices.Delete(s.ordered, at, at+1)
	return true
}
