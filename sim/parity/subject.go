package parity

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
)

// answerMax is how long a real VPP may take for one answer.
const answerMax = 5 * time.Second

// Subject is one VPP that is asked: the model, a real one, or one with a planted fault.
type Subject interface {
	// Ask returns the answers to a request: its reply, or a dump's details and what ends them, without pings. The error
	// says that there was none.
	Ask(ctx context.Context, m api.Message) ([]api.Message, error)
	// Close ends it.
	Close()
}

// model is the modelled VPP as a subject.
type model struct {
	*vppmodel.VPP
	// learned is what the real VPP's bridge domains have learned; nil is nothing.
	learned func(bridge uint32, mac vppwire.MAC) bool
	hops    *pastHops
	refined *refinements
}

// NewModel returns a fresh model without NICs, as the real one has none.
func NewModel() Subject {
	return model{VPP: vppmodel.New(vppmodel.Config{PID: 1, Host: newLinux()}), hops: newPastHops(), refined: newRefinements()}
}

func (m model) Ask(_ context.Context, q api.Message) ([]api.Message, error) {
	answers, err := m.Answer(vppmodel.InProcess, q)
	m.hops.note(m.VPP, q)
	m.refined.note(m.VPP, q)
	return answers, err
}

func (m model) Close() {}

// connection is a VPP behind an api.Connection as a subject.
type connection struct {
	conn   api.Connection
	stream api.Stream
	gone   context.Context
	cancel context.CancelFunc
	of     *process
	closed func()
	deaf   []string
}

// overConnection speaks on one stream until the process ends; closed is called behind Close.
func overConnection(p *process, closed func()) (*connection, error) {
	ctx, cancel := context.WithCancel(p.gone)
	stream, err := p.conn.NewStream(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	return &connection{conn: p.conn, stream: stream, gone: ctx, cancel: cancel, of: p, closed: closed}, nil
}

func (c *connection) Close() {
	_ = c.stream.Close() // there is nothing left to say
	c.cancel()
	c.of.stop()
	c.closed()
}

// silentError says that a VPP does not answer any more, and how it ended.
type silentError struct{ end string }

func (e *silentError) Error() string { return "VPP " + e.end }

// Ask sends a request and waits for all of its answers.
func (c *connection) Ask(ctx context.Context, m api.Message) ([]api.Message, error) {
	late := time.AfterFunc(answerMax, c.cancel)
	defer late.Stop()
	answers, err := transcript.Ask(c.stream, m)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && c.gone.Err() != nil:
		return nil, &silentError{c.of.end()}
	}
	return answers, err
}

// invoke is Ask for one answer, on the connection that the testbed's own questions use.
func (c *connection) invoke(ctx context.Context, m, reply api.Message) error {
	bounded, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	err := c.conn.Invoke(bounded, m, reply)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() != nil && err != nil, err != nil && c.gone.Err() != nil:
		return &silentError{c.of.end()}
	}
	return err
}

// linux is the machine below the model: the devices of a testbed.
type linux struct {
	id        map[string]uint64
	listening map[string]bool // memif sockets
}

func newLinux() *linux {
	l := &linux{map[string]uint64{}, map[string]bool{}}
	for i, d := range devices {
		l.id[d] = uint64(i + 1)
	}
	return l
}

var (
	errNoTaps   = errors.New("no taps here")
	errNoFolder = errors.New("no such folder")
	errListened = errors.New("somebody listens there")
)

// missingFolder is a folder that no machine has.
const missingFolder = "/nowhere/"

func (l *linux) MemifListen(file string) error {
	switch {
	case strings.HasPrefix(file, missingFolder):
		return errNoFolder
	case l.listening[file]:
		return errListened
	}
	l.listening[file] = true
	return nil
}

func (l *linux) MemifClose(file string)              { delete(l.listening, file) }
func (l *linux) MemifPeer(string, uint32, bool) bool { return false }
func (l *linux) MemifEnd(string) (string, string)    { return "", "" }

func (l *linux) TapCreate(string, string, [6]byte, uint32) error { return errNoTaps }
func (l *linux) TapDelete(string, string)                        {}
func (l *linux) HasLink(name string) bool                        { return l.id[name] != 0 }
func (l *linux) LinkUp(string)                                   {}
func (l *linux) LinkDown(string)                                 {}
func (l *linux) LinkID(name string) uint64                       { return l.id[name] }
func (l *linux) LinkMAC(name string) [6]byte                     { return [6]byte{2, 4: 0x0a, 5: byte(l.id[name] - 1)} }
