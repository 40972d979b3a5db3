package gen

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Vary returns a variation of s, named name: a few changes of its timeline, faults and knobs; other is where whole parts come from.
// Changes that make no sense together, as an action that s's system does not know, are drawn again, and a new scenario after a few
// tries. An epilogue is drawn anew.
func Vary(c scenarios.Chooser, p Profile, s, other *scenarios.Scenario, name string) *scenarios.Scenario {
	d := drawer{c}
	const tries = 4
	from := d.loose(other)
	if !slices.Contains(s.Labels, drawn) {
		from.Timeline = slices.DeleteFunc(from.Timeline, decided)
	}
	for range tries {
		v := d.loose(s)
		v.Name = name
		for range 1 + c.Pick("changes", 4) {
			one(d, "change", variations[:]...)(d, p, &v, &from)
		}
		v.Timeline = inOrder(v.Timeline)
		apart(&v)
		if d.drawEpilogue(&v, p); len(v.Timeline) == 0 {
			v.Timeline = nil
		}
		if v.Validate() == nil {
			return &v
		}
	}
	return Draw(c, p, name)
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
	step := scenarios.Step{Trigger: scenarios.AtTime, Time: d.somewhere("added at", v), Optional: true, Action: m.draw(d, st)}
	at := len(v.Timeline)
	if !timed(v.Timeline) {
		at, _ = d.place(v)
		step.Trigger, step.Time = scenarios.AfterPrevious, one(d, "added behind", soon[:]...)
	}
	v.Timeline = slices.Insert(v.Timeline, at, step)
}

// soon is how long behind the one before an item of a timeline without times may come.
var soon = [...]time.Duration{0, 100 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second}

// somewhere draws a time of a scenario.
func (d drawer) somewhere(label string, v *scenarios.Scenario) time.Duration {
	return d.between(label, time.Second, max(2*time.Second, v.Duration-time.Second))
}

// timed reports whether all items of a timeline have times of their own, as those of random scenarios do.
func timed(steps []scenarios.Step) bool {
	return !slices.ContainsFunc(steps, func(s scenarios.Step) bool { return s.Trigger != scenarios.AtTime })
}

// varyMove moves an item in time.
func varyMove(d drawer, _ Profile, v, _ *scenarios.Scenario) {
	i, ok := d.place(v)
	switch {
	case !ok:
	case v.Timeline[i].Trigger == scenarios.AtTime:
		v.Timeline[i].Time = d.somewhere("moved to", v)
	default:
		v.Timeline[i].Time = one(d, "moved behind", soon[:]...)
	}
}

// varyNear moves an item right behind another: what nearly coincides is what people did not think of.
func varyNear(d drawer, _ Profile, v, _ *scenarios.Scenario) {
	i, ok := d.place(v)
	if !ok {
		return
	}
	j, _ := d.place(v)
	behind := d.between("behind", 0, 3*time.Second)
	if v.Timeline[i].Trigger == scenarios.AtTime && v.Timeline[j].Trigger == scenarios.AtTime {
		behind = min(v.Timeline[j].Time+behind, v.Duration)
	}
	v.Timeline[i].Time = behind
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
	v.Timeline = slices.DeleteFunc(v.Timeline, func(s scenarios.Step) bool { return absolute(s) >= at })
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
	if names := v.Config.IPAM.Row().Requests; len(names) > 0 && d.coin("request of the system", 2) {
		v.Faults.Inject = append(v.Faults.Inject, d.askedFault(names))
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
	if delay := one(d, "reuse delay", 0, 10*time.Second, time.Minute); v.Config.IPAM.NoReuseDelay() == "" {
		v.Config.IPAM.ReuseDelay = delay
	}
	v.Config.Agent.NodeIDQuarantine = one(d, "quarantine", 10*time.Minute, time.Minute, 10*time.Second)
}
