package cluster

import (
	"container/heap"
	"strconv"
	"time"
)

// SchedulerConfig configures a Scheduler.
type SchedulerConfig struct {
	// MaxPods bounds the pods of one node; default 110, the kubelet's.
	MaxPods int
}

const defaultMaxPods = 110

// Scheduler binds pods to ready nodes that are not cordoned: the node with the fewest pods that stay, the first by name
// among equals, within MaxPods and the pod's MaxPerNode. Pods that are being deleted take room and do not make a node
// less wanted, so that where a pod goes does not follow from how long a kubelet takes, which differs between worlds.
// Pods that fit nowhere wait in their order and are tried again when something frees. It sees the cluster through
// informers and may act on old news, as the real one does.
type Scheduler struct {
	api    *API
	clock  Clock
	at     Endpoint
	slots  *slots
	pods   map[string]*schedPod // by UID
	groups map[groupKey]*group
	apps   map[string]*schedApp
	// ready are the groups to try; the one whose head has waited longest is first.
	ready   groupHeap
	passing bool
	arrived int64
	freed   int64 // counts what became free, from 1
	waiting int
	binding int
	life    int // counts resets: answers to an earlier life are ignored

	// Nodes and Pods are the scheduler's informers.
	Nodes, Pods *Informer
}

// schedPod is a pod as the scheduler sees it: waiting in group, or counted on a slot, or neither while it is retried.
type schedPod struct {
	key     Key
	uid     string
	app     *schedApp
	group   *group
	slot    *slot
	arrived int64
	waits   bool
	bound   bool // by the API, not only by this scheduler's decision
	going   bool // it is being deleted, and counted so on its slot
	retry   time.Duration
}

// bindRetry and bindRetryMax bound the wait after a binding that came to nothing: the scheduler's pod back-off.
const (
	bindRetry    = time.Second
	bindRetryMax = 10 * time.Second
)

// NewScheduler returns a scheduler at an endpoint; Start makes it work.
func (a *API) NewScheduler(at Endpoint, cfg SchedulerConfig) *Scheduler {
	s := &Scheduler{api: a, clock: a.clock, at: at, slots: newSlots(orDefault(cfg.MaxPods, defaultMaxPods))}
	s.reset()
	s.Nodes = a.NewInformer(InformerConfig{Name: "scheduler", At: at, Kind: KindNode, Handler: (*schedNodes)(s)})
	s.Pods = a.NewInformer(InformerConfig{Name: "scheduler", At: at, Kind: KindPod, Handler: (*schedPods)(s)})
	return s
}

// Start begins with what the API lists.
func (s *Scheduler) Start() {
	s.Nodes.Start()
	s.Pods.Start()
}

// Stop ends the process: everything is forgotten.
func (s *Scheduler) Stop() {
	s.Nodes.Stop()
	s.Pods.Stop()
	s.reset()
}

func (s *Scheduler) reset() {
	s.slots = newSlots(s.slots.limit)
	s.pods = make(map[string]*schedPod)
	s.groups = make(map[groupKey]*group)
	s.apps = make(map[string]*schedApp)
	s.ready, s.waiting, s.binding = nil, 0, 0
	s.freed = 1
	s.life++
}

// Waiting counts the pods without a node; Placeable counts those of them that no attempt has failed for.
func (s *Scheduler) Waiting() int { return s.waiting }

// Busy reports whether a pass or a binding is under way.
func (s *Scheduler) Busy() bool { return s.passing || s.binding > 0 }

type schedNodes Scheduler

// Listed is called by the informer.
func (h *schedNodes) Listed(objects []Object, _ int64) {
	s := (*Scheduler)(h)
	known := make(map[string]bool, len(objects))
	for _, o := range objects {
		known[o.Common().Name] = true
		s.node(o.(*Node), true)
	}
	for _, n := range append([]*slot(nil), s.slots.nodes...) {
		if n.known && !known[n.name] {
			s.node(&Node{Meta: Meta{Name: n.name}}, false)
		}
	}
}

