package cluster

import (
	"strconv"
	"time"
)

// LifecycleConfig configures a NodeLifecycle.
type LifecycleConfig struct {
	// NotReadyAfter is how long a node may be silent; default 40 s, node-monitor-grace-period up to Kubernetes 1.31.
	NotReadyAfter time.Duration
	// EvictAfter is how long pods stay on a node that is not ready; default 5 min, the default tolerationSeconds.
	// Negative: indefinitely.
	EvictAfter time.Duration
	// CollectAfter is how long pods outlive their Node object; default 40 s, the pod garbage collector's quarantine.
	CollectAfter time.Duration
}

// NodeLifecycle is what the controller manager does for nodes: conditions, eviction, collection of orphaned pods. It
// works inside the API server's reach: an API outage stops it, and its timers start again afterwards.
//
// Nodes send no heartbeats here. Instead SetAlive says when a node becomes silent or is back, and the timers start from
// there; that is exact to within the lease's renewal period of 10 s.
type NodeLifecycle struct {
	api   *API
	clock Clock
	cfg   LifecycleConfig
	nodes map[string]*lifecycleNode
	due   int
}

// lifecycleNode is a node that exists, or that has pods to collect.
type lifecycleNode struct {
	name, uid string
	alive     bool
	op        int // numbers the timers: an older one has no effect
	orphans   bool
}

// NewNodeLifecycle returns the controller.
func (a *API) NewNodeLifecycle(cfg LifecycleConfig) *NodeLifecycle {
	cfg.NotReadyAfter = orDefault(cfg.NotReadyAfter, 40*time.Second)
	cfg.EvictAfter = orDefault(cfg.EvictAfter, 5*time.Minute)
	cfg.CollectAfter = orDefault(cfg.CollectAfter, 40*time.Second)
	l := &NodeLifecycle{api: a, clock: a.clock, cfg: cfg, nodes: make(map[string]*lifecycleNode)}
	a.Observe(l.observe)
	return l
}

// Due counts timers that will change something unless the node comes back: silent nodes that are still ready, evictions
// and collections to come.
func (l *NodeLifecycle) Due() int { return l.due }

func (l *NodeLifecycle) node(name string) *lifecycleNode {
	n := l.nodes[name]
	if n == nil {
		n = &lifecycleNode{name: name, alive: true}
		l.nodes[name] = n
	}
	return n
}

// Join creates the Node object, ready, with a new UID; when the API is down, as soon as it is not. An existing node is
// not joined.
func (l *NodeLifecycle) Join(spec Node) {
	l.api.WhenAvailable(func() {
		n := spec
		n.Ready = true
		n.Labels = spec.Labels
		_ = l.api.Create(&n) // ErrExists: another client was faster
	})
}

// Remove deletes the Node object. Its pods are collected after CollectAfter.
func (l *NodeLifecycle) Remove(name string) {
	l.api.WhenAvailable(func() {
		_ = l.api.Delete(KindNode, Key{Name: name}, "") // ErrNotFound: it was gone
	})
}

// Cordon makes a node unschedulable, or schedulable again; when the API is down, as soon as it is not.
func (l *NodeLifecycle) Cordon(name string, cordoned bool) {
	l.api.WhenAvailable(func() {
		_ = l.api.SetNode(name, "", func(n *Node) { n.Unschedulable = cordoned }) // ErrNotFound: it has left
	})
}

// SetAlive says whether the node's kubelet is heard by the API server.
func (l *NodeLifecycle) SetAlive(name string, alive bool) {
	n := l.node(name)
	if n.alive == alive {
		return
	}
	n.alive = alive
	l.consider(n)
}

// consider starts the timer that a node's state asks for; an earlier one has no effect any more.
func (l *NodeLifecycle) consider(n *lifecycleNode) {
	object, exists := l.api.Node(n.name)
	switch {
	case !exists && n.orphans:
		l.start(n, "collect", l.cfg.CollectAfter, l.collect)
	case !exists:
		l.cancel(n)
	case n.alive && !object.Ready:
		l.start(n, "ready", 0, func(n *lifecycleNode) { l.setReady(n, true) })
	case n.alive:
		l.cancel(n)
	case object.Ready:
		l.start(n, "not-ready", l.cfg.NotReadyAfter, func(n *lifecycleNode) { l.setReady(n, false) })
	case l.cfg.EvictAfter >= 0 && l.evictable(n.name):
		l.start(n, "evict", l.cfg.EvictAfter, l.evict)
	default:
		l.cancel(n)
	}
}

