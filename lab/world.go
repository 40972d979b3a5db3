package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/cloud"
	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/lab/internal/faults"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// World is one lab, a result.World. One goroutine drives it; processes and kubelets live on goroutines of their own.
type World struct {
	Drive
	timeline.NoPlugins
	o      Options
	state  StateDir
	fabric Fabric
	// dhcp is nil where nodes' addresses follow from their IDs.
	dhcp   DHCP
	claims claims
	// gateway is the namespace of the router of hosts whose NIC VPP takes.
	gateway string
	started time.Time
	// monotonic is started as agents tell times.
	monotonic int64

	control *controlPlane
	// desired is what the lab is to be; a standing lab's changes.
	desired atomic.Pointer[desired]

	// mu guards what follows; kubelets and supervisors look too.
	mu    sync.Mutex
	nodes map[string]*node
	made  uint32
	pods  pods

	// desk is nil where nothing is injected.
	desk *faults.Desk
	// source is nil where no controller gives nodes their blocks, cloud where nodes are no instances of EC2.
	source   *blockSource
	cloud    *cloud.Cloud
	figures  *http.Server
	external external
	services services
	policies policies
	knocks   knocks
	held     HeldIDs
	cuts     [][2]string
}

// New builds a lab at the scenario's start and returns when its machines boot; Settle waits until they are up. After an
// error nothing of it is left. The scenario is not changed.
func New(ctx context.Context, s *scenarios.Scenario, o Options) (_ *World, err error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	if err := o.Backend.Check(ctx); err != nil {
		return nil, err
	}
	if o.VPP, err = FindVPP(o.Backend, o.VPP); err != nil {
		return nil, err
	}
	if err := Validate(s); err != nil {
		return nil, err
	}
	s = scaled(s, o.TimeScale)
	w := &World{o: o, nodes: map[string]*node{}, started: time.Now(), monotonic: nodeagent.Monotonic()}
	w.Pump, w.Wall = w.pump, w.real
	w.Begin(stage{w}, s, o.RunOptions, w.Now)
	w.pods.init()
	w.services.init()
	w.policies.init()
	cfg, err := configure(s)
	if err != nil {
		return nil, err
	}
	if err := w.openDesk(s); err != nil {
		return nil, err
	}
	w.desired.Store(&desired{s, cfg})
	if w.state, err = claim(o.Root, o.ID, o.Backend.Name()); err != nil {
		return nil, err
	}
	w.state.Scenario, w.state.File = s.Name, s.File
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if err := w.state.save(); err != nil {
		return nil, err
	}
	config := Config{ID: w.state.ID, Dir: w.state.dir,
		VPPConfig: vppproc.Config{Binary: o.VPP, Sleep: o.VPPSleep, Heap: o.VPPHeap}}
	// The control plane elects itself while the fabric and the machines are made.
	plane := make(chan error, 1)
	go func() {
		var err error
		w.control, err = startControlPlane(filepath.Join(w.state.dir, "plane"))
		plane <- err
	}()
	w.fabric, err = o.Backend.Open(ctx, config)
	if err = errors.Join(err, <-plane); err != nil {
		return nil, err
	}
	if err = w.openGateway(); err != nil {
		return nil, err
	}
	w.followRecords()
	if s.Config.IPAM.OnEC2() {
		epoch := time.Now()
		if w.cloud, err = cloud.New(cloud.Config{Dir: w.control.dir, Plan: s.Config.IPAM, Now: func() time.Time { return epoch.Add(w.Now()) }}); err != nil {
			return nil, err
		}
	}
	if s.Config.IPAM.ByController() || controllers.Asked(s.Config.IPAM) {
		source, err := newBlockSource(w, w.control.dir)
		if err == nil {
			err = source.start()
		}
		if err != nil {
			return nil, err
		}
		w.source = source
	}
	if err = w.showFigures(); err != nil {
		return nil, err
	}
	if err = w.serveDHCP(s); err != nil {
		return nil, err
	}
	return w, w.populate(ctx)
}

// desired is a scenario, its times scaled, and what its agents' configuration is.
type desired struct {
	scenario *scenarios.Scenario
	agents   agent.Config
}

// scenario is what the lab is to be, agents the configuration of its agents.
func (w *World) scenario() *scenarios.Scenario { return w.desired.Load().scenario }
func (w *World) agents() agent.Config          { return w.desired.Load().agents }

// populate makes the nodes and pods of the start.
func (w *World) populate(ctx context.Context) error {
	if err := w.control.setPools(ctx, w.Play.Plan()); err != nil {
		return err
	}
	var err error
	w.Agenda.During(0, func() { err = w.Play.Start(ctx) }) // however long it takes, what is planned begins at 0
	return err
}

// StateDir is the lab's entry among the labs of this machine.
func (w *World) StateDir() StateDir { return w.state }

