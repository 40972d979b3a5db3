package relay

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"
)

// Retransmission is what one lost piece costs: Linux' least retransmission timeout, 200 ms.
const Retransmission = 200 * time.Millisecond

// Link is how a direction carries bytes.
type Link struct {
	// Cut holds everything back.
	Cut bool
	// Delay is by how much each piece may be late, drawn evenly from none to it. Loss is the probability that a piece
	// needs a retransmission.
	Delay time.Duration
	Loss  float64
}

// Relay listens on one unix socket and dials another for each connection.
type Relay struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	there Link // from those who dial us to the target
	back  Link
	// changed is closed and replaced when a link changes.
	changed chan struct{}
	conns   map[net.Conn]bool
	closed  bool
	wg      sync.WaitGroup
}

// Listen starts a relay from the socket path to the socket target, which need not exist yet.
func Listen(path, target string) (*Relay, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	r := &Relay{listener: l, target: target, changed: make(chan struct{}), conns: map[net.Conn]bool{}}
	r.wg.Add(1)
	go r.accept()
	return r, nil
}

// Set changes both directions: there is towards the target.
func (r *Relay) Set(there, back Link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.there, r.back = there, back
	close(r.changed)
	r.changed = make(chan struct{})
}

// Links returns both directions.
func (r *Relay) Links() (there, back Link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.there, r.back
}

// Reset ends every connection; new ones are taken.
func (r *Relay) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns { //vppdrill:unordered each by itself
		_ = c.Close() // the copiers end
	}
}

// Close ends the relay and every connection.
func (r *Relay) Close() error {
	r.mu.Lock()
	r.closed = true
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	err := r.listener.Close()
	r.Reset()
	r.wg.Wait()
	return err
}

func (r *Relay) accept() {
	defer r.wg.Done()
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		r.wg.Add(1)
		go r.carry(c)
	}
}

// note keeps a connection for Reset; false when the relay is closed.
func (r *Relay) note(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.conns[c] = true
	return true
}

func (r *Relay) forget(c net.Conn) {
	r.mu.Lock()
	delete(r.conns, c)
	r.mu.Unlock()
	_ = c.Close() // perhaps for the second time
}

func (r *Relay) carry(from net.Conn) {
	defer r.wg.Done()
	defer r.forget(from)
	if !r.note(from) || !r.pass(true) { // a connection cannot be made through a cut
		return
	}
	to, err := net.Dial("unix", r.target)
	if err != nil {
		return
	}
	defer r.forget(to)
	if !r.note(to) {
		return
	}
	var both sync.WaitGroup
	both.Add(2)
	copyTo := func(dst, src net.Conn, there bool) {
		defer both.Done()
		// One side's end ends the other: gRPC has no half-closed connections.
		defer func() { _ = dst.Close() }()
		defer func() { _ = src.Close() }()
		r.copy(dst, src, there)
	}
	go copyTo(to, from, true)
	go copyTo(from, to, false)
	both.Wait()
}

// copy carries one direction until either side ends.
func (r *Relay) copy(dst io.Writer, src io.Reader, there bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := src.Read(buffer)
		if n > 0 {
			if !r.pass(there) {
				return
			}
			if _, err := dst.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits until a direction lets a piece through; false when the relay is closed.
func (r *Relay) pass(there bool) bool {
	waited := false
	for {
		r.mu.Lock()
		l, changed, closed := r.back, r.changed, r.closed
		if there {
			l = r.there
		}
		r.mu.Unlock()
		var late time.Duration
		switch {
		case closed:
			return false
		case l.Cut:
			<-changed
			continue
		case waited:
			return true
		}
		if l.Delay > 0 {
			late = rand.N(l.Delay)
		}
		if l.Loss > 0 && rand.Float64() < l.Loss {
			late += Retransmission
		}
		if late == 0 {
			return true
		}
		waited = true
		select {
		case <-time.After(late):
		case <-changed: // a mended link is not late any more
		}
	}
}
