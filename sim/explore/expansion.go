package explore

import (
	"math"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// expansion is a scenario whose probable faults are written as injected ones: the same run, but every chance has a
// label of its own, which says what it is about.
type expansion struct {
	scenario *scenarios.Scenario
	chances  map[string]chance
}

// chance is one probable fault: the question that decides it in the original scenario, and what happens when the answer
// is yes.
type chance struct {
	usual string
	// yes is the smallest answer that means yes.
	yes    int
	action fault.Action
}

// chanceOf is the number of answers of engine.Chance.
const chanceOf = 1_000_000

// expand writes a scenario's probable faults as injected ones, in the order in which the simulator asks about them.
// Chances that are certain or impossible stay unchanged.
func expand(s *scenarios.Scenario) expansion {
	c := copyOf(s)
	p := expansion{scenario: c, chances: map[string]chance{}}
	var texts []string
	f := &c.Faults
	for _, x := range probable(f) {
		yes := int(math.Round(*x.p * x.share * chanceOf))
		if yes <= 0 || yes >= chanceOf {
			continue
		}
		for _, o := range x.outcomes {
			texts = append(texts, p.expand(x, o, chanceOf-yes))
		}
		*x.p = 0
	}
	f.Inject = append(texts, f.Inject...)
	return p
}

func (p *expansion) expand(x probability, o outcome, yes int) string {
	verdict := fault.Always(fault.Verdict{Action: o.action})
	if o.action == fault.Delay {
		verdict = fault.Jitter(fault.Env{}, 1, x.by)
	}
	each := *x.p * x.share
	text := fault.Prob(fault.Env{}, each, fault.Kind(o.kind, verdict)).String()
	p.chances["fault "+text] = chance{usual: "fault " + fault.Prob(fault.Env{}, each, verdict).String(), yes: yes, action: o.action}
	return text
}

// probability is one field of a scenario's faults.
type probability struct {
	p        *float64
	outcomes []outcome
	// share is the part of p that each outcome has.
	share float64
	// by bounds a delay.
	by time.Duration
}

type outcome struct {
	kind   fault.OpKind
	action fault.Action
}

// probable lists the probabilities in f. Faults of one kind of operation come in the order in which the simulator asks
// about them; between kinds there is no order, as an operation has one kind.
func probable(f *scenarios.Faults) []probability {
	one := func(p *float64, kind fault.OpKind, action fault.Action) probability {
		return probability{p: p, outcomes: []outcome{{kind, action}}, share: 1}
	}
	late := func(d *scenarios.Delay, kind fault.OpKind) probability {
		x := one(&d.P, kind, fault.Delay)
		x.by = d.By
		return x
	}
	both := func(p *float64, share float64, a, b outcome) probability {
		return probability{p: p, outcomes: []outcome{a, b}, share: share}
	}
	return []probability{
		one(&f.DropRequest, fault.KindDataplane, fault.Vanish),
		one(&f.DropReply, fault.KindDataplane, fault.Mute),
		one(&f.Refuse, fault.KindDataplane, fault.Refuse),
		late(&f.DelayReply, fault.KindDataplane),
		both(&f.CrashVPP, 0.5, outcome{fault.KindDataplane, fault.CrashBefore}, outcome{fault.KindDataplane, fault.CrashAfter}),
		one(&f.CrashBeforeEffect, fault.KindEffect, fault.CrashBefore),
		one(&f.CrashAfterEffect, fault.KindEffect, fault.CrashAfter),
		one(&f.CrashAfterPersist, fault.KindPersist, fault.CrashAfter),
		one(&f.DiskError, fault.KindPersist, fault.Refuse),
		one(&f.StoreUnavailable, fault.KindStore, fault.Refuse),
		one(&f.DropStoreReply, fault.KindStore, fault.Mute),
		late(&f.DelayStoreReply, fault.KindStore),
		one(&f.CompactStore, fault.KindStore, fault.Compact),
		late(&f.SlowDisk, fault.KindPersist),
		both(&f.LoseWatch, 1, outcome{fault.KindStoreWatch, fault.Vanish}, outcome{fault.KindAPIWatch, fault.Vanish}),
		both(&f.DuplicateWatch, 1, outcome{fault.KindStoreWatch, fault.Duplicate}, outcome{fault.KindAPIWatch, fault.Duplicate}),
		one(&f.WithdrawCNI, fault.KindCNI, fault.Vanish),
	}
}

// anyChance reports whether a probability of f is above 0.
func anyChance(f *scenarios.Faults) bool {
	for _, x := range probable(f) {
		if *x.p > 0 {
			return true
		}
	}
	return false
}
