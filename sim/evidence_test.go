package sim_test

import (
	"context"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// seen notes what evidence a fact is an instance of.
func seen(f fact.Fact, note func(fact.Evidence)) {
	switch x := f.What.(type) {
	case fact.Leased:
		note(fact.Leases)
	case fact.Released:
		if x.Rest > 0 {
			note(fact.Rests)
		}
	case fact.Answered:
		note(fact.Sandboxes)
	case fact.PodChanged:
		note(fact.PodLives)
	case fact.Refused:
		note(fact.Refusals)
	case fact.NodeID:
		note(fact.NodeIDs)
	case fact.NodeBlocks:
		note(fact.Blocks)
	case fact.Assigned:
		note(fact.AssignedBlocks)
	case fact.Checked, fact.Status:
		note(fact.Checks)
	case fact.Disturbed:
		note(fact.Disturbances)
		if x.By == fact.VPPUp {
			note(fact.VPPLives)
		}
	case fact.AgentUp:
		note(fact.ProgramLives)
	case fact.Counted:
		note(fact.RequestCounts)
	case fact.Hooked:
		note(fact.Hooks)
	case fact.Quiet:
		note(fact.LongQuiet)
	case fact.RecordChange:
		note(fact.Records)
	case fact.NodeGone:
		if x.Rest > 0 {
			note(fact.IDRests)
		}
	case fact.Range:
		note(fact.ClosedRanges)
	case fact.Changing:
		note(fact.Changes)
	case fact.Addressed:
		note(fact.NodeAddresses)
	case fact.HostReach:
		note(fact.HostReaches)
	case fact.Removed:
		note(fact.Removals)
	case fact.Asked:
		if len(x.Wanted) > 0 {
			note(fact.WantedAddresses)
		}
	case fact.AgentDown:
		if x.Why == fact.CleanStop {
			note(fact.CleanStops)
		}
	}
}

// Goal: the simulator tells the evidence that it states: a law that is fed nothing would hold for ever. Method: a few
// scenarios of the catalogue, and what was told in any of them. What only planted faults bring about is left to the
// museum: leftovers, free and blocked blocks, pods that wait in a cluster at rest and full nodes, what disks lack,
// refused calls, what controllers count, and requests that nobody answers; so is what snapshots long after the end
// hold.
func TestEvidenceIsTold(t *testing.T) {
	told := map[fact.Evidence]bool{fact.RangeCounts: true, fact.FreeBlocks: true, fact.BlockedBlocks: true, fact.WaitingPods: true, fact.FullNodes: true, fact.Leftovers: true,
		fact.Disks: true, fact.RefusedCalls: true, fact.Patience: true, fact.HeldIDs: true}
	note := func(e fact.Evidence) { told[e] = true }
	for _, name := range []string{"released-addresses-rest", "external-range-changes", "nodeipam-ranges", "nodeipam-exhaustion", "node-leaves", "gc-and-check", "leased-addresses", "storage-network", "services-change", "one-way-in", "disk-refuses", "cilium-crd", "hooks-outlive-the-agent", "cooling-too-short", "nodeipam-pods-ask", "nic-taken-and-kept", "cloud-routes", "agent-restarts"} {
		s, err := catalog.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := sim.New(s, sim.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		w.Watch(func(f fact.Fact) error { seen(f, note); return nil })
		result.Run(context.Background(), w, s, nil, result.Options{AtEnd: func(end fact.Snapshot) {
			if end.Fabric != nil {
				note(fact.CloudRoutes)
			}
			if len(end.Policies.Policies) > 0 {
				note(fact.Policies)
			}
			if len(end.Services) > 0 {
				note(fact.Services)
			}
			for _, n := range end.Nodes {
				if n.Leased.IsValid() {
					note(fact.NodeLeases)
				}
				if len(n.OtherNICs) > 0 {
					note(fact.OtherNICs)
				}
				if n.Settings != nil {
					note(fact.ReachedSettings)
				}
				if n.VPP != nil && n.Linux != nil {
					note(fact.VPPTables)
					if len(n.Management) > 0 {
						note(fact.Management)
					}
					note(fact.LinuxTables)
				}
			}
		}})
		for _, e := range w.Evidence() {
			if !told[e] && name == "agent-restarts" {
				t.Errorf("nobody tells %s", e)
			}
		}
	}
}
