package lab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
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

// controller is one life of a controller.
type controller struct {
	name string
	wire *apiserver.Wire
	// driver is nil for cilium-operator.
	driver *kube.Driver
	// pending says what it has under way, "" for nothing; nil: nobody knows.
	pending func() string
	// figured is what it shows while it leads.
	figured ipam.Figured
	cancel  context.CancelFunc
	ended   chan struct{}
	// term is in which time of leading it has asked for a change last, 0 for none; blockSource.mu guards it.
	term uint32
	// off: it is cut off, and what it writes arrives later.
	off atomic.Bool
	// meets is a leader before it, one of whose requests arrives in front of each of its own writes.
	meets atomic.Pointer[controller]
}

// The Lease that controllers hold.
const leaseNamespace, leaseName = "kube-system", "vppdrill-node-ipam"

// Times of the Lease as client-go has them by default, in the scenario's time, and the least that a loaded machine
// keeps.
const (
	leaseTime    = 15 * time.Second
	leastLease   = 2 * time.Second
	requestLimit = 10 * time.Second
)

// lease is the Lease as a life stands for it.
func (b *blockSource) lease(identity string) *kube.Lease {
	d := max(b.w.real(leaseTime), leastLease).Round(time.Second)
	return &kube.Lease{Namespace: leaseNamespace, Name: leaseName, Identity: identity, Duration: d, RenewDeadline: d * 2 / 3, RetryPeriod: d / 10}
}

// start begins another life.
func (b *blockSource) start() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made++
	c := &controller{name: fmt.Sprintf("controller-%d", b.made), ended: make(chan struct{})}
	base := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", b.socket)
	}}
	c.wire = apiserver.NewWire(base)
	c.wire.Set(func(r *http.Request) apiserver.Fate { return b.fate(c, r) })
	run, err := b.program(c)
	if err != nil {
		return err
	}
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(b.ctx)
	go func() {
		defer close(c.ended)
		defer base.CloseIdleConnections()
		// it gave up; another one is started, as of every program of a cluster
		if err := run(ctx); err != nil && ctx.Err() == nil {
			b.w.Record.Note(c.name + ": " + err.Error())
			select {
			case <-ctx.Done():
			case <-time.After(restartDelay):
				b.w.Fail(b.start())
			}
		}
	}()
	b.lives = append(b.lives, c)
	return nil
}

// program is what a life runs. b.mu is held.
func (b *blockSource) program(c *controller) (func(context.Context) error, error) {
	burst := cmp.Or(b.plan.ClientBurst, 2*b.plan.ClientQPS)
	conn, err := kube.Through(kube.Way{Carrier: c.wire, Host: "http://lab", QPS: float32(float64(b.plan.ClientQPS) * b.w.o.TimeScale), Burst: burst}, c.name, b.log)
	if err != nil {
		return nil, err
	}
	if blocked(b.plan) {
		o, err := b.calicoController(conn, c.name)
		if err != nil {
			return nil, err
		}
		c.pending, c.figured = o.Pending, o
		return o.Run, nil
	}
	if b.plan.System == scenarios.Cilium {
		spec := b.ranges.Pool()
		cfg := kube.OperatorConfig{Requested: b.asked(), Lease: b.lease(c.name), RequestTimeout: requestLimit, Log: b.log, New: func() (cilium.Pools, error) {
			if b.asked() {
				o, err := cilium.NewPoolOperator(cilium.PoolOperatorConfig{ReuseDelay: b.plan.ReuseDelay})
				if err != nil {
					return nil, err
				}
				return o, o.UpsertPool(cilium.DefaultPool, spec)
			}
			return cilium.NewClusterPools(cilium.ClusterPoolConfig{IPv4: spec.IPv4, IPv6: spec.IPv6, MaskSize4: spec.MaskSize4, MaskSize6: spec.MaskSize6,
				ReuseDelay: b.plan.ReuseDelay})
		}}
		if addressed(b.plan) {
			if cfg, err = b.addressOperator(conn, cfg); err != nil {
				return nil, err
			}
		}
		o, err := conn.Operator(cfg)
		if err != nil {
			return nil, err
		}
		c.pending, c.figured = o.Pending, o
		return o.Run, nil
	}
	c.driver, err = conn.Driver(kube.Config{Lease: b.lease(c.name), RequestTimeout: requestLimit, Log: b.log, New: func() (nodeipam.Machine, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		return nodeipam.New(nodeipam.RangeAllocatorType, b.ranges.Params(), nodeipam.CloudProviderGCE)
	}})
	if err != nil {
		return nil, err
	}
	c.figured = c.driver
	return c.driver.Run, nil
}

