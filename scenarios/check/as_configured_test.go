package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
)

// Goal: a setting that is not as configured breaks the law by its name and both values, and nothing is said of a node
// whose agent is not there to set it. Method: a cluster of two nodes, one of which has a setting that is as it should
// be and one that is not.
func TestAsConfigured(t *testing.T) {
	s := newCluster(clustertest.Config{}, 2, 1).Snapshot()
	right, wrong := fact.Setting{Of: "the MTU of eth0", Wanted: "1450", Found: "1450"}, fact.Setting{Of: "the receive ring of tap3", Wanted: "512", Found: "256"}
	n := &s.Nodes[1]
	n.Settings = slices.Values([]fact.Setting{right})
	if checks, err := checkConfigured(s); err != nil || checks != 1 {
		t.Errorf("as configured: %d checks, %v", checks, err)
	}
	n.Settings = slices.Values([]fact.Setting{right, wrong})
	if _, err := checkConfigured(s); err == nil || !strings.Contains(err.Error(), "the receive ring of tap3 is 256, but the configuration says 512") {
		t.Errorf("not as configured: %v", err)
	}
	n.AgentUp = false
	if checks, err := checkConfigured(s); err != nil || checks != 0 {
		t.Errorf("without an agent: %d checks, %v", checks, err)
	}
}
