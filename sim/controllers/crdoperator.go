package controllers

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// resyncTime is how often cilium-operator looks at every node (pkg/ipam/node_manager.go).
const resyncTime = time.Minute

// crdOperator is one life of the operator in a mode whose CiliumNodes have a pool: a cilium.Operator, whose actions it performs.
type crdOperator struct {
	*leader
	system *crdSystem
	core   *cilium.Operator
	feed   *cluster.Informer
	listed bool
	views  map[string]*cluster.Resource
	// unlisted are nodes of which EC2's listing is under way or to be asked for again.
	unlisted map[string]bool
	// writing are nodes whose resource is being written.
	writing map[string]bool
	asked   int
	// relisted: EC2 was asked again behind the start.
	relisted bool
}

func newCRDOperator(s *crdSystem, l *leader) *crdOperator {
	c := s.env.Plan.Cilium
	core, err := cilium.NewOperator(cilium.OperatorConfig{ReleaseExcessIPs: !c.KeepExcess, ReleaseDelay: c.ReleaseDelay})
	Accept(l.name, err)
	o := &crdOperator{leader: l, system: s, core: core, views: make(map[string]*cluster.Resource), unlisted: make(map[string]bool), writing: make(map[string]bool)}
	o.feed = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "operator", At: o.at, Kind: cluster.KindResource, Handler: o})
	return o
}

func (o *crdOperator) start() {
	o.feed.Start()
	o.resync()
}

// stop ends the process.
func (o *crdOperator) stop() {
	if !o.dead {
		o.dead = true
		o.feed.Stop()
	}
}

// resync looks at every node. The first time it also asks EC2 once more what each has: what a leader asked for that is none any more may
// have come since. The real one asks at every resync, for all nodes in one request.
func (o *crdOperator) resync() {
	o.perform(o.core.Resync(o.now()))
	for _, name := range sortedNames(o.views) {
		if !o.relisted {
			o.list(name)
		}
	}
	o.relisted = o.relisted || len(o.views) > 0
	o.after(resyncTime, "resync", o.resync)
}

// Listed implements cluster.Handler.
func (o *crdOperator) Listed(objects []cluster.Object, _ int64) {
	o.listed = true
	there := make(map[string]bool, len(objects))
	for _, x := range objects {
		there[x.Common().Name] = true
		o.see(x.(*cluster.Resource))
	}
	for _, name := range sortedNames(o.views) {
		if !there[name] {
			o.drop(name)
		}
	}
}

// Changed implements cluster.Handler.
func (o *crdOperator) Changed(ch cluster.Change) {
	r := ch.Object.(*cluster.Resource)
	switch old := o.views[r.Name]; {
	case ch.Type != cluster.Deleted:
		o.see(r)
	case old != nil && old.UID == r.UID:
		o.drop(r.Name)
	}
}

func (o *crdOperator) drop(name string) {
	delete(o.views, name)
	delete(o.unlisted, name)
	o.core.Delete(name)
}

// see takes in a resource, unless it is older than what is known of it.
func (o *crdOperator) see(r *cluster.Resource) {
	old := o.views[r.Name]
	if old != nil && old.UID == r.UID && old.ResourceVersion >= r.ResourceVersion {
		return
	}
	o.views[r.Name] = r
	actions, err := o.core.Update(o.now(), ciliumNode(r))
	if err != nil {
		o.env.Note(o.name, err.Error())
		return
	}
	o.perform(actions)
	if old == nil || old.UID != r.UID {
		o.list(r.Name)
	}
}

// list asks EC2 what a node has; what was not answered is asked again.
func (o *crdOperator) list(node string) {
	if o.unlisted[node] || o.views[node] == nil {
		return
	}
	o.unlisted[node] = true
	uid := o.views[node].UID
	var m cilium.AllocationMap
	o.ask(node, listENIs, node, describeTime, func(c Cloud) (err error) {
		m, err = listing(c, o.env.now())
		return err
	}, func(err error) {
		delete(o.unlisted, node)
		switch {
		case o.views[node] == nil || o.views[node].UID != uid:
			return
		case err != nil:
			o.unlisted[node] = true
			o.after(retryTime, "lists "+node+" again", func() {
				delete(o.unlisted, node)
				o.list(node)
			})
			return
		}
		o.perform(o.core.Listed(o.now(), node, m))
	})
}

func (o *crdOperator) perform(actions []cilium.Action) {
	for i := 0; i < len(actions) && !o.dead; i++ {
		a := actions[i]
		switch a.Kind {
		case cilium.ActAllocate:
			o.allocate(a)
		case cilium.ActFree:
			ips := []netip.Addr{a.IP}
			for i+1 < len(actions) && actions[i+1].Kind == cilium.ActFree && actions[i+1].Node == a.Node {
				i++
				ips = append(ips, actions[i].IP)
			}
			o.free(a.Node, ips)
		case cilium.ActWrite:
			o.write(a)
		}
	}
}

