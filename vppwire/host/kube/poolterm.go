package kube

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// poolTerm is one life of an operator as the leader: it does one thing after the other, and ends when it cannot be sure of the ledger.
type poolTerm struct {
	o      *Operator
	pools  Pools
	target poolTarget
	ledger ledger
	events *events
	// lock says until when this process leads; nil without a lease.
	lock *lock

	// ready: ledger and nodes have been read. views are the nodes as seen last, by name, gone the incarnations that went, by name and UID.
	ready bool
	views map[string]poolNode
	gone  map[string]string
	queue []string
	// short are nodes that found no block, said those of which an event told.
	short []string
	said  map[string]bool
}

// errLeaseOver ends a term whose lease was not renewed in time: an elector, which counts from a later moment and not while the machine sleeps, has yet
// to find out.
var errLeaseOver = errors.New("the lease was not renewed in time")

// serve leads until ctx ends, until the ledger is not known any more, or until somebody else gives nodes what they have: ErrRival.
func (o *Operator) serve(ctx context.Context, lock *lock, events *events) error {
	pools, err := o.cfg.New()
	if err != nil {
		return err
	}
	t := &poolTerm{o: o, pools: pools, target: o.target(), events: events, lock: lock, views: map[string]poolNode{}, gone: map[string]string{}, said: map[string]bool{},
		ledger: newLedger(NewStore(StoreConfig{Client: o.cfg.Client, RequestTimeout: o.cfg.RequestTimeout, Log: o.cfg.Log}), o.cfg.LedgerSlack, o.cfg.Log)}
	defer t.ledger.store.Close()
	if err := t.ledger.restore(pools.Apply); err != nil {
		return err
	}
	news := make(chan func() error)
	ctx, end := context.WithCancel(ctx)
	var follower sync.WaitGroup
	defer follower.Wait()
	defer end()
	tell := func(do func() error) {
		select {
		case news <- do:
		case <-ctx.Done():
		}
	}
	follower.Go(func() {
		t.target.follow(ctx, func(list []poolNode) { tell(func() error { return t.listed(list) }) },
			func(n poolNode) { tell(func() error { t.view(n); return nil }) },
			func(n poolNode) { tell(func() error { t.lost(n); return nil }) },
			func(why error) { tell(func() error { return why }) })
	})
	again := time.NewTicker(operatorPause)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case do := <-news:
			if err = t.leads(); err == nil {
				err = do()
			}
		case <-again.C:
			if err = t.leads(); err != nil {
				break
			}
			t.requeueShort()
			t.ledger.sweep(ctx)
		}
		if err == nil {
			err = t.work(ctx)
		}
		if err == nil && t.ready {
			err = t.ledger.compact(t.pools)
		}
		if err != nil {
			return err
		}
	}
}

