package reports

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// traceEvent is one event of the Trace Event Format, which Perfetto and Chrome open. Times are in microseconds.
type traceEvent struct {
	Name  string            `json:"name"`
	Phase string            `json:"ph"`
	At    float64           `json:"ts"`
	Takes float64           `json:"dur,omitempty"`
	Run   int               `json:"pid"`
	Lane  int               `json:"tid"`
	Scope string            `json:"s,omitempty"`
	Args  map[string]string `json:"args,omitempty"`
}

// traceRunsMost is how many runs a trace holds, those that did not pass first: a viewer with more shows nothing.
const traceRunsMost = 20

// writeTrace writes trace.json for Perfetto: a process for each run, a thread for each node, with the timeline's
// actions and faults, the chain of causes, and which pod held which address.
func writeTrace(w io.Writer, r Report) error {
	runs := slices.Clone(r.Scenarios)
	slices.SortStableFunc(runs, func(a, b result.Result) int { return badness(a) - badness(b) })
	events := []traceEvent{}
	for i, s := range runs[:min(len(runs), traceRunsMost)] {
		events = append(events, traceOf(s, i+1)...)
	}
	trace := map[string]any{"displayTimeUnit": "ms", "traceEvents": events}
	if r.Incomplete != "" {
		trace["otherData"] = map[string]string{"incomplete": oneLine(r.Incomplete)}
	}
	return json.NewEncoder(w).Encode(trace)
}

func traceOf(s result.Result, run int) []traceEvent {
	const micro = 1e6
	lanes := map[string]int{"": 1}
	out := []traceEvent{
		{Name: "process_name", Phase: "M", Run: run, Args: map[string]string{"name": s.Scenario + " seed " + thousands(s.Seed)}},
		{Name: "thread_name", Phase: "M", Run: run, Lane: 1, Args: map[string]string{"name": "cluster"}},
	}
	lane := func(node string) int {
		if lanes[node] == 0 {
			lanes[node] = len(lanes) + 1
			out = append(out, traceEvent{Name: "thread_name", Phase: "M", Run: run, Lane: lanes[node], Args: map[string]string{"name": node}})
		}
		return lanes[node]
	}
	for _, m := range s.Timeline {
		e := traceEvent{Name: oneLine(m.Text), Phase: "i", At: m.AtSeconds * micro, Run: run, Lane: lane(m.Node), Scope: "t", Args: map[string]string{"kind": m.Kind}}
		if m.EndSeconds > m.AtSeconds {
			e.Phase, e.Scope, e.Takes = "X", "", (m.EndSeconds-m.AtSeconds)*micro
		}
		out = append(out, e)
	}
	var chain []result.Link
	if s.Failure != nil {
		chain = s.Failure.Chain
	}
	for _, l := range chain {
		out = append(out, traceEvent{Name: oneLine(l.Text), Phase: "i", At: l.AtSeconds * micro, Run: run, Lane: lane(l.Node), Scope: "p",
			Args: map[string]string{"kind": "cause", "event": thousands(l.Event)}})
	}
	for _, h := range s.Addresses {
		until := h.UntilSeconds
		if until < 0 {
			until = s.VirtualSeconds
		}
		out = append(out, traceEvent{Name: oneLine(h.Addr + " " + h.Pod), Phase: "X", At: h.FromSeconds * micro, Takes: max(until-h.FromSeconds, 0) * micro,
			Run: run, Lane: lane(h.Node)})
	}
	return out
}
