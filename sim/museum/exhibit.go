package museum

import (
	"context"
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// Exhibit is one fault of an upstream.
type Exhibit struct {
	// Name is the exhibit's, and its scenario's in the catalogue.
	Name string
	// Incidents are the upstream's issues and pull requests, as "owner/repository#number".
	Incidents []string
	// Upstream is what happened there, Fault what the planted fault does here; one sentence each.
	Upstream, Fault string
	// Law is the name of the law that must break.
	Law string
	// Plant makes the planted fault for one run.
	Plant func() *sim.Plant
}

// All are the exhibits by upstream, in the order of their files.
func All() []Exhibit {
	return slices.Concat(contiv(), kubernetes(), kubelets(), cilium(), ciliumOperator(), aws(), ipamd(), kubeProxy(), proxies(), wires())
}

// ByName finds an exhibit; the error names the nearest one.
func ByName(name string) (Exhibit, error) {
	var names []string
	for _, e := range All() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Exhibit{}, &scenarios.InputError{
		Message: fmt.Sprintf("the museum has no exhibit %q; vppdrill debug museum --list has them", name), Nearest: strictyaml.Nearest(name, names),
	}
}

// Clean runs the scenario without the planted fault, judged by every law.
func (e Exhibit) Clean(ctx context.Context, seed uint64) (result.Result, error) {
	return e.run(ctx, sim.Options{Seed: seed, Laws: check.All()})
}

// Planted runs it with the planted fault, judged by the exhibit's law alone: what else breaks on the way does not end
// the run.
func (e Exhibit) Planted(ctx context.Context, seed uint64) (result.Result, error) {
	law, ok := check.ByName(e.Law)
	if !ok {
		return result.Result{}, fmt.Errorf("exhibit %s: no law %q", e.Name, e.Law)
	}
	return e.run(ctx, sim.Options{Seed: seed, Laws: []fact.Law{law}, Plant: e.Plant(), Replay: "vppdrill debug museum " + e.Name})
}

func (e Exhibit) run(ctx context.Context, o sim.Options) (result.Result, error) {
	s, err := catalog.ByName(e.Name)
	if err != nil {
		return result.Result{}, err
	}
	return sim.Run(ctx, s, o)
}

// Finding is what showing an exhibit has found.
type Finding struct {
	Exhibit
	// Clean is the run without the planted fault; it must pass.
	Clean result.Result
	// Planted is the run that broke the law or, when none did, the last one that was tried.
	Planted result.Result
	// Caught: Planted broke the exhibit's law.
	Caught bool
}

// Show runs the exhibit without its planted fault on seed 1, and with it on seeds from 1 to at most seeds until it is
// caught. The error is a scenario that cannot be run, or ctx's.
func (e Exhibit) Show(ctx context.Context, seeds int) (Finding, error) {
	f := Finding{Exhibit: e}
	var err error
	if f.Clean, err = e.Clean(ctx, 1); err != nil {
		return f, err
	}
	for seed := uint64(1); seed <= uint64(max(seeds, 1)) && !f.Caught; seed++ {
		if f.Planted, err = e.Planted(ctx, seed); err != nil {
			return f, err
		}
		f.Caught = f.Planted.Failure != nil && f.Planted.Failure.Law == e.Law
		if err := ctx.Err(); err != nil {
			return f, err
		}
	}
	return f, nil
}
