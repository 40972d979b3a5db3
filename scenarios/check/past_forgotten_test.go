package check

import (
	"iter"
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: past-forgotten breaks where a range is known in which nobody has addresses, and where a journal has many more lines than leases are to make; where
// anybody has addresses elsewhere, former ranges are not judged. Method: one node, changed by one thing each.
func TestPastForgotten(t *testing.T) {
	now, former := netip.MustParsePrefix("10.2.0.0/16"), netip.MustParsePrefix("10.1.0.0/16")
	for name, c := range map[string]struct {
		change func(*scenarios.Snapshot)
		broken bool
	}{
		"nothing":        {change: func(*scenarios.Snapshot) {}},
		"a former range": {change: func(s *scenarios.Snapshot) { s.Nodes[0].FormerPodSubnets = []netip.Prefix{former} }, broken: true},
		"a former range that the present one is of": {change: func(s *scenarios.Snapshot) {
			s.Nodes[0].FormerPodSubnets = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		}},
		"a former range in the journal": {change: func(s *scenarios.Snapshot) { s.Nodes[0].JournalPodSubnets = []netip.Prefix{now, former} }, broken: true},
		"a block that drains": {change: func(s *scenarios.Snapshot) {
			s.Nodes[0].FormerPodSubnets = []netip.Prefix{former}
			s.Nodes[0].Blocks = append(s.Nodes[0].Blocks, ipam.Block{Prefix: netip.MustParsePrefix("10.1.1.0/24"), Draining: true})
		}},
		"an ID of a node that does not run": {change: func(s *scenarios.Snapshot) {
			s.Nodes[0].FormerPodSubnets = []netip.Prefix{former}
			s.HeldIDs = append(s.HeldIDs, scenarios.HeldID{ID: 2, Name: "node-2", UID: "u2"})
		}},
		"a long journal": {change: func(s *scenarios.Snapshot) { s.Nodes[0].JournalLines = linesMost + linesEach }},
		"leases that have gone": {change: func(s *scenarios.Snapshot) {
			s.Nodes[0].JournalLines, s.Nodes[0].JournalLeases = linesMost+2*linesEach, 2
		}},
		"a journal that is longer": {change: func(s *scenarios.Snapshot) { s.Nodes[0].JournalLines = linesMost + linesEach + 1 }, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenarios.Snapshot{Settled: true, HeldIDs: []scenarios.HeldID{{ID: 1, Name: "node-1", UID: "u1"}}, Nodes: []scenarios.NodeState{{
				Name: "node-1", UID: "u1", ID: 1, MachineUp: true, AgentUp: true, VPPUp: true, PodSubnet: now, JournalLines: 10,
				Blocks: []ipam.Block{{Prefix: netip.MustParsePrefix("10.2.1.0/24")}},
				Leases: func() iter.Seq[ipam.Lease] { return func(yield func(ipam.Lease) bool) { yield(ipam.Lease{}) } },
			}}}
			c.change(&s)
			occasions, err := checkPastForgotten(s)
			if (err != nil) != c.broken || occasions != 1 {
				t.Errorf("%v after %d occasions", err, occasions)
			}
		})
	}
}
