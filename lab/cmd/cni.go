//go:build linux

package cmd

import (
	"context"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/cniworld"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// LoadCNI reads a network configuration and finds its plugins; an empty path is CNI_PATH's.
func LoadCNI(conf, path string) (CNI, error) {
	if path == "" {
		path = cniworld.DefaultPath()
	}
	if err := cniworld.Check(); err != nil {
		return CNI{}, coded(err)
	}
	chain, err := cniworld.Load(conf, path)
	if err != nil {
		return CNI{}, coded(err)
	}
	c := plugins{chain}
	return CNI{Kinds: cniworld.Kinds(), Run: c.run, Points: c.points, Smallest: c.smallest}, nil
}

// plugins are a chain of them.
type plugins struct{ chain *cniworld.Chain }

// options are a run's.
func (c plugins) options(r RunOptions) (o cniworld.Options, err error) {
	o = cniworld.Options{Chain: c.chain, RunOptions: byEnvironment(r)}
	o.TimeScale, err = timeScale()
	return o, err
}

func (c plugins) run(ctx context.Context, s *scenarios.Scenario, r RunOptions) (result.Result, error) {
	o, err := c.options(r)
	if err != nil {
		return result.Result{}, err
	}
	res, err := cniworld.Run(ctx, s, o)
	if lab.IsCannotRun(err) {
		return cannotRun(s, cniworld.Name, r, err), nil
	}
	return res, coded(err)
}

func (c plugins) points(ctx context.Context, s *scenarios.Scenario, r RunOptions, kinds []string, node string) ([]Point, error) {
	o, err := c.options(r)
	if err != nil {
		return nil, err
	}
	found, err := cniworld.Points(ctx, s, o, kinds, node)
	var list []Point
	for _, p := range found {
		list = append(list, Point{Kind: p.Kind(), Name: p.String(), Scenario: p.Scenario})
	}
	return list, err
}

func (c plugins) smallest(ctx context.Context, s *scenarios.Scenario, r RunOptions, failure *result.Failure) *scenarios.Scenario {
	o, err := c.options(r)
	if err != nil {
		return s
	}
	return cniworld.Smallest(ctx, s, o, failure)
}
