package kindworld

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/kindcluster"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/scenarios/choice"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// World is one cluster. It implements scenarios.World, scenarios.Recorder, scenarios.Supporter and scenarios.Refuser. One goroutine
// drives it; nodes boot on others.
type World struct {
	o        Options
	s        *scenarios.Scenario
	agents   agent.Config
	machines *kindcluster.Machines
	client   kubernetes.Interface
	started  time.Time
	play     *timeline.Player
	agenda   lab.Agenda
	record   *lab.Record
	// generation is that of the pools that were published last.
	generation int64
	looked     time.Time
	pods       pods
	// backlog are requests that the API server has not taken yet, in order.
	backlog []request
	cuts    []cut

	// mu guards what goroutines that boot nodes see too.
	mu      sync.Mutex
	nodes   map[string]*node
	booting sync.WaitGroup
	broken  error

	listeners []func(scenarios.Fact) error
	stopped   error
	closed    bool
}

// request is something asked of the API server; it is repeated until it succeeds, so it must be safe to repeat.
type request struct {
	what string
	do   func(ctx context.Context) error
}

// New makes a cluster for a scenario and returns when its nodes have joined. After an error nothing of it is left.
func New(ctx context.Context, s *scenarios.Scenario, o Options) (_ *World, err error) {
	w := &World{o: o, s: s, nodes: map[string]*node{}, started: time.Now()}
	if w.agents, err = agentconfig.Of(s.Config); err != nil {
		return nil, err
	}
	settings, err := settingsOf(w.agents)
	if err != nil {
		return nil, err
	}
	w.record = lab.NewRecord(w.Now, o.Events)
	w.play = timeline.New(stage{w}, s, choice.Seeded(o.Seed))
	pools, err := w.published(w.play.Plan())
	if err != nil {
		return nil, err
	}
	c := o.Cluster
	c.Nodes = 1
	c.Agents = &kindcluster.Agents{Settings: settings, Pools: pools, Flags: flagsOf(s)}
	defer func() {
		if err != nil && !lab.IsCannotRun(err) {
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
	w.client = conn.Client()
	w.pods.init()
	w.agenda.During(0, func() { err = w.play.Start(ctx) })
	if err != nil {
		return nil, err
	}
	w.booting.Wait()
	w.started = time.Now() // what is planned begins when there is a cluster
	w.mu.Lock()
	defer w.mu.Unlock()
	return w, w.broken
}

// flagsOf are what agents of a scenario are started with beside their settings.
func flagsOf(s *scenarios.Scenario) []string {
	flags := []string{"--ipam=contiv"}
	if d := s.Config.IPAM.ReuseDelay; d > 0 {
		flags = append(flags, "--reuse-delay="+d.String())
	}
	// A lost reply costs the connection, so patience is at least what a loaded machine needs.
	return append(flags, "--call-timeout="+max(s.Config.Agent.CallTimeout, 10*time.Second).String())
}

// published is an address plan as the ConfigMap of ranges has it, as the next generation.
func (w *World) published(plan scenarios.IPAM) ([]byte, error) {
	w.generation++
	return json.Marshal(agent.PublishedPools{Generation: w.generation, IPAMConfig: plan.Contiv()})
}

// Name implements scenarios.World.
func (w *World) Name() string { return Name }

// Now implements scenarios.World: real time since the start.
func (w *World) Now() time.Duration { return time.Since(w.started) }

// Evidence implements scenarios.World.
func (w *World) Evidence() []scenarios.Evidence { return Evidence() }

// Evidence is what laws can judge by in clusters: what a look at nodes and API objects shows.
func Evidence() []scenarios.Evidence {
	return []scenarios.Evidence{scenarios.Leases, scenarios.Sandboxes, scenarios.PodLives, scenarios.NodeIDs, scenarios.Management, scenarios.Blocks,
		scenarios.Disturbances, scenarios.VPPLives, scenarios.NodeAddresses, scenarios.VPPTables, scenarios.LinuxTables}
}

// Watch implements scenarios.World.
func (w *World) Watch(fn func(scenarios.Fact) error) { w.listeners = append(w.listeners, fn) }

// Do implements scenarios.World.
func (w *World) Do(ctx context.Context, a scenarios.Action) error {
	w.record.Note("action " + a.String())
	return errors.Join(w.play.Do(ctx, a), w.deliver())
}

// Supports implements scenarios.Supporter.
func (w *World) Supports(a scenarios.Action) bool { return w.play.Refusal(a) == "" }

// Refusal implements scenarios.Refuser.
func (w *World) Refusal(a scenarios.Action) string { return w.play.Refusal(a) }

// Heal implements scenarios.World.
func (w *World) Heal(context.Context) error {
	w.record.Note("heal")
	return errors.Join(w.play.Heal(), w.deliver())
}

const (
	// tick is how often what is planned is looked at, lookPause how often nodes are.
	tick      = 20 * time.Millisecond
	lookPause = 400 * time.Millisecond
)

// pump does what is due, looks at the nodes when it is time, and tells what has happened.
func (w *World) pump(ctx context.Context, until time.Duration) error {
	w.agenda.CarryOut(until)
	if time.Since(w.looked) >= lookPause {
		w.lookAround(ctx)
	}
	return w.deliver()
}

// deliver tells the listeners what has happened; the first error ends the run.
func (w *World) deliver() error {
	for _, f := range w.record.Take() {
		for _, fn := range w.listeners {
			if err := fn(f); err != nil && w.stopped == nil {
				w.stopped = err
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.stopped, w.broken)
}

// Advance implements scenarios.World.
func (w *World) Advance(ctx context.Context, at time.Duration) error {
	for {
		if err := w.pump(ctx, min(at, w.Now())); err != nil {
			return err
		}
		left := at - w.Now()
		if left <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(left, tick)):
		}
	}
}

// Digest implements scenarios.Recorder: real runs have none.
func (w *World) Digest() string { return "" }

// Events implements scenarios.Recorder.
func (w *World) Events() int64 {
	_, n := w.record.Last(0)
	return n
}

// Tail implements scenarios.Recorder.
func (w *World) Tail(n int) []string {
	lines, _ := w.record.Last(n)
	return lines
}

// fail notes what could not be done; the next wait tells it.
func (w *World) fail(err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.record.Note("error: " + err.Error())
		w.broken = errors.Join(w.broken, err)
	}
}

// inOrder are the nodes by name, node-2 before node-10.
func (w *World) inOrder() []*node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.nodes), func(a, b *node) int {
		if len(a.name) != len(b.name) {
			return len(a.name) - len(b.name)
		}
		return strings.Compare(a.name, b.name)
	})
}

// node is one by its name, nil when it has left.
func (w *World) node(name string) *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes[name]
}

// closeLimit is how long a cluster may take to go: an engine that has much to do takes minutes.
const closeLimit = 5 * time.Minute

// Close implements scenarios.World: the cluster is removed, unless it is to be kept.
func (w *World) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	w.mu.Unlock()
	w.booting.Wait()
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
