package check

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: an object that says something else than what is so is told, with both; one of a node whose agent does not run is not judged.
// Method: one report, right and wrong.
func TestReportsTrue(t *testing.T) {
	for _, c := range []struct {
		wanted, found string
		down          bool
		says          string
		occasions     int64
	}{
		{wanted: "[10.1.0.1 of a]", found: "[10.1.0.1 of a]", occasions: 1},
		{wanted: "[]", found: "[10.1.0.1 of a]", says: "use says [10.1.0.1 of a] of node-1, and it is []", occasions: 1},
		{wanted: "[]", found: "[10.1.0.1 of a]", down: true},
	} {
		s := newCluster(wirings[0], 1, 1).Snapshot()
		s.Nodes[0].AgentUp = !c.down
		s.Nodes[0].Reported = []scenarios.Setting{{Of: "use", Wanted: c.wanted, Found: c.found}}
		occasions, err := checkReports(s)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || occasions != c.occasions {
			t.Errorf("%d occasions, %v; want %d, %q", occasions, err, c.occasions, c.says)
		}
	}
}
