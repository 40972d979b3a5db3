package apiserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Fate is what becomes of a request.
type Fate int

const (
	// Pass: it is done, and answered.
	Pass Fate = iota
	// Vanish: it is lost.
	Vanish
	// Mute: it is done, its answer is lost.
	Mute
	// Late: as lost, but done when the wire lets go.
	Late
)

var errWire = errors.New("connection reset by peer")

// Wire is one client's way to a server, an http.RoundTripper, on which requests and answers get lost. NewWire makes
// one.
type Wire struct {
	base http.RoundTripper

	mu     sync.Mutex
	judge  func(*http.Request) Fate
	held   []func()
	bodies map[*body]bool
}

// NewWire returns a way over base on which everything passes.
func NewWire(base http.RoundTripper) *Wire {
	return &Wire{base: base, judge: func(*http.Request) Fate { return Pass }, bodies: map[*body]bool{}}
}

// Set changes what becomes of requests from now on. judge is called with the wire locked.
func (w *Wire) Set(judge func(*http.Request) Fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.judge = judge
}

// Partition cuts everything off, watches under way included; writes, which are all but GET, have a fate of their own.
func (w *Wire) Partition(writes Fate) {
	w.Set(func(r *http.Request) Fate {
		if r.Method != http.MethodGet {
			return writes
		}
		return Vanish
	})
	w.Break()
}

// Break ends the answers that are being read, watches among them.
func (w *Wire) Break() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for b := range w.bodies { // in any order
		b.cut()
	}
}

// LetGo lets the first n of the requests that were held arrive, in the order in which they were made.
func (w *Wire) LetGo(n int) {
	w.mu.Lock()
	n = min(n, len(w.held))
	held := w.held[:n]
	w.held = w.held[n:]
	w.mu.Unlock()
	for _, do := range held {
		do()
	}
}

// all is more requests than a wire holds.
const all = 1 << 30

// Heal lets everything pass from now on, and what was held arrive.
func (w *Wire) Heal() {
	w.Set(func(*http.Request) Fate { return Pass })
	w.LetGo(all)
}

// RoundTrip implements http.RoundTripper.
func (w *Wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	fate := w.judge(r)
	w.mu.Unlock()
	var text []byte
	if r.Body != nil {
		var err error
		if text, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // it has been read
		r.Body = io.NopCloser(bytes.NewReader(text))
	}
	again := func() error {
		later := r.Clone(context.WithoutCancel(r.Context()))
		later.Body = io.NopCloser(bytes.NewReader(text))
		resp, err := w.base.RoundTrip(later)
		if err != nil {
			return err
		}
		if !r.URL.Query().Has("watch") { // a watch's answer ends with the watch, and nobody would end this one
			_, err = io.Copy(io.Discard, resp.Body)
		}
		return errors.Join(err, resp.Body.Close())
	}
	switch fate {
	case Vanish:
		return nil, errWire
	case Mute:
		return nil, errors.Join(errWire, again())
	case Late:
		w.mu.Lock()
		w.held = append(w.held, func() { _ = again() }) // nobody waits for it
		w.mu.Unlock()
		return nil, errWire
	}
	resp, err := w.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	b := &body{ReadCloser: resp.Body, w: w}
	w.mu.Lock()
	w.bodies[b] = true
	w.mu.Unlock()
	resp.Body = b
	return resp, nil
}

// body is an answer that can be cut off while it is read.
type body struct {
	io.ReadCloser
	w *Wire
}

func (b *body) cut() { _ = b.ReadCloser.Close() } // whoever reads it is told

// Close implements io.Closer.
func (b *body) Close() error {
	b.w.mu.Lock()
	delete(b.w.bodies, b)
	b.w.mu.Unlock()
	return b.ReadCloser.Close()
}
