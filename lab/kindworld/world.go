package kindworld

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// World is one cluster, a result.World. One goroutine drives it; nodes boot on others.
type World struct {
	lab.Drive
	timeline.NoPlugins
	timeline.NoPolicies
	o        Options
	s        *scenarios.Scenario
	agents   agent.Config
	machines *kindcluster.Machines
	conn     *kube.Connection
	client   kubernetes.Interface
	started  time.Time
	// generation is that of the pools that were published last.
	generation int64
	looked     time.Time
	pods       pods
	services   services
	api        apiServer
	records    records
	blocks     *blocks
	deaths     deaths
	refusals   refusals
	// backlog are requests that the API server has not taken yet, in order.
	backlog []request
	cuts    []cut

	// mu guards what goroutines that boot nodes see too.
	mu      sync.Mutex
	nodes   map[string]*node
	booting sync.WaitGroup
}

// request is something asked of the API server; it is repeated until it succeeds, so it must be safe to repeat.
type request struct {
	what string
	do   func(ctx context.Context) error
	// why it was not taken the last time; nil: it was not asked for yet.
	why error
}

// New makes a cluster for a scenario and returns when its nodes have joined. After an error nothing of it is left.
func New(ctx context.Context, s *scenarios.Scenario, o Options) (_ *World, err error) {
	w := &World{o: o, s: s, nodes: map[string]*node{}, started: time.Now(), deaths: deaths{}, refusals: refusals{}}
	if w.agents, err = agentconfig.Of(s.Config); err != nil {
		return nil, err
	}
	if c := s.Config.IPAM; c.System == scenarios.Cilium || controllers.Blocked(c) { // their agents know the ranges' families from their file
		w.agents.IPAMConfig = c.Contiv()
	}
	settings, err := settingsOf(w.agents)
	if err != nil {
		return nil, err
	}
	w.Pump, w.Wall = w.pump, func(d time.Duration) time.Duration { return d }
	w.Begin(stage{w}, s, o.RunOptions, w.Now)
	plan := w.Play.Plan()
	pools, err := w.published(plan)
	if err != nil {
		return nil, err
	}
	c := o.Cluster
	c.Nodes, c.Families = 1, familiesOf(plan)
	c.Agents = &kindcluster.Agents{Settings: settings, Pools: pools, Flags: flagsOf(s), NodeCIDRs: !s.Config.IPAM.Traits().ByID}
	if w.serving() {
		c.Agents.ServiceSubnet = clusterServices
	}
	defer func() {
		if err != nil && (!lab.IsCannotRun(err) || kindcluster.HalfMade(err)) {
			err = errors.Join(err, w.Close())
		}
	}()
	made, err := kindcluster.Up(ctx, c)
	if err != nil {
		return nil, err
	}
	if w.machines, err = kindcluster.Attach(ctx, c); err != nil {
		return nil, err
	}
	conn, err := kube.Dial(made.Kubeconfig, "vppdrill-world", o.Log)
	if err != nil {
		return nil, err
	}
	w.conn, w.client = conn, conn.Client()
	w.pods.init()
	if err := w.foundServices(ctx); err != nil {
		return nil, err
	}
	if err := w.control(ctx, made.Kubeconfig); err != nil {
		return nil, err
	}
	w.Agenda.During(0, func() { err = w.Play.Start(ctx) })
	if err != nil {
		return nil, err
	}
	w.booting.Wait()
	w.started = time.Now() // what is planned begins when there is a cluster
	return w, w.Broken()
}

// familiesOf are those of a plan's pods.
func familiesOf(plan scenarios.IPAM) (list kindcluster.Families) {
	for _, pods := range []netip.Prefix{plan.PodSubnetCIDR.Prefix, plan.PodSubnetCIDR.Second} {
		switch {
		case !pods.IsValid():
		case pods.Addr().Is6():
			list = append(list, v1.IPv6Protocol)
		default:
			list = append(list, v1.IPv4Protocol)
		}
	}
	return list
}

