package result

import "testing"

// TestNameless goal: failures of one law that come about alike have one cause, others another. Method: sentences of
// laws in pairs.
func TestNameless(t *testing.T) {
	const lost = "default/web-0 (10.1.2.3) on node-1 does not reach default/web-7 (10.1.4.9) on node-2: dropped on node-1: VPP is down"
	for _, c := range []struct {
		a, b  string
		alike bool
	}{
		{lost, "kube-system/dns-1 (10.1.2.77) on node-3 does not reach default/x (10.1.1.1) on node-1: dropped on node-2: VPP is down", true},
		{lost, "default/web-0 (10.1.2.3) on node-1 does not reach default/web-7 (10.1.4.9) on node-2: dropped on node-1: no route", false},
		{"10.1.2.7 is held by default/web-3 and by default/db-0", "10.1.0.4 is held by default/a-1 and by default/a-2", true},
		{"the agent is down", "API server is stopped", false},
	} {
		if a, b := nameless(c.a), nameless(c.b); (a == b) != c.alike {
			t.Errorf("%q and %q", a, b)
		}
	}
}
