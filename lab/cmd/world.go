//go:build linux

package cmd

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/kindworld"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Environment of `vppdrill run --world netns`, whose flags know nothing of labs.
const (
	envTimeScale = "VPPDRILL_TIME_SCALE"
	envKeep      = "VPPDRILL_KEEP"
)

// Worlds are those of real machines: labs of each backend, and kind's clusters.
func Worlds() (list []World) {
	for _, b := range backends() {
		list = append(list, World{Name: b.Name(), Adapt: lab.Adapted, Refuses: refusing(func(s *scenarios.Scenario) []timeline.Refusal {
			return append(lab.Unsupported(s), lab.UnsupportedActions(s)...)
		}),
			Run: func(ctx context.Context, s *scenarios.Scenario, r RunOptions) (result.Result, error) {
				return inLab(ctx, b, s, r)
			},
			Check: func(ctx context.Context) error { return check(ctx, b) }})
	}
	return append(list, World{Name: kindWorld, Adapt: lab.Adapted, Refuses: refusing(kindworld.Unsupported), Run: inCluster, Check: kindCheck})
}

// refusing has a world's refusals as lines for people.
func refusing(list func(*scenarios.Scenario) []timeline.Refusal) func(*scenarios.Scenario) []string {
	return func(s *scenarios.Scenario) (lines []string) {
		for _, r := range list(s) {
			lines = append(lines, r.String())
		}
		return lines
	}
}

// inLab runs one scenario in a lab of this backend. VPPDRILL_VPP names VPP, or
// VPPDRILL_VPP_IMAGE the image that has it, VPPDRILL_TIME_SCALE divides the scenario's times,
// VPPDRILL_KEEP=1 leaves a failed lab up.
func inLab(ctx context.Context, b lab.Backend, s *scenarios.Scenario, r RunOptions) (result.Result, error) {
	self, err := AgentCommand()
	if err != nil {
		return result.Result{}, coded(err)
	}
	o := lab.Options{Backend: b, Agent: self, RunOptions: byEnvironment(r)}
	if o.TimeScale, err = timeScale(); err != nil {
		return result.Result{}, err
	}
	announceRuns(ctx, os.Stderr, b)
	res, err := lab.Run(ctx, s, o)
	if lab.IsCannotRun(err) {
		return cannotRun(s, b.Name(), r, err), nil
	}
	return res, coded(err)
}

// timeScale is what the environment divides a scenario's times by; 0 where it says nothing.
func timeScale() (float64, error) {
	text := os.Getenv(envTimeScale)
	if text == "" {
		return 0, nil
	}
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil || scale < 0.1 || scale > 100 {
		return 0, cli.BadInput(badScale(text))
	}
	return scale, nil
}

// byEnvironment adds what the environment chooses and the flags do not.
func byEnvironment(r RunOptions) lab.RunOptions {
	return lab.RunOptions{Options: r.Options, Laws: r.Laws, Events: r.Events, Keep: os.Getenv(envKeep) == "1",
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
}

// cannotRun is a run that this machine cannot do, as a result that names what is missing, so that a session of many
// scenarios goes on and ends with code 3.
func cannotRun(s *scenarios.Scenario, world string, r RunOptions, why error) result.Result {
	what, _, _ := strings.Cut(why.Error(), "\n")
	return result.Result{Scenario: s.Name, Goal: s.Goal, File: s.File, Labels: s.Labels, World: world, Seed: r.Seed, Replay: r.Replay,
		Verdict: result.Error, Error: what, Unsupported: []string{"a lab"}, Laws: []result.LawResult{}, Timeline: []result.Mark{}}
}

// check says in one line why no lab of this backend can run on this machine.
func check(ctx context.Context, b lab.Backend) error {
	if _, err := lab.FindVPP(b, ""); err != nil {
		return err
	}
	return b.Check(ctx)
}

type badScale string

func (b badScale) Error() string {
	return envTimeScale + "=" + string(b) + ": a number from 0.1 to 100 is wanted"
}
