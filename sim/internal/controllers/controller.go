package controllers

import (
	"errors"
	"net/netip"
	"strconv"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// errImmutable is how an API server refuses to change pod CIDRs that are set.
//
//lint:ignore ST1005 the text is upstream's
var errImmutable = errors.New("Forbidden: node updates may not change podCIDR except from \"\" to valid")

// controller is one life of the controller manager's node IPAM controller: it feeds the allocator with a watch of the
// nodes and performs its requests.
type controller struct {
	*leader
	system *rangeSystem
	alloc  nodeipam.Machine
	feed   *cluster.Informer
	// asked counts requests without an answer. due: it wants to be woken, so something is unfinished.
	asked int
	due   bool
}

func (c *controller) start() {
	c.feed = c.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "nodeipam", At: c.at, Kind: cluster.KindNode, Handler: c})
	c.perform(c.alloc.Step(c.now(), nodeipam.Leading{Until: c.now().Add(renewed)}))
	c.feed.Start()
}

// stop ends the process.
func (c *controller) stop() {
	if !c.dead {
		c.dead = true
		c.feed.Stop()
	}
}

// crash is a process that dies by itself; another one follows.
func (c *controller) crash() {
	c.env.Note(c.name, "crashed")
	c.stop()
	c.system.again(c.leader, c.system.lead)
}

// allocates reports whether its allocator wants to be woken.
func (c *controller) allocates() bool {
	if m, ok := c.alloc.(interface{ Due() bool }); ok {
		return m.Due()
	}
	return c.due
}

func (c *controller) step(ev nodeipam.Event) {
	c.hear(func() {
		if !c.dead {
			c.perform(c.alloc.Step(c.now(), ev))
		}
	})
}

// Listed implements cluster.Handler.
func (c *controller) Listed(objects []cluster.Object, _ int64) {
	c.step(nodeipam.Listed{Outcome: ipam.Done, Nodes: kubeNodes(objects)})
}

// Changed implements cluster.Handler.
func (c *controller) Changed(ch cluster.Change) {
	node := kubeNode(ch.Object.(*cluster.Node))
	switch ch.Type {
	case cluster.Added:
		c.step(nodeipam.NodeAdded{Node: node})
	case cluster.Deleted:
		c.step(nodeipam.NodeDeleted{Node: node})
	default:
		c.step(nodeipam.NodeUpdated{Node: node})
	}
}

func kubeNodes(objects []cluster.Object) []nodeipam.KubeNode {
	list := make([]nodeipam.KubeNode, len(objects))
	for i, o := range objects {
		list[i] = kubeNode(o.(*cluster.Node))
	}
	return list
}

func kubeNode(n *cluster.Node) nodeipam.KubeNode {
	k := nodeipam.KubeNode{Name: n.Name, UID: n.UID, ResourceVersion: strconv.FormatInt(n.ResourceVersion, 10), Labels: n.Labels, Deleting: n.Deleting}
	for _, p := range n.PodCIDRs {
		k.PodCIDRs = append(k.PodCIDRs, p.String())
	}
	k.ProviderID = "gce://vppdrill/zone-1/" + n.Name // Google's names an instance, and so a later one of the name too
	k.NetworkUnavailable = [...]nodeipam.ConditionStatus{cluster.NetworkAvailable: nodeipam.ConditionFalse, cluster.NetworkUnavailable: nodeipam.ConditionTrue}[n.Network]
	if len(k.PodCIDRs) > 0 {
		k.PodCIDR = k.PodCIDRs[0]
	}
	return k
}

