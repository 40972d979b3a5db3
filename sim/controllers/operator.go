package controllers

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// ledgerPrefix is where the ledger's entries are, one key each, so that the store appends one only behind the one before.
const ledgerPrefix = "cilium/ledger/"

func ledgerKey(version uint64) string { return fmt.Sprintf("%s%020d", ledgerPrefix, version) }

// retryTime is until an operator looks again at nodes for which there was no CIDR, and at what a request may have done.
const retryTime = 5 * time.Second

// operator is one life of cilium-operator. It does one thing after the other: a node's entries go into the ledger, then its
// resource is written. It ends itself when it cannot be sure of the ledger.
type operator struct {
	*leader
	system *poolSystem
	pools  Pools
	client *cluster.StoreClient
	feed   *cluster.Informer

	ready    bool // ledger and resources have been read
	ledger   bool
	views    map[string]*cluster.Resource
	gone     map[string]string // incarnations of deleted resources, by name and UID
	queue    []string
	busy     bool
	asked    uint64
	replied  func(agent.StoreReply)
	muted    uint64   // the store request whose answer is lost
	short    []string // nodes that found no CIDR
	retrying bool
}

func newOperator(s *poolSystem, l *leader) *operator {
	o := &operator{leader: l, system: s, views: make(map[string]*cluster.Resource)}
	pools, err := s.newPools()
	Accept(l.name, err)
	o.pools = pools
	if plant := s.env.Plant.Pools; plant != nil {
		o.pools = plant(s.lives, pools)
	}
	Accept(l.name, o.upsert())
	return o
}

// upsert makes the pool what the configuration says.
func (o *operator) upsert() error {
	for _, p := range o.system.env.Plan.Cilium.Pools {
		if err := o.pools.UpsertPool(p.Name, cilium.PoolSpec{IPv4: p.IPv4, MaskSize4: cmp.Or(p.MaskSize, o.system.bits)}); err != nil {
			return err
		}
	}
	return o.pools.UpsertPool(cilium.DefaultPool, o.system.spec())
}

func (o *operator) extend() error {
	if err := o.upsert(); err != nil {
		return err
	}
	o.retry()
	return nil
}

func (o *operator) start() {
	o.client = o.env.Cluster.Store.Connect(o.at, o.fromStore)
	// Fresh, as vppwire/host/kube lists: what its ledger gives and no resource shows counts as given back.
	o.feed = o.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "operator", At: o.at, Kind: cluster.KindResource, Fresh: true, Handler: o})
	o.store(agent.StoreRequest{Op: agent.StoreList, Key: ledgerPrefix}, o.restore)
}

// stop ends the process.
func (o *operator) stop() {
	if !o.dead {
		o.dead = true
		o.client.Close()
		o.feed.Stop()
	}
}

// fail ends a process that does not know what the ledger says.
func (o *operator) fail(why string) {
	o.env.Note(o.name, "ends: "+why)
	o.stop()
	o.system.again(o.leader, o.system.lead)
}

func (o *operator) store(r agent.StoreRequest, then func(agent.StoreReply)) {
	o.asked++
	r.ID = o.asked
	o.replied = then
	name := ledgerRead
	switch r.Op {
	case agent.StoreCreate:
		name = ledgerAppend
	case agent.StoreDelete:
		name = ledgerStrike
	}
	op := fault.Op{Node: o.kind, Name: name, Key: r.Key}
	o.changes(op)
	o.env.request(request{
		op:     op,
		send:   func() { o.send(func() { o.client.Do(r) }) },
		forget: func() { o.muted = r.ID },
		tell: func(bool) {
			o.muted = 0
			o.fromStore(agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable})
		},
		die: func() { o.fail("it crashed") },
	})
}

func (o *operator) fromStore(ev agent.Event) {
	if r, ok := ev.(agent.StoreReply); ok && !o.dead && r.ID == o.asked && r.ID != o.muted && o.replied != nil {
		then := o.replied
		o.replied = nil
		then(r)
	}
}

// restore reads the ledger.
func (o *operator) restore(r agent.StoreReply) {
	if r.Err != agent.StoreOK {
		o.fail("the ledger cannot be read")
		return
	}
	items := slices.SortedFunc(slices.Values(r.Items), func(a, b agent.StoreItem) int { return strings.Compare(a.Key, b.Key) })
	var stray []agent.StoreItem
	for _, item := range items {
		c, err := cilium.ParseClaim(item.Value)
		if err == nil {
			err = o.pools.Apply(c)
		}
		if err != nil {
			o.env.Note(o.name, err.Error())
			stray = append(stray, item)
		} else {
			stray = stray[:0]
		}
	}
	o.strike(stray)
}

