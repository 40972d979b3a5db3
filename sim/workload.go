package sim

import (
	"fmt"
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
	if w.play.Healed() || w.eng.Now() >= c.Until {
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