// flagsOf are what agents of a scenario are started with beside their settings.
func flagsOf(s *scenarios.Scenario) []string {
	c := s.Config.IPAM
	system, _ := ipamFlag(c)
	flags := []string{"--ipam=" + system}
	if d := c.ReuseDelay; d > 0 && c.System != scenarios.Cilium { // there it is the operator's
		flags = append(flags, "--reuse-delay="+d.String())
	}
	if controllers.Pooled(c) || controllers.Addressed(c) {
		flags = append(flags, fmt.Sprintf("--pre-allocate=%d", c.Cilium.PreAllocate))
	}
	if controllers.Addressed(c) {
		flags = append(flags, fmt.Sprintf("--min-allocate=%d", c.Cilium.MinAllocate), fmt.Sprintf("--max-allocate=%d", c.Cilium.MaxAllocate),
			fmt.Sprintf("--max-above-watermark=%d", c.Cilium.MaxAboveWatermark), "--ipam-expiration="+c.Cilium.Expiration.String())
	}
	// A lost reply costs the connection, so patience is at least what a loaded machine needs.
	return append(flags, "--call-timeout="+max(s.Config.Agent.CallTimeout, 10*time.Second).String())
}

// published is an address plan as the ConfigMap of ranges has it, as the next generation.
func (w *World) published(plan scenarios.IPAM) ([]byte, error) {
	w.generation++
	return json.Marshal(agent.PublishedPools{Generation: w.generation, IPAMConfig: plan.Contiv()})
}

// Name implements result.World.
func (w *World) Name() string { return Name }

// Now implements result.World: real time since the start.
func (w *World) Now() time.Duration { return time.Since(w.started) }

// Evidence implements result.World.
func (w *World) Evidence() []fact.Evidence { return Evidence() }

// Evidence is what laws can judge by in clusters: what a look at nodes and API objects shows.
func Evidence() []fact.Evidence {
	return []fact.Evidence{fact.Leases, fact.Sandboxes, fact.PodLives, fact.NodeIDs, fact.Management, fact.Blocks,
		fact.Rests, fact.Refusals, fact.WaitingPods, fact.FullNodes, fact.Records, fact.IDRests, fact.HeldIDs, fact.ProgramLives,
		fact.CleanStops, fact.LongQuiet, fact.AssignedBlocks, fact.BlockedBlocks, fact.FreeBlocks, fact.ClosedRanges, fact.Checks, fact.Disturbances, fact.VPPLives, fact.NodeAddresses, fact.Services,
		fact.ReachedSettings, fact.VPPTables, fact.LinuxTables}
}

// lookPause is how often nodes are looked at.
const lookPause = 400 * time.Millisecond

// pump does what is due, looks at the nodes when it is time, and tells what has happened.
func (w *World) pump(ctx context.Context, until time.Duration) error {
	w.Agenda.CarryOut(until)
	if time.Since(w.looked) >= lookPause {
		w.lookAround(ctx)
	}
	return w.Deliver()
}

// inOrder are the nodes by name, node-2 before node-10.
func (w *World) inOrder() []*node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.nodes), func(a, b *node) int { return fact.CompareNames(a.name, b.name) })
}

// nodeNames are their names, in that order.
func (w *World) nodeNames() (names []string) {
	for _, n := range w.inOrder() {
		names = append(names, n.name)
	}
	return names
}

// node is one by its name, nil when it has left.
func (w *World) node(name string) *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes[name]
}

// closeLimit is how long a cluster may take to go: an engine that has much to do takes minutes.
const closeLimit = 5 * time.Minute

// Close implements result.World: the cluster is removed, unless it is to be kept.
func (w *World) Close() error {
	if !w.End() {
		return nil
	}
	w.booting.Wait()
	w.blocks.close()
	var errs []error
	for _, n := range w.inOrder() {
		errs = append(errs, n.lost())
	}
	if w.machines != nil {
		errs = append(errs, w.machines.Close())
	}
	if w.o.kept {
		return errors.Join(errs...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit) // also after an interrupt
	defer cancel()
	if err := errors.Join(append(errs, kindcluster.Down(ctx, w.o.Cluster.Dir, w.o.Cluster.ID))...); err != nil {
		return fmt.Errorf("end cluster %s: %w", w.o.Cluster.ID, err)
	}
	return nil
}
