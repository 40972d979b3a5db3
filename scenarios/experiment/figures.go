package experiment

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Figures are what a run amounts to, by name: every number of its summary, what its verdict was, and quantiles of its series. A figure
// that the run does not have, such as the shortest reuse of a run without any, is not there.
type Figures map[string]float64

// FiguresOf are a result's. None of them depends on the machine.
func FiguresOf(r *result.Result) Figures {
	out := Figures{"failed": truth(r.Verdict == result.Fail), "nodes": float64(r.Nodes), "pods": float64(r.Pods), "events": float64(r.Events),
		"virtualSeconds": r.VirtualSeconds, "exhaustedNodes": float64(len(r.Summary.Exhausted)),
		"violations": float64(r.Violations()), "collisions": float64(r.Collisions())}
	if len(r.Summary.Exhausted) > 0 {
		out["firstExhaustedSeconds"] = r.Summary.Exhausted[0].AtSeconds
	}
	v := reflect.ValueOf(r.Summary)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch f := v.Field(i); {
		case f.CanInt():
			out[name] = float64(f.Int())
		case f.CanFloat():
			out[name] = f.Float()
		}
	}
	for _, name := range [...]string{"shortestReuseSeconds", "shortestReuseLeases"} {
		if out[name] < 0 {
			delete(out, name)
		}
	}
	if s := r.Series; s != nil {
		out.series("held", s.Held)
		out.series("resting", s.Resting)
		out.series("free", s.Free)
		out.series("waiting", s.Waiting)
		out.distribution("fill", s.Fill)
	}
	return out
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (f Figures) series(name string, list []int64) {
	values := make([]float64, len(list))
	for i, n := range list {
		values[i] = float64(n)
	}
	f.distribution(name, values)
}

// distribution adds how a series is distributed over the run.
func (f Figures) distribution(name string, values []float64) {
	if len(values) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(values))
	f[name+".mean"] = mean(values)
	for label, share := range map[string]float64{"min": 0, "p1": 0.01, "p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1} { //vppdrill:unordered each sets its own key
		f[name+"."+label] = quantile(sorted, share)
	}
}

// Metrics are the names of all figures, in order.
func Metrics() []string {
	r := &result.Result{Series: &result.Series{Held: []int64{0}, Resting: []int64{0}, Free: []int64{0}, Waiting: []int64{0}, Fill: []float64{0}}}
	r.Summary.Exhausted = []result.RanOut{{}}
	r.Laws = []result.LawResult{{}}
	return slices.Sorted(maps.Keys(FiguresOf(r)))
}

// mean of at least one value.
func mean(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// quantile is the smallest of sorted values that is at least as large as a share of them.
func quantile(sorted []float64, share float64) float64 {
	i := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// FigureText is a figure as tables print it.
func FigureText(x float64) string {
	switch {
	case x == math.Trunc(x) && math.Abs(x) < 1e9:
		return fmt.Sprintf("%.0f", x)
	case math.Abs(x) >= 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
