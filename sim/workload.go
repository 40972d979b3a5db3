package sim

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// startWorkload starts what the scenario lets happen by itself: churn and the pods of a trace.
func (w *World) startWorkload() error {
	if rows := w.s.Workload.Rows; len(rows) > 0 {
		trace := make([]cluster.Row, len(rows))
		for i, r := range rows {
			trace[i] = cluster.Row{Name: r.Name, App: r.App, Create: max(0, r.Create), Delete: r.Delete, MaxPerNode: r.MaxPerNode}
			if r.Delete == scenarios.AfterEnd {
				trace[i].Delete = -1
			}
		}
		if err := w.cluster.Workload.Trace(trace); err != nil {
			return fmt.Errorf("workload: %w", err)
		}
	}
	if c := w.s.Churn; c.On() {
		if c.App == "" {
			c.App = "churn"
		}
		if c.Until == 0 {
			c.Until = w.s.BreakEnd()
		}
		t := &churnTick{w: w, churn: c}
		w.eng.At(max(c.From, w.eng.Now()), t)
	}
	return nil
}

// churnTick creates the next batch of pods that come and go by themselves.
type churnTick struct {
	w     *World
	churn scenarios.Churn
	made  int
}

// AppendText implements engine.Event.
func (t *churnTick) AppendText(b []byte) []byte {
	b = append(b, "churn "...)
	return appendCount(b, t.made)
}

// Fire implements engine.Event.
func (t *churnTick) Fire() {
	w, c := t.w, t.churn
	if w.healed || w.eng.Now() >= c.Until {
		return
	}
	for range max(1, c.Count) {
		name := c.App + "-" + strconv.Itoa(t.made)
		t.made++
		w.cluster.Workload.Create(cluster.PodSpec{Name: name, App: c.App})
		if c.Lifetime > 0 {
			key := cluster.Key{Namespace: "default", Name: name}
			w.eng.After(w.around(c.Lifetime, "life"), &happening{nil, "churn ends " + name, func() { w.cluster.Workload.Delete(key) }})
		}
	}
	w.eng.After(w.around(c.Every, "gap"), t)
}

// around draws evenly from half to one and a half times d.
func (w *World) around(d time.Duration, label string) time.Duration {
	return engine.Duration(w.eng.Chooser(), "churn "+label, d/2, d+d/2)
}

// createPods carries out CreatePods.
func (w *World) createPods(a scenarios.CreatePods) error {
	app := a.App
	if app == "" {
		app = "pod"
	}
	if a.Node == "" {
		for range a.Count {
			w.createPod(app, "")
		}
		return nil
	}
	return w.each(a.Node, "create-pods", func(m *machine) bool { return !m.gone }, func(m *machine) error {
		for range a.Count {
			w.createPod(app, m.name)
		}
		return nil
	})
}

func (w *World) createPod(app, node string) {
	w.podsMade++
	w.cluster.Workload.Create(cluster.PodSpec{Name: app + "-" + strconv.Itoa(w.podsMade), App: app, Node: node})
}

// candidates are the pods that an action may mean, in name order.
func (w *World) candidates(node, app string) []*cluster.Pod {
	objects, _ := w.api.List(cluster.KindPod, node)
	var pods []*cluster.Pod
	for _, o := range objects {
		if p := o.(*cluster.Pod); !p.Deleting && (app == "" || p.App == app) {
			pods = append(pods, p)
		}
	}
	return pods
}

// choose draws count of pods, in the order drawn.
func (w *World) choose(pods []*cluster.Pod, count int) []*cluster.Pod {
	pods = slices.Clone(pods)
	var out []*cluster.Pod
	for len(out) < count && len(pods) > 0 {
		i := w.eng.Choose("pod", len(pods))
		out = append(out, pods[i])
		pods = slices.Delete(pods, i, i+1)
	}
	return out
}

// deletePods carries out DeletePods.
func (w *World) deletePods(a scenarios.DeletePods) error {
	if a.Pod != "" {
		key := podKey(a.Pod)
		if _, ok := w.api.Pod(key); !ok {
			return fmt.Errorf("delete-pods: %w: there is no pod %s", errNoTarget, a.Pod)
		}
		w.cluster.Workload.Delete(key)
		return nil
	}
	del := func(node string) {
		pods := w.candidates(node, a.App)
		if !a.All {
			pods = w.choose(pods, a.Count)
		}
		for _, p := range pods {
			w.cluster.Workload.Delete(p.Key())
		}
	}
	if a.Node == "" {
		del("")
		return nil
	}
	return w.each(a.Node, "delete-pods", func(m *machine) bool { return !m.gone }, func(m *machine) error { del(m.name); return nil })
}

// podKey splits "namespace/name".
func podKey(pod string) cluster.Key {
	for i := range pod {
		if pod[i] == '/' {
			return cluster.Key{Namespace: pod[:i], Name: pod[i+1:]}
		}
	}
	return cluster.Key{Namespace: "default", Name: pod}
}

// replaceSandboxes carries out ReplaceSandbox.
func (w *World) replaceSandboxes(a scenarios.ReplaceSandbox) error {
	if a.Pod != "" {
		p, ok := w.api.Pod(podKey(a.Pod))
		if !ok || w.cluster.Kubelet(p.Node) == nil {
			return fmt.Errorf("replace-sandbox: %w: there is no running pod %s", errNoTarget, a.Pod)
		}
		return w.cluster.Kubelet(p.Node).ReplaceSandbox(p.Key())
	}
	node := a.Node
	if node == "" {
		node = scenarios.AnyNode
	}
	return w.each(node, "replace-sandbox", func(m *machine) bool { return m.up }, func(m *machine) error {
		k := w.cluster.Kubelet(m.name)
		left := a.Count
		for _, p := range w.choose(w.candidates(m.name, ""), len(w.candidates(m.name, ""))) {
			if left == 0 {
				return nil
			}
			if k.ReplaceSandbox(p.Key()) == nil {
				left--
			}
		}
		return nil
	})
}
