package lab

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/vppdrill/vppdrill/lab/internal/placement"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// pod is a Pod object. A pod without a node waits for the scheduler.
type pod struct {
	name, uid, app, node string
	// maxPerNode bounds pods of the app on one node that have a bound too; 0 is none.
	maxPerNode int
	// static pods' sandboxes have another UID than their object.
	static bool
	// wanted are the addresses that it asks for, pool is what its annotation names.
	wanted []netip.Addr
	pool   string
	// pinned pods are the topology's: nobody evicts them.
	pinned bool
	// removed: the API server has forgotten its object.
	removed   bool
	deleting  atomic.Bool
	published bool
	number    int
}

// key is "namespace/name": the lab's pods are all in namespace default.
func (p *pod) key() string { return "default/" + p.name }

// pods are the API server's Pod objects, guarded by World.mu.
type pods struct {
	byName map[string]*pod
	// made numbers pods in the order of their creation.
	made int
}

func (p *pods) init() { p.byName = map[string]*pod{} }

// createPod makes a pod unless there is one of its name; the scheduler places it where no node is given.
func (w *World) createPod(spec timeline.Pod) {
	w.mu.Lock()
	if w.pods.byName[spec.Name] != nil {
		w.mu.Unlock()
		return
	}
	w.pods.made++
	p := &pod{name: spec.Name, uid: uuid.NewString(), app: spec.App, node: spec.Node, maxPerNode: spec.MaxPerNode, static: spec.Static, pinned: spec.Pinned, wanted: spec.Addresses, pool: spec.Pool,
		number: w.pods.made}
	w.pods.byName[spec.Name] = p
	w.mu.Unlock()
	w.tellPod(p, fact.PodCreated)
	if spec.Node != "" {
		w.tellPod(p, fact.PodBound)
	}
	w.schedule()
}

// tellPod tells what a pod's object came by.
func (w *World) tellPod(p *pod, text string) {
	w.Record.Tell(fact.Fact{Node: p.node, What: fact.PodChanged{Pod: p.key(), PodUID: p.sandboxUID(), Change: text}}, "")
}

// schedule places waiting pods on the node, not cordoned, with the fewest pods that stay, as the simulator's scheduler
// does, and tells kubelets what is theirs.
func (w *World) schedule() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.apiUp() {
		return
	}
	all := w.pods.inOrder(func(*pod) bool { return true })
	shown := make([]timeline.Pod, len(all))
	for i, p := range all {
		shown[i] = p.shown()
	}
	var nodes []string
	for name, n := range w.nodes { //vppdrill:unordered the scheduler's choice does not depend on it
		if n.takesPods() {
			nodes = append(nodes, name)
		}
	}
	for i, node := range placement.Place(shown, nodes, w.scenario().Topology.MaxPodsPerNode) {
		if p := all[i]; node != "" {
			p.node = node
			w.tellPod(p, fact.PodBound)
		}
	}
	for _, p := range all {
		n := w.nodes[p.node]
		if n == nil && p.deleting.Load() {
			delete(w.pods.byName, p.name) // nobody has to stop it
		}
		if n != nil && n.relays.api.hears() {
			if err := w.publish(p); err != nil {
				w.Fail(err)
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
	if p.pool != "" {
		w.source.putAsking(p)
	}
	return w.control.objects.PutPod(context.Background(), p.node, p.uid)
}

// shown is the pod as timelines see it.
func (p *pod) shown() timeline.Pod {
	return timeline.Pod{Name: p.name, App: p.app, Node: p.node, MaxPerNode: p.maxPerNode, Static: p.static, Pinned: p.pinned, Addresses: p.wanted, Deleting: p.deleting.Load()}
}

// apiUp reports whether the API server answers. w.mu is held.
func (w *World) apiUp() bool {
	w.control.mu.Lock()
	defer w.control.mu.Unlock()
	return !w.control.apiStop
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
	w.tellPod(p, fact.PodDeleted)
	w.schedule()
}

// removePod takes a pod's object away at once; its kubelet tears it down afterwards.
func (w *World) removePod(p *pod) {
	w.mu.Lock()
	n := w.nodes[p.node]
	w.mu.Unlock()
	w.tellPod(p, fact.PodDeleted)
	w.podStopped(p)
	if n != nil {
		n.kubelet.Vanished(p.uid)
	}
}

// sandboxUID is the pod's UID as container runtimes know it.
func (p *pod) sandboxUID() string {
	if p.static {
		return "static-" + p.uid
	}
	return p.uid
}

// cniArgs is what a kubelet says of a pod in CNI_ARGS.
func (p *pod) cniArgs(container string) string {
	return "K8S_POD_NAMESPACE=default;K8S_POD_NAME=" + p.name + ";K8S_POD_INFRA_CONTAINER_ID=" + container + ";K8S_POD_UID=" + p.sandboxUID()
}

// stopped forgets a pod whose kubelet has ended it.
func (w *World) podStopped(p *pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pods.byName[p.name] == p {
		delete(w.pods.byName, p.name)
	}
	if w.Ended() || p.removed || !p.published {
		return
	}
	p.removed = true
	if p.pool != "" {
		w.source.server.Remove("pods", "default", p.name)
	}
	if err := w.control.objects.DeletePod(context.Background(), p.node, p.uid); err != nil {
		w.Fail(err)
	}
}

// orphans forgets the pods of a node that has left.
func (w *World) orphans(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, p := range w.pods.byName { //vppdrill:unordered each by itself
		if p.node == node {
			delete(w.pods.byName, name)
			w.tellPod(p, fact.PodDeleted)
			if err := w.control.objects.DeletePod(context.Background(), p.node, p.uid); err != nil {
				w.Fail(err)
			}
		}
	}
}

// byNameOf are a node's pods, or all for "", in name order.
func (p *pods) byNameOf(node string) []*pod {
	out := p.inOrder(func(p *pod) bool { return node == "" || p.node == node })
	slices.SortFunc(out, func(a, b *pod) int { return strings.Compare(a.name, b.name) })
	return out
}

// findPod finds a pod by name.
func (w *World) findPod(name string) *pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pods.byName[name]
}
