package fact

import "slices"

// Evidence is one kind of thing that laws judge by: kinds of facts, fields of facts, or fields of snapshots. A World states
// which evidence it delivers, a Law which it needs. A law whose evidence a world does not deliver is not judged there.
type Evidence string

// Kinds of evidence, by the names that reports use, with the facts and fields that each of them means.
const (
	// Leases: FactLeased, FactReleased, FactAgentUp, FactAgentDown; NodeState.Leases.
	Leases Evidence = "leases"
	// Sandboxes: FactAsked, FactAnswered, FactDeleted, FactSandboxGone, FactNodeGone; NodeState.Pods.
	Sandboxes Evidence = "sandboxes"
	// PodLives: FactPod.
	PodLives Evidence = "lives of pods"
	// Refusals: FactRefused for ADD and DEL.
	Refusals Evidence = "refusals"
	// NodeIDs: FactNodeID; NodeState.ID and what follows from it: addresses and host subnet.
	NodeIDs Evidence = "node IDs"
	// Management: NodeState.Management.
	Management Evidence = "management addresses"
	// Blocks: FactBlocks; NodeState.Blocks and Reserved.
	Blocks Evidence = "blocks"
	// AssignedBlocks: FactAssigned; NodeState.Assigned.
	AssignedBlocks Evidence = "assigned blocks"
	// BlockedBlocks: NodeState.Blocked.
	BlockedBlocks Evidence = "blocked blocks"
	// FreeBlocks: Snapshot.FreeBlock.
	FreeBlocks Evidence = "free blocks"
	// WaitingPods: NodeState.Waiting.
	WaitingPods Evidence = "waiting pods"
	// Rests: Fact.Rest of FactReleased.
	Rests Evidence = "rests"
	// FullNodes: NodeState.Resting, Crowded and Misfit.
	FullNodes Evidence = "resting addresses and crowded nodes"
	// HeldIDs: Snapshot.HeldIDs.
	HeldIDs Evidence = "held node IDs"
	// LongQuiet: FactQuiet, and FactVPPWrite from then on.
	LongQuiet Evidence = "long quiet"
	// Disturbances: FactDisturbed for whatever changes what nodes should look like and no other fact tells.
	Disturbances Evidence = "disturbances"
	// CleanStops: FactAgentDown with the text "clean", and FactVPPWrite for a while after it.
	CleanStops Evidence = "clean stops"
	// VPPLives: FactDisturbed when a VPP is up, and FactVPPCrash.
	VPPLives Evidence = "lives of VPP"
	// ProgramLives: FactAgentUp, and FactProgramCrash.
	ProgramLives Evidence = "lives of programs"
	// NodeAddresses: FactAddressed.
	NodeAddresses Evidence = "node addresses"
	// NodeLeases: NodeState.Leased.
	NodeLeases Evidence = "leases of nodes"
	// OtherNICs: NodeState.OtherNICs.
	OtherNICs Evidence = "other interfaces of nodes"
	// Removals: FactRemoved for every call that takes something away.
	Removals Evidence = "removals"
	// Checks: FactChecked and FactStatus.
	Checks Evidence = "checks"
	// Leftovers: Fact.Left of FactLeased and FactReleased.
	Leftovers Evidence = "leftovers"
	// Records: FactRecord.
	Records Evidence = "node records"
	// Disks: FactSaved.
	Disks Evidence = "disks"
	// Hooks: FactHooked.
	Hooks Evidence = "hooks"
	// RequestCounts: FactCounted.
	RequestCounts Evidence = "counts of requests"
	// RefusedCalls: FactCallRefused.
	RefusedCalls Evidence = "refused calls"
	// Patience: Rest and Number of FactRefused, FactAbandoned and FactSlow.
	Patience Evidence = "patience"
	// IDRests: Fact.Rest of FactNodeGone.
	IDRests Evidence = "rests of node IDs"
	// RangeCounts: Snapshot.Ranges in settled snapshots.
	RangeCounts Evidence = "controllers' counts of blocks"
	// ClosedRanges: FactRange.
	ClosedRanges Evidence = "ranges that are closed"
	// Changes: FactChanging.
	Changes Evidence = "changes that controllers ask for"
	// Services: Snapshot.Services and NodeState.ServiceRange; FactServed and FactUnserved.
	Services Evidence = "services"
	// ReachedSettings: NodeState.Settings.
	ReachedSettings Evidence = "settings"
	// VPPTables and LinuxTables: NodeState.VPP and Linux in settled snapshots.
	VPPTables   Evidence = "VPP's tables"
	LinuxTables Evidence = "Linux' tables"
)

// AllEvidence lists every kind of evidence. The slice is the caller's.
func AllEvidence() []Evidence {
	return []Evidence{Leases, Sandboxes, PodLives, Refusals, NodeIDs, Management, Blocks, AssignedBlocks, BlockedBlocks, FreeBlocks, WaitingPods, Rests, FullNodes,
		Disturbances, CleanStops, VPPLives, Checks, ProgramLives, NodeAddresses, NodeLeases, OtherNICs, Removals, Leftovers,
		Records, IDRests, Disks, RequestCounts, Hooks, RefusedCalls, Patience, RangeCounts, Changes, ClosedRanges, Services, HeldIDs, LongQuiet, ReachedSettings, VPPTables, LinuxTables}
}

// Missing lists what the law needs and is not among delivered, in the law's order.
func (l Law) Missing(delivered []Evidence) []Evidence {
	var out []Evidence
	for _, e := range l.Needs {
		if !slices.Contains(delivered, e) {
			out = append(out, e)
		}
	}
	return out
}
