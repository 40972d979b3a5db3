package explore

import (
	"math"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// spelling is a scenario whose probable faults are written as injected ones: the same run, but every chance has a label of its
// own, which tells what it is about.
type spelling struct {
	scenario *scenarios.Scenario
	chances  map[string]chance
}

// chance is one probable fault: the question that decides it in the scenario as it was, and what happens when it says yes.
type chance struct {
	usual string
	// yes is the smallest answer that means yes.
	yes    int
	action fault.Action
}

// chanceOf is the number of answers of engine.Chance.
const chanceOf = 1_000_000

// spellOut writes a scenario's probable faults as injected ones, in the order in which the simulator asks about them. Chances
// that are certain or impossible stay as they are.
func spellOut(s *scenarios.Scenario) spelling {
	c := copyOf(s)
	p := spelling{scenario: c, chances: map[string]chance{}}
	var texts []string
	f := &c.Faults
	for _, x := range probable(f) {
		yes := int(math.Round(*x.p / float64(len(x.actions)) * chanceOf))
		if yes <= 0 || yes >= chanceOf {
			continue
		}
		for _, action := range x.actions {
			texts = append(texts, p.spell(f, x, action, chanceOf-yes)...)
		}
		*x.p = 0
	}
	for _, text := range f.Inject {
		texts = append(texts, onNodes(f.Nodes, text)...)
	}
	f.Inject = texts
	if len(f.Nodes) > 0 && !certain(f) {
		f.Nodes = nil
	}
	return p
}

// onNodes limits a fault's text to each of the nodes; no nodes are all.
func onNodes(nodes []string, text string) []string {
	if len(nodes) == 0 {
		return []string{text}
	}
	var out []string
	for _, n := range nodes {
		out = append(out, "(Node "+n+" "+text+")")
	}
	return out
}

func (p *spelling) spell(f *scenarios.Faults, x probability, action fault.Action, yes int) []string {
	verdict := fault.Always(fault.Verdict{Action: action})
	if action == fault.Delay {
		verdict = fault.Jitter(fault.Env{}, 1, *x.by)
	}
	each := *x.p / float64(len(x.actions))
	usual := fault.Prob(fault.Env{}, each, verdict).String()
	var texts []string
	for _, text := range onNodes(f.Nodes, "(Kind "+x.kind.String()+" "+verdict.String()+")") {
		text = "(Prob " + strconv.FormatFloat(each, 'g', -1, 64) + " " + text + ")"
		texts = append(texts, text)
		p.chances["fault "+text] = chance{usual: "fault " + usual, yes: yes, action: action}
	}
	return texts
}

// probability is one field of a scenario's faults.
type probability struct {
	p    *float64
	kind fault.OpKind
	// actions share p evenly.
	actions []fault.Action
	// by bounds a delay.
	by *time.Duration
}

// probable lists the fields of f in the order in which the simulator builds injectors from them; watches share theirs.
func probable(f *scenarios.Faults) []probability {
	one := func(a ...fault.Action) []fault.Action { return a }
	list := []probability{
		{p: &f.DropRequest, kind: fault.KindDataplane, actions: one(fault.Vanish)},
		{p: &f.DropReply, kind: fault.KindDataplane, actions: one(fault.Mute)},
		{p: &f.Refuse, kind: fault.KindDataplane, actions: one(fault.Refuse)},
		{p: &f.DelayReply.P, kind: fault.KindDataplane, actions: one(fault.Delay), by: &f.DelayReply.By},
		{p: &f.CrashVPP, kind: fault.KindDataplane, actions: one(fault.CrashBefore, fault.CrashAfter)},
		{p: &f.CrashBeforeEffect, kind: fault.KindEffect, actions: one(fault.CrashBefore)},
		{p: &f.CrashAfterEffect, kind: fault.KindEffect, actions: one(fault.CrashAfter)},
		{p: &f.CrashAfterPersist, kind: fault.KindPersist, actions: one(fault.CrashAfter)},
		{p: &f.DiskError, kind: fault.KindPersist, actions: one(fault.Refuse)},
		{p: &f.StoreUnavailable, kind: fault.KindStore, actions: one(fault.Refuse)},
		{p: &f.DropStoreReply, kind: fault.KindStore, actions: one(fault.Mute)},
		{p: &f.DelayStoreReply.P, kind: fault.KindStore, actions: one(fault.Delay), by: &f.DelayStoreReply.By},
	}
	return list
}

var _ engine.Chooser = (*lookout)(nil)
