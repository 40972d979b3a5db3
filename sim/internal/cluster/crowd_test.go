package cluster

import (
	"slices"
	"strconv"
	"time"
)

// crowd makes load for tests: pods per node, by deployments, at random, from a trace. Scenarios have their own in
// scenarios/timeline.
type crowd struct {
	*Workload
	clock       Clock
	perNode     int
	deployments []*deployment
	churns      []*churn
	trace       *trace
}

func newCrowd(c *Cluster) *crowd {
	w := &crowd{Workload: c.Workload, clock: c.API.clock}
	c.API.Observe(w.observe)
	return w
}

// SetPerNode makes every node, present and to come, run n pods "<node>-pod-<i>", i from 0, pinned to it. Fewer than
// before deletes the last ones. A pod that is deleted otherwise comes back only with its node.
func (w *crowd) SetPerNode(n int) {
	before := w.perNode
	w.perNode = n
	w.api.WhenAvailable(func() {
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
func (w *crowd) fill(node string) {
	for i := range w.perNode {
		w.Create(PodSpec{Name: perNodeKey(node, i).Name, App: "per-node", Node: node, Pinned: true})
	}
}

// observe keeps nodes filled and deployments at their size. It only schedules: a change is not the place for another.
func (w *crowd) observe(old, now Object) {
	if node, ok := now.(*Node); ok && old == nil && w.perNode > 0 {
		w.clock.After(0, &fillStep{w, node.Name})
		return
	}
	for _, d := range w.deployments {
		d.observe(old, now)
	}
}

type fillStep struct {
	w    *crowd
	node string
}

func (f *fillStep) AppendText(b []byte) []byte {
	return append(append(b, "workload fill "...), f.node...)
}
func (f *fillStep) Fire() {
	f.w.api.WhenAvailable(func() {
		if _, exists := f.w.api.Node(f.node); exists {
			f.w.fill(f.node)
		}
	})
}

// restart stops a kubelet's process for a while, reboot switches its machine off.
func restart(k *Kubelet, down time.Duration) {
	k.Stop()
	k.clock.After(down, &kubeletStart{k: k, verb: "start", fn: k.Start})
}

func reboot(k *Kubelet, down time.Duration) {
	k.PowerOff()
	k.clock.After(down, &kubeletStart{k: k, verb: "boot", fn: k.PowerOn})
}

type kubeletStart struct {
	k    *Kubelet
	verb string
	fn   func()
}

func (s *kubeletStart) AppendText(b []byte) []byte { return append(s.k.appendName(b), s.verb...) }
func (s *kubeletStart) Fire()                      { s.fn() }
