package placement_test

import (
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/lab/internal/placement"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Goal: a pod goes to the node with the fewest pods that stay, the first by name among equals, within the node's and the
// pod's bounds, in the order of the pods. Method: a table.
func TestPlace(t *testing.T) {
	on := func(node string) timeline.Pod { return timeline.Pod{Node: node} }
	going := func(node string) timeline.Pod { return timeline.Pod{Node: node, Deleting: true} }
	bound := func(node string) timeline.Pod { return timeline.Pod{Node: node, App: "a", MaxPerNode: 1} }
	for name, c := range map[string]struct {
		pods []timeline.Pod
		most int
		want []string
	}{
		"by turns":                      {[]timeline.Pod{on(""), on(""), on("")}, 9, []string{"n1", "n2", "n1"}},
		"fewest":                        {[]timeline.Pod{on("n1"), on("")}, 9, []string{"", "n2"}},
		"one that goes makes no weight": {[]timeline.Pod{going("n1"), on("n2"), on("")}, 9, []string{"", "", "n1"}},
		"one that goes takes room":      {[]timeline.Pod{going("n1"), on("n2"), on("")}, 1, []string{"", "", ""}},
		"one that goes is not placed":   {[]timeline.Pod{going(""), on("")}, 9, []string{"", "n1"}},
		"bounds":                        {[]timeline.Pod{bound("n1"), bound(""), bound(""), on("")}, 9, []string{"", "n2", "", "n1"}},
		"elsewhere":                     {[]timeline.Pod{on("n3"), on("")}, 9, []string{"", "n1"}},
	} {
		for _, nodes := range [][]string{{"n1", "n2"}, {"n2", "n1"}} {
			if have := placement.Place(c.pods, nodes, c.most); !slices.Equal(have, c.want) {
				t.Errorf("%s: %q, want %q", name, have, c.want)
			}
		}
	}
	if have := placement.Place([]timeline.Pod{on("")}, nil, 9); have[0] != "" {
		t.Errorf("placed on %q of no nodes", have[0])
	}
}
