package agent

import (
	"slices"
	"time"
)

// Patience with the store.
const (
	// storePatience is how long a request may stay unanswered before it counts as unknown; etcd's own clients wait 5 s.
	storePatience = 5 * time.Second
	// storeRetryFirst doubles to storeRetryMost while the store is unavailable.
	storeRetryFirst = 500 * time.Millisecond
	storeRetryMost  = 16 * time.Second
)

// store is the agent's view of the node records and its conversation with the store: one request at a time, and a watch.
type store struct {
	lastID uint64
	// asked is the outstanding request; ID 0: none.
	asked    StoreRequest
	deadline time.Time
	// watch is the ID of the watch that changes are accepted from, 0: none.
	watch          uint64
	watchConfirmed bool
	watchDeadline  time.Time
	// listed: the view has been complete once. stale: it may have missed something, the store is listed again.
	listed, stale bool
	// identity is the data's, 0 before the first answer.
	identity uint64
	// revision is the store's, up to which list and watch have told everything.
	revision int64
	retryAt  time.Time
	tries    int
	// records is the view, ascending by ID. Deleted records stay, so that a late delivery cannot bring them back.
	records []record
	notes   notes
	// odd counts live odd records: 0 means that nobody has pods outside of the plan's blocks.
	odd int
}

// record is one node record as last seen. The text is kept and the rest of it parsed when needed: a cluster of a thousand
// nodes has a million of these.
type record struct {
	id        uint32
	wired     bool // its peer group wants something
	deleted   bool
	malformed bool
	// odd: its pod networks are not just the block that the present plan gives its ID.
	odd       bool
	rev       int64
	value     string
	name, uid string // parts of value
	released  time.Time
}

// countOdd keeps the number of live odd records.
func (s *store) countOdd(r *record, by int) {
	if r.odd && r.live() {
		s.odd += by
	}
}

// live reports whether the record says that somebody holds the ID.
func (r *record) live() bool { return !r.deleted && r.released.IsZero() }

