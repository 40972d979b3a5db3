package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/vppdrill/vppdrill/ipam"
)

// standingSlack is how long beyond its lease a leader that has not renewed it may go on before it is not alive: the
// controller manager's own.
const standingSlack = 20 * time.Second

// Standing is how a process fares that stands for a lease, for probes and for its log: NewStanding makes one,
// Lease.Standing has it told. Its methods may be called from any goroutine.
type Standing struct {
	election *leaderelection.HealthzAdaptor
	clock    clock

	mu  sync.Mutex
	log *slog.Logger
	// lease is the one that is stood for, nil before that. leads says whether this process held it when it was read last,
	// holder who did.
	lease  *Lease
	leads  bool
	holder string
	// heard is when the server said last who holds the lease, failed what came of the request after that, nil for nothing,
	// and silent when the first of the requests since went unanswered, zero for none.
	heard, silent time.Time
	failed        error
}

// NewStanding returns one of a process that does not stand yet.
func NewStanding() *Standing {
	return &Standing{election: leaderelection.NewLeaderHealthzAdaptor(standingSlack), clock: newClock()}
}

// stands begins the election of one term.
func (s *Standing) stands(e electorate, elector *leaderelection.LeaderElector) {
	s.election.SetLeaderElection(elector)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease, s.log = &e.lease, e.log
}

// heardOf notes who holds the lease, as an answer says, or that there was none that says so. The log is told when
// answers stay away and when they come again, and not of each try in between. It returns ErrSilent where they have
// stayed away for Lease.Silence: from the first request without an answer, so that one that this process has lost while
// it stood still ends nothing.
func (s *Standing) heardOf(holder string, err error) error {
	if errors.Is(err, context.Canceled) || statusCode(err) == http.StatusConflict {
		return nil // nobody waits for it any more, or another was faster
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, now := s.failed, s.clock.now()
	s.failed = err
	switch {
	case err != nil && before == nil && statusCode(err) != http.StatusUnauthorized: // of credentials the connection tells
		s.log.Warn("the lease cannot be read or renewed; it is tried again, and without it nobody gets blocks from here", "lease", s.name(), "error", err)
	case err == nil && before != nil && !s.heard.IsZero():
		s.log.Info("the lease can be read again", "lease", s.name(), "after", now.Sub(s.heard).Round(time.Second))
	}
	if err == nil {
		s.heard, s.holder, s.leads = now, holder, holder == s.lease.Identity
	}
	if outcome(err) != ipam.Unknown {
		s.silent = time.Time{}
		return nil
	}
	if s.silent.IsZero() {
		s.silent = now
	}
	if now.Sub(s.silent) < s.lease.Silence {
		return nil
	}
	return s.lease.silent(err)
}

func (s *Standing) name() string { return s.lease.Namespace + "/" + s.lease.Name }

// Alive says nothing while this process is as it should be, whether it leads or waits, and whether or not a server
// answers. A leader that can neither renew its lease nor end should be.
func (s *Standing) Alive(context.Context) (string, error) {
	if err := s.election.Check(nil); err != nil {
		return "", fmt.Errorf("this leader holds its lease no more and does not end: %w", err)
	}
	return "", nil
}

// errUnheard: nothing was heard of the lease so far.
var errUnheard = errors.New("the API server has not answered yet")

// Ready says who leads, this process or another for which it waits. A process that has not heard of its lease for as
// long as that lasts could not do either.
func (s *Standing) Ready(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == nil {
		return "", errUnheard
	}
	name, failed := s.name(), s.failed
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

// quiet has what a library tells of each of its steps told at the lowest level: Standing tells what came of them.
type quiet struct{ slog.Handler }

// Enabled implements slog.Handler.
func (q quiet) Enabled(ctx context.Context, _ slog.Level) bool {
	return q.Handler.Enabled(ctx, slog.LevelDebug)
}

// Handle implements slog.Handler.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if r.Level = slog.LevelDebug; !q.Enabled(ctx, r.Level) {
		return nil // errors are handed on without a question
	}
	return q.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