// Changed is called by the informer.
func (h *schedNodes) Changed(c Change) { (*Scheduler)(h).node(c.Object.(*Node), c.Type != Deleted) }

func (s *Scheduler) node(n *Node, exists bool) {
	slot := s.slots.slot(n.Name)
	slot.known = exists
	if usable := exists && n.Ready && !n.Unschedulable && n.Network != NetworkUnavailable; usable != slot.usable {
		s.slots.setUsable(slot, usable)
		if usable {
			s.unblock()
		}
	}
	s.slots.forget(slot)
}

type schedPods Scheduler

// Listed is called by the informer.
func (h *schedPods) Listed(objects []Object, _ int64) {
	s := (*Scheduler)(h)
	known := make(map[string]bool, len(objects))
	for _, o := range objects {
		known[o.Common().UID] = true
		s.pod(o.(*Pod))
	}
	for uid, p := range s.pods { // in any order: what is dropped frees room, and a pass picks by age
		if !known[uid] {
			s.drop(p)
		}
	}
}

// Changed is called by the informer.
func (h *schedPods) Changed(c Change) {
	s := (*Scheduler)(h)
	pod := c.Object.(*Pod)
	if c.Type != Deleted {
		s.pod(pod)
	} else if p := s.pods[pod.UID]; p != nil {
		s.drop(p)
	}
}

// pod takes in a pod's present state.
func (s *Scheduler) pod(pod *Pod) {
	p := s.pods[pod.UID]
	if p == nil {
		p = s.admit(pod)
	}
	switch {
	case pod.Node != "":
		if p.slot != nil && p.slot.name != pod.Node {
			s.vacate(p)
		}
		s.unqueue(p)
		s.occupy(p, s.slots.slot(pod.Node))
		p.bound = true
		if pod.Deleting && !p.going {
			p.going = true
			s.slots.mark(p.slot, 1)
		}
	case pod.Deleting:
		s.unqueue(p)
	}
}

// admit makes a pod known, which waits unless it is bound or being deleted.
func (s *Scheduler) admit(pod *Pod) *schedPod {
	s.arrived++
	p := &schedPod{key: pod.Key(), uid: pod.UID, arrived: s.arrived}
	s.pods[pod.UID] = p
	k := groupKey{}
	if pod.MaxPerNode > 0 {
		k = groupKey{pod.App, pod.MaxPerNode}
		p.app = s.app(pod.App)
	}
	p.group = s.group(k, p.app)
	if pod.Node == "" && !pod.Deleting {
		s.enqueue(p)
	}
	return p
}

func (s *Scheduler) app(name string) *schedApp {
	a := s.apps[name]
	if a == nil {
		a = &schedApp{name: name, onNode: make(map[*slot]int)}
		s.apps[name] = a
	}
	return a
}

func (s *Scheduler) group(k groupKey, a *schedApp) *group {
	g := s.groups[k]
	if g == nil {
		g = &group{groupKey: k, joined: -1}
		s.groups[k] = g
		if a != nil {
			a.groups = append(a.groups, g)
		}
	}
	return g
}

func (s *Scheduler) drop(p *schedPod) {
	s.unqueue(p)
	s.vacate(p)
	delete(s.pods, p.uid)
}

func (s *Scheduler) enqueue(p *schedPod) {
	p.waits = true
	s.waiting++
	p.group.queue = append(p.group.queue, p)
	s.offer(p.group)
}

// unqueue ends a pod's wait; its place in the queue is skipped later.
func (s *Scheduler) unqueue(p *schedPod) {
	if p.waits {
		p.waits = false
		s.waiting--
	}
}

// offer puts a group among those to try.
func (s *Scheduler) offer(g *group) {
	if g.queued || g.blocked == s.freed || g.head() == nil {
		return
	}
	g.queued = true
	heap.Push(&s.ready, g)
	if !s.passing {
		s.passing = true
		s.clock.After(0, (*schedPass)(s))
	}
}

