package mutation

import (
	"context"
	"time"
)

// origin is a run that a fault changed while no law saw it. What a fault does in one run of ten thousand comes again in
// every other variation of that run, and some of them go on to where it is seen.
type origin struct {
	// Profile is the kind of a random run, Scenario the name of one of the catalogue.
	Profile  string `json:"profile,omitempty"`
	Scenario string `json:"scenario,omitempty"`
	Seed     uint64 `json:"seed"`
	// Seeds is how many variations make a unit.
	Seeds int `json:"seeds"`
	// Next is the seed of the first variation that has not been tried.
	Next uint64 `json:"next"`
}

const (
	// originsMost is how many runs are varied for a fault, half of them of the catalogue.
	originsMost = 8
	// variedSeeds is how many variations of a catalogue's scenario make a unit.
	variedSeeds = 8
	// rare is of how many units a fault may change one at most for variations to be worth their time: others come by what
	// it does anyway.
	rare = 4
)

// varies reports whether variations come next: they take turns with new runs.
func (m *Trial) varies() bool {
	return len(m.Origins) > 0 && (m.exhausted || m.Varied < m.Searched && m.Changed*rare <= m.Searched)
}

// changedRun takes a run of the catalogue that the fault changed as an origin.
func (m *Trial) changedRun(scenario string, seed uint64) {
	if n := len(m.Origins); n < originsMost/2 && (n == 0 || m.Origins[n-1].Scenario != scenario) {
		m.Origins = append(m.Origins, origin{Scenario: scenario, Seed: seed, Seeds: variedSeeds, Next: 1})
	}
}

// changedIn takes the seeds of a unit that the fault changed as origins.
func (t trial) changedIn(ctx context.Context, m *Trial, u unit, budget time.Duration) error {
	for seed := u.from; seed < u.from+uint64(u.seeds) && len(m.Origins) < originsMost; seed++ {
		changed := u.seeds == 1
		if !changed {
			one := unit{profile: u.profile, from: seed, seeds: 1}
			with, err := t.unit(ctx, m, one, budget)
			if err != nil || with == nil {
				return err
			}
			without, err := t.without(ctx, m, one, budget)
			if err != nil || without == nil {
				return err
			}
			changed = with.Explored.Digest != without.Explored.Digest
		}
		if changed {
			m.Origins = append(m.Origins, origin{Profile: u.profile, Seed: seed, Seeds: u.seeds, Next: 1})
		}
	}
	return nil
}

// without does a unit without the fault, in the fault's time.
func (t trial) without(ctx context.Context, m *Trial, u unit, budget time.Duration) (*found, error) {
	none := &Trial{Outcome: Survived}
	r, err := t.unit(ctx, none, u, budget)
	m.CPUSeconds += none.CPUSeconds
	return r, err
}

// vary does the next unit of variations.
func (t trial) vary(ctx context.Context, m *Trial, budget time.Duration) error {
	o := &m.Origins[m.Varied%uint64(len(m.Origins))]
	m.Varied++
	u := unit{profile: o.Profile, scenario: o.Scenario, from: o.Next, seeds: o.Seeds, around: o.Seed}
	o.Next += uint64(u.seeds)
	with, err := t.unit(ctx, m, u, budget)
	if err != nil || with == nil {
		return err
	}
	m.Runs += with.Explored.Runs
	if len(with.broken()) == 0 {
		return nil
	}
	without, err := t.without(ctx, m, u, budget) // nobody has surveyed variations
	if err != nil || without == nil {
		return err
	}
	m.judge(with, &surveyed{Broken: without.broken()})
	return nil
}