// strike takes entries out of the ledger's end that do not follow from the ones before: a store that has lost its data may get one from
// a deposed leader, late. Nobody could append where it stands. What nodes show is entered again by adoption. The resources come next.
func (o *operator) strike(stray []agent.StoreItem) {
	if len(stray) == 0 {
		o.ledger = true
		o.feed.Start()
		return
	}
	x := stray[0]
	o.store(agent.StoreRequest{Op: agent.StoreDelete, Key: x.Key, Revision: x.ModRevision}, func(r agent.StoreReply) {
		if r.Err != agent.StoreOK {
			o.fail(x.Key + ": not known to be struck out")
			return
		}
		o.strike(stray[1:])
	})
}

// Listed implements cluster.Handler.
func (o *operator) Listed(objects []cluster.Object, _ int64) {
	there := make(map[string]bool, len(objects))
	for _, x := range objects {
		there[x.Common().Name] = true
	}
	for _, name := range sortedNames(o.views) {
		if !there[name] {
			o.lost(o.views[name])
		}
	}
	for _, x := range objects {
		o.view(x.(*cluster.Resource))
	}
	if !o.ready {
		o.adopt(objects)
	}
	o.next()
}

// Changed implements cluster.Handler.
func (o *operator) Changed(ch cluster.Change) {
	r := ch.Object.(*cluster.Resource)
	if ch.Type == cluster.Deleted {
		o.lost(r)
	} else {
		o.view(r)
	}
	o.next()
}

// view takes in a resource, unless it is older than what is known of it.
func (o *operator) view(r *cluster.Resource) {
	old := o.views[r.Name]
	switch {
	case old != nil && old.UID == r.UID && old.ResourceVersion >= r.ResourceVersion:
		return
	case old != nil && old.UID != r.UID:
		o.lost(old)
	}
	o.views[r.Name] = r
	o.enqueue(r.Name)
}

// lost notes that a resource is gone; what it held goes back in its turn.
func (o *operator) lost(r *cluster.Resource) {
	if old := o.views[r.Name]; old != nil && old.UID == r.UID {
		delete(o.views, r.Name)
	}
	if o.gone == nil {
		o.gone = make(map[string]string)
	}
	key := r.Name + "/" + r.UID
	o.gone[key] = ciliumNode(r).Metadata.Incarnation()
	o.enqueue(key)
}

func (o *operator) enqueue(name string) {
	if !slices.Contains(o.queue, name) {
		o.queue = append(o.queue, name)
	}
}

// adopt ends the restart: what resources show and the ledger does not know is entered.
func (o *operator) adopt(objects []cluster.Object) {
	var entries []cilium.Claim
	for _, x := range objects {
		more, err := o.pools.Adopt(o.now(), ciliumNode(x.(*cluster.Resource)))
		entries = append(entries, more...)
		if err != nil {
			o.env.Note(o.name, err.Error())
		}
	}
	o.busy = true
	o.append(entries, func() {
		o.pools.FinishRestore()
		o.ready = true
		// Whoever is in the ledger and has no resource any more went while nobody looked.
		for _, c := range o.pools.Records() {
			o.forgotten(c)
		}
		o.busy = false
	})
}

func (o *operator) forgotten(c cilium.Claim) {
	for _, name := range sortedNames(o.views) {
		if ciliumNode(o.views[name]).Metadata.Incarnation() == c.Node {
			return
		}
	}
	if c.Op == cilium.OpClaim && c.Node != "-" {
		if o.gone == nil {
			o.gone = make(map[string]string)
		}
		o.gone[c.Node] = c.Node
		o.enqueue(c.Node)
	}
}

// next takes the next node of the queue.
func (o *operator) next() {
	for o.ready && !o.busy && !o.dead && len(o.queue) > 0 {
		name := o.queue[0]
		o.queue = o.queue[1:]
		if incarnation, ok := o.gone[name]; ok {
			delete(o.gone, name)
			o.busy = true
			o.append(o.pools.Delete(o.now(), incarnation), o.returned)
			continue
		}
		if r := o.views[name]; r != nil {
			o.reconcile(r)
		}
	}
}