func (l *NodeLifecycle) cancel(n *lifecycleNode) {
	if n.op%2 == 1 { // odd: a timer runs
		n.op++
		l.due--
	}
}

func (l *NodeLifecycle) start(n *lifecycleNode, verb string, after time.Duration, act func(*lifecycleNode)) {
	l.cancel(n)
	n.op++
	l.due++
	l.clock.After(after, &lifecycleStep{l: l, n: n, op: n.op, verb: verb, act: act})
}

type lifecycleStep struct {
	l    *NodeLifecycle
	n    *lifecycleNode
	op   int
	verb string
	act  func(*lifecycleNode)
}

func (s *lifecycleStep) AppendText(b []byte) []byte {
	b = append(b, "lifecycle "...)
	if s.n.op != s.op {
		b = append(b, "leaves "...)
	}
	b = append(b, s.verb...)
	b = append(b, ' ')
	b = append(b, s.n.name...)
	if s.verb == "evict" || s.verb == "collect" {
		b = append(b, " pods "...)
		b = strconv.AppendInt(b, int64(len(s.l.api.kinds[KindPod].list(s.n.name))), 10)
	}
	return b
}

func (s *lifecycleStep) Fire() {
	if s.n.op != s.op {
		return
	}
	if s.l.api.down {
		// No heartbeat arrives during an outage, so silence proves nothing: the time starts again afterwards.
		s.l.api.WhenAvailable(func() {
			if s.n.op == s.op {
				s.l.consider(s.n)
			}
		})
		return
	}
	s.l.cancel(s.n)
	s.act(s.n)
}

func (l *NodeLifecycle) setReady(n *lifecycleNode, ready bool) {
	_ = l.api.SetNode(n.name, n.uid, func(o *Node) { o.Ready = ready }) // gone or another node: observe has seen it
	l.consider(n)
}

// evictable reports whether a node has pods that eviction would delete.
func (l *NodeLifecycle) evictable(node string) bool {
	for _, o := range l.api.kinds[KindPod].list(node) {
		if p := o.(*Pod); !p.Pinned && !p.Deleting {
			return true
		}
	}
	return false
}

func (l *NodeLifecycle) evict(n *lifecycleNode) {
	for _, o := range l.api.kinds[KindPod].list(n.name) {
		if p := o.(*Pod); !p.Pinned {
			_ = l.api.DeletePod(p.Key(), p.UID) // gone meanwhile: as well
		}
	}
}

// collect removes the pods of a node that does not exist, by force: no kubelet will.
func (l *NodeLifecycle) collect(n *lifecycleNode) {
	n.orphans = false
	for _, o := range l.api.kinds[KindPod].list(n.name) {
		_ = l.api.Delete(KindPod, o.Common().Key(), o.Common().UID)
	}
}

// observe follows nodes, and pods that are bound to silent or absent nodes.
func (l *NodeLifecycle) observe(old, now Object) {
	if node, ok := now.(*Node); ok {
		if old == nil {
			n := l.node(node.Name)
			n.uid, n.orphans = node.UID, false
			l.consider(n)
		}
		return
	}
	if node, ok := old.(*Node); ok && now == nil {
		n := l.node(node.Name)
		n.uid = ""
		n.orphans = len(l.api.kinds[KindPod].list(node.Name)) > 0
		l.consider(n)
		return
	}
	pod, ok := now.(*Pod)
	if !ok || pod.Node == "" || nodeOf(old) != "" {
		return
	}
	n := l.node(pod.Node)
	_, exists := l.api.Node(pod.Node)
	switch {
	case !exists && !n.orphans:
		n.orphans = true
		l.consider(n)
	case exists && !n.alive && n.op%2 == 0:
		l.consider(n)
	}
}
