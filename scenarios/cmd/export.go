package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
)

type exportFlags struct {
	node, out string
	seed      uint64
	event     int64
	at        time.Duration
}

func exportCommand(c Config) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export FILE --node NODE -o TRACE",
		Short: "Write what a node's VPP was asked as VPP's own API trace",
		Long: `Run a scenario or a capsule in the simulator and write what one node's VPP was asked, from its start to an instant, as a file that a
real VPP 25.10 replays: vppctl api trace replay TRACE. VPP prints it, too: vppctl api trace dump-file TRACE.

A bare VPP then has the same interfaces by index, addresses, tables, routes, neighbors, tunnels, bridge domains, ACLs and NAT.
What another machine does not have is replaced: NICs, taps and AF_PACKET interfaces by loopbacks with their MACs, from loop16383
downwards. Without --event and --at the instant is the end of the run.`,
		Example: `  vppdrill debug export my-scenario.yaml --node node-1 -o node-1.trace
  vppdrill debug export my-scenario.yaml --node node-1 --at 30s --seed 7 -o node-1.trace
  vppdrill debug export out/one-owner.capsule --node node-2 --event 31244 -o node-2.trace`,
		Args: cli.Args(1, 1, "one scenario or capsule"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.export(cmd, c, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.node, "node", "", "whose VPP")
	flags.StringVarP(&f.out, "out", "o", "", "the file to write")
	flags.Uint64Var(&f.seed, "seed", 1, "the run's seed; a capsule has its own")
	flags.Int64Var(&f.event, "event", 0, "the last event; 0: until the end")
	flags.DurationVar(&f.at, "at", 0, "the virtual time of the instant; 0: the end")
	return cmd
}

func (f exportFlags) export(cmd *cobra.Command, c Config, file string) error {
	switch {
	case f.node == "" || f.out == "":
		return cli.Usagef("debug export wants --node NODE and -o TRACE")
	case f.event < 0 || f.at < 0:
		return cli.Usagef("debug export: --event and --at count from the run's start")
	case f.event > 0 && f.at > 0:
		return cli.Usagef("debug export: --event and --at exclude each other")
	case same(f.out, file):
		return cli.Usagef("debug export: -o %s would overwrite what is read: name another file", f.out)
	case c.Worlds["sim"] == nil || c.Explorer.Walk == nil:
		return cli.CannotRun(errors.New("this build has no simulator"))
	}
	trace, err := f.run(cmd.Context(), c, file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.out, trace, 0o644); err != nil {
		return cli.BadInput(err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes; vppctl api trace replay %s\n", f.out, len(trace), f.out)
	return err
}

// run runs the file and returns the trace of the instant.
func (f exportFlags) run(ctx context.Context, c Config, file string) (trace []byte, err error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var of func(node string) ([]byte, error)
	var looked error
	reached := false
	o := RunOptions{Seed: f.seed, APITraces: func(ask func(node string) ([]byte, error)) { of = ask }}
	o.Events = func(seq int64, at time.Duration, _ []byte) {
		if !reached && (f.event > 0 && seq > f.event || f.at > 0 && at > f.at) {
			reached = true
			trace, looked = of(f.node)
			stop()
		}
	}
	if strings.HasSuffix(file, ".capsule") {
		capsule, err := inputfile.Read(file)
		if err != nil {
			return nil, cli.BadInput(err)
		}
		if _, err := c.Explorer.Walk(inner, capsule, o, func(Moment) {}); err != nil && !reached {
			return nil, cli.BadInput(err)
		}
	} else {
		list, err := c.load(ctx, false, []string{file})
		if err != nil {
			return nil, err
		}
		if _, err := c.Worlds["sim"](inner, list[0], o); err != nil && !reached {
			return nil, cli.BadInput(err)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !reached && f.event > 0:
		return nil, cli.Usagef("debug export: the run ends before event %d", f.event)
	case !reached && f.at > 0:
		return nil, cli.Usagef("debug export: the run ends before %s", scenarios.FormatDuration(f.at))
	case !reached:
		trace, looked = of(f.node)
	}
	if looked != nil {
		return nil, cli.BadInput(fmt.Errorf("debug export: %w", looked))
	}
	return trace, nil
}
