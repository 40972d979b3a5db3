package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
	"github.com/vppdrill/vppdrill/sim/museum"
)

// realRun is a run of the catalogue with its story, of an exhibit of the museum with its fault.
func realRun(t *testing.T, name string, planted bool) result.Result {
	t.Helper()
	s, err := catalog.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	o := func() sim.Options {
		o := sim.Options{Seed: 1, Laws: check.All(), Story: true, Series: true}
		if planted {
			e, err := museum.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			law, _ := check.ByName(e.Law)
			o.Laws, o.Plant = []fact.Law{law}, e.Plant()
		}
		return o
	}
	r, err := sim.Run(t.Context(), s, o())
	if err != nil || (r.Failure != nil) != planted {
		t.Fatal(r.Verdict, r.Error, err)
	}
	again, err := (explore.Explorer{}).Explain(t.Context(), s, o(), nil, r.Events)
	if err != nil || again.Digest != r.Digest {
		t.Fatalf("told run %s, run %s: %v", again.Digest, r.Digest, err)
	}
	return again
}

// realReport has a run whose packets do not arrive, and one that passed.
func realReport(t *testing.T) Report {
	return Report{Version: "test", Scenarios: []result.Result{realRun(t, "last-id-out-of-range", true), realRun(t, "node-joins", false)}}
}

// TestRealPage goal: the page of a real failure has its packet's way, what failed before all else, waits and curves; what a story tells of a
// node is what the run did. Method: a planted exhibit; the events' changes, applied to the states before them, give the last states.
func TestRealPage(t *testing.T) {
	r := realReport(t)
	html := render(t, r)
	for _, want := range []string{"The packet&#39;s path", "VXLAN 10.1.4.1 to 10.1.4.4 vni 10", `class="curve held"`, "How long pods took", "Compare two runs", "<template>H4sI"} {
		if !strings.Contains(html, want) && !strings.Contains(html, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Index(html, `id="failures"`) > strings.Index(html, `id="overview-title"`) {
		t.Error("failures do not come first")
	}
	story := r.Scenarios[1].Story
	states := map[string][]string{}
	for node, lines := range story.Base {
		states[node] = slices.Clone(lines)
	}
	for _, e := range story.Events {
		for _, line := range e.Went {
			i := slices.Index(states[e.Node], line)
			if i < 0 {
				t.Fatalf("event %d takes %q from %s, which does not have it", e.Event, line, e.Node)
			}
			states[e.Node] = slices.Delete(states[e.Node], i, i+1)
		}
		states[e.Node] = append(states[e.Node], e.Came...)
	}
	last := map[string]result.Seen{}
	for _, l := range story.Looks {
		for _, n := range l.Nodes {
			last[n.Name] = n
		}
	}
	for name, n := range last {
		leases, tunnels := 0, 0
		for _, line := range states[name] {
			if strings.HasPrefix(line, "  lease ") {
				leases++
			}
			if strings.HasPrefix(line, "  interface ") && strings.Contains(line, "vxlan_tunnel") {
				tunnels++
			}
		}
		if leases != n.Held || tunnels != n.Tunnels {
			t.Errorf("%s: its events end with %d leases and %d tunnels, the last look saw %d and %d", name, leases, tunnels, n.Held, n.Tunnels)
		}
	}
	if len(last) < 3 || len(story.Events) < 100 {
		t.Errorf("%d nodes, %d events", len(last), len(story.Events))
	}
}
