package kube_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// fate is what becomes of a request.
type fate int

const (
	pass   fate = iota
	vanish      // it is lost
	mute        // it is done, its answer is lost
	late        // as lost, but done when the wire is healed or let go
)

var errWire = errors.New("connection reset by peer")

// wire is one client's way to the server.
type wire struct {
	base *http.Transport

	mu     sync.Mutex
	judge  func(*http.Request) fate
	held   []func()
	bodies map[*body]bool
}

// dial makes a client with a wire of its own.
func (s *server) dial(t testing.TB) (kubernetes.Interface, *wire) {
	w := &wire{base: &http.Transport{}, judge: func(*http.Request) fate { return pass }, bodies: map[*body]bool{}}
	t.Cleanup(w.base.CloseIdleConnections)
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: s.http.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, &http.Client{Transport: w})
	if err != nil {
		t.Fatal(err)
	}
	return client, w
}

// set changes what becomes of requests from now on.
func (w *wire) set(judge func(*http.Request) fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.judge = judge
}

// partition cuts everything off; what is asked meanwhile counts as lost, and writes arrive when the partition ends, if at all.
func (w *wire) partition(writes fate) {
	w.set(func(r *http.Request) fate {
		if r.Method == http.MethodPatch {
			return writes
		}
		return vanish
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	for b := range w.bodies { // in any order
		b.cut()
	}
}

// letGo lets what was held arrive.
func (w *wire) letGo() {
	w.mu.Lock()
	held := w.held
	w.held = nil
	w.mu.Unlock()
	for _, do := range held {
		do()
	}
}

func (w *wire) heal() {
	w.set(func(*http.Request) fate { return pass })
	w.letGo()
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	fate := w.judge(r)
	w.mu.Unlock()
	var text []byte
	if r.Body != nil {
		var err error
		if text, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
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
	case vanish:
		return nil, errWire
	case mute:
		return nil, errors.Join(errWire, again())
	case late:
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
	w *wire
}

func (b *body) cut() { _ = b.ReadCloser.Close() }

func (b *body) Close() error {
	b.w.mu.Lock()
	delete(b.w.bodies, b)
	b.w.mu.Unlock()
	return b.ReadCloser.Close()
}
