package cause

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// weight says how much a deed explains.
type weight int

const (
	// routine deeds explain only how something came about.
	routine weight = iota + 1
	// touching deeds changed what the law speaks of.
	touching
	// turning deeds are what something goes wrong after: a program that ends or starts, an ID that changes hands.
	turning
	// doing deeds are the timeline's and the injectors'.
	doing
)

// words tells a fact; say is false for one that explains nothing.
func words(r *Recorder, f *fact.Fact) (text string, say bool) {
	pod := func() string {
		if f.Pod != "" {
			return f.Pod
		}
		return r.pod(f.Owner.ContainerID)
	}
	agent := f.Node + "'s agent "
	switch f.Kind {
	case fact.FactLeased:
		return agent + "gives " + f.Addr.String() + " to " + pod(), true
	case fact.FactReleased:
		return agent + "takes " + f.Addr.String() + " back from " + pod(), true
	case fact.FactAnswered:
		return agent + "answers the ADD of " + pod() + " with " + f.Addr.String(), true
	case fact.FactRefused:
		return agent + "refuses the ADD of " + pod() + ": " + f.Text, true
	case fact.FactDeleted:
		return agent + "answers the DEL of " + pod() + " with success", true
	case fact.FactSandboxGone:
		return "the sandbox of " + pod() + " on " + f.Node + " is gone", true
	case fact.FactNodeID:
		if f.Number == 0 {
			return agent + "gives its node ID up", true
		}
		return agent + "acts on node ID " + strconv.Itoa(int(f.Number)), true
	case fact.FactBlocks:
		return agent + "gives addresses from " + blocks(f.Blocks), true
	case fact.FactAssigned:
		return f.Node + " is assigned " + blocks(f.Blocks), true
	case fact.FactNodeGone:
		if f.Text == fact.NodeLeft {
			return f.Node + " leaves the cluster", true
		}
		return "the machine " + f.Node + " loses power", true
	case fact.FactAgentUp:
		return agent + "is up; its journal holds " + count(len(f.Leases), "lease"), true
	case fact.FactAgentDown:
		if f.Text == fact.CleanStop {
			return agent + "ends with nothing left to do", true
		}
		return agent + "ends", true
	case fact.FactDisturbed:
		return "VPP of " + f.Node + " is there for its agent", f.Text == fact.VPPUp && f.Node != ""
	case fact.FactVPPCrash:
		return "VPP on " + f.Node + " dies: " + f.Text, true
	case fact.FactProgramCrash:
		return "a program dies: " + f.Text, true
	case fact.FactDelRefused:
		return agent + "refuses a repeated DEL of " + pod() + ": " + f.Text, true
	case fact.FactChecked:
		return agent + "answers the CHECK of " + pod() + " with " + strconv.Itoa(int(f.Number)) + broken(f), true
	case fact.FactStatus:
		return agent + "answers STATUS with " + strconv.Itoa(int(f.Number)) + broken(f), true
	case fact.FactRemoved:
		return f.Node + "'s agent takes away " + f.Removal.String() + " (" + f.Removal.Call + ")", true
	case fact.FactRecord:
		return record(f.Record), true
	}
	return "", false
}

func broken(f *fact.Fact) string {
	if f.Broken == "" {
		return ""
	}
	return " while " + f.Broken
}

// record tells what a node ID's record says after a change, and whose the ID was before.
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
	case c.After.Released:
		return id + "says that " + c.After.Name + " has given the ID back" + was
	}
	return id + "says that the ID is " + c.After.Name + "'s" + was
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

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// weightOf is how much a fact explains.
func weightOf(f *fact.Fact) weight {
	switch f.Kind {
	case fact.FactNodeGone, fact.FactAgentUp, fact.FactAgentDown, fact.FactDisturbed, fact.FactVPPCrash, fact.FactProgramCrash,
		fact.FactRecord, fact.FactNodeID, fact.FactBlocks, fact.FactAssigned:
		return turning
	}
	return touching
}
