package storetest

import (
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Inbox brings what the clients of a real Server are told on goroutines of their own to the one that tries the store.
// Embed it in the Server: it implements Until.
type Inbox chan func()

const (
	// inboxRoom is more than any try has told before somebody looks.
	inboxRoom = 1000
	// patience is how long something that a store owes may take on a slow machine: several of a client's time limits.
	patience = 30 * time.Second
)

// NewInbox makes an empty Inbox.
func NewInbox() Inbox { return make(Inbox, inboxRoom) }

// Later is what a store may call on any goroutine; tell is called by Until.
func (b Inbox) Later(tell func(agent.Event)) func(agent.Event) {
	return func(e agent.Event) { b <- func() { tell(e) } }
}

// Until implements Server.
func (b Inbox) Until(done func() bool) bool {
	limit := time.After(patience)
	for !done() {
		select {
		case f := <-b:
			f()
		case <-limit:
			return false
		}
	}
	return true
}
