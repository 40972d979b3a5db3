package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/vppdrill/vppdrill/scenarios"
)

// errNoTarget: an action names something that is not there now.
var errNoTarget = errors.New("nothing to act on")

// pod is a Pod object. A pod without a node waits for the scheduler.
type pod struct {
	name, uid, app, node string
	// maxPerNode bounds pods of the app on one node that have a bound too; 0 is none.
	maxPerNode int
	deleting   atomic.Bool
	published  bool
	number     int
}

// key is "namespace/name": the lab's pods are all in namespace default.
func (p *pod) key() string { return "default/" + p.name }

// pods are the API server's Pod objects, guarded by World.mu.
type pods struct {
	byName map[string]*pod
	// made numbers pods in the order of their creation, named those that actions create.
	made, named int
	churn       churnState
}

func (p *pods) init() { p.byName = map[string]*pod{} }

// createPod makes a pod; the scheduler places it where node is empty.
func (w *World) createPod(name, app, node string, maxPerNode int) {
	w.mu.Lock()
	if w.pods.byName[name] != nil {
		w.mu.Unlock()
		return
	}
	w.pods.made++
	w.pods.byName[name] = &pod{name: name, uid: uuid.NewString(), app: app, node: node, maxPerNode: maxPerNode, number: w.pods.made}
	w.mu.Unlock()
	w.schedule()
}

// schedule places waiting pods on the node with the fewest pods, and tells kubelets what is theirs.
func (w *World) schedule() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.apiUp() {
		return
	}
	count := map[string]int{}
	for _, p := range w.pods.byName { //vppdrill:unordered it is a count
		if p.node != "" {
			count[p.node]++
		}
	}
	for _, p := range w.pods.inOrder(func(p *pod) bool { return p.node == "" && !p.deleting.Load() }) {
		var best *node
		for _, n := range w.nodes { //vppdrill:unordered the best is one whatever the order: names differ
			if !n.isUp() || count[n.name] >= w.scenario().Topology.MaxPodsPerNode || !w.fits(p, n) {
				continue
			}
			if best == nil || cmp.Or(cmp.Compare(count[n.name], count[best.name]), strings.Compare(n.name, best.name)) < 0 {
				best = n
			}
		}
		if best != nil {
			p.node = best.name
			count[best.name]++
		}
	}
	for _, p := range w.pods.inOrder(func(*pod) bool { return true }) {
		n := w.nodes[p.node]
		if n == nil && p.deleting.Load() {
			delete(w.pods.byName, p.name) // nobody has to stop it
		}
		if n != nil && n.wires.hears() {
			if err := w.publish(p); err != nil {
				w.broken = errors.Join(w.broken, err)
			}
			n.kubelet.see(p)
		}
	}
}

// publish tells the API server that a pod is bound to a node, once. w.mu is held.
func (w *World) publish(p *pod) error {
	if p.published {
		return nil
	}
	p.published = true
	return w.plane.objects.PutPod(context.Background(), p.node, p.uid)
}

// fits honours a pod's bound of pods of its app on one node.
func (w *World) fits(p *pod, n *node) bool {
	if p.maxPerNode == 0 {
		return true
	}
	same := 0
	for _, q := range w.pods.byName { //vppdrill:unordered it is a count
		if q.node == n.name && q.app == p.app && q.maxPerNode > 0 {
			same++
		}
	}
	return same < p.maxPerNode
}

// apiUp reports whether the API server answers. w.mu is held.
func (w *World) apiUp() bool {
	w.plane.mu.Lock()
	defer w.plane.mu.Unlock()
	return !w.plane.apiStop
}

// inOrder are the pods of which want is true, oldest first.
func (p *pods) inOrder(want func(*pod) bool) []*pod {
	var out []*pod
	for _, q := range p.byName { //vppdrill:unordered sorted below
		if want(q) {
			out = append(out, q)
		}
	}
	slices.SortFunc(out, func(a, b *pod) int { return cmp.Compare(a.number, b.number) })
	return out
}

// deletePod asks for a pod's end; its kubelet does it.
func (w *World) deletePod(p *pod) {
	w.mu.Lock()
	p.deleting.Store(true)
	w.mu.Unlock()
	w.schedule()
}

// stopped forgets a pod whose kubelet has ended it.
func (w *World) podStopped(p *pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pods.byName[p.name] == p {
		delete(w.pods.byName, p.name)
	}
	if w.closed {
		return
	}
	if err := w.plane.objects.DeletePod(context.Background(), p.node, p.uid); err != nil {
		w.broken = errors.Join(w.broken, err)
	}
}

// orphans forgets the pods of a node that has left.
func (w *World) orphans(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, p := range w.pods.byName { //vppdrill:unordered each by itself
		if p.node == node {
			delete(w.pods.byName, name)
			if err := w.plane.objects.DeletePod(context.Background(), p.node, p.uid); err != nil {
				w.broken = errors.Join(w.broken, err)
			}
		}
	}
}

// createPods carries out CreatePods.
func (w *World) createPods(a scenarios.CreatePods) error {
	app := cmp.Or(a.App, "pod")
	create := func(node string) {
		for range a.Count {
			w.pods.named++
			w.createPod(app+"-"+strconv.Itoa(w.pods.named), app, node, 0)
		}
	}
	if a.Node == "" {
		create("")
		return nil
	}
	return w.each(a.Node, a.Verb(), present, func(n *node) error { create(n.name); return nil })
}

