package kindworld

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Namespace and image of the scenario's pods. Every node image has the image: it is that of sandboxes.
const (
	podNamespace = "default"
	podImage     = "registry.k8s.io/pause:3.10"
	labelApp     = "app"
	labelStays   = "vppdrill.github.io/pinned"
)

// pods are the scenario's.
type pods struct {
	// listed are the objects as the API server had them last, by name.
	listed map[string]v1.Pod
	// wanted are those that were created and are not listed yet, or whose name is still another's.
	wanted map[string]timeline.Pod
	// going are those whose deletion was asked for, bound those of whose node was told, by UID.
	going, bound map[string]bool
}

func (p *pods) init() {
	p.listed, p.wanted, p.going, p.bound = map[string]v1.Pod{}, map[string]timeline.Pod{}, map[string]bool{}, map[string]bool{}
}

// apiTime is how long the API server may take to answer one request.
const apiTime = 5 * time.Second

// work asks the API server for what it has not taken yet, in order, until it does not take one.
func (w *World) work(ctx context.Context) {
	for len(w.backlog) > 0 {
		bounded, cancel := context.WithTimeout(ctx, apiTime)
		err := w.backlog[0].do(bounded)
		cancel()
		if err != nil {
			w.Record.Note(w.backlog[0].what + " again: " + err.Error())
			w.backlog[0].why = oneline.Error(err)
			return
		}
		w.backlog = w.backlog[1:]
	}
}

// ask asks the API server for something now, or as soon as it answers.
func (w *World) ask(what string, do func(context.Context) error) {
	w.backlog = append(w.backlog, request{what: what, do: do})
	if len(w.backlog) == 1 {
		w.work(context.Background())
	}
}

// lookAtPods lists the pods, and creates what is wanted where names have become free and nodes have joined.
func (w *World) lookAtPods(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	list, err := w.client.CoreV1().Pods(podNamespace).List(ctx, meta.ListOptions{ResourceVersion: "0"})
	w.Fail(w.api.heard(w.o.Cluster.ID, w.machines.Control(), err))
	if err != nil {
		w.Record.Note("list pods: " + err.Error())
		return
	}
	clear(w.pods.listed)
	for _, p := range list.Items {
		w.pods.listed[p.Name] = p
		if p.Spec.NodeName != "" && !w.pods.bound[string(p.UID)] {
			w.pods.bound[string(p.UID)] = true
			w.tellPod(&p, fact.PodBound)
		}
	}
	for name := range w.pods.going { // in any order: each by itself
		if p, there := w.pods.listed[name]; !there || p.DeletionTimestamp == nil && len(w.backlog) == 0 && w.pods.wanted[name].Name == "" {
			if !there {
				delete(w.pods.going, name)
			}
		}
	}
	for _, name := range sortedNames(w.pods.wanted) {
		p := w.pods.wanted[name]
		if _, there := w.pods.listed[name]; there || !w.hosts(p.Node) {
			continue
		}
		delete(w.pods.wanted, name)
		w.ask("create pod "+name, func(ctx context.Context) error {
			made, err := w.client.CoreV1().Pods(podNamespace).Create(ctx, w.podOf(p), meta.CreateOptions{})
			if err == nil {
				w.pods.listed[name] = *made
				w.tellPod(made, fact.PodCreated)
			}
			if errors.IsAlreadyExists(err) { // an answer was lost
				err = nil
			}
			return err
		})
	}
}

func sortedNames(m map[string]timeline.Pod) []string {
	return slices.SortedFunc(maps.Keys(m), fact.CompareNames)
}

// hosts reports whether a pod of a node can be created: its Node object is there, else the API server would remove the
// pod.
func (w *World) hosts(name string) bool {
	if name == "" {
		return true
	}
	n := w.node(name)
	if n == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.joined
}

// tellPod tells what a pod's object came by.
func (w *World) tellPod(p *v1.Pod, text string) {
	w.Record.Tell(fact.Fact{Node: p.Spec.NodeName, What: fact.PodChanged{Pod: p.Namespace + "/" + p.Name, PodUID: string(p.UID), Change: text}}, "")
}