// reconcile answers one resource.
func (o *operator) reconcile(r *cluster.Resource) {
	n := ciliumNode(r)
	allocated, entries, err := o.pools.Reconcile(o.now(), n)
	if err != nil {
		o.env.Note(o.name, err.Error())
		if !slices.Contains(o.short, r.Name) {
			o.short = append(o.short, r.Name)
		}
		o.retryLater()
	}
	o.env.decided(o.name, "gives %s %v, with %d entries into its ledger", r.Name, allocated, len(entries))
	o.busy = true
	returned := slices.ContainsFunc(entries, func(c cilium.Claim) bool { return c.Op == cilium.OpReturn })
	o.append(entries, func() {
		if returned {
			o.requeueShort()
		}
		if slices.EqualFunc(allocated, n.Spec.IPAM.Pools.Allocated, sameAllocation) {
			o.busy = false
			return
		}
		o.write(r, n, allocated)
	})
}

func sameAllocation(a, b cilium.PoolAllocation) bool {
	return a.Pool == b.Pool && slices.Equal(a.CIDRs, b.CIDRs)
}

// append puts entries into the ledger, one after the other.
func (o *operator) append(entries []cilium.Claim, then func()) {
	if len(entries) == 0 {
		then()
		o.next()
		return
	}
	c := entries[0]
	o.system.requests++
	o.store(agent.StoreRequest{Op: agent.StoreCreate, Key: ledgerKey(c.Version), Value: c.String()}, func(r agent.StoreReply) {
		if r.Err != agent.StoreOK {
			o.fail("ledger entry " + c.String() + ": not known to be written")
			return
		}
		o.append(entries[1:], then)
	})
}

// write shows a node what it has.
func (o *operator) write(r *cluster.Resource, n *cilium.CiliumNode, allocated []cilium.PoolAllocation) {
	o.system.requests++
	n.Spec.IPAM.Pools.Allocated = allocated
	fresh := &cluster.Resource{Meta: r.Meta, Value: n}
	call := &cluster.ResourceCall{API: o.env.Cluster.API, What: "operator writes " + r.Name, Act: updateResource(fresh),
		Then: func(x cluster.Object, err error) {
			if o.dead {
				return
			}
			o.busy = false
			switch {
			case err == nil:
				o.pools.Wrote(ciliumNode(x.(*cluster.Resource)))
				if old := o.views[r.Name]; old != nil && old.UID == r.UID && old.ResourceVersion < x.Common().ResourceVersion {
					o.views[r.Name] = x.(*cluster.Resource)
				}
			case errors.Is(err, cluster.ErrConflict), errors.Is(err, cluster.ErrNotFound): // the watch tells what is there
			default:
				o.short = append(o.short, r.Name)
				o.retryLater()
			}
			o.next()
		}}
	o.env.call(o.api, fault.Op{Node: o.kind, Name: resourceWrite, Key: r.Name}, call,
		func() { o.send(func() { call.Send(o.at) }) }, func() { o.fail("it crashed") })
}

// updateResource replaces a resource of the version that it names. A request may arrive twice: each copy brings an object of
// its own.
func updateResource(r *cluster.Resource) func(*cluster.API) (cluster.Object, error) {
	return func(a *cluster.API) (cluster.Object, error) {
		fresh := *r
		if err := a.Update(&fresh); err != nil {
			return nil, err
		}
		return &fresh, nil
	}
}

// returned goes on after blocks came back: others may have waited for them.
func (o *operator) returned() {
	o.busy = false
	o.requeueShort()
}

func (o *operator) requeueShort() {
	for _, name := range o.short {
		o.enqueue(name)
	}
	o.short = nil
}

// retry looks again at everybody who found nothing.
func (o *operator) retry() {
	o.requeueShort()
	o.next()
}

// retryLater looks again after a while: blocks may have cooled.
func (o *operator) retryLater() {
	if o.retrying {
		return
	}
	o.retrying = true
	o.env.Clock.After(retryTime, &step{o.name, "tries again", func() {
		if o.retrying = false; !o.dead {
			o.retry()
		}
	}})
}

func (o *operator) pending() string {
	switch {
	case !o.ready:
		return o.name + " is starting"
	case o.busy || len(o.queue) > 0:
		return o.name + " is at work"
	}
	return ""
}

// prefixes are the CIDRs of all pools.
func prefixes(list []cilium.PoolAllocation) (out []netip.Prefix) {
	for _, a := range list {
		out = append(out, a.CIDRs...)
	}
	return out
}
