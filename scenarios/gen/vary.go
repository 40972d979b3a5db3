package gen

import (
	"cmp"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Vary returns a variation of s, named name: a few changes of its timeline, faults and knobs; other is where whole parts come from.
// Changes that make no sense together, as an action that s's system does not know, are drawn again, and a new scenario after a few
// tries. An epilogue is drawn anew.
func Vary(c Chooser, p Profile, s, other *scenarios.Scenario, name string) *scenarios.Scenario {
	d := drawer{c}
	const tries = 4
	from := *other
	from.Timeline = beforeEpilogue(other.Timeline)
	for range tries {
		v := *s
		v.Name, v.File = name, ""
		v.Timeline = slices.Clone(beforeEpilogue(s.Timeline))
		v.Faults.Inject = slices.Clone(s.Faults.Inject)
		for range 1 + c.Pick("changes", 4) {
			one(d, "change", variations[:]...)(d, p, &v, &from)
		}
		slices.SortStableFunc(v.Timeline, func(a, b scenarios.Step) int { return cmp.Compare(a.Time, b.Time) })
		valid := timed(v.Timeline)
		if d.drawEpilogue(&v, p); len(v.Timeline) == 0 {
			v.Timeline = nil
		}
		if valid && v.Validate() == nil {
			return &v
		}
	}
	return Draw(c, p, name)
}

// timed reports whether all items of a timeline have times of their own, as those of random scenarios do.
func timed(steps []scenarios.Step) bool {
	return !slices.ContainsFunc(steps, func(s scenarios.Step) bool { return s.Trigger != scenarios.AtTime })
}

// variations are what may change. Frequent ones stand twice.
var variations = [...]func(d drawer, p Profile, v, other *scenarios.Scenario){
	varyAdd, varyAdd, varyMove, varyMove, varyDrop, varySplice, varyNear, varyInject, varyFaults, varyChurn, varyRests,
}

// place draws an item of the timeline; false when there is none.
func (d drawer) place(v *scenarios.Scenario) (int, bool) {
	if len(v.Timeline) == 0 {
		return 0, false
	}
	return d.c.Pick("item", len(v.Timeline)), true
}

// varyAdd adds a move of any kind.
func varyAdd(d drawer, p Profile, v, _ *scenarios.Scenario) {
	st := &state{profile: p, nodes: p.Nodes}
	m := one(d, "added move", moves...)
	at := d.between("added at", time.Second, max(2*time.Second, v.Duration-time.Second))
	v.Timeline = append(v.Timeline, scenarios.Step{Trigger: scenarios.AtTime, Time: at, Optional: true, Action: m.draw(d, st)})
}

// varyMove moves an item in time.
func varyMove(d drawer, _ Profile, v, _ *scenarios.Scenario) {
	if i, ok := d.place(v); ok {
		v.Timeline[i].Time = d.between("moved to", time.Second, max(2*time.Second, v.Duration-time.Second))
	}
}

// varyNear moves an item right behind another: what nearly coincides is what people did not think of.
func varyNear(d drawer, _ Profile, v, _ *scenarios.Scenario) {
	i, ok := d.place(v)
	if !ok {
		return
	}
	j, _ := d.place(v)
	v.Timeline[i].Time = min(v.Timeline[j].Time+d.between("behind", 0, 3*time.Second), v.Duration)
}

// varyDrop leaves an item out.
func varyDrop(d drawer, _ Profile, v, _ *scenarios.Scenario) {
	if i, ok := d.place(v); ok {
		v.Timeline = slices.Delete(v.Timeline, i, i+1)
	}
}

// varySplice takes the items behind a time from another scenario.
func varySplice(d drawer, _ Profile, v, other *scenarios.Scenario) {
	at := d.between("splice at", time.Second, max(2*time.Second, v.Duration))
	v.Timeline = slices.DeleteFunc(v.Timeline, func(s scenarios.Step) bool { return s.Time >= at })
	for _, step := range other.Timeline {
		if step.Trigger == scenarios.AtTime && step.Time >= at && step.Time <= v.Duration {
			step.Optional = true
			v.Timeline = append(v.Timeline, step)
		}
	}
}

// varyInject adds a precise fault, or takes one away.
func varyInject(d drawer, _ Profile, v, _ *scenarios.Scenario) {
	if n := len(v.Faults.Inject); n > 0 && d.coin("fewer", 3) {
		i := d.c.Pick("fault", n)
		if v.Faults.Inject = slices.Delete(v.Faults.Inject, i, i+1); n == 1 {
			v.Faults.Inject = nil
		}
		return
	}
	v.Faults.Inject = append(v.Faults.Inject, d.fault())
}

// varyFaults draws the probable faults again, or takes those of another scenario.
func varyFaults(d drawer, _ Profile, v, other *scenarios.Scenario) {
	inject := v.Faults.Inject
	if d.coin("other's faults", 2) {
		v.Faults = other.Faults
	} else {
		v.Faults = d.drawFaults()
	}
	v.Faults.Inject = inject
}

// varyChurn takes another scenario's churn.
func varyChurn(_ drawer, _ Profile, v, other *scenarios.Scenario) { v.Churn = other.Churn }

// varyRests draws how long addresses and IDs rest.
func varyRests(d drawer, _ Profile, v, _ *scenarios.Scenario) {
	v.Config.IPAM.ReuseDelay = one(d, "reuse delay", 0, 10*time.Second, time.Minute)
	v.Config.Agent.NodeIDQuarantine = one(d, "quarantine", 10*time.Minute, time.Minute, 10*time.Second)
}
