package cniworld

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Name is the world's.
const Name = "cni"

// Options are what a run chooses beside its scenario. Chain is required.
type Options struct {
	Chain *Chain
	// TimeScale divides every time of a scenario; 0 is 1. What plugins need for themselves stays as it is.
	TimeScale float64
	// Seen, where set, gets the system calls of each command: all are traced then. It is called by one at a time.
	Seen func(node, command string, calls []string)
	lab.RunOptions
}

// World is one cluster of namespaces, a result.World. One goroutine drives it; kubelets live on goroutines of their own.
type World struct {
	lab.Drive
	timeline.NoPolicies
	o      Options
	s      *scenarios.Scenario
	place  place
	fabric *fabric.Fabric
	server *server
	// dhcp is on the wire where the chain leases addresses, nil elsewhere.
	dhcp    lab.DHCP
	started time.Time

	// mu guards what follows; kubelets look too.
	mu       sync.Mutex
	nodes    map[string]*node
	made     uint32
	pods     map[string]*pod
	madePods int
	// reaches says whether pods of one node, and of two nodes, reached each other undisturbed, as far as learned.
	reaches struct{ within, across bool }
	learned bool
	// seeing guards Options.Seen.
	seeing sync.Mutex
}

// New builds a cluster at the scenario's start. After an error nothing of it is left.
func New(ctx context.Context, s *scenarios.Scenario, o Options) (_ *World, err error) {
	if o.TimeScale <= 0 {
		o.TimeScale = 1
	}
	w := &World{o: o, s: s, nodes: map[string]*node{}, pods: map[string]*pod{}, server: newServer(), started: time.Now()}
	w.Pump, w.Wall = w.pump, func(d time.Duration) time.Duration { return time.Duration(float64(d) / o.TimeScale) }
	w.Begin(stage{w}, s, o.RunOptions, w.Now)
	if w.place, err = claim("c" + strings.ToLower(rand.Text()[:6])); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if w.fabric, err = fabric.New(w.place.namespace("fabric")); err != nil {
		return nil, err
	}
	if o.Chain.dhcp != "" {
		if err = w.serveDHCP(w.Play.Plan()); err != nil {
			return nil, err
		}
	}
	w.Agenda.During(0, func() { err = w.Play.Start(ctx) })
	if err != nil {
		return nil, err
	}
	w.started = time.Now()
	for _, n := range w.inOrder() {
		n.kubelet.powerOn()
	}
	return w, nil
}

// Name implements result.World.
func (w *World) Name() string { return Name }

// since is the time by which kubelets wait.
func (w *World) since() time.Duration { return time.Since(w.started) }

// Now implements result.World: real time since the start, times the scale.
func (w *World) Now() time.Duration {
	return time.Duration(float64(w.since()) * w.o.TimeScale)
}

// Evidence implements result.World: what addresses are booked shows where the chain's IPAM is host-local or whereabouts.
func (w *World) Evidence() []fact.Evidence {
	list := []fact.Evidence{fact.Sandboxes, fact.PodLives, fact.Refusals, fact.Checks, fact.Pings, fact.Remains}
	if w.o.Chain.booked() {
		list = append(list, fact.Leases, fact.Rests)
	}
	return list
}

func (w *World) pump(_ context.Context, until time.Duration) error {
	w.Agenda.CarryOut(until)
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

// Close implements result.World: everything ends, and nothing is left.
func (w *World) Close() error {
	if !w.End() {
		return nil
	}
	var errs []error
	for _, n := range w.inOrder() {
		errs = append(errs, n.remove())
	}
	if w.dhcp != nil {
		errs = append(errs, w.dhcp.Close())
	}
	if w.fabric != nil {
		errs = append(errs, w.fabric.Close())
	}
	if err := errors.Join(append(errs, w.place.remove())...); err != nil {
		return fmt.Errorf("end world %s: %w", w.place.id, err)
	}
	return nil
}

// each does something for all nodes at the same time.
func each(nodes []*node, do func(*node) error) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { errs[i] = do(n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// dir is a node's folder.
func (w *World) dir(node string) string { return filepath.Join(w.place.dir, node) }