func (s *store) find(id uint32) (int, bool) {
	if n := len(s.records); n == 0 || s.records[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(s.records, id, func(r record, id uint32) int {
		switch {
		case r.id < id:
			return -1
		case r.id > id:
			return 1
		}
		return 0
	})
}

// record returns what is known of an ID, nil for nothing or deleted. Valid until the next change of the view.
func (s *store) record(id uint32) *record {
	if i, ok := s.find(id); ok && !s.records[i].deleted {
		return &s.records[i]
	}
	return nil
}

// due is when the store's part of Woke has something to do.
func (s *store) due() time.Time {
	at := s.retryAt
	for _, t := range [...]time.Time{s.deadline, s.watchDeadline} {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}

// askStore sends the next request that is worth sending, unless one is outstanding or the store needs a rest.
func (a *Agent) askStore() {
	s := &a.store
	if s.asked.ID != 0 || !s.retryAt.IsZero() && a.now.Before(s.retryAt) {
		return
	}
	s.retryAt = time.Time{}
	switch {
	case !s.listed || s.stale:
		a.ask(StoreRequest{Op: StoreList, Key: StorePrefix})
		return
	case s.watch == 0:
		s.lastID++
		s.watch, s.watchConfirmed, s.watchDeadline = s.lastID, false, a.now.Add(storePatience)
		a.emit(StoreRequest{ID: s.watch, Op: StoreWatch, Key: StorePrefix, Revision: s.revision})
	}
	a.identify()
}

// ask sends one request and waits for its answer.
func (a *Agent) ask(r StoreRequest) {
	s := &a.store
	if s.asked.ID != 0 {
		panic("agent: two store requests at a time: " + string(r.AppendText(nil)))
	}
	s.lastID++
	r.ID = s.lastID
	s.asked, s.deadline = r, a.now.Add(storePatience)
	a.emit(r)
}

// storeReplied takes the answer to the outstanding request or watch; late answers to given-up ones are ignored, because the
// list that follows shows what became of them.
func (a *Agent) storeReplied(e StoreReply) {
	s := &a.store
	if e.ID == s.watch && e.ID != 0 {
		a.watchReplied(e)
		return
	}
	if e.ID != s.asked.ID || e.ID == 0 {
		return
	}
	asked := s.asked
	s.asked, s.deadline = StoreRequest{}, time.Time{}
	a.todo |= todoStore
	if len(a.members.suspects) > 0 {
		a.todo |= todoSuspects
	}
	if e.Err == StoreUnavailable || e.Err == StoreCompacted {
		a.storeUnknown()
		return
	}
	s.tries, s.retryAt = 0, time.Time{}
	if asked.Op == StoreList {
		a.storeListed(e)
		return
	}
	s.stale = s.stale || s.other(e.Store)
	a.apply(e.Items) // a conflict's present item, or what was written
	if e.Err == StoreOK && len(e.Items) == 0 {
		a.apply([]StoreItem{{Key: asked.Key, Value: asked.Value, ModRevision: e.Revision, Deleted: asked.Op == StoreDelete}})
	}
	if e.Err == StoreConflict {
		s.stale = s.stale || len(e.Items) == 0
		a.conflicted()
	}
}

// storeUnknown: the request may or may not have been done. After a rest, the store is listed.
func (a *Agent) storeUnknown() {
	s := &a.store
	s.stale = true
	s.retryAt = a.now.Add(backOff(storeRetryFirst, storeRetryMost, s.tries))
	s.tries++
	a.todo |= todoStore
}

// storeOverdue gives up what has not been answered in time.
func (a *Agent) storeOverdue() {
	s := &a.store
	if due(s.deadline, a.now) {
		s.asked, s.deadline = StoreRequest{}, time.Time{}
		a.storeUnknown()
	}
	if due(s.watchDeadline, a.now) {
		a.storeWatchLost(StoreWatchLost{Watch: s.watch})
		a.storeUnknown()
	}
}

// storeListed takes a complete list: what is not in it is gone. A watch that was opened before is opened anew, as the
// list was asked for because that one had missed something.
func (a *Agent) storeListed(e StoreReply) {
	s := &a.store
	a.identifyStore(e.Store)
	complete := s.notes.marked()
	a.apply(e.Items)
	if e.Revision >= s.revision {
		listed, others := make(map[uint32]bool, len(e.Items)), map[string]bool{}
		for _, item := range e.Items {
			if id, ok := parseNodeKey(item.Key); ok {
				listed[id] = true
			} else {
				others[item.Key] = true
			}
		}
		s.notes.forget(a.cfg.NodeName, others, e.Revision)
		a.newcomer.strangers = nil
		for i := range s.records {
			if r := &s.records[i]; !listed[r.id] && !r.deleted && r.rev <= e.Revision {
				a.apply([]StoreItem{{Key: nodeKey(r.id), ModRevision: e.Revision, Deleted: true}})
			}
		}
		s.revision = e.Revision
	}
	s.stale = complete && !s.notes.marked() // newcomers were not noted while it was there
	s.watch, s.watchConfirmed, s.watchDeadline = 0, false, time.Time{}
	if !s.listed {
		s.listed = true
		a.todo |= todoPeers | todoPermit
	}
	a.todo |= todoBlocks | todoSuspects
}

// other reports whether an answer came from other data than the view.
func (s *store) other(id uint64) bool { return id != 0 && s.identity != 0 && id != s.identity }

// identifyStore notices a store that lost its data: what was seen in it before is as good as deleted, and its revisions
// say nothing about the new ones.
func (a *Agent) identifyStore(id uint64) {
	s := &a.store
	if id == 0 || id == s.identity {
		return
	}
	if s.identity != 0 {
		a.log(levelError, "the store has lost its data; what is ours is written again")
		s.revision = 0
		for i := range s.records {
			s.records[i].rev = 0
		}
		s.notes, a.ident.patientUntil = notes{}, time.Time{}
	}
	s.identity = id
}

func (a *Agent) watchReplied(e StoreReply) {
	s := &a.store
	switch e.Err {
	case StoreOK:
		s.watchConfirmed, s.watchDeadline = true, time.Time{}
		s.stale = s.stale || s.other(e.Store)
	case StoreCompacted:
		s.watch, s.watchDeadline, s.stale = 0, time.Time{}, true
	default:
		s.watch, s.watchDeadline = 0, time.Time{}
		a.storeUnknown()
	}
	a.todo |= todoStore
}

func (a *Agent) storeChanged(e StoreChanged) {
	s := &a.store
	if e.Watch != s.watch || e.Watch == 0 {
		return // the list that the present watch started from knows better
	}
	if !s.watchConfirmed {
		s.watchConfirmed, s.watchDeadline = true, time.Time{}
		a.todo |= todoStore
	}
	a.apply(e.Items)
	s.revision = max(s.revision, e.Revision)
	if a.ranges.waiting != "" {
		a.todo |= todoBlocks
	}
}

func (a *Agent) storeWatchLost(e StoreWatchLost) {
	s := &a.store
	if e.Watch != s.watch || e.Watch == 0 {
		return
	}
	s.watch, s.watchConfirmed, s.watchDeadline, s.stale = 0, false, time.Time{}, true
	a.todo |= todoStore
}

// apply brings items into the view. An item that is not newer than what is known of its key is ignored.
func (a *Agent) apply(items []StoreItem) {
	s := &a.store
	for i := range items {
		item := &items[i]
		id, ok := parseNodeKey(item.Key)
		if !ok {
			if a.takeNote(item) {
				continue
			}
			a.log(levelWarn, "store: key %q is not a node record's: ignored", item.Key)
			continue
		}
		at, known := s.find(id)
		if known && s.records[at].rev >= item.ModRevision {
			continue
		}
		if !known {
			s.records = slices.Insert(s.records, at, record{id: id})
		}
		r := &s.records[at]
		same := known && !r.deleted && !item.Deleted && r.value == item.Value
		r.rev = item.ModRevision
		if same {
			continue
		}
		released := r.uid
		if r.released.IsZero() {
			released = ""
		}
		a.fill(r, item)
		if r.deleted || r.malformed {
			a.newcomer.strangers = nil
		} else {
			a.explained(r.uid)
		}
		if released != "" && r.live() && r.uid == released {
			a.takenBack(r)
		}
		if len(a.members.suspects) > 0 && !r.live() {
			a.todo |= todoSuspects // somebody else has released it: nothing is left to wait for
		}
		a.recordChanged(r)
	}
}

// fill sets a record from an item. A value that cannot be read holds its ID and means nothing else.
func (a *Agent) fill(r *record, item *StoreItem) {
	s := &a.store
	s.countOdd(r, -1)
	defer s.countOdd(r, 1)
	*r = record{id: r.id, wired: r.wired, rev: item.ModRevision, value: item.Value, deleted: item.Deleted}
	if item.Deleted {
		return
	}
	n, err := ParseNodeInfo(item.Value)
	if err != nil {
		r.malformed = true
		a.log(levelWarn, "store: %s: %v: left alone", item.Key, err)
		return
	}
	r.name, r.uid, r.released = n.Name, n.UID, n.ReleasedAt
	r.odd = a.ranges.isOdd(r.id, n.PodNetworks)
}

// info is the record's text parsed again. Only for records that are not malformed or deleted.
func (r *record) info() NodeInfo {
	n, err := ParseNodeInfo(r.value)
	if err != nil {
		panic("agent: a record that was read once: " + err.Error())
	}
	n.ID = r.id // the key decides
	return n
}