// podOf is a Pod object. One that names its node stays there whatever becomes of the node, as pods of a DaemonSet do.
func (w *World) podOf(p timeline.Pod) *v1.Pod {
	out := &v1.Pod{ObjectMeta: meta.ObjectMeta{Name: p.Name, Namespace: podNamespace, Labels: map[string]string{labelApp: p.App}}}
	grace, no := int64(1), false
	out.Spec = v1.PodSpec{NodeName: p.Node, TerminationGracePeriodSeconds: &grace, AutomountServiceAccountToken: &no, EnableServiceLinks: &no,
		Containers: []v1.Container{{Name: "pause", Image: podImage, ImagePullPolicy: v1.PullIfNotPresent}}}
	if p.Node != "" {
		out.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}}
	}
	if w.serving() {
		out.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: readyGate}}
	}
	if p.Pinned {
		out.Labels[labelStays] = "true"
	}
	return out
}

// Pods implements timeline.Pods.
func (st stage) Pods(node string) []timeline.Pod {
	var out []timeline.Pod
	for name, p := range st.pods.listed { // in any order: sorted below
		if node != "" && p.Spec.NodeName != node {
			continue
		}
		out = append(out, timeline.Pod{Name: name, App: p.Labels[labelApp], Node: p.Spec.NodeName, Pinned: p.Labels[labelStays] != "",
			Deleting: p.DeletionTimestamp != nil || st.pods.going[name]})
	}
	for name, p := range st.pods.wanted { // in any order: sorted below
		if _, there := st.pods.listed[name]; !there && (node == "" || p.Node == node) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b timeline.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// CreatePod implements timeline.Pods.
func (st stage) CreatePod(p timeline.Pod) {
	if _, there := st.pods.listed[p.Name]; there && !st.pods.going[p.Name] {
		return
	}
	st.pods.wanted[p.Name] = p
}

// DeletePod implements timeline.Pods.
func (st stage) DeletePod(name string, force bool) {
	o := meta.DeleteOptions{}
	if force {
		o.GracePeriodSeconds = new(int64)
	}
	st.end(name, force, "delete pod "+name, func(ctx context.Context, uid *meta.Preconditions) error {
		o.Preconditions = uid
		return st.client.CoreV1().Pods(podNamespace).Delete(ctx, name, o)
	})
}

// evictTime is how long a disruption budget may forbid an eviction: a scenario's pods have none, so that whoever made
// one is not asked for ever.
const evictTime = time.Minute

// EvictPod implements timeline.Pods by the pod's eviction subresource, as kubectl drain does.
func (st stage) EvictPod(name string) {
	limit := time.Now().Add(evictTime)
	st.end(name, false, "evict pod "+name, func(ctx context.Context, uid *meta.Preconditions) error {
		err := st.client.CoreV1().Pods(podNamespace).EvictV1(ctx, &policy.Eviction{ObjectMeta: meta.ObjectMeta{Name: name, Namespace: podNamespace},
			DeleteOptions: &meta.DeleteOptions{Preconditions: uid}})
		if errors.IsTooManyRequests(err) && time.Now().After(limit) {
			st.Fail(fmt.Errorf("evict pod %s: it was forbidden for %s: %w", name, evictTime, err))
			return nil
		}
		return err
	})
}

// end asks the API server for a pod's end. One that was never made is not wanted any more.
func (st stage) end(name string, force bool, what string, ask func(context.Context, *meta.Preconditions) error) {
	p, there := st.pods.listed[name]
	if _, wanted := st.pods.wanted[name]; wanted && !there {
		delete(st.pods.wanted, name)
		return
	}
	if !there || p.DeletionTimestamp != nil && !force {
		return
	}
	st.pods.going[name] = true
	st.tellPod(&p, fact.PodDeleted)
	st.ask(what, func(ctx context.Context) error {
		err := ask(ctx, &meta.Preconditions{UID: &p.UID})
		if errors.IsNotFound(err) || errors.IsConflict(err) { // it is gone, or another one has its name
			err = nil
		}
		return err
	})
}
