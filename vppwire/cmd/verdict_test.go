package cmd

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/vppwire/internal/conformance"
)

// Goal: a person reads what is broken first, between which nodes, not every call, and after it what held and what was
// not judged and why. Method: a run in which one node is reached from nowhere.
func TestVerdictForPeople(t *testing.T) {
	r := conformance.Result{Namespace: "run-1", Nodes: 3, Rounds: 2, Started: []time.Duration{2 * time.Second, 2100 * time.Millisecond}, Notes: []string{"addresses: of pod CIDRs"},
		Occasions: map[string]int{conformance.LawStart: 18, conformance.LawPods: 40, conformance.LawService: 1, audit.LawDuplicate: 20}}
	for i := range 12 {
		r.Broken = append(r.Broken, conformance.Violation{Law: conformance.LawPods, Round: 1 + i/6, Text: fmt.Sprintf("pod r%d-0-a on n%d does not reach r1-%d-c at 10.0.3.%d: timeout", 1+i/6, 1+i%2, i, 2+i)})
	}
	for _, from := range []string{"n1", "n2", "n3"} {
		for _, to := range []string{"n1", "n2", "n3"} {
			p := conformance.Path{From: from, To: to, Calls: 6}
			if to == "n3" && from != "n3" {
				p.Failed = 6
			}
			r.Paths = append(r.Paths, p)
		}
	}
	var out bytes.Buffer
	verdictOf(r).print(&out)
	want := `1 of 4 laws broken: pods-reach-pods, 15 not judged; 3 nodes, 2 rounds, all pods of a round ready within 2.1s at most

broken pods-reach-pods, 12 times: Every pod reaches every other without translation: Kubernetes promises it.
  calls fail between 2 of 9 pairs of nodes
    from n1 to n3: 6 of 6
    from n2 to n3: 6 of 6
  round 1: pod r1-0-a on n1 does not reach r1-0-c at 10.0.3.2: timeout
`
	if got := out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("%s", got)
	}
	for _, line := range []string{"  and 2 more: --format json or --out DIR lists all\n", "\nheld  pods-start           18 occasions\n", "\nheld  pods-reach-services  1 occasion\n",
		"\nnot judged, as --roll NAMESPACE/NAME was not asked for: pods-survive-rolls\n", "\nnote: addresses: of pod CIDRs\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in\n%s", line, out.String())
		}
	}
}
