package lab

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Goal: an owner that does not answer is an error that says who, what, how long and what it is busy with; one that
// answers and an interrupt are told from it. Method: an owner of our own whose one goroutine is held.
func TestNoAnswer(t *testing.T) {
	h := StateDir{ID: "t1", Owner: spawn.Self().String(), dir: t.TempDir()}
	l, err := net.Listen("unix", filepath.Join(h.dir, "control.sock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	orders := make(chan order)
	c := &control{ctx: ctx, orders: orders}
	s := &http.Server{Handler: c.routes()}
	defer func() { _ = s.Close() }()
	go func() { _ = s.Serve(l) }()
	client := NewClient(h)
	var late *NoAnswer
	err = client.CallWithin(ctx, 50*time.Millisecond, "POST", "/heal", nil, nil)
	if !errors.As(err, &late) || late.What != "POST /heal" || late.Busy != "" || !strings.Contains(err.Error(), "process "+h.OwnerPID()) {
		t.Errorf("nobody takes orders: %v", err)
	}
	busy := "POST /probe since noon"
	c.busy.Store(&busy)
	if err = client.CallWithin(ctx, 50*time.Millisecond, "GET", "/status", nil, nil); !strings.Contains(err.Error(), "has not answered GET /status within 50ms; it is busy with "+busy) {
		t.Errorf("busy: %v", err)
	}
	interrupted, interrupt := context.WithTimeout(ctx, 20*time.Millisecond)
	defer interrupt()
	if err = client.CallWithin(interrupted, time.Minute, "GET", "/status", nil, nil); err == nil || errors.As(err, &late) {
		t.Errorf("interrupted: %v", err)
	}
	for what := range orderLimits {
		if orderLimits[what] <= 0 {
			t.Errorf("%s has no limit", what)
		}
	}
}

// Goal: a probe that had nobody to ask says so, and a pair that the time did not suffice for is not an answer.
func TestProbeOfNothing(t *testing.T) {
	for places, nothing := range map[int]bool{0: true, 1: true, 2: false} {
		if why := (Traffic{Places: places}).Nothing(); (why != "") != nothing {
			t.Errorf("%d places: %q", places, why)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if o := probe.Ping(over, probe.Place{}, probe.Place{}, 56, false, time.Second); o.Err == nil {
		t.Error("a ping that was not tried counts as answered")
	}
}
