package cause

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/noun"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// weight is how much a step explains.
type weight int

const (
	// routine steps only explain how something came about.
	routine weight = iota + 1
	// touching steps changed a subject of the law.
	touching
	// turning steps often precede a fault: a program ends or starts, an ID changes hands.
	turning
	// doing steps are those of the timeline and the injectors.
	doing
)

// words describes a fact; say is false for one that explains nothing.
func words(r *Recorder, f *fact.Fact) (text string, say bool) {
	pod := func() string {
		s, ok := f.What.(fact.OfSandbox)
		if !ok {
			return ""
		}
		o, name := s.Sandbox()
		if name != "" {
			return name
		}
		return r.pod(o.ContainerID)
	}
	agent := f.Node + "'s agent "
	switch x := f.What.(type) {
	case fact.Leased:
		return agent + "gives " + x.Addr.String() + " to " + pod(), true
	case fact.Released:
		return agent + "takes " + x.Addr.String() + " back from " + pod(), true
	case fact.Answered:
		return agent + "answers the ADD of " + pod() + " with " + x.Addr.String(), true
	case fact.Refused:
		return "the ADD of " + pod() + " on " + f.Node + " fails: " + x.Why, true
	case fact.Deleted:
		return agent + "answers the DEL of " + pod() + " with success", true
	case fact.SandboxGone:
		return "the sandbox of " + pod() + " on " + f.Node + " is gone", true
	case fact.NodeID:
		if x.ID == 0 {
			return agent + "gives its node ID up", true
		}
		return agent + "acts on node ID " + strconv.Itoa(int(x.ID)), true
	case fact.NodeBlocks:
		return agent + "allocates from " + blocks(x.Blocks), true
	case fact.Assigned:
		return f.Node + " is assigned " + blocks(x.Blocks), true
	case fact.NodeGone:
		if x.Left {
			return f.Node + " leaves the cluster", true
		}
		return "the machine " + f.Node + " loses power", true
	case fact.AgentUp:
		return agent + "is up; its journal holds " + noun.Count(len(x.Leases), "lease"), true
	case fact.AgentDown:
		if x.Why == fact.CleanStop {
			return agent + "ends with nothing left to do", true
		}
		return agent + "ends", true
	case fact.Disturbed:
		return "VPP of " + f.Node + " is there for its agent", x.By == fact.VPPUp && f.Node != ""
	case fact.HostReach:
		if x.Reached {
			return "the host of " + f.Node + " answers at its address", true
		}
		return "the host of " + f.Node + " is out of reach: " + x.Why, true
	case fact.VPPCrash:
		return "VPP on " + f.Node + " dies: " + x.Why, true
	case fact.ProgramCrash:
		return "a program dies: " + x.Why, true
	case fact.DelRefused:
		return agent + "refuses a repeated DEL of " + pod() + ": " + x.Why, true
	case fact.Checked:
		return agent + "answers the CHECK of " + pod() + " with " + strconv.Itoa(int(x.Code)) + while(x.Broken), true
	case fact.Status:
		return agent + "answers STATUS with " + strconv.Itoa(int(x.Code)) + while(x.Broken), true
	case fact.Removed:
		return f.Node + "'s agent takes away " + x.Removal.String(), true
	case fact.RecordChange:
		return record(&x), true
	}
	return "", false
}

func while(broken string) string {
	if broken == "" {
		return ""
	}
	return " while " + broken
}

// record describes a node ID's record after a change, and its previous node.
func record(c *fact.RecordChange) string {
	id := "record " + strconv.Itoa(int(c.ID)) + " in the store "
	was := ""
	if c.Before.Name != "" && c.Before.Name != c.After.Name {
		was = ", which was " + c.Before.Name + "'s"
		if c.Before.Released {
			was += " until it was released"
		}
	}
	switch {
	case c.After.Name == "":
		return id + "is deleted" + was
	case updated(c):
		return id + "is updated; the ID is still " + c.After.Name + "'s"
	case c.After.Released:
		return id + "says that " + c.After.Name + " has given the ID back" + was
	}
	return id + "says that the ID is " + c.After.Name + "'s" + was
}

// updated reports whether a record says what it said of who has the ID.
func updated(c *fact.RecordChange) bool {
	return c.Before.Name == c.After.Name && c.Before.Released == c.After.Released
}

// initial reports whether a fact before the timeline's first action is what every run starts with.
func initial(f *fact.Fact) bool {
	switch f.What.(type) {
	case fact.AgentUp, fact.Disturbed:
		return true
	}
	return false
}

func blocks(list []ipam.Block) string {
	if len(list) == 0 {
		return "no block"
	}
	const most = 4
	var out []string
	for i, b := range list {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(list)-most))
			break
		}
		text := b.Prefix.String()
		if b.Draining {
			text += " (draining)"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// weightOf is the weight of a fact.
func weightOf(f *fact.Fact) weight {
	switch f.What.(type) {
	case fact.NodeGone, fact.AgentUp, fact.AgentDown, fact.Disturbed, fact.VPPCrash, fact.ProgramCrash, fact.HostReach,
		fact.RecordChange, fact.NodeID, fact.NodeBlocks, fact.Assigned:
		return turning
	}
	return touching
}
