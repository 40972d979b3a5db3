package cniworld

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/vppdrill/vppdrill/lab/internal/placement"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// pod is a Pod object. A pod without a node waits for the scheduler. World.mu guards it, kubelets read it.
type pod struct {
	timeline.Pod
	uid      string
	deleting bool
	number   int
}

// key is "namespace/name": all pods are in namespace default.
func (p *pod) key() string { return "default/" + p.Name }

// cniArgs is what a kubelet says of a pod in CNI_ARGS.
func (p *pod) cniArgs(container string) string {
	return "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=" + p.Name + ";K8S_POD_INFRA_CONTAINER_ID=" + container + ";K8S_POD_UID=" + p.uid
}

// cniArgs reads them as libcni wants them.
func cniArgs(text string) (list [][2]string) {
	for part := range strings.SplitSeq(text, ";") {
		if key, value, ok := strings.Cut(part, "="); ok {
			list = append(list, [2]string{key, value})
		}
	}
	return list
}

// CreatePod implements timeline.Pods.
func (st stage) CreatePod(spec timeline.Pod) {
	st.mu.Lock()
	if st.pods[spec.Name] != nil {
		st.mu.Unlock()
		return
	}
	st.madePods++
	p := &pod{Pod: spec, uid: uuid.NewString(), number: st.madePods}
	if spec.Static {
		p.uid = "static-" + p.uid
	}
	st.pods[spec.Name] = p
	st.mu.Unlock()
	st.tellPod(p, fact.PodCreated)
	if spec.Node != "" {
		st.tellPod(p, fact.PodBound)
	}
	st.schedule()
}

func (w *World) tellPod(p *pod, change string) {
	w.Tell(fact.Fact{Node: p.Node, What: fact.PodChanged{Pod: p.key(), PodUID: p.uid, Change: change}}, "")
}

// schedule places waiting pods on the node, not cordoned, with the fewest pods that stay, and tells kubelets what is
// theirs.
func (w *World) schedule() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.server.stopped.Load() {
		return
	}
	all := w.podsInOrder()
	shown := make([]timeline.Pod, len(all))
	for i, p := range all {
		shown[i] = p.shown()
	}
	var nodes []string
	for name, n := range w.nodes { //vppdrill:unordered the scheduler's choice does not depend on it
		if n.takes() {
			nodes = append(nodes, name)
		}
	}
	for i, node := range placement.Place(shown, nodes, w.s.Topology.MaxPodsPerNode) {
		if p := all[i]; node != "" {
			p.Node = node
			w.tellPod(p, fact.PodBound)
		}
	}
	for _, p := range all {
		n := w.nodes[p.Node]
		if n == nil && p.deleting {
			delete(w.pods, p.Name) // nobody has to stop it
		}
		if n != nil {
			n.kubelet.see(p)
		}
	}
}

// takes reports whether the scheduler may place pods on a node.
func (n *node) takes() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.on && !n.cordoned
}

// shown is the pod as timelines see it.
func (p *pod) shown() timeline.Pod {
	shown := p.Pod
	shown.Deleting = p.deleting
	return shown
}

// podsInOrder are all pods, oldest first. w.mu is held.
func (w *World) podsInOrder() []*pod {
	return slices.SortedFunc(maps.Values(w.pods), func(a, b *pod) int { return cmp.Compare(a.number, b.number) })
}

// DeletePod implements timeline.Pods.
func (st stage) DeletePod(name string, force bool) {
	st.mu.Lock()
	p := st.pods[name]
	if p == nil {
		st.mu.Unlock()
		return
	}
	p.deleting = true
	n := st.nodes[p.Node]
	st.mu.Unlock()
	st.tellPod(p, fact.PodDeleted)
	if !force {
		st.schedule()
		return
	}
	st.podStopped(p)
	if n != nil {
		n.kubelet.Vanished(p.uid)
	}
}

// EvictPod implements timeline.Pods: no budget forbids anything here.
func (st stage) EvictPod(name string) { st.DeletePod(name, false) }

// podStopped forgets a pod whose kubelet has ended it.
func (w *World) podStopped(p *pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pods[p.Name] == p {
		delete(w.pods, p.Name)
	}
}

// orphans forgets the pods of a node that has left.
func (w *World) orphans(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, p := range w.pods { //vppdrill:unordered each by itself
		if p.Node == node {
			delete(w.pods, name)
			w.tellPod(p, fact.PodDeleted)
		}
	}
}

// Pods implements timeline.Pods.
func (st stage) Pods(node string) (list []timeline.Pod) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, p := range st.podsInOrder() {
		if node == "" || p.Node == node {
			list = append(list, p.shown())
		}
	}
	slices.SortFunc(list, func(a, b timeline.Pod) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// on is a pod with the node that it is bound to, nil where one of both is not there.
func (w *World) on(name string) (*pod, *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pods[name]
	if p == nil || w.nodes[p.Node] == nil {
		return nil, nil
	}
	return p, w.nodes[p.Node]
}
