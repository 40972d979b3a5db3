package cluster

import (
	"slices"
	"strconv"
)

// PodSpec is a pod to create.
type PodSpec struct {
	// Namespace defaults to "default".
	Namespace, Name string
	App             string
	// Node binds the pod at once; empty leaves it to the scheduler.
	Node string
	// Pinned pods are not evicted.
	Pinned     bool
	Requests   string
	MaxPerNode int
}

// Key is the pod's namespace and name.
func (p PodSpec) Key() Key {
	if p.Namespace == "" {
		return Key{"default", p.Name}
	}
	return Key{p.Namespace, p.Name}
}

// Workload creates and deletes pods as users and their controllers do: by hand, per node, by deployments, at random, from
// a trace. It works inside the API server's reach; what falls into an outage happens at its end.
type Workload struct {
	api         *API
	clock       Clock
	perNode     int
	deployments []*deployment
	churns      []*churn
	trace       *trace
	created     int64
}

// NewWorkload returns a Workload without work.
func (a *API) NewWorkload() *Workload {
	w := &Workload{api: a, clock: a.clock}
	a.Observe(w.observe)
	return w
}

// Created counts the pods created.
func (w *Workload) Created() int64 { return w.created }

// Create creates a pod, at once or at the end of the outage. Existing pods stay as they are.
func (w *Workload) Create(spec PodSpec) {
	w.api.whenAvailable(func() {
		key := spec.Key()
		p := &Pod{
			Meta: Meta{Namespace: key.Namespace, Name: key.Name}, App: spec.App, Node: spec.Node, Pinned: spec.Pinned,
			Requests: spec.Requests, MaxPerNode: spec.MaxPerNode,
		}
		if w.api.Create(p) == nil {
			w.created++
		}
	})
}

// Delete starts a pod's graceful deletion. An absent pod stays absent.
func (w *Workload) Delete(key Key) {
	w.api.whenAvailable(func() {
		_ = w.api.DeletePod(key, "") // ErrNotFound: as wanted
	})
}

// SetPerNode makes every node, present and to come, run n pods "<node>-pod-<i>", i from 0, pinned to it. Fewer than
// before deletes the last ones. A pod that is deleted otherwise comes back only with its node.
func (w *Workload) SetPerNode(n int) {
	before := w.perNode
	w.perNode = n
	w.api.whenAvailable(func() {
		nodes, _ := w.api.List(KindNode, "")
		for _, node := range slices.Clone(nodes) {
			name := node.Common().Name
			for i := n; i < before; i++ {
				w.Delete(perNodeKey(name, i))
			}
			w.fill(name)
		}
	})
}

func perNodeKey(node string, i int) Key { return Key{"default", node + "-pod-" + strconv.Itoa(i)} }

// fill creates the pods that a node lacks.
func (w *Workload) fill(node string) {
	for i := range w.perNode {
		w.Create(PodSpec{Name: perNodeKey(node, i).Name, App: "per-node", Node: node, Pinned: true})
	}
}

// Unmet counts the pods that deployments still have to create.
func (w *Workload) Unmet() (n int) {
	for _, d := range w.deployments {
		n += max(0, d.replicas-d.active)
	}
	return n
}

// observe keeps nodes filled and deployments at their size. It only schedules: a change is not the place for another.
func (w *Workload) observe(old, now Object) {
	if node, ok := now.(*Node); ok && old == nil && w.perNode > 0 {
		w.clock.After(0, &fillStep{w, node.Name})
		return
	}
	for _, d := range w.deployments {
		d.observe(old, now)
	}
}

type fillStep struct {
	w    *Workload
	node string
}

func (f *fillStep) AppendText(b []byte) []byte {
	return append(append(b, "workload fill "...), f.node...)
}
func (f *fillStep) Fire() {
	f.w.api.whenAvailable(func() {
		if _, exists := f.w.api.Node(f.node); exists {
			f.w.fill(f.node)
		}
	})
}

// Stop ends random churn and the rest of a trace; deployments and pinned pods stay.
func (w *Workload) Stop() {
	for _, c := range w.churns {
		c.stopped = true
	}
	w.churns = nil
	if w.trace != nil {
		w.trace.stopped = true
		w.trace = nil
	}
}
