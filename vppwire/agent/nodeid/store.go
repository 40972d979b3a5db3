package nodeid

import "time"

// Patience with the store.
const (
	// storePatience is how long a request may stay unanswered before it counts as unknown; etcd's own clients wait 5 s.
	storePatience = 5 * time.Second
	// storeRetryFirst doubles to storeRetryMost while the store is unavailable.
	storeRetryFirst = 500 * time.Millisecond
	storeRetryMost  = 16 * time.Second
)

// conversation is what is under way with the store: one request at a time, and a watch.
type conversation struct {
	lastID uint64
	// asked is the outstanding request; ID 0: none.
	asked    Request
	deadline time.Time
	// watch is the ID of the watch that changes are accepted from, 0: none.
	watch          uint64
	watchConfirmed bool
	watchDeadline  time.Time
	// retryAt ends the backoff that follows tries requests without a useful answer.
	retryAt time.Time
	tries   int
}

// due is when Woke has something to do.
func (s *conversation) due() time.Time {
	at := s.retryAt
	for _, t := range [...]time.Time{s.deadline, s.watchDeadline} {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}

// act sends the next request that is worth sending, unless one is outstanding or the store is left alone for a while.
func (m *Machine) act() {
	s, v := &m.store, &m.view
	if s.asked.ID != 0 || !s.retryAt.IsZero() && m.now.Before(s.retryAt) {
		return
	}
	s.retryAt = time.Time{}
	switch {
	case !v.listed || v.stale:
		m.ask(Request{Op: List, Key: Prefix})
		return
	case s.watch == 0:
		s.lastID++
		s.watch, s.watchConfirmed, s.watchDeadline = s.lastID, false, m.now.Add(storePatience)
		m.emit(Request{ID: s.watch, Op: Watch, Key: Prefix, Revision: v.revision})
	}
	m.identify()
}

// ask sends one request and waits for its answer.
func (m *Machine) ask(r Request) {
	s := &m.store
	if s.asked.ID != 0 {
		panic("nodeid: two store requests at a time: " + r.Op.String() + " " + r.Key)
	}
	s.lastID++
	r.ID = s.lastID
	s.asked, s.deadline = r, m.now.Add(storePatience)
	m.emit(r)
}

// storeReplied takes the answer to the outstanding request or watch; late answers to given-up ones are ignored, because
// the list that follows shows what became of them.
func (m *Machine) storeReplied(e StoreReply) {
	s, v := &m.store, &m.view
	if e.ID == s.watch && e.ID != 0 {
		m.watchReplied(e)
		return
	}
	if e.ID != s.asked.ID || e.ID == 0 {
		return
	}
	asked := s.asked
	s.asked, s.deadline = Request{}, time.Time{}
	m.changed |= WantsAct
	if m.overOwn(asked) {
		m.changed |= Viewed // what the request would have changed may be acted on
	}
	if m.members.owed() {
		m.changed |= WantsJudge
	}
	if e.Err == Unavailable || e.Err == Compacted {
		m.storeUnknown(asked)
		return
	}
	s.tries, s.retryAt = 0, time.Time{}
	if asked.Op == List {
		m.storeListed(e)
		return
	}
	v.stale = v.stale || v.other(e.Store)
	if e.Err == OK && len(e.Items) == 0 {
		e.Items = []Item{{Key: asked.Key, Value: asked.Value, ModRevision: e.Revision, Deleted: asked.Op == Delete}}
	}
	if e.Err == Conflict {
		m.missing(&e)
	}
	m.apply(e.Items) // a conflict's present item, or what was written
	if e.Err == Conflict {
		m.conflicted()
	}
}

// missing takes it from a conflict that its key was not there at the answer's revision: no change says so, and the view
// would stay as it is, in which the same request is worth asking for again, at once, until the watch tells of the
// deletion. An answer that does not say when it held, or is about other data, is only a reason to list.
func (m *Machine) missing(e *StoreReply) {
	v := &m.view
	switch {
	case len(e.Items) == 0:
		v.stale = true
	case !e.Items[0].Deleted || e.Items[0].ModRevision != 0:
	case v.stale || e.Revision == 0:
		v.stale = true
	default:
		e.Items = []Item{{Key: e.Items[0].Key, ModRevision: e.Revision, Deleted: true}}
	}
}

// overOwn reports whether a request writes over our own record.
func (m *Machine) overOwn(r Request) bool {
	return r.Op == Update && m.claim.ID != 0 && r.Key == recordKey(m.claim.ID)
}

// storeUnknown: the request may or may not have been done, or be done later. After a backoff, the store is listed.
func (m *Machine) storeUnknown(asked Request) {
	s := &m.store
	if m.overOwn(asked) {
		m.claim.unsure = asked.Revision
	}
	m.view.stale = true
	s.retryAt = m.now.Add(min(storeRetryFirst<<min(s.tries, 16), storeRetryMost))
	s.tries++
	m.changed |= WantsAct
}

// storeOverdue gives up what has not been answered in time.
func (m *Machine) storeOverdue() {
	s := &m.store
	if due(s.deadline, m.now) {
		asked := s.asked
		s.asked, s.deadline = Request{}, time.Time{}
		m.storeUnknown(asked)
	}
	if due(s.watchDeadline, m.now) {
		m.storeWatchLost(s.watch)
		m.storeUnknown(Request{})
	}
}

// storeListed takes a complete list: what is not in it is gone. A watch that was opened before is opened anew, as the
// list was asked for because that one had missed something.
func (m *Machine) storeListed(e StoreReply) {
	s, v, n := &m.store, &m.view, &m.barrier
	m.identifyStore(e.Store)
	complete := n.marked()
	listed, others := make(map[uint32]bool, len(e.Items)), map[string]bool{}
	for _, item := range e.Items {
		if id, ok := parseKey(item.Key); ok {
			listed[id] = true
		} else {
			others[item.Key] = true
		}
	}
	if m.claim.ID != 0 && e.Revision >= v.revision && !listed[m.claim.ID] {
		m.doubt() // before its announcements are read, which matter then
	}
	m.apply(e.Items)
	if e.Revision >= v.revision {
		n.forget(m.cfg.Name, others, e.Revision)
		n.unregistered = nil
		m.losing = !m.Complete() || n.doubted
		for i := range v.entries {
			if r := &v.entries[i]; !listed[r.id] && !r.deleted && r.rev <= e.Revision {
				m.apply([]Item{{Key: recordKey(r.id), ModRevision: e.Revision, Deleted: true}})
			}
		}
		m.losing = false
		m.askForLost()
		v.revision = e.Revision
	}
	v.stale = complete && !n.marked() // announcements were not noted while it was there
	s.watch, s.watchConfirmed, s.watchDeadline = 0, false, time.Time{}
	if !v.listed {
		v.listed = true
		m.changed |= RecordsKnown
	}
	m.changed |= Viewed | WantsJudge
}

// other reports whether an answer came from other data than the view.
func (v *view) other(id uint64) bool { return id != 0 && v.store != 0 && id != v.store }

// identifyStore notices a store that lost its data: what was seen in it before is as good as deleted, and its revisions
// say nothing about the new ones.
func (m *Machine) identifyStore(id uint64) {
	v := &m.view
	if id == 0 || id == v.store {
		return
	}
	if v.store != 0 {
		m.log(Error, "the store has lost its data; what is ours is written again")
		v.revision = 0
		for i := range v.entries {
			v.entries[i].rev = 0
		}
		m.barrier.reset()
		m.barrier.doubted = false // of the one before
		m.doubt()
		m.claim.patientUntil, m.claim.unsure = time.Time{}, 0
	}
	v.store = id
}

func (m *Machine) watchReplied(e StoreReply) {
	s, v := &m.store, &m.view
	if e.Err == OK {
		s.watchConfirmed, s.watchDeadline = true, time.Time{}
		v.stale = v.stale || v.other(e.Store)
	} else {
		m.storeWatchLost(e.ID)
		if e.Err != Compacted {
			m.storeUnknown(Request{})
		}
	}
	m.changed |= WantsAct
}

func (m *Machine) storeChanged(e StoreChanged) {
	s := &m.store
	if e.Watch != s.watch || e.Watch == 0 {
		return // the list that the present watch started from knows better
	}
	if !s.watchConfirmed {
		s.watchConfirmed, s.watchDeadline = true, time.Time{}
		m.changed |= WantsAct
	}
	m.apply(e.Items)
	m.view.revision = max(m.view.revision, e.Revision)
	m.changed |= Advanced
}

func (m *Machine) storeWatchLost(watch uint64) {
	s := &m.store
	if watch != s.watch || watch == 0 {
		return
	}
	s.watch, s.watchConfirmed, s.watchDeadline, m.view.stale = 0, false, time.Time{}, true
	m.changed |= WantsAct
}
