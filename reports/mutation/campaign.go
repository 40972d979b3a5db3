package mutation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Campaign plants faults into the tree at Root and tries some of them.
type Campaign struct {
	Root string
	// Scratch is a folder for rewritten files and the planted program.
	Scratch string
	// Mutants is how many are tried, of those that runs reach; 0: all.
	Mutants int
	// Seed decides which.
	Seed uint64
	// Listed, where set, is a file of faults: all of them are planted, and no others.
	Listed string
	// Only, where it has any, plants those alone whose place contains one of them: a file, "file.go:120", "call-dropped
	// Agent.Step".
	Only []string
	// Again, where set, are trials of a former report: those that were not caught are tried, if the tree still has them.
	Again []*Trial
	// Resume, where set, is what an interrupted campaign has reported: its trials go on where they were.
	Resume *Report
	// Budget is the processor time of each, Jobs how many are tried at the same time.
	Budget time.Duration
	Jobs   int
	// Notes is told how far the campaign is.
	Notes io.Writer

	survey *survey
	// usual is what the catalogue's runs do without a fault.
	usual map[string]string
}

// Run does the campaign. Every mutant is first tried with the catalogue and a few random scenarios, then the rest of
// them with more and more, so that an interrupted campaign is a shallow one and not half of one.
func (c Campaign) Run(ctx context.Context) (*Report, error) {
	if c.Resume != nil {
		return c.resume(ctx)
	}
	all, err := c.find()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m *Mutant) bool { return !c.wanted(m) })
	if len(all) == 0 {
		return nil, fmt.Errorf("no place for a fault is called %q", c.Only)
	}
	c.note("%d places for faults in the product", len(all))
	program := filepath.Join(c.Scratch, "planted")
	if err := Build(ctx, c.Root, c.Scratch, program, all); err != nil {
		return nil, err
	}
	if c.survey, err = newSurvey(program, c.Scratch, last(all)); err != nil {
		return nil, err
	}
	r := &Report{Seed: c.Seed, BudgetSeconds: c.Budget.Seconds(), Program: c.survey.sum, Switches: last(all)}
	var chosen []*Mutant
	if c.Again != nil {
		if chosen = uncaught(all, c.Again); len(chosen) == 0 {
			return nil, errors.New("none of the faults that were not caught is there any more")
		}
		r.places, r.reached = chosen, chosen
	}
	reached, err := c.reach(ctx, program, all)
	if err != nil {
		return nil, err
	}
	if c.Again == nil {
		if !c.chooses() {
			reached = all // who asks for one fault is told of it
		}
		c.note("runs come by %d of them", len(reached))
		r.places, r.reached = all, reached
		if chosen = reached; c.Listed == "" {
			chosen = Choose(reached, c.Mutants, c.Seed)
		}
	}
	for _, m := range chosen {
		r.Trials = append(r.Trials, &Trial{Mutant: m, Outcome: Survived})
	}
	err = c.rounds(ctx, program, r.Trials)
	r.count()
	return r, err
}

// chooses reports whether the campaign chooses among all faults that runs come by.
func (c Campaign) chooses() bool { return c.Again == nil && len(c.Only) == 0 && c.Listed == "" }

// find returns the faults that the campaign may plant.
func (c Campaign) find() ([]*Mutant, error) {
	if c.Listed != "" {
		return FindListed(c.Root, c.Listed)
	}
	return Find(c.Root)
}

// wanted reports whether the campaign is asked for a fault by its place, or for all.
func (c Campaign) wanted(m *Mutant) bool {
	place := m.Place()
	return len(c.Only) == 0 || slices.ContainsFunc(c.Only, func(part string) bool { return strings.Contains(place, part) })
}

func (c Campaign) note(format string, args ...any) {
	if c.Notes != nil {
		fmt.Fprintf(c.Notes, format+"\n", args...)
	}
}

// reachUnits is how many units of random runs, beside the catalogue, decide what is reached.
const reachUnits = 3 * surveyBlock

// reach runs the planted program with no mutant on, which must do what the clean one does, and returns the mutants that
// runs come by.
func (c *Campaign) reach(ctx context.Context, program string, all []*Mutant) ([]*Mutant, error) {
	clean := filepath.Join(c.Scratch, "clean")
	if err := build(ctx, c.Root, "-o", clean); err != nil {
		return nil, err
	}
	var said [2]map[string]string
	for i, p := range []string{clean, program} {
		t := trial{program: p, said: map[string]string{}}
		none := &Trial{Outcome: Survived}
		if i == 1 {
			var err error
			if t.asked, err = c.askedFile("reached", all); err != nil {
				return nil, err
			}
		}
		if err := t.catalogue(ctx, none, time.Hour); err != nil {
			return nil, err
		}
		if none.Outcome != Survived {
			return nil, fmt.Errorf("the product breaks laws without a fault: %s by %s: %s", none.Scenario, none.By, none.What)
		}
		said[i] = t.said
	}
	if !maps.Equal(said[0], said[1]) {
		return nil, errors.New("with no fault on, the planted program does something else than the tree's")
	}
	c.usual = said[1]
	if err := c.survey.keepCatalogue(c.usual); err != nil {
		return nil, err
	}
	asked, err := os.ReadFile(filepath.Join(c.Scratch, "reached.asked"))
	if err != nil {
		return nil, err
	}
	units := uint64(len(profiles))
	if c.chooses() {
		units = reachUnits
	}
	for n := range units {
		u, err := c.survey.of(ctx, n)
		if err != nil {
			return nil, err
		}
		if n < uint64(len(profiles)) {
			var none Trial
			r, err := trial{program: clean}.unit(ctx, &none, unitOf(n), time.Hour)
			if err != nil {
				return nil, err
			}
			if r == nil || r.Explored.Digest != u.Digest {
				return nil, errors.New("with no fault on, random runs of the planted program do something else than the tree's")
			}
		}
		for i, a := range u.Asked {
			asked[i] |= a
		}
		for _, f := range u.Broken {
			c.note("without a fault %s breaks in %s: not counted", f.By, f.Scenario)
		}
	}
	return askedOf(asked, all), nil
}