// candidates are the pods that an action may mean, in name order.
func (w *World) candidates(node, app string) []*pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.pods.inOrder(func(p *pod) bool {
		return !p.deleting.Load() && (node == "" || p.node == node) && (app == "" || p.app == app)
	})
	slices.SortFunc(out, func(a, b *pod) int { return strings.Compare(a.name, b.name) })
	return out
}

// deletePods carries out DeletePods.
func (w *World) deletePods(a scenarios.DeletePods) error {
	if a.Pod != "" {
		p := w.findPod(a.Pod)
		if p == nil {
			return fmt.Errorf("delete-pods: %w: there is no pod %s", errNoTarget, a.Pod)
		}
		w.deletePod(p)
		return nil
	}
	del := func(node string) {
		list := w.candidates(node, a.App)
		w.rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if !a.All {
			list = list[:min(a.Count, len(list))]
		}
		for _, p := range list {
			w.deletePod(p)
		}
	}
	if a.Node == "" {
		del("")
		return nil
	}
	return w.each(a.Node, a.Verb(), present, func(n *node) error { del(n.name); return nil })
}

// findPod finds a pod by "namespace/name".
func (w *World) findPod(key string) *pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	namespace, name, ok := strings.Cut(key, "/")
	if !ok {
		namespace, name = "default", key
	}
	if namespace != "default" {
		return nil
	}
	return w.pods.byName[name]
}

// replaceSandboxes carries out ReplaceSandbox.
func (w *World) replaceSandboxes(a scenarios.ReplaceSandbox) error {
	if a.Pod != "" {
		p := w.findPod(a.Pod)
		w.mu.Lock()
		defer w.mu.Unlock()
		if p == nil || w.nodes[p.node] == nil || !w.nodes[p.node].kubelet.replace(p) {
			return fmt.Errorf("replace-sandbox: %w: there is no running pod %s", errNoTarget, a.Pod)
		}
		return nil
	}
	return w.each(a.Node, a.Verb(), living, func(n *node) error {
		list := w.candidates(n.name, "")
		w.rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		left := a.Count
		for _, p := range list {
			if left > 0 && n.kubelet.replace(p) {
				left--
			}
		}
		return nil
	})
}

// churnState is where the scenario's churn and its trace are.
type churnState struct {
	next time.Duration
	made int
	rows []scheduledRow
}

// scheduledRow is one thing that a trace or churn does at a time.
type scheduledRow struct {
	at  time.Duration
	row *scenarios.WorkloadPod
	end string // the pod that ends then; empty: row's begins
}

// startWorkload creates the pods of the start and plans those of the trace.
func (w *World) startWorkload() {
	for _, n := range w.inOrder() {
		w.firstPods(n)
	}
	c := &w.pods.churn
	for i := range w.scenario().Workload.Rows {
		r := &w.scenario().Workload.Rows[i]
		c.rows = append(c.rows, scheduledRow{at: max(0, r.Create), row: r})
		if r.Delete != scenarios.AfterEnd {
			c.rows = append(c.rows, scheduledRow{at: r.Delete, end: r.Name})
		}
	}
	slices.SortStableFunc(c.rows, func(a, b scheduledRow) int { return cmp.Compare(a.at, b.at) })
	c.next = w.scenario().Churn.From
}

// firstPods creates the pods that the topology gives a node.
func (w *World) firstPods(n *node) {
	if !slices.Contains(w.scenario().NodeNames(), n.name) {
		return
	}
	for i := range w.scenario().Topology.PodsPerNode {
		w.createPod(n.name+"-pod-"+strconv.Itoa(i), "per-node", n.name, 0)
	}
}

// churn does what churn and trace have for now.
func (w *World) churn() {
	c, now := &w.pods.churn, w.Now()
	for len(c.rows) > 0 && c.rows[0].at <= now {
		r := c.rows[0]
		c.rows = c.rows[1:]
		if r.row != nil && !w.healed {
			w.createPod(r.row.Name, r.row.App, "", r.row.MaxPerNode)
		} else if p := w.findPod(r.end); p != nil && r.row == nil {
			w.deletePod(p)
		}
	}
	cfg := w.scenario().Churn
	until := cfg.Until
	if until == 0 {
		until = w.scenario().BreakEnd()
	}
	for cfg.On() && !w.healed && c.next <= now && c.next < until {
		app := cmp.Or(cfg.App, "churn")
		for range max(1, cfg.Count) {
			name := app + "-" + strconv.Itoa(c.made)
			c.made++
			w.createPod(name, app, "", 0)
			if cfg.Lifetime > 0 {
				end := scheduledRow{at: c.next + w.around(cfg.Lifetime), end: name}
				i, _ := slices.BinarySearchFunc(c.rows, end, func(a, b scheduledRow) int { return cmp.Compare(a.at, b.at) })
				c.rows = slices.Insert(c.rows, i, end)
			}
		}
		c.next += w.around(cfg.Every)
	}
}

// around draws evenly from half to one and a half times d.
func (w *World) around(d time.Duration) time.Duration {
	return d/2 + time.Duration(w.rand.Int64N(int64(d)+1))
}
