package cniworld

import (
	"context"
	"errors"
	"slices"

	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Check says in one line why no such world can be on this machine.
func Check() error { return fabric.Check(Name, mark) }

// Run builds a world for s, drives it, judges it and ends it. The error is a world that could not be built; what happens
// in the run is in the Result. What cannot be done of s is named there, and nothing is started.
func Run(ctx context.Context, s *scenarios.Scenario, o Options) (result.Result, error) {
	if missing := Unsupported(s); len(missing) > 0 {
		return o.Cannot(s, Name, missing), nil
	}
	if err := errors.Join(Check(), Census()); err != nil {
		return result.Result{}, err
	}
	w, err := New(ctx, s, o)
	if err != nil {
		return result.Result{}, err
	}
	res := result.Run(ctx, w, s, owed(s, w, o.Laws), o.RunOptions.Options)
	return res, w.Close()
}

// owed are the laws that a run is judged by: those that a scenario asks for, and else all but the contracts of our agent's
// design that nothing here could be evidence of.
func owed(s *scenarios.Scenario, w *World, laws []fact.Law) []fact.Law {
	if s.Laws != nil {
		return laws
	}
	return slices.DeleteFunc(slices.Clone(laws), func(l fact.Law) bool { return !l.Foreign && len(l.Missing(w.Evidence())) > 0 })
}

// Unsupported is what cannot be done of a scenario, each with its reason.
func Unsupported(s *scenarios.Scenario) []timeline.Refusal {
	return append(timeline.RefusedSettings(s, lacks), timeline.RefusedActions(s, lacks)...)
}
