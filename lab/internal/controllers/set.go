package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// Config is what a world gives the controllers of a scenario. Account is for plans on EC2, Put and Remove are for Calico's; Asks
// may be nil.
type Config struct {
	Plan scenarios.IPAM
	// Pace is by how much the scenario's time is faster than the clock.
	Pace float64
	// Way leads to the API server at host; end is called when a controller has gone.
	Way func() (way http.RoundTripper, host string, end func(), err error)
	// Holder is the name that stands in the Lease.
	Holder func() string
	// Account is what operators of ENIs call EC2 with.
	Account func(context.Context) (*aws.Account, error)
	// Put makes a custom resource of Calico's, Remove deletes one by its name.
	Put    func(resource string, o apiserver.Object) error
	Remove func(resource, name string) error
	// Log is the controllers' own, Note the run's for people. Fail ends the run.
	Log  *slog.Logger
	Note func(text string)
	Fail func(error)
	// Asks is told of each change of a node's objects that a controller asks for, Ranged of each range that is opened or closed.
	Asks   func(fact.Changing)
	Ranged func(r netip.Prefix, closed bool)
}

// standing is how many controllers stand for the Lease.
const standing = 2

// Set is the controllers of one scenario. Its methods may be called from any goroutine.
type Set struct {
	Config
	end context.CancelFunc
	ctx context.Context
	// stopped: the API server answers nothing.
	stopped atomic.Bool

	mu     sync.Mutex
	ranges *blockranges.Ranges
	lives  []*life
	made   int
	// ledBy is the life that asked for a change last while it held the Lease, terms how often that was another one than
	// before; termOf is in which time of leading each life has asked last.
	ledBy  string
	terms  uint32
	termOf map[string]uint32
	// deposed are leaders that were cut off and whose requests have not all arrived.
	deposed int
	// pools are the default pool's, poolsMade how many there ever were.
	pools     []pool
	poolsMade int
}

// New returns a set of which none runs.
func New(c Config) (*Set, error) {
	s := &Set{Config: c, termOf: map[string]uint32{}}
	var err error
	if s.ranges, err = blockranges.New(c.Plan); err != nil {
		return nil, err
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s, nil
}

// Start makes the pools that they look at, and starts them.
func (s *Set) Start() error {
	if Blocked(s.Plan) {
		if err := s.openPools(); err != nil {
			return err
		}
	}
	return s.startAll()
}

func (s *Set) startAll() error {
	for range standing {
		if err := s.start(); err != nil {
			return err
		}
	}
	return nil
}

// End asks them to end. Wait returns when they have, which takes a server that answers them, or that has ended.
func (s *Set) End() { s.end() }

// Wait is End's other half.
func (s *Set) Wait() {
	s.mu.Lock()
	lives := s.lives
	s.mu.Unlock()
	for _, c := range lives {
		<-c.ended
	}
}

// Stop has the API server answer them nothing, or ends that.
func (s *Set) Stop(stop bool) { s.stopped.Store(stop) }

// Figures are the leader's.
func (s *Set) Figures() []ipam.Figure {
	if c := s.leader(); c != nil {
		return c.figured.Figures()
	}
	return nil
}

// AddRange gives the controllers another range.
func (s *Set) AddRange(r netip.Prefix) error {
	if Blocked(s.Plan) {
		s.Ranged(r, false)
		return s.openPool(r)
	}
	s.mu.Lock()
	c := s.ranges.Add(r)
	s.mu.Unlock()
	s.Ranged(r, false)
	if s.Plan.System == scenarios.Cilium {
		return s.restart() // as for vppdrill controller: what it is started with is what there is
	}
	return s.tell(nodeipam.ClusterCIDRAdded{ClusterCIDR: c})
}

// RemoveRange takes one away.
func (s *Set) RemoveRange(r netip.Prefix) error {
	if Blocked(s.Plan) {
		if err := s.closePool(r); err != nil {
			return err
		}
		s.Ranged(r, true)
		return nil
	}
	if s.Plan.System == scenarios.Cilium && !Addressed(s.Plan) {
		return fmt.Errorf("%w: cilium-operator's range %s cannot be taken away in a lab", result.ErrUnsupported, r)
	}
	s.mu.Lock()
	name, err := s.ranges.Remove(r)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.Ranged(r, true)
	if Addressed(s.Plan) {
		return s.restart()
	}
	return s.tell(nodeipam.ClusterCIDRDeleted{Name: name})
}

// Restarted ends the controllers and starts them again, with other ranges where the action has some.
func (s *Set) Restarted(a scenarios.RestartController) error {
	s.mu.Lock()
	opened, closed := s.ranges.Restart(a)
	s.mu.Unlock()
	for _, r := range closed {
		s.Ranged(r, true)
	}
	for _, r := range opened {
		s.Ranged(r, false)
	}
	return s.restart()
}

// restart ends all lives, those without a Lease first, and begins as many.
func (s *Set) restart() error {
	leader := s.leader()
	s.mu.Lock()
	old := s.lives
	s.lives = nil
	s.mu.Unlock()
	for _, last := range [...]bool{false, true} {
		for _, c := range old {
			if (c == leader) == last {
				c.cancel()
				<-c.ended
			}
		}
	}
	return s.startAll()
}

// Electing says that requests of a former leader are on their way, or that nobody leads; "" for neither.
func (s *Set) Electing() string {
	s.mu.Lock()
	deposed := s.deposed
	s.mu.Unlock()
	switch {
	case deposed > 0:
		return "requests of a controller that was cut off have not all arrived"
	case s.leader() == nil:
		return "a controller is being elected"
	}
	return ""
}

// Operating says what a controller has under way, as far as it tells, "" for nothing.
func (s *Set) Operating() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.lives {
		if c.pending == nil || c.off.Load() {
			continue
		}
		if why := c.pending(); why != "" {
			return c.name + " " + why
		}
	}
	return ""
}

// tellTime is how long a leader may take to hear of a range; another one that begins to lead meanwhile knows of it.
const tellTime = 5 * time.Second

// tell tells the leader.
func (s *Set) tell(ev nodeipam.Event) error {
	c := s.leader()
	if c == nil {
		return nil // who leads next begins with the ranges as they are
	}
	ctx, cancel := context.WithTimeout(s.ctx, tellTime)
	defer cancel()
	if err := c.driver.Tell(ctx, ev); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}
