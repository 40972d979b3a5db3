package result

import (
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Exercise is a situation that must occur in some run, because a situation that never occurs is untested, even if all
// runs pass. A promise of ARCHITECTURE.md that no run exercises is untested.
type Exercise struct {
	// Name is what reports call it: lower case words joined by hyphens.
	Name string
	// Why is one clause: what is unknown until the situation occurs.
	Why string
	// Promise is the number of the promise in ARCHITECTURE.md that it exercises; 0: none, but users rely on it.
	Promise int
}

// Names of exercises.
const (
	addressReused      = "address-reused"
	addressesExhausted = "addresses-exhausted"
	waitEnded          = "wait-ended"
	agentRestarted     = "agent-restarted"
	vppRestarted       = "vpp-restarted"
	machineReturned    = "machine-returned"
	nodeLeft           = "node-left"
	rangeDrained       = "range-drained"
	replyLost          = "reply-lost"
	faultStruck        = "fault-struck"
	journalRead        = "journal-read"
	cleanStop          = "clean-stop"
	staleRemoved       = "stale-removed"
	idPassedOn         = "id-passed-on"
	checkRefused       = "check-refused"
	statusRefused      = "status-refused"
	lawBroken          = "law-broken"
	lawIdle            = "law-idle"
)

// exercises are all of them, in the order of reports; reached holds them by their index.
var exercises = []Exercise{
	{addressReused, "whether an address is clean when its next pod gets it", 0},
	{addressesExhausted, "what happens when a node has no address left", 0},
	{waitEnded, "whether a pod that waited for an address gets one", 0},
	{agentRestarted, "whether a restarted agent restores its state", 0},
	{vppRestarted, "whether an empty VPP is filled again", 0},
	{machineReturned, "what survives a power loss of a machine", 0},
	{nodeLeft, "what peers keep of a node that has left", 0},
	{rangeDrained, "whether pods keep addresses of a range that is drained", 0},
	{lawIdle, "whether a law reports that it found nothing to judge", 3},
	{replyLost, "whether the outcome of a call with a lost reply is checked before a retry", 5},
	{staleRemoved, "whether only stale objects are deleted after a restart", 5},
	{faultStruck, "whether the cluster survives a fault", 6},
	{journalRead, "whether acknowledged state is in the journal", 6},
	{idPassedOn, "whether a departed node's ID is safe to reuse", 6},
	{lawBroken, "whether a broken law is detected and named", 7},
	{cleanStop, "whether a restart with nothing to do does nothing", 0},
	{checkRefused, "whether CHECK detects a broken pod", 0},
	{statusRefused, "whether STATUS detects a node that accepts no pods", 0},
}

// Exercises lists all of them in the order of reports. The slice is the caller's.
func Exercises() []Exercise { return slices.Clone(exercises) }

// NotExercised lists the exercises that occurred in none of the runs.
func NotExercised(all []Exercise, results []Result) []Exercise {
	return slices.DeleteFunc(slices.Clone(all), func(e Exercise) bool {
		return slices.ContainsFunc(results, func(r Result) bool { return slices.Contains(r.Exercised, e.Name) })
	})
}

// reached holds a bit for each exercise that occurred in a run.
type reached uint64

func (r *reached) note(name string) {
	*r |= 1 << slices.IndexFunc(exercises, func(e Exercise) bool { return e.Name == name })
}

func (r reached) names() []string {
	names := []string{}
	for i, e := range exercises {
		if r&(1<<i) != 0 {
			names = append(names, e.Name)
		}
	}
	return names
}

// observe processes a fact, after the tally has.
func (r *reached) observe(t *tally, f *fact.Fact) {
	switch x := f.What.(type) {
	case fact.AgentUp:
		n := t.node(f.Node)
		if n.lives++; n.lives > 1 {
			r.note(agentRestarted)
		}
		if n.returner {
			r.note(machineReturned)
		}
		if len(x.Leases) > 0 {
			r.note(journalRead)
		}
	case fact.AgentDown:
		if x.Why == fact.CleanStop {
			r.note(cleanStop)
		}
	case fact.Disturbed:
		if x.By == fact.VPPUp && f.Node != "" && t.node(f.Node).wired {
			r.note(vppRestarted)
		}
	case fact.NodeGone:
		if x.Left {
			r.note(nodeLeft)
			t.node(f.Node).returner = false
		} else {
			t.node(f.Node).returner = true
		}
	case fact.Answered:
		t.node(f.Node).wired = true
		if l := t.lives.byUID[x.PodUID]; l != nil && l.waited {
			r.note(waitEnded)
		}
	case fact.Refused:
		if x.Exhausted {
			r.note(addressesExhausted)
		}
	case fact.NodeBlocks:
		if slices.ContainsFunc(x.Blocks, func(b ipam.Block) bool { return b.Draining }) {
			r.note(rangeDrained)
		}
	case fact.Removed:
		if t.node(f.Node).lives > 1 {
			r.note(staleRemoved)
		}
	case fact.RecordChange:
		if c := x; c.Before.Name != "" && c.After.Name != "" && c.Before.Name != c.After.Name {
			r.note(idPassedOn)
		}
	case fact.Checked:
		if x.Broken != "" && x.Code != 0 {
			r.note(checkRefused)
		}
	case fact.Status:
		if x.Broken != "" && x.Code != 0 {
			r.note(statusRefused)
		}
	case fact.Counted:
		if x.Counts.LostReplies > 0 {
			r.note(replyLost)
		}
		if x.Counts.Faults > 0 {
			r.note(faultStruck)
		}
	}
}

// exercised lists the exercises that occurred in the whole run.
func (r *run) exercised() []string {
	out := r.tally.reached
	if s := r.result.Summary; s.Reused > 0 {
		out.note(addressReused)
	}
	if r.failure != nil {
		out.note(lawBroken)
	}
	if slices.ContainsFunc(r.result.Laws, LawResult.Idle) {
		out.note(lawIdle)
	}
	return out.names()
}