// Name implements result.World.
func (w *World) Name() string { return w.o.Backend.Name() }

// since is the time by which kubelets wait.
func (w *World) since() time.Duration { return time.Since(w.started) }

// Now implements result.World: real time since the start, times the scale.
func (w *World) Now() time.Duration {
	return time.Duration(float64(w.since()) * w.o.TimeScale)
}

// at is a time that an agent tells, of nodeagent.Monotonic, as time since the start.
func (w *World) at(monotonic int64) time.Duration {
	return time.Duration(float64(monotonic-w.monotonic) * w.o.TimeScale)
}

// real turns a time of the scenario into one of the clock on the wall.
func (w *World) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / w.o.TimeScale)
}

// scaled is the scenario with those times of its agents' configuration divided that agents keep by their own clocks.
func scaled(s *scenarios.Scenario, by float64) *scenarios.Scenario {
	out := *s
	divide := func(d *time.Duration) { *d = time.Duration(float64(*d) / by) }
	divide(&out.Config.Agent.NodeIDQuarantine)
	divide(&out.Config.IPAM.ReuseDelay)
	divide(&out.Config.IPAM.Datastore.Cooling)
	return &out
}

// Evidence implements result.World. Where times are scaled, agents still wait for their VPPs by the clock on the wall, so that nobody can
// judge for how long hosts were out of reach.
func (w *World) Evidence() []fact.Evidence {
	if w.o.TimeScale == 1 {
		return Evidence()
	}
	return slices.DeleteFunc(Evidence(), func(e fact.Evidence) bool { return e == fact.HostReaches })
}

// Evidence is what labs let laws judge by.
func Evidence() []fact.Evidence {
	return []fact.Evidence{fact.AssignedBlocks, fact.BlockedBlocks, fact.FreeBlocks, fact.WaitingPods, fact.WantedAddresses, fact.Leases, fact.Sandboxes,
		fact.PodLives, fact.Refusals, fact.NodeIDs, fact.Management, fact.Blocks, fact.Rests, fact.ReachedSettings, fact.LongQuiet,
		fact.Changes, fact.ClosedRanges, fact.Disturbances, fact.CleanStops, fact.VPPLives, fact.Checks, fact.FullNodes, fact.Leftovers,
		fact.HeldIDs, fact.HostReaches, fact.ProgramLives, fact.RequestCounts,
		fact.Records, fact.IDRests, fact.NodeAddresses, fact.NodeLeases, fact.OtherNICs, fact.Removals, fact.Services, fact.Policies, fact.VPPTables, fact.LinuxTables}
}

// pump is Drive's Pump: what was planned happens, facts reach the laws.
func (w *World) pump(_ context.Context, until time.Duration) error {
	w.Agenda.CarryOut(until)
	w.publishServices(time.Now())
	w.publishPolicies(time.Now())
	return w.Deliver()
}

// inOrder are the nodes of the cluster by name, node-2 before node-10.
func (w *World) inOrder() []*node {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]*node, 0, len(w.nodes))
	for _, n := range w.nodes { //vppdrill:unordered sorted below
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b *node) int { return fact.CompareNames(a.name, b.name) })
	return out
}

// nodeNames are their names, in that order.
func (w *World) nodeNames() (names []string) {
	for _, n := range w.inOrder() {
		names = append(names, n.name)
	}
	return names
}

// Keep leaves the lab up: Close then ends only this process's part in it. The store goes with this process, so agents
// go on with what they know.
func (w *World) Keep() error {
	w.state.Kept = true
	return w.state.save()
}

// Close implements result.World: everything ends, and nothing is left, unless the lab was kept.
func (w *World) Close() error {
	if !w.End() {
		return nil
	}
	w.knocks.letGo()
	errs := []error{w.hideFigures(), w.source.close()}
	for _, n := range w.inOrder() {
		n.kubelet.Stop()
	}
	if w.state.Kept {
		for _, n := range w.inOrder() {
			n.abandon()
		}
		if w.control != nil {
			errs = append(errs, w.control.close())
		}
		return errors.Join(append(errs, w.cloud.Close())...)
	}
	each(w.inOrder(), func(n *node) { n.remove() })
	errs = append(errs, w.cloud.Close())
	if w.control != nil {
		errs = append(errs, w.control.close())
	}
	if w.dhcp != nil {
		errs = append(errs, w.dhcp.Close())
	}
	if w.fabric != nil {
		errs = append(errs, w.fabric.Close())
	}
	if w.state.dir != "" {
		errs = append(errs, w.state.remove(w.o.Backend))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("end lab %s: %w", w.state.ID, err)
	}
	return nil
}

// each does something for all nodes at the same time and returns when all is done.
func each(nodes []*node, do func(*node)) {
	var wg sync.WaitGroup
	for _, n := range nodes {
		wg.Go(func() { do(n) })
	}
	wg.Wait()
}
