package kube

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// term is one life of a controller. Its fields belong to the goroutine of serve.
type term struct {
	d       *Driver
	ctx     context.Context
	machine nodeipam.Machine
	events  *events
	alarm   *time.Timer
	// until is the end of the lease as last told, zero without one.
	until time.Time
	fatal error
	// listing: the controller has asked for a list. following: it hears of changes.
	listing, following bool
	// writers see whether somebody else gives nodes their pod CIDRs.
	writers writers

	// inbox takes what others have to say; others are those others.
	inbox  chan func()
	others sync.WaitGroup
}

// serve drives one controller until ctx ends, which is no error, or until the controller gives up. Afterwards nothing
// of it is under way. lock is nil without a lease.
func (d *Driver) serve(ctx context.Context, lock *lock, events *events) error {
	machine, err := d.cfg.New()
	if err != nil {
		return fmt.Errorf("node IPAM controller: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &term{d: d, ctx: ctx, machine: machine, events: events, alarm: time.NewTimer(time.Hour), inbox: make(chan func())}
	t.alarm.Stop()
	defer func() {
		cancel()
		t.alarm.Stop()
		t.others.Wait()
	}()
	services, served, err := t.services()
	if err != nil {
		return nil // ctx has ended
	}
	var renewed chan struct{} // of no lease there is no news
	if lock != nil {
		renewed = lock.renewed
		t.lead(lock)
	} else {
		t.perform(machine.Run(d.clock.now()))
	}
	// Answers come one by one, behind this: no block is picked before.
	t.step(nodeipam.ServiceCIDRs{Ranges: services})
	if served {
		t.others.Go(t.followServices)
	}
	if !t.listing {
		t.feed()
	}
	looks := d.begin(ctx, machine)
	for t.fatal == nil {
		select {
		case look := <-looks:
			look()
		case <-ctx.Done():
			return nil
		case do := <-t.inbox:
			do()
		case do := <-d.asks:
			do(t)
		case <-renewed:
			t.lead(lock)
		case <-t.alarm.C:
			t.step(nodeipam.Woke{})
		}
	}
	return t.fatal
}

// lead tells until when this process leads.
func (t *term) lead(lock *lock) {
	t.until = lock.leadsUntil()
	t.step(nodeipam.Leading{Until: t.until})
}

// list reads every node, from no cache.
func (t *term) list(ctx context.Context) ([]nodeipam.KubeNode, error) {
	list, err := t.d.cfg.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	nodes, seen := make([]nodeipam.KubeNode, len(list.Items)), make([]*v1.Node, len(list.Items))
	for i := range list.Items {
		nodes[i], seen[i] = kubeNode(&list.Items[i]), &list.Items[i]
	}
	if err := t.writers.list(seen); err != nil {
		t.giveUp(err)
	}
	return nodes, nil
}

// feed has every change told from now on. The first list of it has to be newer than whatever was told before: an older
// one could show nodes as gone that are there, and others would get their CIDRs.
func (t *term) feed() {
	if t.following {
		return
	}
	t.following = true
	t.others.Go(func() { followNodes(t.ctx, t.d.cfg.Client, t.writers.watching(nodeFeed(t.take), t.giveUp)) })
}

// take gives the controller an event from another goroutine, and waits until it has it.
func (t *term) take(ev nodeipam.Event) { t.tell(func() { t.step(ev) }) }

// giveUp ends the term from another goroutine.
func (t *term) giveUp(why error) { t.tell(func() { t.fatal = why }) }

// tell runs do on the goroutine that owns the controller; not at all when the term is over.
func (t *term) tell(do func()) {
	select {
	case t.inbox <- do:
	case <-t.ctx.Done():
	}
}

// step gives the controller an event and performs what it asks for.
func (t *term) step(ev nodeipam.Event) {
	t.perform(t.machine.Step(t.d.clock.now(), ev))
	if l, ok := ev.(nodeipam.Listed); ok && l.ID != 0 && l.Outcome == ipam.Done {
		t.feed()
	}
}
