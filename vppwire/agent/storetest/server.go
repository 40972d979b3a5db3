package storetest

import (
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Server is one store with its clients.
type Server interface {
	// Client is another client.
	Client() Client
	// Compact forgets the history up to now; Wipe loses all data, and the store goes on.
	Compact()
	Wipe()
	// Until lets things happen until done reports true, all in the caller's goroutine; false when it is not to be expected
	// any more.
	Until(done func() bool) bool
}

// Client is one agent's way to the store.
type Client interface {
	// Do starts a request. What it comes to is told in Until.
	Do(r agent.StoreRequest, tell func(agent.Event))
	// Lose lets the next request get lost: before it is done, or its answer.
	Lose(answer bool)
	// Cut cuts the client off, or mends it.
	Cut(off bool)
}

// Try holds a store to its contract.
func Try(t *testing.T, start func(t *testing.T) Server) {
	for _, p := range []struct {
		name string
		try  func(t *testing.T, s Server)
	}{
		{"compared", compared}, {"unknown", unknown}, {"watched", watched}, {"newer watch", newer},
		{"compacted", compacted}, {"missed", missed}, {"wiped", wiped},
	} {
		t.Run(p.name, func(t *testing.T) { p.try(t, start(t)) })
	}
}

// prefix is of all keys.
const prefix = "k/"

// user is a client and what it has been told.
type user struct {
	t      *testing.T
	server Server
	client Client
	last   uint64
	reply  map[uint64]agent.StoreReply
	// told are the changes of the watch with that ID, lost that it has ended.
	told map[uint64][]agent.StoreChanged
	lost map[uint64]bool
}

func newUser(t *testing.T, s Server) *user {
	return &user{t: t, server: s, client: s.Client(), reply: map[uint64]agent.StoreReply{}, told: map[uint64][]agent.StoreChanged{}, lost: map[uint64]bool{}}
}

func (u *user) tell(ev agent.Event) {
	switch e := ev.(type) {
	case agent.StoreReply:
		if _, twice := u.reply[e.ID]; twice {
			u.t.Fatalf("request %d is answered twice", e.ID)
		}
		u.reply[e.ID] = e
	case agent.StoreChanged:
		if u.lost[e.Watch] {
			u.t.Fatalf("watch %d tells revision %d after it was told as lost", e.Watch, e.Revision)
		}
		u.told[e.Watch] = append(u.told[e.Watch], e)
	case agent.StoreWatchLost:
		u.lost[e.Watch] = true
	default:
		u.t.Fatalf("a store tells %T", ev)
	}
}

// ask asks and waits for the answer.
func (u *user) ask(r agent.StoreRequest) agent.StoreReply {
	u.t.Helper()
	u.last++
	r.ID = u.last
	u.client.Do(r, u.tell)
	answered := func() bool { _, ok := u.reply[r.ID]; return ok }
	if !u.server.Until(answered) {
		u.t.Fatalf("%s of %s is never answered", r.Op, r.Key)
	}
	return u.reply[r.ID]
}

// must is ask where the answer has to be this.
func (u *user) must(want agent.StoreError, r agent.StoreRequest) agent.StoreReply {
	u.t.Helper()
	got := u.ask(r)
	if got.Err != want {
		u.t.Fatalf("%s of %s at revision %d is answered %s, want %s", r.Op, r.Key, r.Revision, got.Err, want)
	}
	return got
}

// put creates or updates a key whatever it holds, and returns its revision.
func (u *user) put(key, value string) int64 {
	u.t.Helper()
	r := u.ask(agent.StoreRequest{Op: agent.StoreCreate, Key: key, Value: value})
	if r.Err == agent.StoreConflict {
		r = u.must(agent.StoreOK, agent.StoreRequest{Op: agent.StoreUpdate, Key: key, Value: value, Revision: r.Items[0].ModRevision})
	}
	return r.Revision
}

func (u *user) list() agent.StoreReply {
	u.t.Helper()
	return u.must(agent.StoreOK, agent.StoreRequest{Op: agent.StoreList, Key: prefix})
}

// watch opens a watch behind a revision and returns its ID.
func (u *user) watch(revision int64) uint64 {
	u.t.Helper()
	return u.must(agent.StoreOK, agent.StoreRequest{Op: agent.StoreWatch, Key: prefix, Revision: revision}).ID
}

// until waits for something that a store owes.
func (u *user) until(what string, done func() bool) {
	u.t.Helper()
	if !u.server.Until(done) {
		u.t.Fatalf("%s: it never happens", what)
	}
}
