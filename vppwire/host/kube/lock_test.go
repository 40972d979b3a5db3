package kube

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
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

// onPaper is how somebody fares whose lease is on paper.
func onPaper() *Standing {
	s := NewStanding()
	s.stands(electorate{lease: Lease{Identity: "we", Silence: time.Hour}, log: slog.New(slog.DiscardHandler)}, nil)
	return s
}

// Goal: a leader leads from when it began to renew, not longer because of a renewal without an answer; it gives back
// its own lease and nobody else's. Method: the lock between client-go's elector and a lease on paper.
func TestLock(t *testing.T) {
	ctx := t.Context()
	p, c := &paper{}, newClock()
	l := &lock{Interface: p, clock: &c, deadline: time.Minute, renewed: make(chan struct{}, 1), standing: onPaper()}
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

// Goal: a leader that has lost its lease and does not end is not alive, whoever leads since. Method: an election of a
// term that does not hear, on a lease on paper that cannot be renewed.
func TestNotAlive(t *testing.T) {
	standing := &Standing{election: leaderelection.NewLeaderHealthzAdaptor(0), clock: newClock()}
	lease, err := Lease{Namespace: "a", Name: "b", Identity: "we", Duration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 100 * time.Millisecond, Standing: standing, Silence: time.Hour}.complete()
	if err != nil {
		t.Fatal(err)
	}
	server, base := httptest.NewServer(apiserver.New()), &http.Transport{}
	defer server.Close()
	defer base.CloseIdleConnections()
	wire := apiserver.NewWire(base)
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, &http.Client{Transport: wire})
	if err != nil {
		t.Fatal(err)
	}
	c := newClock()
	began, hears, ended := make(chan bool), make(chan bool), make(chan error)
	go func() {
		ended <- electorate{client, lease, &c, slog.New(slog.DiscardHandler)}.elect(t.Context(), func(context.Context, *lock) error {
			close(began)
			<-hears
			return nil
		})
	}()
	<-began
	if _, err := standing.Alive(t.Context()); err != nil {
		t.Errorf("a leader: %v", err)
	}
	wire.Partition(apiserver.Vanish)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := standing.Alive(t.Context()); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it is alive")
		}
	}
	close(hears)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
