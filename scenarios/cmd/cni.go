package cmd

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// cniFlags choose a chain of CNI plugins that connects pods in place of VPP and our agent.
type cniFlags struct{ conf, path string }

func (f *cniFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.conf, "cni", "", "with --world netns: network configuration whose CNI plugins connect the pods, in place of VPP and our agent")
	flags.StringVar(&f.path, "cni-path", "", "folders with CNI plugins, as CNI_PATH has them; default CNI_PATH, or /opt/cni/bin")
}

// check refuses words that mean nothing together.
func (f *cniFlags) check(command, world string) error {
	switch {
	case f.conf != "" && world != "netns":
		return cli.Usagef("%s: --cni goes with --world netns: its nodes and pods are network namespaces", command)
	case f.path != "" && f.conf == "":
		return cli.Usagef("%s: --cni-path goes with --cni", command)
	}
	return nil
}

// words are the flags as they follow --world in a command.
func (f *cniFlags) words() string {
	if f.conf == "" {
		return ""
	}
	out := " --cni " + quote(f.conf)
	if f.path != "" {
		out += " --cni-path " + quote(f.path)
	}
	return out
}

// plugins makes the world.
func (f *cniFlags) plugins(c Config) (Plugins, error) {
	if c.CNI == nil {
		return Plugins{}, cli.CannotRun(errors.New("--cni cannot run here: this build does not have it"))
	}
	return c.CNI(f.conf, f.path)
}

// explorer searches at the places where plugins can be killed, and in no other way.
func (p Plugins) explorer() Explorer {
	return Explorer{Kinds: p.Kinds, Points: func(ctx context.Context, s *scenarios.Scenario, seed uint64, _ []fact.Law, kinds []string, node string) ([]Point, error) {
		return p.Points(ctx, s, seed, kinds, node)
	}}
}