// restart ends all lives, those without a Lease first, and begins as many.
func (b *blockSource) restart() error {
	leader := b.leader()
	b.mu.Lock()
	old := b.lives
	b.lives = nil
	b.mu.Unlock()
	for _, last := range [...]bool{false, true} {
		for _, c := range old {
			if (c == leader) == last {
				c.cancel()
				<-c.ended
			}
		}
	}
	for range standing {
		if err := b.start(); err != nil {
			return err
		}
	}
	return nil
}

// fate is what becomes of a request of a controller.
func (b *blockSource) fate(c *controller, r *http.Request) apiserver.Fate {
	writes := r.Method != http.MethodGet
	if path := apiserver.ParsePath(r.URL.Path); writes && slices.Contains([]string{"nodes", kube.PoolNodeResource, kube.CiliumNodeResource, kube.IPAMBlockResource}, path.Resource) {
		b.asks(c, r.Method+" "+path.Name)
	}
	switch {
	case b.stopped.Load():
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

// asks tells of a change of a Node object that a life asks for, with the number of the time of leading that it asks in:
// who holds the Lease asks in a time of its own, any other life in its last one.
func (b *blockSource) asks(c *controller, what string) {
	holder := b.holder()
	b.mu.Lock()
	if holder == c.name && b.ledBy != c.name {
		b.ledBy = c.name
		b.terms++
	}
	if holder == c.name {
		c.term = b.terms
	}
	term := c.term
	b.mu.Unlock()
	b.w.Record.Tell(fact.Fact{What: fact.Changing{Program: "the controller", Life: term, Wanted: what, Late: 0}}, "")
}

// holder is the name that stands in the Lease.
func (b *blockSource) holder() string {
	spec, _ := b.server.Get("leases", leaseNamespace, leaseName)["spec"].(apiserver.Object)
	holder, _ := spec["holderIdentity"].(string)
	return holder
}

// leader is who holds the Lease and is not cut off, nil for nobody.
func (b *blockSource) leader() *controller {
	holder := b.holder()
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.lives, func(c *controller) bool { return c.name == holder && !c.off.Load() })
	if i < 0 {
		return nil
	}
	return b.lives[i]
}

// tellTime is how long a leader may take to hear of a range; another one that begins to lead meanwhile knows of it.
const tellTime = 5 * time.Second

// tell tells the leader.
func (b *blockSource) tell(ev nodeipam.Event) error {
	c := b.leader()
	if c == nil {
		return nil // who leads next begins with the ranges as they are
	}
	ctx, cancel := context.WithTimeout(b.ctx, tellTime)
	defer cancel()
	if err := c.driver.Tell(ctx, ev); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// loseLeader cuts the leader off: what it writes arrives a pause later, or in front of what its successor writes.
// Without a leader there is nobody to lose.
func (b *blockSource) loseLeader(how scenarios.LoseLeader, after func(time.Duration, func())) error {
	old := b.leader()
	if old == nil {
		return nil
	}
	old.off.Store(true)
	old.wire.Break()
	b.mu.Lock()
	b.deposed++
	if how.Within {
		for _, c := range b.lives {
			if c != old {
				c.meets.Store(old)
			}
		}
	}
	b.mu.Unlock()
	after(how.Pause, func() {
		old.wire.LetGo(math.MaxInt)
		old.cancel() // it knows by now that it has lost the Lease
		b.mu.Lock()
		b.deposed--
		b.mu.Unlock()
	})
	return b.start()
}