func (c *controller) perform(effects []nodeipam.Effect) {
	for _, e := range effects {
		if c.dead {
			return
		}
		switch e := e.(type) {
		case nodeipam.ListNodes:
			c.list(e)
		case nodeipam.GetNode:
			c.node(e, e.ID, nodeGet, e.Name, func(a *cluster.API) (cluster.Object, error) { return get(a, e.Name) })
		case nodeipam.TouchNode:
			c.write(e, e.ID, nodeTouch, e.Name, e.UID, e.ResourceVersion, func(n *cluster.Node) error { n.Touches++; return nil })
		case nodeipam.PatchNodeCIDRs:
			c.write(e, e.ID, nodePatch, e.Name, e.UID, e.ResourceVersion, func(n *cluster.Node) error { return patch(n, e.CIDRs) })
		case nodeipam.SetNetworkAvailable:
			c.write(e, e.ID, nodeCondition, e.Name, e.UID, "", func(n *cluster.Node) error { n.Network = cluster.NetworkAvailable; return nil })
		case nodeipam.SetNetworkUnavailable:
			c.write(e, e.ID, nodeCondition, e.Name, e.UID, "", func(n *cluster.Node) error { n.Network = cluster.NetworkUnavailable; return nil })
		case nodeipam.ListRoutes:
			c.listRoutes(e)
		case nodeipam.CreateRoute:
			c.changeRoute(e, e.ID, routeCreate, e.Route, c.system.fabric.create)
		case nodeipam.DeleteRoute:
			c.changeRoute(e, e.ID, routeDelete, e.Route, c.system.fabric.delete)
		case nodeipam.GetAliases:
			c.aliasesOf(e)
		case nodeipam.AddAlias:
			c.addAlias(e)
		case nodeipam.WakeAt:
			c.due = !e.At.IsZero()
			c.alarm(e.At, func() { c.step(nodeipam.Woke{}) })
		case nodeipam.RecordEvent:
			c.env.Note(c.name, string(e.AppendText(nil)))
		case nodeipam.GiveUp:
			c.env.Note(c.name, string(e.AppendText(nil)))
			c.crash() // a controller that lived on without its CIDR map would assign nothing, ever
		default:
			panic("controllers: an effect of nodeipam: " + string(e.AppendText(nil)))
		}
	}
}

// patch sets pod CIDRs, which are set once.
func patch(n *cluster.Node, cidrs []netip.Prefix) error {
	if len(n.PodCIDRs) > 0 {
		return errImmutable
	}
	n.PodCIDRs = cidrs
	return nil
}

func get(a *cluster.API, name string) (cluster.Object, error) {
	n, ok := a.Node(name)
	if !ok {
		return nil, cluster.ErrNotFound
	}
	return n, nil
}

func (c *controller) list(e nodeipam.ListNodes) {
	var listed []nodeipam.KubeNode
	c.call(e, nodeList, "", func(a *cluster.API) (cluster.Object, error) {
		objects, _ := a.List(cluster.KindNode, "")
		listed = kubeNodes(objects)
		return nil, nil
	}, func(_ cluster.Object, err error) {
		c.step(nodeipam.Listed{ID: e.ID, Outcome: outcome(err), Nodes: listed})
	})
}

// write changes a node that must be the one and the version that the request names.
func (c *controller) write(e nodeipam.Effect, id uint64, what, name, uid, version string, change func(*cluster.Node) error) {
	c.system.requests++
	c.node(e, id, what, name, func(a *cluster.API) (cluster.Object, error) {
		old, ok := a.Node(name)
		switch {
		case !ok:
			return nil, cluster.ErrNotFound
		case uid != "" && uid != old.UID, version != "" && version != strconv.FormatInt(old.ResourceVersion, 10):
			return nil, cluster.ErrConflict
		}
		n := *old
		if err := change(&n); err != nil {
			return nil, err
		}
		if err := a.SetNode(name, uid, func(to *cluster.Node) {
			to.PodCIDRs, to.Touches, to.Network = n.PodCIDRs, n.Touches, n.Network
		}); err != nil {
			return nil, err
		}
		return get(a, name)
	})
}

// node performs a request about one node.
func (c *controller) node(e nodeipam.Effect, id uint64, what, name string, act func(*cluster.API) (cluster.Object, error)) {
	c.call(e, what, name, act, func(o cluster.Object, err error) {
		ev := nodeipam.Answered{ID: id, Outcome: outcome(err)}
		if err != nil {
			ev.Why = err.Error()
		}
		if n, ok := o.(*cluster.Node); ok {
			k := kubeNode(n)
			ev.Node = &k
		}
		c.step(ev)
	})
}

func (c *controller) call(e nodeipam.Effect, what, name string, act func(*cluster.API) (cluster.Object, error), then func(cluster.Object, error)) {
	c.asked++
	call := &cluster.ResourceCall{API: c.env.Cluster.API, What: string(e.AppendText(nil)), Act: act, Then: func(o cluster.Object, err error) {
		c.asked--
		then(o, err)
	}}
	c.env.call(c.api, fault.Op{Node: c.kind, Name: what, Key: name}, call, func() { c.send(func() { call.Send(c.at) }) }, c.crash)
}

func outcome(err error) ipam.Outcome {
	switch {
	case err == nil:
		return ipam.Done
	case errors.Is(err, cluster.ErrNotFound):
		return ipam.NotFound
	case errors.Is(err, cluster.ErrConflict), errors.Is(err, cluster.ErrExists):
		return ipam.Conflict
	case errors.Is(err, cluster.ErrNoAnswer), errors.Is(err, cluster.ErrUnavailable):
		return ipam.Unknown
	}
	return ipam.Refused
}
