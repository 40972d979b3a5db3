package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Serve lets a lab stand: it takes orders on the control socket (StateDir.Control) until one of them is to end, or ctx
// ends. Everything that happens to the lab happens on this goroutine. ready is called when orders are taken.
func (w *World) Serve(ctx context.Context, ready func()) error {
	l, err := net.Listen("unix", w.state.Control())
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	orders := make(chan order)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &http.Server{Handler: (&control{ctx: ctx, orders: orders}).routes(), ReadHeaderTimeout: 10 * time.Second}
	defer func() { _ = s.Close() }() // whoever still asks finds nobody
	go func() { _ = s.Serve(l) }()   // until it is closed
	if ready != nil {
		ready()
	}
	for {
		if err := w.Pump(ctx, w.Now()); err != nil {
			w.o.Log.Error("lab", "error", err)
			w.forgive()
		}
		select {
		case <-ctx.Done():
			return nil
		case o := <-orders:
			if end := o.do(w); end {
				return nil
			}
		case <-time.After(tick):
		}
	}
}

// order is one thing that a command asks of a standing lab.
type order struct {
	// do does it; true ends the lab afterwards.
	do func(w *World) (end bool)
}

// control turns requests into orders.
type control struct {
	ctx    context.Context
	orders chan<- order
	// busy is the order under way, for who waits.
	busy atomic.Pointer[string]
}

func (c *control) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", c.handle(func(ctx context.Context, w *World, _ []byte) (any, error) { return w.Status(ctx), nil }))
	mux.HandleFunc("POST /plan", c.handle(planOrder))
	mux.HandleFunc("POST /apply", c.handle(applyOrder))
	mux.HandleFunc("POST /settle", c.handle(func(ctx context.Context, w *World, body []byte) (any, error) {
		var limit time.Duration
		if err := json.Unmarshal(body, &limit); err != nil {
			return nil, err
		}
		return nil, w.Settle(ctx, limit)
	}))
	mux.HandleFunc("POST /do", c.handle(doOrder))
	mux.HandleFunc("POST /heal", c.handle(func(ctx context.Context, w *World, _ []byte) (any, error) { return nil, w.Heal(ctx) }))
	mux.HandleFunc("POST /probe", c.handle(probeOrder))
	mux.HandleFunc("POST /trace", c.handle(traceOrder))
	mux.HandleFunc("GET /graph", c.handle(func(ctx context.Context, w *World, _ []byte) (any, error) {
		s, err := w.look(ctx, true)
		return Draw(s), err
	}))
	mux.HandleFunc("POST /evidence", c.handle(func(ctx context.Context, w *World, body []byte) (any, error) {
		return w.WriteEvidence(ctx, string(body))
	}))
	mux.HandleFunc("POST /down", c.down)
	mux.HandleFunc("GET /busy", func(out http.ResponseWriter, _ *http.Request) {
		busy := ""
		if text := c.busy.Load(); text != nil {
			busy = *text
		}
		_ = json.NewEncoder(out).Encode(busy) // whoever hangs up needs no answer
	})
	return mux
}

// handle does one thing on the lab's goroutine and answers with JSON, or with the error as text.
func (c *control) handle(do func(context.Context, *World, []byte) (any, error)) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
		if err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		done := make(chan struct{})
		var answer any
		o := order{func(w *World) bool {
			defer close(done)
			now := r.Method + " " + r.URL.Path + " since " + time.Now().Format(time.TimeOnly)
			c.busy.Store(&now)
			defer c.busy.Store(nil)
			answer, err = do(r.Context(), w, body)
			return false
		}}
		select {
		case c.orders <- o:
			<-done
		case <-r.Context().Done():
			return
		case <-c.ctx.Done():
			err = errors.New("the lab ends")
		}
		switch {
		case IsCannotRun(err):
			http.Error(out, err.Error(), http.StatusServiceUnavailable)
			return
		case err != nil:
			http.Error(out, err.Error(), http.StatusConflict)
			return
		}
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(answer) // whoever hangs up needs no answer
	}
}

// down ends the lab: the answer says that it has begun.
func (c *control) down(http.ResponseWriter, *http.Request) {
	select {
	case c.orders <- order{func(*World) bool { return true }}:
	case <-c.ctx.Done():
	}
}

// planOrder says what would change.
func planOrder(_ context.Context, w *World, body []byte) (any, error) {
	changes, err := planOf(w, body)
	return texts(changes), err
}

func planOf(w *World, body []byte) ([]Change, error) {
	s, err := scenarios.Parse("scenario", body)
	if err != nil {
		return nil, err
	}
	return w.Plan(s)
}

func texts(changes []Change) []string {
	out := []string{}
	for _, c := range changes {
		out = append(out, c.Text)
	}
	return out
}

// applyOrder changes what has to change.
func applyOrder(ctx context.Context, w *World, body []byte) (any, error) {
	changes, err := planOf(w, body)
	if err != nil {
		return nil, err
	}
	return texts(changes), w.Apply(ctx, changes)
}

// Client speaks to a standing lab.
type Client struct {
	state StateDir
	http  *http.Client
}

// NewClient returns a client of the lab's owner.
func NewClient(h StateDir) *Client {
	return &Client{state: h, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", h.Control())
		}}}}
}

// Standing reports whether the lab takes orders: its owner lives and has a control socket.
func (h StateDir) Standing() bool {
	_, err := os.Stat(h.Control())
	return err == nil && h.Alive()
}

func (c *Client) call(ctx context.Context, method, what string, body io.Reader, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://lab"+what, body)
	if err != nil {
		return err
	}
	r, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("lab %s: %w", c.state.ID, errors.Unwrap(err))
	}
	defer func() { _ = r.Body.Close() }() // it has been read
	text, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return fmt.Errorf("lab %s: %w", c.state.ID, err)
	case r.StatusCode == http.StatusServiceUnavailable:
		return Cannot("%s", bytes.TrimRight(text, "\n"))
	case r.StatusCode != http.StatusOK:
		return fmt.Errorf("lab %s: %s", c.state.ID, bytes.TrimRight(text, "\n"))
	case into == nil || len(text) == 0:
		return nil
	}
	return json.Unmarshal(text, into)
}
