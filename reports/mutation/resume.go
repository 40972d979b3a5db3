package mutation

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

// site is what tells a place for a fault from others when lines have moved. Equal ones are told apart by their order.
type site struct{ file, function, kind, before, after string }

func (m *Mutant) site() site { return site{m.File, m.Func, m.Kind, m.Before, m.After} }

// resume goes on with an interrupted campaign: with the program that it has built, whatever has become of the tree.
func (c Campaign) resume(ctx context.Context) (*Report, error) {
	former := c.Resume
	program := filepath.Join(c.Scratch, "planted")
	var err error
	if c.survey, err = newSurvey(program, c.Scratch, former.Switches); err != nil {
		return nil, err
	}
	if c.survey.sum != former.Program {
		return nil, errors.New("the planted program is not the one of the report any more: start a new campaign")
	}
	if c.usual, err = c.survey.catalogue(); err != nil {
		return nil, err
	}
	r := &Report{Seed: former.Seed, BudgetSeconds: c.Budget.Seconds(), Program: former.Program, Switches: former.Switches, Trials: former.Trials, former: former.Kinds}
	for _, t := range r.Trials {
		t.begun = t.CPUSeconds > 0
	}
	err = c.rounds(ctx, program, r.Trials)
	r.count()
	return r, err
}

// spent is how much processor time a trial has had.
func (m *Trial) spent() time.Duration { return time.Duration(m.CPUSeconds * float64(time.Second)) }
