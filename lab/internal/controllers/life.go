package controllers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// life is one life of a controller.
type life struct {
	name string
	wire *apiserver.Wire
	// driver is that of the range allocator, nil of others.
	driver *kube.Driver
	// pending says what it has under way, "" for nothing; nil: nobody knows.
	pending func() string
	// figured is what it shows while it leads.
	figured ipam.Figured
	cancel  context.CancelFunc
	ended   chan struct{}
	// off: it is cut off, and what it writes arrives later.
	off atomic.Bool
	// meets is a leader before it, one of whose requests arrives in front of each of its own writes.
	meets atomic.Pointer[life]
}

// The Lease that controllers hold.
const LeaseNamespace, LeaseName = "kube-system", "vppdrill-node-ipam"

// Times of the Lease as client-go has them by default, in the scenario's time, and the least that a loaded machine
// keeps; how long a request may take, and after what time a controller that has given up is started again.
const (
	leaseTime    = 15 * time.Second
	leastLease   = 2 * time.Second
	requestLimit = 10 * time.Second
	restartDelay = time.Second
)

// real is a time of the scenario by the clock.
func (s *Set) real(d time.Duration) time.Duration { return time.Duration(float64(d) / s.Pace) }

// lease is the Lease as a life stands for it.
func (s *Set) lease(identity string) *kube.Lease {
	d := max(s.real(leaseTime), leastLease).Round(time.Second)
	return &kube.Lease{Namespace: LeaseNamespace, Name: LeaseName, Identity: identity, Duration: d, RenewDeadline: d * 2 / 3, RetryPeriod: d / 10}
}

// start begins another life.
func (s *Set) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	c := &life{name: fmt.Sprintf("controller-%d", s.made), ended: make(chan struct{})}
	way, host, end, err := s.Way()
	if err != nil {
		return err
	}
	c.wire = apiserver.NewWire(way)
	c.wire.Set(func(r *http.Request) apiserver.Fate { return s.fate(c, r) })
	run, err := s.program(c, host)
	if err != nil {
		end()
		return err
	}
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(s.ctx)
	go func() {
		defer close(c.ended)
		defer end()
		// it gave up; another one is started, as of every program of a cluster
		if err := run(ctx); err != nil && ctx.Err() == nil {
			s.Note(c.name + ": " + err.Error())
			select {
			case <-ctx.Done():
			case <-time.After(restartDelay):
				s.Fail(s.start())
			}
		}
	}()
	s.lives = append(s.lives, c)
	return nil
}

// program is what a life runs. s.mu is held.
func (s *Set) program(c *life, host string) (func(context.Context) error, error) {
	burst := cmp.Or(s.Plan.ClientBurst, 2*s.Plan.ClientQPS)
	conn, err := kube.Through(kube.Way{Carrier: c.wire, Host: host, QPS: float32(float64(s.Plan.ClientQPS) * s.Pace), Burst: burst}, c.name, s.Log)
	if err != nil {
		return nil, err
	}
	switch {
	case Blocked(s.Plan):
		own := scenarios.SectionOf[scenarios.CalicoIPAM](s.Plan)
		o, err := conn.CalicoController(kube.CalicoControllerConfig{Grace: own.EmptyBlockGrace, Pace: s.Pace,
			Lease: s.lease(c.name), RequestTimeout: requestLimit, Log: s.Log})
		if err != nil {
			return nil, err
		}
		c.pending, c.figured = o.Pending, o
		return o.Run, nil
	case s.Plan.System == scenarios.Cilium:
		cfg, err := s.operator(conn, c.name)
		if err != nil {
			return nil, err
		}
		o, err := conn.Operator(cfg)
		if err != nil {
			return nil, err
		}
		c.pending, c.figured = o.Pending, o
		return o.Run, nil
	}
	c.driver, err = conn.Driver(kube.Config{Lease: s.lease(c.name), RequestTimeout: requestLimit, Log: s.Log, New: func() (nodeipam.Machine, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return nodeipam.New(nodeipam.RangeAllocatorType, s.ranges.Params(), nodeipam.CloudProviderGCE)
	}})
	if err != nil {
		return nil, err
	}
	c.figured = c.driver
	return c.driver.Run, nil
}

