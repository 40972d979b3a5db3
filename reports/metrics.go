package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// metric is one family of metrics: a figure of each run.
type metric struct {
	name, help string
	of         func(result.Result) float64
}

// runMetrics are what a run amounts to; units are in the names, as OpenMetrics wants.
var runMetrics = []metric{
	{"vppdrill_run_passed", "1 for a run that passed.", func(r result.Result) float64 {
		return map[bool]float64{true: 1}[r.Verdict == result.Pass]
	}},
	{"vppdrill_run_events", "Events of the run.", func(r result.Result) float64 { return float64(r.Events) }},
	{"vppdrill_run_virtual_seconds", "The cluster's time.", func(r result.Result) float64 { return r.VirtualSeconds }},
	{"vppdrill_run_wall_seconds", "The machine's time.", func(r result.Result) float64 { return r.WallSeconds }},
	{"vppdrill_run_faults", "Operations that an injector changed.", func(r result.Result) float64 { return float64(r.Summary.Faults) }},
	{"vppdrill_run_vpp_calls", "Calls to VPP.", func(r result.Result) float64 { return float64(r.Summary.VPPCalls) }},
	{"vppdrill_run_pods_created", "Pods created.", func(r result.Result) float64 { return float64(r.Summary.PodsCreated) }},
	{"vppdrill_run_pods_never_placed", "Pods that never had an address.", func(r result.Result) float64 { return float64(r.Summary.PodsNeverPlaced) }},
	{"vppdrill_run_start_p50_seconds", "Median time from a pod's creation to its address.", func(r result.Result) float64 { return r.Summary.StartP50Seconds }},
	{"vppdrill_run_start_p99_seconds", "99th percentile of that time.", func(r result.Result) float64 { return r.Summary.StartP99Seconds }},
	{"vppdrill_run_longest_wait_seconds", "Longest wait for an address.", func(r result.Result) float64 { return r.Summary.LongestWaitSeconds }},
	{"vppdrill_run_leaked_addresses", "Addresses of no pod at the end.", func(r result.Result) float64 { return float64(r.Summary.LeakedAddresses) }},
}

// writeMetrics writes metrics.prom: each run's figures in OpenMetrics' text format, version 1.0.0, labelled with
// scenario, world and seed, and the laws' occasions.
func writeMetrics(w io.Writer, r Report) error {
	var b strings.Builder
	for _, m := range runMetrics {
		fmt.Fprintf(&b, "# TYPE %s gauge\n# HELP %s %s\n", m.name, m.name, m.help)
		for _, s := range r.Scenarios {
			fmt.Fprintf(&b, "%s{%s} %s\n", m.name, runLabels(s), strconv.FormatFloat(m.of(s), 'g', -1, 64))
		}
	}
	const occasions = "vppdrill_law_occasions"
	fmt.Fprintf(&b, "# TYPE %s gauge\n# HELP %s What a law found to judge in a run.\n", occasions, occasions)
	for _, s := range r.Scenarios {
		for _, l := range s.Laws {
			fmt.Fprintf(&b, "%s{%s,law=%s} %d\n", occasions, runLabels(s), labelValue(l.Name), l.Occasions)
		}
	}
	const complete = "vppdrill_complete"
	fmt.Fprintf(&b, "# TYPE %s gauge\n# HELP %s 0 for the figures of a command that was ended before its end.\n%s %d\n", complete, complete, complete,
		map[bool]int{true: 1}[r.Incomplete == ""])
	b.WriteString("# EOF\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func runLabels(s result.Result) string {
	return fmt.Sprintf("scenario=%s,world=%s,seed=\"%d\"", labelValue(s.Scenario), labelValue(s.World), s.Seed)
}

// labelValue quotes a label's value: backslash, quote and line feed are escaped, nothing else.
func labelValue(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(oneLine(text)) + `"`
}
