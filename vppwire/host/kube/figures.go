package kube

import (
	"context"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// leadsMetric is client-go's own in Kubernetes' components.
var leadsMetric = ipam.Metric{Name: "leader_election_master_status", Kind: ipam.Gauge, Labels: []string{"name"},
	Help: "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to " +
		"identify the lease. Please make sure to group by name."}

// Metrics are what each controller shows, leading or not; rest_client_requests_total stands beside them.
var Metrics = []*ipam.Metric{&leadsMetric}

// Figures implements ipam.Figured: whether this process leads, as far as it has heard of its lease.
func (s *Standing) Figures() []ipam.Figure {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == nil {
		return nil
	}
	leads := 0.0
	if s.leads {
		leads = 1
	}
	return []ipam.Figure{leadsMetric.Is(leads, s.lease.Name)}
}

// lookTime is how long a look at a machine may take. A machine waits for the answer to a request meanwhile, as long as the API server is
// well for milliseconds.
const lookTime = 5 * time.Second

// shown lets others look at the machine of a term, between two of its steps.
type shown struct {
	mu  sync.Mutex
	now *showing // nil while this process does not lead
}

type showing struct {
	ctx  context.Context // it ends with the term
	asks chan func()
	of   any
}

// begin has others look at a machine for as long as ctx lasts, by what comes on the channel.
func (s *shown) begin(ctx context.Context, of any) <-chan func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = &showing{ctx, make(chan func()), of}
	return s.now.asks
}

// Figures implements ipam.Figured: the machine's that leads, and none where none does, or where it does not answer in time.
func (s *shown) Figures() []ipam.Figure {
	s.mu.Lock()
	now := s.now
	s.mu.Unlock()
	if now == nil {
		return nil
	}
	of, ok := now.of.(ipam.Figured)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(now.ctx, lookTime)
	defer cancel()
	answer := make(chan []ipam.Figure, 1)
	select {
	case now.asks <- func() { answer <- of.Figures() }:
		return <-answer
	case <-ctx.Done():
		return nil
	}
}
