package kube

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Goal: an operator whose lease was not renewed in time does nothing more for anybody, whether or not its elector knows. Method: a term that has a node
// to see to, and a lease that is over or is not.
func TestOperatorStopsWithItsLease(t *testing.T) {
	o := &Operator{clock: newClock()}
	for past, want := range map[time.Duration]error{-time.Minute: nil, time.Second: errLeaseOver} {
		term := &poolTerm{o: o, ready: true, queue: []string{"node-1"}, lock: &lock{until: o.clock.now().Add(-past)}}
		if err := term.work(context.Background()); !errors.Is(err, want) {
			t.Errorf("a lease that was over %s ago: %v", past, err)
		}
		if took := len(term.queue) == 0; took != (want == nil) {
			t.Errorf("a lease that was over %s ago: node-1 was taken: %t", past, took)
		}
	}
}
