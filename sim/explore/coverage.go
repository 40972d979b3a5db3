package explore

import (
	"maps"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// Coverage is what runs came by: how many runs came by each thing, by the thing's group and name. The zero Coverage is
// empty.
type Coverage map[Group]map[string]int

// Group is a kind of things that runs come by.
type Group string

// The groups, in the order of reports.
const (
	// Actions are verbs of the timeline that were done.
	Actions Group = "actions"
	// Faults are what befell a kind of operation: "persist CrashAfter".
	Faults Group = "faults"
	// Steps are what befell one operation by its name: "dataplane Mute ip_route_add_del_v2".
	Steps Group = "faults at steps"
	// States are what agents waited for or did, Changes from which to which they went.
	States  Group = "states of agents"
	Changes Group = "changes of states"
	// FaultStates are what befell a kind of operation of an agent in a state.
	FaultStates Group = "faults in states"
	// Occasions are laws that had something to judge.
	Occasions Group = "laws with occasions"
	// Exercises are result.Exercises.
	Exercises Group = "exercises"
)

// Groups lists every group, in the order of reports.
func Groups() []Group {
	return []Group{Actions, Faults, Steps, States, Changes, FaultStates, Occasions, Exercises}
}

// Possible lists the things of a group that a run could come by, sorted; nil for a group that has no such list.
func Possible(g Group, laws []fact.Law) []string {
	var names []string
	switch g {
	case Actions:
		names = scenarios.Verbs()
	case Faults:
		for _, kind := range kinds {
			for _, v := range Harms(kind) {
				names = append(names, kind.String()+" "+v.Action.String())
			}
		}
	case Occasions:
		for _, l := range laws {
			names = append(names, l.Name)
		}
	case Exercises:
		for _, e := range result.Exercises() {
			names = append(names, e.Name)
		}
	default:
		return nil
	}
	slices.Sort(names)
	return names
}

// add counts a run that came by a thing.
func (c Coverage) add(g Group, name string, runs int) {
	if c[g] == nil {
		c[g] = map[string]int{}
	}
	c[g][name] += runs
}

// Add counts the runs of another Coverage and returns how many things are new.
func (c Coverage) Add(other Coverage) (news int) {
	for g, names := range other { // in any order: it is a sum
		for name, runs := range names { // in any order: it is a sum
			if c[g][name] == 0 {
				news++
			}
			c.add(g, name, runs)
		}
	}
	return news
}

// Has reports whether a run came by a thing.
func (c Coverage) Has(g Group, name string) bool { return c[g][name] > 0 }

// Missing lists what is possible in a group and no run came by.
func (c Coverage) Missing(g Group, laws []fact.Law) []string {
	return slices.DeleteFunc(Possible(g, laws), func(name string) bool { return c.Has(g, name) })
}

// Names lists what runs came by in a group, sorted.
func (c Coverage) Names(g Group) []string { return slices.Sorted(maps.Keys(c[g])) }

// exercised counts what a run exercised. It only observes: a run that exercises something new did something new before.
func (c Coverage) exercised(r result.Result) {
	for _, name := range r.Exercised {
		c.add(Exercises, name, 1)
	}
}

// witness collects one run's Coverage.
type witness struct{ seen Coverage }

// note notes a thing, once.
func (w *witness) note(g Group, name string) {
	if !w.seen.Has(g, name) {
		w.seen.add(g, name, 1)
	}
}

// Befell implements sim.Witness.
func (w *witness) Befell(op fault.Op, action fault.Action, state string) {
	what := op.Kind.String() + " " + action.String()
	w.note(Faults, what)
	w.note(Steps, what+" "+op.Name)
	w.note(FaultStates, what+": "+state)
}

// Became implements sim.Witness.
func (w *witness) Became(before, after string) {
	w.note(States, after)
	if before != "" {
		w.note(Changes, before+" -> "+after)
	}
}

// ended adds what the result reports.
func (w *witness) ended(r result.Result) {
	for _, l := range r.Laws {
		if l.Occasions > 0 {
			w.note(Occasions, l.Name)
		}
	}
	for _, m := range r.Timeline {
		if (m.Kind == "action" || m.Kind == "fault") && !strings.HasPrefix(m.Text, "skipped ") {
			verb, _, _ := strings.Cut(m.Text, " ")
			w.note(Actions, verb)
		}
	}
}
