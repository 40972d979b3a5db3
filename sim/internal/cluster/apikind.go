package cluster

import (
	"maps"
	"slices"
	"sort"
	"time"
)

// kindState holds the objects of one kind, their recent past and their watches.
type kindState struct {
	objects map[Key]Object
	// sorted is the list that List returned last, nil when it is out of date: a thousand watchers that start together
	// share one.
	sorted []Object
	// onNode indexes what belongs to nodes: bound pods, resources, the Node objects themselves.
	onNode map[string]*nodePods
	// past is a ring of changes; forgotten is the version of the newest one that fell out.
	past      []pastChange
	first     int
	limit     int
	forgotten int64
	// everyone are the watches of all objects, open all watches, each in the order in which they were opened.
	everyone []*apiWatch
	open     []*apiWatch
}

// nodePods are the objects that belong to one node, and the watches of just those.
type nodePods struct {
	objects map[Key]Object
	sorted  []Object
	watches []*apiWatch
}

// pastChange is one change with both states: forward it feeds watches, backward it shows an older state.
type pastChange struct {
	old, now Object
	version  int64
	at       time.Duration
}

// apiWatch is one open watch at the server.
type apiWatch struct {
	node   string
	stream *stream[Change]
	sent   int64
	judge  func() Delivery
}

func newKindState(limit int) *kindState {
	return &kindState{objects: make(map[Key]Object), onNode: make(map[string]*nodePods), limit: limit}
}

func (s *kindState) pods(node string) *nodePods {
	p := s.onNode[node]
	if p == nil {
		p = &nodePods{objects: make(map[Key]Object)}
		s.onNode[node] = p
	}
	return p
}

// nodeOf is where an object is bound, "" for none.
func nodeOf(o Object) string {
	switch o := o.(type) {
	case *Pod:
		if o != nil {
			return o.Node
		}
	case *Resource:
		if o != nil {
			return o.Name
		}
	case *Node:
		if o != nil {
			return o.Name
		}
	}
	return ""
}

// apply replaces old by now (nil: none) and notifies the watches.
func (s *kindState) apply(old, now Object, version int64, at time.Duration) {
	s.sorted = nil
	last := now
	if now != nil {
		s.objects[now.Common().Key()] = now
	} else {
		last = old
		delete(s.objects, old.Common().Key())
	}
	node := nodeOf(last)
	if node != "" {
		p := s.pods(node)
		p.sorted = nil
		if now != nil {
			p.objects[now.Common().Key()] = now
		} else {
			delete(p.objects, old.Common().Key())
		}
	}
	change := pastChange{old: old, now: now, version: version, at: at}
	s.remember(change)
	for _, w := range s.everyone {
		w.tell(change)
	}
	if node != "" {
		for _, w := range s.onNode[node].watches {
			w.tell(change)
		}
	}
}

func (s *kindState) remember(c pastChange) {
	if len(s.past) < s.limit {
		s.past = append(s.past, c)
		return
	}
	s.forgotten = s.past[s.first].version
	s.past[s.first] = c
	s.first = (s.first + 1) % s.limit
}

// forget has no watch begin before a version.
func (s *kindState) forget(version int64) {
	s.past, s.first, s.forgotten = s.past[:0], 0, version
}

// recent is the i-th remembered change, oldest first.
func (s *kindState) recent(i int) *pastChange { return &s.past[(s.first+i)%len(s.past)] }

// tell sends a change as this watch sees it: a pod that becomes bound appears on its node.
func (w *apiWatch) tell(c pastChange) {
	out := Change{Type: Modified, Object: c.now, ResourceVersion: c.version}
	switch {
	case c.now == nil:
		out.Type, out.Object = Deleted, c.old
	case c.old == nil, w.node != "" && nodeOf(c.old) != w.node:
		out.Type = Added
	}
	if w.node != "" && nodeOf(out.Object) != w.node {
		return
	}
	w.sent = c.version
	w.stream.deliver(out, w.judge())
}

// watch opens a watch for changes after version and replays those of the past.
func (s *kindState) watch(w *apiWatch, version int64) error {
	if version < s.forgotten {
		return ErrGone
	}
	n := len(s.past)
	for i := sort.Search(n, func(i int) bool { return s.recent(i).version > version }); i < n; i++ {
		w.tell(*s.recent(i))
	}
	w.sent = max(w.sent, version)
	list := s.listOf(w)
	*list = append(*list, w)
	s.open = append(s.open, w)
	return nil
}

func (s *kindState) unwatch(w *apiWatch) {
	for _, list := range [...]*[]*apiWatch{s.listOf(w), &s.open} {
		if i := slices.Index(*list, w); i >= 0 {
			*list = slices.Delete(*list, i, i+1)
		}
	}
}

// listOf is where changes look for w.
func (s *kindState) listOf(w *apiWatch) *[]*apiWatch {
	if w.node != "" {
		return &s.pods(w.node).watches
	}
	return &s.everyone
}

func (s *kindState) endWatches() {
	for _, w := range slices.Clone(s.open) {
		s.unwatch(w)
		w.stream.finish()
	}
}

func (s *kindState) list(node string) []Object {
	if node == "" {
		if s.sorted == nil {
			s.sorted = inOrder(s.objects)
		}
		return s.sorted
	}
	p := s.onNode[node]
	if p == nil {
		return nil
	}
	if p.sorted == nil {
		p.sorted = inOrder(p.objects)
	}
	return p.sorted
}

// listAt is what list returned at version, reconstructed from the remembered changes; as far back as they reach.
func (s *kindState) listAt(version int64, node string) []Object {
	objects := maps.Clone(s.objects)
	for i := len(s.past) - 1; i >= 0 && s.recent(i).version > version; i-- {
		c := s.recent(i)
		if c.old == nil {
			delete(objects, c.now.Common().Key())
		} else {
			objects[c.old.Common().Key()] = c.old
		}
	}
	if node != "" {
		maps.DeleteFunc(objects, func(_ Key, o Object) bool { return nodeOf(o) != node })
	}
	return inOrder(objects)
}

// versionAt is the last version of this kind's changes at a time, the oldest remembered one at least.
func (s *kindState) versionAt(at time.Duration) int64 {
	version := s.forgotten
	for i := range s.past {
		if c := s.recent(i); c.at <= at {
			version = c.version
		}
	}
	return version
}

func inOrder(objects map[Key]Object) []Object {
	list := make([]Object, 0, len(objects))
	for _, o := range objects {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b Object) int { return a.Common().Key().compare(b.Common().Key()) })
	return list
}