// listed takes every node that exists. The first list ends the restart: what nodes show and the ledger does not know is entered.
func (t *poolTerm) listed(list []poolNode) error {
	there := map[string]bool{}
	for _, n := range list {
		there[n.Metadata.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(t.views)) {
		if !there[name] {
			t.lost(t.views[name])
		}
	}
	for _, n := range list {
		t.view(n)
	}
	if t.ready {
		return nil
	}
	alive := map[string]bool{"-": true} // who cools belongs to nobody
	for _, n := range list {
		alive[n.Metadata.Incarnation()] = true
		if n.bad != nil {
			continue
		}
		entries, err := t.pools.Adopt(t.now(), n.CiliumNode)
		if err != nil {
			t.o.cfg.Log.Warn("left alone", "node", n.Metadata.Name, "error", err)
		}
		if err := t.ledger.append(entries); err != nil {
			return err
		}
	}
	t.pools.FinishRestore()
	t.ready = true
	// Whoever is in the ledger and not in the list went while nobody looked.
	for _, c := range t.pools.Records() {
		if c.Op == cilium.OpClaim && !alive[c.Node] {
			t.gone[c.Node] = c.Node
			t.enqueue(c.Node)
		}
	}
	return nil
}

// leads is errLeaseOver unless this process leads for certain.
func (t *poolTerm) leads() error {
	if t.lock != nil && !t.now().Before(t.lock.leadsUntil()) {
		return errLeaseOver
	}
	return nil
}

func (t *poolTerm) now() time.Time { return t.o.clock.now() }

// view takes in a node, unless it is older than what is known of it.
func (t *poolTerm) view(n poolNode) {
	name := n.Metadata.Name
	old, known := t.views[name]
	switch {
	case known && old.Metadata.UID == n.Metadata.UID && old.revision >= n.revision:
		return
	case known && old.Metadata.UID != n.Metadata.UID:
		t.lost(old)
	}
	t.views[name] = n
	if n.bad != nil {
		t.o.cfg.Log.Warn("left alone", "node", name, "error", n.bad)
		return
	}
	t.enqueue(name)
}

// lost notes that a node is gone; what it held goes back in its turn.
func (t *poolTerm) lost(n poolNode) {
	name := n.Metadata.Name
	if t.views[name].CiliumNode != nil && t.views[name].Metadata.UID == n.Metadata.UID {
		delete(t.views, name)
		delete(t.said, name)
	}
	key := name + "/" + n.Metadata.UID
	t.gone[key] = n.Metadata.Incarnation()
	t.enqueue(key)
}

func (t *poolTerm) enqueue(name string) {
	if !slices.Contains(t.queue, name) {
		t.queue = append(t.queue, name)
	}
}

// requeueShort looks again at everybody who found nothing.
func (t *poolTerm) requeueShort() {
	for _, name := range t.short {
		t.enqueue(name)
	}
	t.short = nil
}

// work does what is due.
func (t *poolTerm) work(ctx context.Context) error {
	for t.ready && len(t.queue) > 0 && ctx.Err() == nil {
		if err := t.leads(); err != nil {
			return err
		}
		name := t.queue[0]
		t.queue = t.queue[1:]
		if incarnation, ok := t.gone[name]; ok {
			delete(t.gone, name)
			if err := t.ledger.append(t.pools.Delete(t.now(), incarnation)); err != nil {
				return err
			}
			t.requeueShort() // others may have waited for its blocks
			continue
		}
		if n := t.views[name]; n.CiliumNode != nil && n.bad == nil {
			if err := t.reconcile(ctx, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// reconcile answers one node: its entries go into the ledger, then it is shown what it has.
func (t *poolTerm) reconcile(ctx context.Context, n poolNode) error {
	name := n.Metadata.Name
	allocated, entries, err := t.pools.Reconcile(t.now(), n.CiliumNode)
	if err != nil {
		t.refuse(n, err)
	} else {
		delete(t.said, name)
	}
	if err := t.ledger.append(entries); err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(c cilium.Claim) bool { return c.Op == cilium.OpReturn }) {
		t.requeueShort()
	}
	if slices.EqualFunc(allocated, n.Spec.IPAM.Pools.Allocated, sameAllocation) {
		return nil
	}
	if err := t.leads(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.o.cfg.RequestTimeout)
	defer cancel()
	now, err := t.target.show(ctx, n, allocated)
	switch outcome(err) {
	case nodeipam.Done:
		t.pools.Wrote(now.CiliumNode)
		if old := t.views[name]; old.CiliumNode != nil && old.Metadata.UID == now.Metadata.UID && old.revision < now.revision {
			t.views[name] = now
		}
	case nodeipam.Conflict, nodeipam.NotFound: // the watch tells what is there
	default:
		t.o.cfg.Log.Warn("not shown what it has", "node", name, "error", err)
		t.later(name)
	}
	return nil
}

// refuse tells people of a node for which there is no block, once.
func (t *poolTerm) refuse(n poolNode, err error) {
	name := n.Metadata.Name
	if !t.said[name] {
		t.said[name] = true
		t.o.cfg.Log.Warn("no block", "node", name, "error", err)
		t.events.record(nodeipam.RecordEvent{Name: name, UID: n.owner, Type: v1.EventTypeWarning, Reason: "CIDRNotAvailable", Message: err.Error()})
	}
	t.later(name)
}

func (t *poolTerm) later(name string) {
	if !slices.Contains(t.short, name) {
		t.short = append(t.short, name)
	}
}

func sameAllocation(a, b cilium.PoolAllocation) bool {
	return a.Pool == b.Pool && slices.Equal(a.CIDRs, b.CIDRs)
}
