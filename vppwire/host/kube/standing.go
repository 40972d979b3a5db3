package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

// standingSlack is how long beyond its lease a leader that has not renewed it may go on before it is not alive: the controller manager's own.
const standingSlack = 20 * time.Second

// Standing is how a process fares that stands for a lease, for probes: NewStanding makes one, Lease.Standing has it told. Its methods may be
// called from any goroutine, on nil as well, where nobody wants to know.
type Standing struct {
	election *leaderelection.HealthzAdaptor
	clock    clock

	mu sync.Mutex
	// lease is the one that is stood for, nil before that. leads says whether this process held it when it was read last, holder who did.
	lease  *Lease
	leads  bool
	holder string
	// heard is when the server said last who holds the lease, failed what came of the request after that, nil for nothing.
	heard  time.Time
	failed error
}

// NewStanding returns one of a process that does not stand yet.
func NewStanding() *Standing {
	return &Standing{election: leaderelection.NewLeaderHealthzAdaptor(standingSlack), clock: newClock()}
}

// stands begins the election of one term.
func (s *Standing) stands(lease Lease, elector *leaderelection.LeaderElector) {
	if s == nil {
		return
	}
	s.election.SetLeaderElection(elector)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease = &lease
}

// heardOf notes who holds the lease, as an answer says, or that there was none that says so.
func (s *Standing) heardOf(holder string, err error) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed = err; err == nil {
		s.heard, s.holder, s.leads = s.clock.now(), holder, holder == s.lease.Identity
	}
}

// Alive says nothing while this process is as it should be, whether it leads or waits, and whether or not a server answers: one that was started
// again would wait as well. A leader that can neither renew its lease nor end should be.
func (s *Standing) Alive(context.Context) (string, error) {
	if err := s.election.Check(nil); err != nil {
		return "", fmt.Errorf("this leader holds its lease no more and does not end: %w", err)
	}
	return "", nil
}

// errUnheard: nothing was heard of the lease so far.
var errUnheard = errors.New("the API server has not answered yet")

// Ready says who leads, this process or another for which it waits. A process that has not heard of its lease for as long as that lasts could
// not do either.
func (s *Standing) Ready(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == nil {
		return "", errUnheard
	}
	name, failed := s.lease.Namespace+"/"+s.lease.Name, s.failed
	if failed == nil {
		failed = errUnheard
	}
	switch silent := s.clock.now().Sub(s.heard); {
	case s.heard.IsZero():
		return "", fmt.Errorf("lease %s: %w", name, failed)
	case silent > s.lease.Duration:
		return "", fmt.Errorf("nothing was heard of lease %s for %s: %w", name, silent.Round(time.Second), failed)
	case s.leads:
		return "leads by lease " + name, nil
	case s.holder == "":
		return "waits for lease " + name, nil
	}
	return fmt.Sprintf("waits for lease %s, which %s holds", name, s.holder), nil
}
