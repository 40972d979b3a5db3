package sim_test

import (
	"context"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/sim"
)

// seen notes what evidence a fact is an instance of.
func seen(f scenarios.Fact, note func(scenarios.Evidence)) {
	switch f.Kind {
	case scenarios.FactLeased:
		note(scenarios.Leases)
	case scenarios.FactReleased:
		if f.Rest > 0 {
			note(scenarios.Rests)
		}
	case scenarios.FactAnswered:
		note(scenarios.Sandboxes)
	case scenarios.FactPod:
		note(scenarios.PodLives)
	case scenarios.FactRefused:
		note(scenarios.Refusals)
	case scenarios.FactNodeID:
		note(scenarios.NodeIDs)
	case scenarios.FactBlocks:
		note(scenarios.Blocks)
	case scenarios.FactAssigned:
		note(scenarios.AssignedBlocks)
	case scenarios.FactChecked, scenarios.FactStatus:
		note(scenarios.Checks)
	case scenarios.FactDisturbed:
		note(scenarios.Disturbances)
		if f.Text == scenarios.VPPUp {
			note(scenarios.VPPLives)
		}
	case scenarios.FactAgentUp:
		note(scenarios.ProgramLives)
	case scenarios.FactCounted:
		note(scenarios.RequestCounts)
	case scenarios.FactHooked:
		note(scenarios.Hooks)
	case scenarios.FactQuiet:
		note(scenarios.LongQuiet)
	case scenarios.FactRecord:
		note(scenarios.Records)
	case scenarios.FactNodeGone:
		if f.Rest > 0 {
			note(scenarios.IDRests)
		}
	case scenarios.FactRange:
		note(scenarios.ClosedRanges)
	case scenarios.FactChanging:
		note(scenarios.Changes)
	case scenarios.FactAddressed:
		note(scenarios.NodeAddresses)
	case scenarios.FactRemoved:
		note(scenarios.Removals)
	case scenarios.FactAgentDown:
		if f.Text == scenarios.CleanStop {
			note(scenarios.CleanStops)
		}
	}
}

// Goal: the simulator tells the evidence that it states: a law that is fed nothing would hold for ever. Method: a few scenarios of
// the catalogue, and what was told in any of them. What only planted faults bring about is left to the museum: leftovers, free and blocked
// blocks, pods that wait in a cluster at rest and full nodes, what disks lack, refused calls, what controllers count, and requests that nobody answers; so is what snapshots long after the end hold.
func TestEvidenceIsTold(t *testing.T) {
	told := map[scenarios.Evidence]bool{scenarios.RangeCounts: true, scenarios.FreeBlocks: true, scenarios.BlockedBlocks: true, scenarios.WaitingPods: true, scenarios.FullNodes: true, scenarios.Leftovers: true,
		scenarios.Disks: true, scenarios.RefusedCalls: true, scenarios.Patience: true, scenarios.HeldIDs: true}
	note := func(e scenarios.Evidence) { told[e] = true }
	for _, name := range []string{"released-addresses-rest", "external-range-changes", "nodeipam-ranges", "nodeipam-exhaustion", "node-leaves", "gc-and-check", "leased-addresses", "storage-network", "services-change", "disk-refuses", "cilium-crd", "hooks-outlive-the-agent", "cooling-too-short", "agent-restarts"} {
		s, err := catalog.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := sim.New(s, sim.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		w.Watch(func(f scenarios.Fact) error { seen(f, note); return nil })
		scenarios.Run(context.Background(), w, s, nil, scenarios.Options{AtEnd: func(end scenarios.Snapshot) {
			if len(end.Services) > 0 {
				note(scenarios.Services)
			}
			for _, n := range end.Nodes {
				if n.Leased.IsValid() {
					note(scenarios.NodeLeases)
				}
				if len(n.OtherNICs) > 0 {
					note(scenarios.OtherNICs)
				}
				if n.Settings != nil {
					note(scenarios.ReachedSettings)
				}
				if n.VPP != nil && n.Linux != nil {
					note(scenarios.VPPTables)
					if len(n.Management) > 0 {
						note(scenarios.Management)
					}
					note(scenarios.LinuxTables)
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
