package nodeagent

import (
	"encoding/json"
	"os"
	"reflect"
	"sync"
	"sync/atomic"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/removal"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Removed is one line of a Config.Removals file: what a call took away, and when the agent decided on the call, a time
// of Monotonic. What it decides while the call is under way is not what it knew.
type Removed struct {
	At      int64
	Removal fact.Removal
}

// removals writes what calls take away to a file, one write each: what an agent did before it was killed is there.
type removals struct {
	mu    sync.Mutex
	names *removal.Names
	file  *os.File // nil: nobody wants to know
	// decided is when the agent asked for the call that is under way; there is one at a time.
	decided atomic.Int64
}

func newRemovals(path string) (*removals, error) {
	r := &removals{names: removal.NewNames()}
	if path == "" {
		return r, nil
	}
	var err error
	r.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	return r, err
}

// dialed begins with a VPP that may be another one.
func (r *removals) dialed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names.Forget()
}

func (r *removals) shown(m api.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names.Shown(m)
}

func (r *removals) answered(req, reply api.Message) {
	if v := reflect.ValueOf(reply).Elem().FieldByName("Retval"); !v.IsValid() || v.Int() != 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(r.names.Answered(req, reply))
}

func (r *removals) shownLinux(state vppwire.LinuxState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names.ShownLinux(state)
}

func (r *removals) applied(op vppwire.LinuxOp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(r.names.Applied(op))
}

// note is called with r.mu held.
func (r *removals) note(what *fact.Removal) {
	if what == nil || r.file == nil {
		return
	}
	line, err := json.Marshal(Removed{At: r.decided.Load(), Removal: *what})
	if err != nil {
		return // values of netip and text always can be
	}
	_, _ = r.file.Write(append(line, '\n')) // a full disk loses evidence, and no agent may end for it
}

// seenStream shows a dump's messages to removals.
type seenStream struct {
	api.Stream
	removals *removals
}

// RecvMsg implements api.Stream.
func (s seenStream) RecvMsg() (api.Message, error) {
	m, err := s.Stream.RecvMsg()
	if err == nil {
		s.removals.shown(m)
	}
	return m, err
}
