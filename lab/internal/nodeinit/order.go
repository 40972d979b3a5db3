package nodeinit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// Order is what a connection asks for. Exactly one field is set.
type Order struct {
	// VPP starts VPP; an empty Binary is looked for in the container (vppproc.Find).
	VPP *vppproc.Config `json:",omitempty"`
	// Program starts a program.
	Program *Program `json:",omitempty"`
	// Pod makes a pod's network namespace of that name, PodGone ends it.
	Pod     string `json:",omitempty"`
	PodGone string `json:",omitempty"`
	// Examine says which VPP the container has; it is started for a moment.
	Examine bool `json:",omitempty"`
}

// Program is one to start. Output is the path of the file that gets what it prints, appended; Env is added to the
// container's environment.
type Program struct {
	Argv   []string
	Env    []string
	Output string
}

// Answer is what comes back: once for an order, and once more when a process has ended.
type Answer struct {
	// Error is empty when all went well; CannotRun tells a container that cannot do it from other troubles.
	Error     string `json:",omitempty"`
	CannotRun bool   `json:",omitempty"`
	// PID is the process's number.
	PID int `json:",omitempty"`
	// Ended: the process is gone.
	Ended bool `json:",omitempty"`
	// Path is the pod's namespace as the container calls it.
	Path string `json:",omitempty"`
	// Binary, Version and Plugins are the VPP's that was examined.
	Binary  string   `json:",omitempty"`
	Version string   `json:",omitempty"`
	Plugins []string `json:",omitempty"`
}

// word is said about a running process.
type word string

const (
	wordKeep word = "keep"
	wordKill word = "kill"
	wordStop word = "stop"
)

// fault is an Answer's Error as an error.
type fault struct {
	text      string
	cannotRun bool
}

func (f fault) Error() string        { return f.text }
func (f fault) Is(target error) bool { return f.cannotRun && target == vppproc.ErrCannotRun }

func (a Answer) err() error {
	if a.Error == "" {
		return nil
	}
	return fault{a.Error, a.CannotRun}
}

// answerTo is the Answer that tells an error.
func answerTo(err error) Answer {
	return Answer{Error: err.Error(), CannotRun: errors.Is(err, vppproc.ErrCannotRun)}
}

// Ready reports whether the init behind a socket takes orders.
func Ready(socket string) bool {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was ordered
	return true
}

// Send gives an order that starts no process, and returns the answer.
func Send(ctx context.Context, socket string, o Order) (Answer, error) {
	c, a, err := order(ctx, socket, o)
	if err != nil {
		return a, err
	}
	return a, c.conn.Close()
}

// Start gives an order that starts a process. The process survives this one: see the package's documentation.
func Start(ctx context.Context, socket string, o Order) (*Process, error) {
	c, a, err := order(ctx, socket, o)
	if err != nil {
		return nil, err
	}
	p := &Process{talk: c, pid: a.PID, done: make(chan struct{})}
	_ = p.say(wordKeep) // a connection that is gone went with the process
	go func() {
		defer close(p.done)
		// The container's end is the connection's: whatever comes, the process is gone. What is no answer is one too.
		_ = c.read.Decode(&Answer{})
		_ = c.conn.Close()
	}()
	return p, nil
}

// talk is a connection.
type talk struct {
	conn net.Conn
	read *json.Decoder
	mu   sync.Mutex
}

func order(ctx context.Context, socket string, o Order) (*talk, Answer, error) {
	var a Answer
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, a, fmt.Errorf("order: %w", err)
	}
	c := &talk{conn: conn, read: json.NewDecoder(conn)}
	// A context that ends breaks the order off.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	if err = json.NewEncoder(conn).Encode(o); err == nil {
		err = c.read.Decode(&a)
	}
	if !stop() || err != nil {
		_ = conn.Close()
		return nil, a, fmt.Errorf("order: %w", errors.Join(ctx.Err(), err))
	}
	if err := a.err(); err != nil {
		_ = conn.Close()
		return nil, a, err
	}
	return c, a, nil
}

// Process is one that was started in a container.
type Process struct {
	talk *talk
	pid  int
	done chan struct{}
}

// PID is its number: containers of nodes count as this machine does.
func (p *Process) PID() int { return p.pid }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill ends it at once and returns when it is gone; Stop asks first.
func (p *Process) Kill() { p.end(wordKill) }

// Stop asks it to end, kills it when it does not, and returns when it is gone.
func (p *Process) Stop() { p.end(wordStop) }

func (p *Process) end(w word) {
	_ = p.say(w) // a connection that is gone went with the process
	<-p.done
}

func (p *Process) say(w word) error {
	p.talk.mu.Lock()
	defer p.talk.mu.Unlock()
	return json.NewEncoder(p.talk.conn).Encode(w)
}
