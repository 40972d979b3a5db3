package kube

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// paper is a lease on paper.
type paper struct {
	resourcelock.Interface
	record resourcelock.LeaderElectionRecord
	err    error
}

func (p *paper) Identity() string { return "we" }
func (p *paper) Describe() string { return "paper" }

func (p *paper) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &p.record, nil, nil
}

func (p *paper) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	if p.err == nil {
		p.record = r
	}
	return p.err
}

// Goal: a leader leads from when it began to renew, not longer because of a renewal without an answer; it gives back its own
// lease and nobody else's. Method: the lock between client-go's elector and a lease on paper.
func TestLock(t *testing.T) {
	ctx := t.Context()
	p, c := &paper{}, newClock()
	l := &lock{Interface: p, clock: &c, deadline: time.Minute, renewed: make(chan struct{}, 1)}
	begin := c.now()
	if err := l.Update(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: "we"}); err != nil {
		t.Fatal(err)
	}
	until := l.leadsUntil()
	if until.Before(begin.Add(time.Minute)) || until.After(c.now().Add(time.Minute)) || len(l.renewed) != 1 {
		t.Fatal(begin, until)
	}
	p.err = errors.New("no answer")
	if err := l.Update(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: "we"}); err == nil || !l.leadsUntil().Equal(until) {
		t.Fatal(err, l.leadsUntil())
	}
	p.err = nil
	p.record.HolderIdentity = "they"
	if _, _, err := l.Get(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Update(ctx, resourcelock.LeaderElectionRecord{}); err == nil || p.record.HolderIdentity != "they" {
		t.Fatal("gave back another's lease")
	}
	p.record.HolderIdentity = "we"
	if _, _, err := l.Get(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Update(ctx, resourcelock.LeaderElectionRecord{}); err != nil || p.record.HolderIdentity != "" || !l.leadsUntil().Equal(until) {
		t.Fatal(err, p.record)
	}
}
