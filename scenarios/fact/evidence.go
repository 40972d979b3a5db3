package fact

import "slices"

// Evidence is one kind of input of laws: kinds of facts, fields of facts, or fields of snapshots. A World declares the
// evidence that it delivers, a Law the evidence that it needs. A law is not judged in a world that does not deliver its
// evidence.
type Evidence string

// Kinds of evidence, by the names that reports use, with the facts and fields that each of them means.
const (
	// Leases: Leased, Released, AgentUp, AgentDown; NodeState.Leases.
	Leases Evidence = "leases"
	// Sandboxes: Asked, Answered, Deleted, SandboxGone, NodeGone; NodeState.Pods.
	Sandboxes Evidence = "sandboxes"
	// PodLives: PodChanged.
	PodLives Evidence = "lives of pods"
	// Refusals: Refused for ADD and DEL.
	Refusals Evidence = "refusals"
	// NodeIDs: NodeID; NodeState.ID and what follows from it: addresses and host subnet.
	NodeIDs Evidence = "node IDs"
	// Management: NodeState.Management.
	Management Evidence = "management addresses"
	// Blocks: NodeBlocks; NodeState.Blocks and Reserved.
	Blocks Evidence = "blocks"
	// AssignedBlocks: Assigned; NodeState.Assigned.
	AssignedBlocks Evidence = "assigned blocks"
	// BlockedBlocks: NodeState.Blocked.
	BlockedBlocks Evidence = "blocked blocks"
	// FreeBlocks: Snapshot.FreeBlock.
	FreeBlocks Evidence = "free blocks"
	// WaitingPods: NodeState.Waiting.
	WaitingPods Evidence = "waiting pods"
	// WantedAddresses: Wanted of Asked; NodeState.WaitingFor.
	WantedAddresses Evidence = "addresses that pods ask for"
	// Rests: Rest of Released.
	Rests Evidence = "rests"
	// FullNodes: NodeState.Resting, Crowded and Misfit.
	FullNodes Evidence = "resting addresses and crowded nodes"
	// HeldIDs: Snapshot.HeldIDs.
	HeldIDs Evidence = "held node IDs"
	// LongQuiet: Quiet, and VPPWrite from then on.
	LongQuiet Evidence = "long quiet"
	// Disturbances: Disturbed for all changes of nodes' desired state that no other fact reports.
	Disturbances Evidence = "disturbances"
	// CleanStops: AgentDown with CleanStop, and VPPWrite for a while after it.
	CleanStops Evidence = "clean stops"
	// VPPLives: Disturbed when a VPP is up, and VPPCrash.
	VPPLives Evidence = "lives of VPP"
	// ProgramLives: AgentUp, and ProgramCrash.
	ProgramLives Evidence = "lives of programs"
	// NodeAddresses: Addressed.
	NodeAddresses Evidence = "node addresses"
	// NodeLeases: NodeState.Leased.
	NodeLeases Evidence = "leases of nodes"
	// OtherNICs: NodeState.OtherNICs.
	OtherNICs Evidence = "other interfaces of nodes"
	// Removals: Removed for every call that removes something.
	Removals Evidence = "removals"
	// Checks: Checked and Status.
	Checks Evidence = "checks"
	// Leftovers: Left of Leased and Released.
	Leftovers Evidence = "leftovers"
	// Records: RecordChange.
	Records Evidence = "node records"
	// Disks: SavedLease, SavedRelease, SavedNodeID, SavedAll.
	Disks Evidence = "disks"
	// Hooks: Hooked.
	Hooks Evidence = "hooks"
	// RequestCounts: Counted.
	RequestCounts Evidence = "counts of requests"
	// RefusedCalls: CallRefused.
	RefusedCalls Evidence = "refused calls"
	// Patience: Refused.Wait and Code, Abandoned, Slow.
	Patience Evidence = "patience"
	// IDRests: Rest of NodeGone.
	IDRests Evidence = "rests of node IDs"
	// RangeCounts: Snapshot.Ranges in settled snapshots.
	RangeCounts Evidence = "controllers' counts of blocks"
	// CloudRoutes: Snapshot.Fabric in settled snapshots.
	CloudRoutes Evidence = "routes of the cloud's network"
	// ClosedRanges: Range.
	ClosedRanges Evidence = "ranges that are closed"
	// Changes: Changing.
	Changes Evidence = "changes that controllers ask for"
	// Services: Snapshot.Services and NodeState.ServiceRange; Served.
	Services Evidence = "services"
	// Policies: Snapshot.Policies.
	Policies Evidence = "network policies"
	// ReachedSettings: NodeState.Settings.
	ReachedSettings Evidence = "settings"
	// HostReaches: HostReach.
	HostReaches Evidence = "reach of hosts"
	// Pings: Pinged.
	Pings Evidence = "pings"
	// Remains: NodeState.Removed and Remains in settled snapshots.
	Remains Evidence = "what pods leave"
	// VPPTables and LinuxTables: NodeState.VPP and Linux in settled snapshots.
	VPPTables   Evidence = "VPP's tables"
	LinuxTables Evidence = "Linux' tables"
)

// AllEvidence lists every kind of evidence. The slice is the caller's.
func AllEvidence() []Evidence {
	return []Evidence{Leases, Sandboxes, PodLives, Refusals, NodeIDs, Management, Blocks, AssignedBlocks, BlockedBlocks,
		FreeBlocks, WaitingPods, WantedAddresses, Rests, FullNodes,
		Disturbances, CleanStops, VPPLives, Checks, ProgramLives, NodeAddresses, NodeLeases, OtherNICs, Removals, Leftovers,
		Records, IDRests, Disks, RequestCounts, Hooks, RefusedCalls, Patience, RangeCounts, CloudRoutes, Changes, ClosedRanges, Services, Policies, HeldIDs, LongQuiet, ReachedSettings, HostReaches, Pings, Remains, VPPTables, LinuxTables}
}

// Missing lists the law's needs that are not delivered, in the law's order.
func (l Law) Missing(delivered []Evidence) []Evidence {
	var out []Evidence
	for _, e := range l.Needs {
		if !slices.Contains(delivered, e) {
			out = append(out, e)
		}
	}
	return out
}