// askedFile makes a file in which switches note that they were asked.
func (c Campaign) askedFile(name string, all []*Mutant) (string, error) {
	file := filepath.Join(c.Scratch, name+".asked")
	return file, os.WriteFile(file, make([]byte, last(all)+1), 0o644)
}

// uncaught finds those of a former report's trials that were not caught: the same lines of the same function, wherever
// they are now.
func uncaught(all []*Mutant, former []*Trial) []*Mutant {
	wanted := map[site]int{}
	for _, t := range former {
		if t.Outcome != Caught {
			wanted[t.site()]++
		}
	}
	var found []*Mutant
	for _, m := range all {
		if wanted[m.site()] > 0 {
			wanted[m.site()]--
			found = append(found, m)
		}
	}
	return found
}

// last is the highest number of the mutants, which are in order.
func last(mutants []*Mutant) int { return mutants[len(mutants)-1].Number }

// Choose picks n of the mutants, all of them for 0: kinds take turns, and within a kind areas do, so that neither a
// frequent kind nor a large package is all that is tried. Equal sources and seeds give equal choices.
func Choose(mutants []*Mutant, n int, seed uint64) []*Mutant {
	if n == 0 || n > len(mutants) {
		n = len(mutants)
	}
	type stratum struct{ kind, area string }
	by := map[stratum][]*Mutant{}
	for _, m := range mutants {
		for _, a := range areas {
			if slices.Contains(a.folders, m.src.folder) {
				k := stratum{m.Kind, a.name}
				by[k] = append(by[k], m)
			}
		}
	}
	queues := make([][][]*Mutant, len(kinds))
	for i, k := range kinds {
		for j := range areas {
			q := by[stratum{k.Name, areas[(i+j)%len(areas)].name}] // not every kind begins with the same area
			slices.SortFunc(q, func(a, b *Mutant) int { return cmp.Compare(rank(a.Place(), seed), rank(b.Place(), seed)) })
			if len(q) > 0 {
				queues[i] = append(queues[i], q)
			}
		}
	}
	var chosen []*Mutant
	for len(chosen) < n {
		for i := range queues {
			if len(queues[i]) == 0 || len(chosen) == n {
				continue
			}
			q := queues[i][0]
			chosen, queues[i] = append(chosen, q[0]), queues[i][1:]
			if len(q) > 1 {
				queues[i] = append(queues[i], q[1:])
			}
		}
	}
	return chosen
}

// rank orders names by chance.
func rank(name string, seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, name)
	return h.Sum64()
}

// rounds tries every mutant with more and more processor time until it is caught or the budget is spent.
func (c Campaign) rounds(ctx context.Context, program string, trials []*Trial) error {
	for _, share := range []time.Duration{c.Budget / 12, c.Budget / 3, c.Budget} {
		if err := c.round(ctx, program, trials, share); err != nil {
			return err
		}
		left := 0
		for _, t := range trials {
			if t.Outcome == Survived {
				left++
			}
		}
		c.note("after %s of processor time each, %d of %d are not caught", share, left, len(trials))
	}
	return nil
}

// round goes on with every mutant that is left until each has had this much processor time.
func (c Campaign) round(ctx context.Context, program string, trials []*Trial, share time.Duration) error {
	next := make(chan *Trial)
	var workers sync.WaitGroup
	errs := make([]error, max(1, c.Jobs))
	for i := range errs {
		workers.Go(func() {
			for m := range next {
				if errs[i] == nil {
					errs[i] = c.try(ctx, program, m, share)
				}
			}
		})
	}
	for _, m := range trials {
		if m.Outcome == Survived && ctx.Err() == nil {
			next <- m
		}
	}
	close(next)
	workers.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// try goes on with one mutant until it has had this much processor time.
func (c Campaign) try(ctx context.Context, program string, m *Trial, share time.Duration) error {
	t := trial{program: program, survey: c.survey, usual: c.usual}
	left := func() time.Duration { return c.Budget - m.spent() }
	run := t.catalogue
	if m.begun {
		run = t.search
	}
	for m.Outcome == Survived && (!m.exhausted || m.varies()) && ctx.Err() == nil && c.Budget-left() < share {
		if err := run(ctx, m, max(time.Second, left())); err != nil {
			return err
		}
		m.begun, run = true, t.search
	}
	if m.Outcome != Survived || share == c.Budget {
		c.note("%-8s %s: %s %s, %d runs, %d differ", m.Outcome, m.Place(), m.By, m.What, m.Runs, m.Differing)
	}
	return nil
}