// operator is how a cilium-operator works. s.mu is held.
func (s *Set) operator(conn *kube.Connection, name string) (kube.OperatorConfig, error) {
	spec := s.ranges.Pool()
	cfg := kube.OperatorConfig{Requested: Asked(s.Plan), Lease: s.lease(name), RequestTimeout: requestLimit, Log: s.Log, New: func() (cilium.Pools, error) {
		if Asked(s.Plan) {
			o, err := cilium.NewPoolOperator(cilium.PoolOperatorConfig{ReuseDelay: s.Plan.ReuseDelay})
			if err != nil {
				return nil, err
			}
			return o, o.UpsertPool(cilium.DefaultPool, spec)
		}
		return cilium.NewClusterPools(cilium.ClusterPoolConfig{IPv4: spec.IPv4, IPv6: spec.IPv6, MaskSize4: spec.MaskSize4, MaskSize6: spec.MaskSize6,
			ReuseDelay: s.Plan.ReuseDelay})
	}}
	if !Addressed(s.Plan) {
		return cfg, nil
	}
	c := s.Plan.Cilium
	if Booked(s.Plan) {
		cfg.Addresses = conn.AddressBook(LeaseNamespace, slices.Concat(spec.IPv4, spec.IPv6))
	} else {
		account, err := s.Account(s.ctx)
		if err != nil {
			return cfg, err
		}
		cfg.Addresses = conn.ENIAddresses(kube.ENIAddressesConfig{Prefixes: c.PrefixDelegation,
			Machine: func(ctx context.Context, id string) (kube.Machine, error) { return account.Client(ctx, id) }})
	}
	cfg.Release = cilium.OperatorConfig{ReleaseExcessIPs: !c.KeepExcess, ReleaseDelay: c.ReleaseDelay}
	cfg.Pace = s.Pace
	return cfg, nil
}

// given are the resources by which nodes get what they have.
var given = []string{"nodes", kube.PoolNodeResource, kube.CiliumNodeResource, kube.IPAMBlockResource}

// fate is what becomes of a request of a controller.
func (s *Set) fate(c *life, r *http.Request) apiserver.Fate {
	writes := r.Method != http.MethodGet
	if path := apiserver.ParsePath(r.URL.Path); writes && slices.Contains(given, path.Resource) {
		s.AsksFor(c.name, r.Method+" "+path.Name)
	}
	switch {
	case s.stopped.Load():
		return apiserver.Vanish
	case c.off.Load() && writes:
		return apiserver.Late
	case c.off.Load():
		return apiserver.Vanish
	}
	if old := c.meets.Load(); old != nil && writes {
		old.wire.LetGo(1)
	}
	return apiserver.Pass
}

// AsksFor tells of a change that a life asks for, with the number of the time of leading that it asks in: who holds the Lease
// asks in a time of its own, any other life in its last one.
func (s *Set) AsksFor(name, what string) {
	if s.Asks == nil {
		return
	}
	holder := s.Holder()
	s.mu.Lock()
	if holder == name && s.ledBy != name {
		s.ledBy = name
		s.terms++
	}
	if holder == name {
		s.termOf[name] = s.terms
	}
	term := s.termOf[name]
	s.mu.Unlock()
	s.Asks(fact.Changing{Program: "the controller", Life: term, Wanted: what, Late: 0})
}

// leader is who holds the Lease and is not cut off, nil for nobody.
func (s *Set) leader() *life {
	holder := s.Holder()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.lives, func(c *life) bool { return c.name == holder && !c.off.Load() })
	if i < 0 {
		return nil
	}
	return s.lives[i]
}

// LoseLeader cuts the leader off: what it writes arrives a pause later, or in front of what its successor writes.
// Without a leader there is nobody to lose. after calls what it is given after a time of the scenario.
func (s *Set) LoseLeader(how scenarios.LoseLeader, after func(time.Duration, func())) error {
	old := s.leader()
	if old == nil {
		return nil
	}
	old.off.Store(true)
	old.wire.Break()
	s.mu.Lock()
	s.deposed++
	if how.Within {
		for _, c := range s.lives {
			if c != old {
				c.meets.Store(old)
			}
		}
	}
	s.mu.Unlock()
	after(how.Pause, func() {
		old.wire.LetGo(math.MaxInt)
		old.cancel() // it knows by now that it has lost the Lease
		s.mu.Lock()
		s.deposed--
		s.mu.Unlock()
	})
	return s.start()
}
