package store

import (
	"slices"
	"sort"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Watch is one open watch of a Store.
type Watch struct {
	store  *Store
	prefix string
	after  int64
	sink   Sink
}

// Sink receives what a watch sees. It must not call the Store back.
type Sink interface {
	// StoreChanged is called once per transaction that touched the prefix; items are shared and must not be changed.
	StoreChanged(revision int64, items []agent.StoreItem)
	// StoreEnded is the last call: an outage or the loss of all data ended the watch.
	StoreEnded()
	// StoreCompacted: the history has been forgotten. A sink that has not delivered all of it reports the end to its own
	// receiver.
	StoreCompacted()
}

// Watch sends sink every change below prefix after revision, beginning with the past ones, before it returns. A
// revision that the store has not reached yet is legal, as in etcd: nothing is sent until it has been passed, which
// after a Wipe may be never. StoreCompacted: changes after revision have been forgotten.
func (s *Store) Watch(prefix string, after int64, sink Sink) (*Watch, agent.StoreError) {
	if s.down {
		return nil, agent.StoreUnavailable
	}
	s.ops++
	if after < s.compacted {
		return nil, agent.StoreCompacted
	}
	w := &Watch{store: s, prefix: prefix, after: after, sink: sink}
	past := s.log[sort.Search(len(s.log), func(i int) bool { return s.log[i].ModRevision > after }):]
	for len(past) > 0 {
		n := 1
		for n < len(past) && past[n].ModRevision == past[0].ModRevision {
			n++
		}
		if items := below(prefix, past[:n]); len(items) > 0 {
			sink.StoreChanged(past[0].ModRevision, items)
		}
		past = past[n:]
	}
	s.watches = append(s.watches, w)
	return w, agent.StoreOK
}

// Close ends the watch without a word. A closed watch may be closed again.
func (w *Watch) Close() {
	if i := slices.Index(w.store.watches, w); i >= 0 {
		w.store.watches = slices.Delete(w.store.watches, i, i+1)
	}
}

// Compact forgets the changes up to and including revision, which is cut to the store's own. Keys stay.
func (s *Store) Compact(revision int64) {
	s.compacted = max(s.compacted, min(revision, s.revision))
	n := sort.Search(len(s.log), func(i int) bool { return s.log[i].ModRevision > s.compacted })
	s.log = slices.Clone(s.log[n:])
	for _, w := range slices.Clone(s.watches) {
		w.sink.StoreCompacted()
	}
}

// Compacted is the revision up to which changes have been forgotten.
func (s *Store) Compacted() int64 { return s.compacted }

// tell passes one transaction to the watches in the order in which they were opened. A thousand agents watch one
// prefix: what it selects is found once.
func (s *Store) tell(revision int64, items []agent.StoreItem) {
	var prefix string
	selected := items
	for _, w := range s.watches {
		if w.prefix != prefix {
			prefix = w.prefix
			selected = below(prefix, items)
		}
		if len(selected) > 0 && revision > w.after {
			w.sink.StoreChanged(revision, selected)
		}
	}
}

func (s *Store) endWatches() {
	ended := s.watches
	s.watches = nil
	for _, w := range ended {
		w.sink.StoreEnded()
	}
}

// below selects the items whose keys start with prefix; all of them without copying where that is so.
func below(prefix string, items []agent.StoreItem) []agent.StoreItem {
	n := 0
	for _, item := range items {
		if strings.HasPrefix(item.Key, prefix) {
			n++
		}
	}
	if n == len(items) {
		return items[:n:n]
	}
	selected := make([]agent.StoreItem, 0, n)
	for _, item := range items {
		if strings.HasPrefix(item.Key, prefix) {
			selected = append(selected, item)
		}
	}
	return selected
}
