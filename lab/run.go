package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Run builds a lab for s, drives it, judges it and ends it. The error is a lab that could not be built; what happens in
// the run is in the Result. What a lab cannot do of s is named there, and nothing is started.
func Run(ctx context.Context, s *scenarios.Scenario, o Options) (result.Result, error) {
	if err := o.setDefaults(); err != nil {
		return result.Result{}, err
	}
	if missing := Unsupported(s); len(missing) > 0 {
		return o.Cannot(s, o.Backend.Name(), missing), nil
	}
	if gone, err := Census(o.Root, o.Backend); err != nil {
		return result.Result{}, fmt.Errorf("remove what earlier labs left: %w", err)
	} else if len(gone) > 0 {
		o.Log.Info("removed what earlier labs left", "labs", strings.Join(gone, " "))
	}
	if missing := UnsupportedActions(s); len(missing) > 0 {
		return o.Cannot(s, o.Backend.Name(), missing), nil
	}
	w, err := New(ctx, s, o)
	if err != nil {
		return result.Result{}, err
	}
	res := result.Run(ctx, w, s, o.Laws, o.RunOptions.Options)
	if err := w.Unable(); err != nil {
		return result.Result{}, errors.Join(err, w.Close())
	}
	if _, note := Adapted(s); note != "" {
		res.Timeline = append([]result.Mark{{Kind: "note", Text: note}}, res.Timeline...)
	}
	if n := w.knocks.leftOut; n > 0 {
		res.Timeline = append(res.Timeline, result.Mark{Kind: "note", Text: fmt.Sprintf("a check of network policies tried at most %d real connections and left %d out", knocksMost, n)})
	}
	if res.Verdict != result.Pass && len(res.Unsupported) == 0 && ctx.Err() == nil {
		w.failed(ctx, &res)
	}
	return res, w.Close()
}

// failed saves what a failed run leaves to look at, and keeps its lab up where that was asked for.
func (w *World) failed(ctx context.Context, r *result.Result) {
	if dir, err := w.WriteEvidence(ctx, ""); err != nil {
		w.o.Log.Warn("evidence", "error", err)
	} else {
		r.Error += " (evidence in " + dir + ")"
	}
	if !w.o.Keep {
		return
	}
	if err := w.Keep(); err != nil {
		w.o.Log.Warn("the lab cannot be kept", "error", err)
		return
	}
	w.o.Log.Warn("the lab stays up", "enter", "vppdrill lab exec --lab "+w.state.ID+" node-1 -- bash", "end", "vppdrill lab down "+w.state.ID)
}

// UnsupportedActions are the timeline's actions that a lab cannot do, each verb once.
func UnsupportedActions(s *scenarios.Scenario) []timeline.Refusal {
	return timeline.RefusedActions(s, lacksOf(s))
}

// IsCannotRun reports whether an error says that labs cannot run here.
func IsCannotRun(err error) bool { return errors.Is(err, ErrCannotRun) }
