package reports

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// explained is the sample with a chain of causes and what it was made smaller to.
func explained() Report {
	r := sample()
	for i := range r.Scenarios {
		if f := r.Scenarios[i].Failure; f != nil {
			f.Chain = []result.Link{{Event: 30, AtSeconds: 60, Kind: "action", Text: "the timeline does " + hostile, Leads: f.Event},
				{Event: f.Event, AtSeconds: f.AtSeconds, Node: f.Node, Kind: "broken", Text: hostile}}
			f.Smallest = &result.Smallest{Scenario: "name: x # " + hostile, Seed: 7, GoTest: "func TestX() { /* " + hostile + " */ }"}
		}
	}
	r.Incomplete = "interrupted " + hostile
	return r
}

// Goal: what other programs read is well formed whatever names runs have. Method: the sample with hostile names in every format, read by
// each format's own rules.
func TestFormats(t *testing.T) {
	var sarif, trace, metrics, summary, page bytes.Buffer
	r := explained()
	for name, err := range map[string]error{"sarif": writeSARIF(&sarif, r), "trace": writeTrace(&trace, r), "metrics": writeMetrics(&metrics, r),
		"summary": writeSummary(&summary, r), "page": writeHTML(&page, r)} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var log sarifLog
	if err := json.Unmarshal(sarif.Bytes(), &log); err != nil || len(log.Runs) != 1 || len(log.Runs[0].Results) != 3 || log.Runs[0].Results[0].Rule != "one-owner" {
		t.Errorf("sarif (%v): %s", err, sarif.String())
	}
	var events struct {
		List []traceEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal(trace.Bytes(), &events); err != nil || len(events.List) < 50 {
		t.Errorf("trace (%v): %d events", err, len(events.List))
	}
	line := regexp.MustCompile(`^(# (TYPE|HELP) [a-z0-9_]+ .+|[a-z0-9_]+\{scenario="([^"\\]|\\.)*",world="[a-z]+",seed="[0-9]+"(,law="([^"\\]|\\.)*")?\} [-+.e0-9]+|vppdrill_complete 0|# EOF)$`)
	for text := range strings.Lines(metrics.String()) {
		if !line.MatchString(strings.TrimSuffix(text, "\n")) {
			t.Errorf("metrics: %q", text)
		}
	}
	for name, text := range map[string]string{"sarif": sarif.String(), "trace": trace.String(), "metrics": metrics.String(), "summary": summary.String(), "page": page.String()} {
		if !regexp.MustCompile(`(?i)incomplete|vppdrill_complete 0`).MatchString(text) {
			t.Errorf("%s does not say that it is incomplete", name)
		}
	}
	if !strings.HasSuffix(metrics.String(), "\n# EOF\n") {
		t.Error("metrics do not end")
	}
	for _, want := range []string{"### ", "**Incomplete:**", "| FAIL |", "1. 1m00s, event 30: the timeline does", "`one-owner`"} {
		if !strings.Contains(summary.String(), want) {
			t.Errorf("summary has no %q:\n%s", want, summary.String())
		}
	}
	for _, bad := range []string{"<script", "<!--"} {
		if strings.Contains(summary.String(), bad) {
			t.Errorf("summary holds %s", bad)
		}
	}
	for _, want := range []string{"How it came about", "The smallest scenario that breaks it, with seed 7", "Incomplete", "Addresses held over time"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page.String(), "<script>alert") {
		t.Error("the page holds a script of a name's")
	}
}

// Goal: a page of a large run stays small. Method: 240 runs that passed, and one run of 300 nodes that was a month long, with all addresses
// that a run keeps.
func TestPageSize(t *testing.T) {
	const most = 5 << 20
	one := sample().Scenarios[0]
	var many Report
	for range 173 {
		many.Scenarios = append(many.Scenarios, one)
	}
	month := one
	month.VirtualSeconds = 31 * 86400
	month.Addresses = nil
	for i := range 4000 {
		month.Addresses = append(month.Addresses, result.Held{Node: "node-" + thousands(i%300+1), Addr: "10.1.2.3", Pod: "default/web-" + thousands(i), FromSeconds: float64(i * 600), UntilSeconds: float64(i*600 + 90000)})
	}
	for name, r := range map[string]Report{"173 runs": many, "300 nodes for 31 days": {Scenarios: []result.Result{month}}} {
		var page bytes.Buffer
		if err := writeHTML(&page, r); err != nil || page.Len() > most {
			t.Errorf("%s: %d bytes (%v)", name, page.Len(), err)
		}
	}
}