// unblock offers every group that has pods waiting: something became free.
func (s *Scheduler) unblock() {
	s.freed++
	if s.waiting == 0 {
		return
	}
	for _, g := range s.groups { // in any order: the heap sorts them by age
		s.offer(g)
	}
}

// occupy counts a pod on a node.
func (s *Scheduler) occupy(p *schedPod, n *slot) {
	if p.slot != nil {
		return
	}
	p.slot = n
	s.slots.add(n, 1)
	if p.app != nil {
		p.app.onNode[n]++
		p.app.mark(s.slots, n)
	}
}

// vacate takes it off again.
func (s *Scheduler) vacate(p *schedPod) {
	n := p.slot
	if n == nil {
		return
	}
	p.slot = nil
	if p.going {
		p.going = false
		s.slots.mark(n, -1)
	}
	s.slots.add(n, -1)
	if p.app != nil {
		if p.app.onNode[n]--; p.app.onNode[n] == 0 {
			delete(p.app.onNode, n)
		}
		p.app.mark(s.slots, n)
	}
	s.slots.forget(n)
	s.unblock()
}

// avoid is the set of nodes that a group's pods must not use, nil for none.
func (s *Scheduler) avoid(g *group) bitset {
	if g.max <= 0 {
		return nil
	}
	if g.joined != s.slots.joined {
		g.joined, g.full = s.slots.joined, make(bitset, s.slots.words())
		for n, pods := range s.apps[g.app].onNode { // in any order: it fills a set
			if pods >= g.max {
				g.full.set(n.index)
			}
		}
	}
	return g.full
}

// schedPass is the event in which waiting pods get nodes.
type schedPass Scheduler

func (h *schedPass) AppendText(b []byte) []byte {
	b = append(b, "scheduler pass waiting "...)
	return strconv.AppendInt(b, int64(h.waiting), 10)
}

func (h *schedPass) Fire() {
	s := (*Scheduler)(h)
	s.passing = false
	s.slots.fresh()
	heap.Init(&s.ready) // heads may have left since they were pushed
	for len(s.ready) > 0 {
		g := s.ready[0]
		p := g.head()
		if p == nil {
			g.queued = false
			heap.Pop(&s.ready)
			continue
		}
		n := s.slots.pick(s.avoid(g))
		if n == nil {
			g.blocked, g.queued = s.freed, false
			heap.Pop(&s.ready)
			continue
		}
		s.bind(p, n)
		heap.Fix(&s.ready, 0)
	}
}

func (s *Scheduler) bind(p *schedPod, n *slot) {
	s.unqueue(p)
	s.occupy(p, n)
	s.binding++
	c := &podCall{api: s.api, verb: verbBind, key: p.key, uid: p.uid, node: n.name}
	life := s.life
	c.done = func(err error) {
		if s.life == life {
			s.bindDone(p, err)
		}
	}
	c.send(s.at)
}

// bindDone takes the API's answer. Without one the result is unknown; the next attempt or the watch shows it.
func (s *Scheduler) bindDone(p *schedPod, err error) {
	s.binding--
	if s.pods[p.uid] != p || err == nil || p.bound {
		return
	}
	s.vacate(p)
	if err == ErrConflict || err == ErrNotFound {
		return // the watch brings what is the case
	}
	p.retry = backOff(p.retry, bindRetry, bindRetryMax)
	s.clock.After(p.retry, &bindAgain{s, p})
}

// bindAgain queues a pod again.
type bindAgain struct {
	s *Scheduler
	p *schedPod
}

func (r *bindAgain) AppendText(b []byte) []byte {
	return r.p.key.AppendText(append(b, "scheduler retry "...))
}

func (r *bindAgain) Fire() {
	if r.s.pods[r.p.uid] == r.p && r.p.slot == nil && !r.p.waits {
		r.s.enqueue(r.p)
	}
}
