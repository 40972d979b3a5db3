package nodeagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/faults"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/cnisocket"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/linux"
)

// Config is one node's agent, as the lab writes it down for the process.
type Config struct {
	Agent agent.Config
	// ReuseDelay and External are the allocator's. Cilium: it is the one of Cilium's agent instead, which has neither. EC2, where set,
	// gives the node its addresses.
	ReuseDelay time.Duration
	External   bool
	Cilium     bool
	// Dual: Cilium's allocator gives pods an address of each family.
	Dual bool
	EC2  *EC2
	// Pools, where set, is where Cilium's agent asks for blocks.
	Pools *Pools
	// Addresses, where set, is where Cilium's agent shows which single addresses are in use.
	Addresses *Addresses
	// Calico, where set, is where it assigns addresses of Calico's blocks.
	Calico *Calico
	// Boot tells one boot of the machine from the next.
	Boot string
	// Address, where valid, is the interconnect address that somebody gave the node.
	Address string
	// CallTimeout is how long VPP may leave a write unanswered.
	CallTimeout time.Duration
	// Faults, where set, is where the agent learns what befalls its operations.
	Faults *faults.PortConfig
	// Paths of what the agent listens on, dials and keeps. Removals, where set, is appended to: see Removed.
	VPP, Store, Cluster, CNI, Watch, Journal, Removals string
}

// process is the running agent with what is watched of it.
type process struct {
	driver   *host.Driver
	beside   *beside
	counts   counts
	vppUp    atomic.Bool
	store    storeHeard
	cluster  *heardCluster
	restored []ipam.Lease
	changes  *changes
}

// Main runs the agent whose Config is in a file, until ctx ends. Its log goes to stderr.
func Main(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var c Config
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return Run(ctx, c)
}

// Run runs an agent until ctx ends; the dataplane stays as it is.
func Run(ctx context.Context, c Config) (err error) {
	own, err := linux.New("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	return run(ctx, c, own, own, slog.New(slog.NewTextHandler(os.Stderr, nil)))
}

// run runs the agent on a Linux; addresses are those of the machine itself.
func run(ctx context.Context, c Config, kernel vppwire.Linux, addresses host.HostAddresses, log *slog.Logger) (err error) {
	alloc, err := c.allocator()
	if err != nil {
		return err
	}
	closed := func(f func() error) { err = errors.Join(err, f()) }
	var port *faults.Port
	if c.Faults != nil {
		if port, err = faults.Dial(*c.Faults); err != nil {
			return err
		}
		defer closed(port.Close)
	}
	j, records, err := openJournal(c.Journal, port)
	if err != nil {
		return err
	}
	defer closed(j.Close)
	store, err := etcd.Connect(etcd.Config{Endpoints: []string{"unix://" + c.Store}, Log: log})
	if err != nil {
		return err
	}
	defer closed(store.Close)
	api, err := etcd.Connect(etcd.Config{Endpoints: []string{"unix://" + c.Cluster}, Log: log})
	if err != nil {
		return err
	}
	defer closed(api.Close)
	gone, err := newRemovals(c.Removals)
	if err != nil {
		return err
	}
	p := &process{changes: newChanges(newLeftovers(&c.Agent, host.Socket(c.VPP), kernel), gone)}
	defer p.changes.close()
	p.cluster = newHeardCluster(port.Cluster(api.Cluster(c.Agent.NodeName)))
	told, stepped := host.Cluster(p.cluster), p.changes.stepped
	if p.beside, err = c.beside(ctx, alloc, kernel, log); err != nil {
		return err
	}
	if b := p.beside; b != nil {
		told = b.cluster(told)
		stepped = func(now time.Time, a *agent.Agent, effects []agent.Effect) {
			p.changes.stepped(now, a, effects)
			b.stepped(now, a, effects)
		}
	}
	cfg := host.Config{
		Agent: c.Agent, Allocator: alloc, Journal: countedJournal{j, &p.counts}, Records: records, Boot: c.Boot,
		Linux: countedLinux{kernel, &p.counts, gone}, VPP: countedVPP{host.Socket(c.VPP), &p.counts, &p.vppUp, gone},
		Store: heardStore{port.Store(store.Store()), &p.store, &p.counts}, Cluster: told, HostAddresses: addresses,
		CallTimeout: c.CallTimeout, Stepped: stepped, Log: log,
	}
	if port != nil {
		cfg.Between = port
	}
	if p.driver, err = host.New(cfg); err != nil {
		return err
	}
	return p.serve(ctx, c, log)
}

// openJournal opens the journal, whose disk is a port's where there is one.
func openJournal(path string, port *faults.Port) (j interface {
	host.Journal
	Close() error
}, records []agent.Record, err error) {
	if port != nil {
		return port.OpenJournal(path)
	}
	return journal.Open(path)
}

// serve runs the driver, and opens its sockets when the journal has been read.
func (p *process) serve(ctx context.Context, c Config, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.Address != "" {
		if err := p.tellAddress(c.Address); err != nil {
			return err
		}
	}
	ended := make(chan error, 1)
	restored := make(chan struct{})
	go func() {
		// Asked before Run begins, answered right after the journal was told.
		defer close(restored)
		_ = p.driver.Ask(ctx, func(a *agent.Agent) {
			p.restored = p.changes.restored(a)
		}) // ends with Run
	}()
	go func() { ended <- p.driver.Run(ctx) }()
	asked := kube.CNI(p.driver)
	if b := p.beside; b != nil && b.run != nil {
		go b.run(ctx, p.driver)
	}
	if b := p.beside; b != nil && b.asked != nil {
		asked = b.asked(asked)
	}
	<-restored
	cni, err := cnisocket.Listen(c.CNI, asked, log)
	if err != nil {
		return err
	}
	cni.Done = p.driver.Metrics.Requested
	served := make(chan error, 1)
	go func() { served <- cni.Serve(ctx) }()
	watch, err := p.watch(c.Watch, c)
	if err != nil {
		return err
	}
	defer func() { _ = watch.Close() }() // the process ends
	log.Info("serving", "cni", filepath.Base(c.CNI), "leases", len(p.restored))
	select {
	case err = <-ended:
	case err = <-served:
	}
	return err
}