// allocate asks for addresses on the first interface with room, or on a new one, for no more than there are: EC2 gives all or none (Cilium's pkg/aws/eni,
// PrepareIPAllocation).
func (o *crdOperator) allocate(a cilium.Action) {
	got := make(cilium.AllocationMap)
	var late time.Duration
	o.ask(a.Node, assignIPs, a.Node, changeTime, func(c Cloud) error {
		now := o.env.now()
		enis, err := c.Describe(now)
		if err != nil {
			return err
		}
		_, most := o.system.most()
		left := o.system.left(a.Node)
		for _, e := range enis {
			if room := most - len(e.Units); room > 0 {
				units, err := c.Assign(now, e.ID, min(room, a.Count, max(left, 1)), false)
				for _, u := range units {
					got[u.Addr()] = cilium.AllocationIP{Resource: e.ID}
				}
				return err
			}
		}
		e, at, err := c.Create(now, min(most, a.Count, max(left-1, 1)), false) // which takes one itself
		for _, u := range e.Units {
			got[u.Addr()] = cilium.AllocationIP{Resource: e.ID}
		}
		late = at.Sub(now)
		return err
	}, func(err error) {
		// An interface is there for its addresses when it is attached.
		o.asked++
		o.after(late, "has "+a.Node+"'s addresses", func() {
			o.asked--
			o.perform(o.core.Allocated(o.now(), a.Node, got, err))
			if errors.Is(err, cluster.ErrNoAnswer) { // they may be there all the same
				o.list(a.Node)
			}
		})
	})
}

// free gives addresses of a node back to EC2, in one request for each interface as the real one does (pkg/aws/eni, ReleaseIPs): one for
// each address would be throttled. What is not there has gone already. After an error all of them are asked for again.
func (o *crdOperator) free(node string, ips []netip.Addr) {
	key := node
	if len(ips) == 1 {
		key = ips[0].String()
	}
	o.ask(node, unassignIPs, key, changeTime, func(c Cloud) error {
		now := o.env.now()
		enis, err := c.Describe(now)
		if err != nil {
			return err
		}
		for _, e := range enis {
			var units []netip.Prefix
			for _, ip := range ips {
				if slices.Contains(e.Units, unit(ip)) {
					units = append(units, unit(ip))
				}
			}
			if len(units) == 0 {
				continue
			}
			if err := c.Unassign(now, e.ID, units); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) {
		for _, ip := range ips {
			o.perform(o.core.Freed(o.now(), node, ip, err))
		}
	})
}

// A call that EC2 has throttled is repeated after throttleFirst, then after twice as long each, throttleTries times at most, as AWS' SDK does (standard
// retry mode; it repeats less often, and at random, so that nobody is the last for ever).
const (
	throttleFirst = time.Second
	throttleTries = 5
)

// ask is one call of EC2 for a node.
func (o *crdOperator) ask(node, what, key string, wait time.Duration, act func(Cloud) error, then func(error)) {
	o.asked++
	if wait == changeTime {
		o.system.requests++
	}
	tries := 0
	var try func()
	try = func() {
		o.outside(fault.Op{Node: o.kind, Name: what, Key: key}, wait, func() error {
			c := o.system.of(node)
			if c == nil {
				return cluster.ErrNotFound
			}
			return act(c)
		}, func(err error) {
			if refused := (*ec2.APIError)(nil); errors.As(err, &refused) && refused.Code == ec2.CodeThrottled && tries < throttleTries {
				o.after(throttleFirst<<tries, what+" again", try)
				tries++
				return
			}
			o.asked--
			then(err)
		}, func() { o.fail("it crashed") })
	}
	try()
}

func (o *crdOperator) write(a cilium.Action) {
	r := o.views[a.Node]
	if r == nil {
		return
	}
	o.system.requests++
	o.asked++
	o.writing[a.Node] = true
	version := a.Resource.Metadata
	call := &cluster.ResourceCall{API: o.env.Cluster.API, What: "operator writes " + a.Node,
		Act: updateResource(&cluster.Resource{Meta: r.Meta, Owner: r.Owner, Value: a.Resource}),
		Then: func(x cluster.Object, err error) {
			o.asked--
			o.writing[a.Node] = false
			if o.dead {
				return
			}
			if err == nil {
				o.see(x.(*cluster.Resource))
				return
			}
			o.core.Refused(a.Node)
			if r := o.views[a.Node]; r != nil && ciliumNode(r).Metadata == version && !errors.Is(err, cluster.ErrConflict) && !errors.Is(err, cluster.ErrNotFound) {
				o.after(retryTime, "tries again", func() { o.perform(o.core.Resync(o.now())) })
			}
		}}
	o.env.call(o.api, fault.Op{Node: o.kind, Name: resourceWrite, Key: a.Node}, call,
		func() { o.send(func() { call.Send(o.at) }) }, func() { o.fail("it crashed") })
}

// fail ends a process that crashed.
func (o *crdOperator) fail(why string) {
	o.env.Note(o.name, "ends: "+why)
	o.stop()
	o.system.again(o.leader, o.system.lead)
}

func (o *crdOperator) pending() string {
	switch {
	case !o.listed || len(o.unlisted) > 0:
		return o.name + " is starting"
	case o.asked > 0:
		return o.name + " is at work"
	}
	for _, name := range sortedNames(o.views) {
		// An entry of the handshake is on its way out, whoever's turn it is; but excess only ages.
		s, known := o.core.Get(name)
		switch {
		case !known:
		case s.Leaving > 0:
			return o.name + " takes addresses of " + name + " back"
		case s.Needed > 0 && o.system.spare(name) > s.Needed && o.system.grows(name), // others have given some back since it asked in vain
			s.Needed > 0 && s.Available == 0 && o.system.spare(name) > 0: // and one that has none is content with one
			return o.name + " has addresses for " + name
		}
	}
	return ""
}
