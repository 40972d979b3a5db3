package cmd

import (
	"context"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/cniworld"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// CNI is a chain of CNI plugins as the commands see it.
type CNI struct{ chain *cniworld.Chain }

// CNIKinds are the kinds of places where plugins can be killed.
func CNIKinds() []string { return cniworld.Kinds() }

// LoadCNI reads a network configuration and finds its plugins; an empty path is CNI_PATH's.
func LoadCNI(conf, path string) (*CNI, error) {
	if path == "" {
		path = cniworld.DefaultPath()
	}
	if err := cniworld.Check(); err != nil {
		return nil, coded(err)
	}
	chain, err := cniworld.Load(conf, path)
	if err != nil {
		return nil, coded(err)
	}
	return &CNI{chain}, nil
}

// Run runs one scenario. VPPDRILL_TIME_SCALE divides its times.
func (c *CNI) Run(ctx context.Context, s *scenarios.Scenario, r lab.RunOptions) (result.Result, error) {
	o := cniworld.Options{Chain: c.chain, RunOptions: byEnvironment(r)}
	var err error
	if o.TimeScale, err = timeScale(); err != nil {
		return result.Result{}, err
	}
	res, err := cniworld.Run(ctx, s, o)
	if lab.IsCannotRun(err) {
		return cannotRun(s, cniworld.Name, r, err), nil
	}
	return res, coded(err)
}

// Points are the places of a scenario's run at which plugins can be killed.
func (c *CNI) Points(ctx context.Context, s *scenarios.Scenario, r lab.RunOptions, kinds []string, node string) ([]cniworld.Point, error) {
	scale, err := timeScale()
	if err != nil {
		return nil, err
	}
	return cniworld.Points(ctx, s, cniworld.Options{Chain: c.chain, RunOptions: byEnvironment(r), TimeScale: scale}, kinds, node)
}

// Smallest leaves out of a scenario what a failure does not need.
func (c *CNI) Smallest(ctx context.Context, s *scenarios.Scenario, r lab.RunOptions, failure *result.Failure) *scenarios.Scenario {
	scale, err := timeScale()
	if err != nil {
		return s
	}
	return cniworld.Smallest(ctx, s, cniworld.Options{Chain: c.chain, RunOptions: byEnvironment(r), TimeScale: scale}, failure)
}
