package cmd

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/internal/collide"
)

func collideCommand() *cobra.Command {
	o := collide.Options{}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "collide [CHOICE...]",
		Short: "Compute how likely MACs, names, addresses and node IDs collide",
		Long: `Compute the probability that two of something collide: MACs, network identifiers, names and addresses chosen by hash or by
chance, node IDs claimed in a race, and addresses reused while peers still remember their old pod. Each row has the
formula, the simulated share with its 95 % interval (Wilson), and the largest size that stays below --p. Reuse is
simulated with the allocators themselves, on a node with a /24.`,
		Example: "  vppdrill experiment collide\n  vppdrill experiment collide mac-32 vni --n 20000 --p 1e-4\n  vppdrill experiment collide reuse-conntrack --held 200 --churn 2",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				if err := cli.OneOf("CHOICE", name, collide.Names()...); err != nil {
					return err
				}
			}
			switch {
			case o.N < 2 || o.N > 10_000_000:
				return cli.Usagef("--n %d is not 2 to 10000000", o.N)
			case !(o.P > 0 && o.P < 1):
				return cli.Usagef("--p %g is not between 0 and 1", o.P)
			case o.Trials < 1 || o.Trials > 10_000_000:
				return cli.Usagef("--trials %d is not 1 to 10000000", o.Trials)
			case o.Held < 1 || !(o.Churn > 0):
				return cli.Usagef("--held and --churn are above 0")
			case o.Window <= 0 || o.Latency <= 0:
				return cli.Usagef("--window and --latency are above 0s")
			}
			rows, err := cli.Promptly(cmd.Context(), func() ([]collide.Row, error) { return collide.Desk(o, args) })
			if err != nil {
				return cli.BadInput(err)
			}
			if format == cli.JSON {
				return cli.WriteJSON(cmd.OutOrStdout(), rows)
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintf(t, "choice\tof\tformula\tsimulated\tinterval\tsafe at %g\twhat\n", o.P)
			for _, r := range rows {
				formula := "none"
				if r.Formula != nil {
					formula = fmt.Sprintf("%.3g", *r.Formula)
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t%.3g\t%.3g to %.3g\t%s\t%s\n", r.Name, r.Of, formula, float64(r.Hits)/float64(max(r.Trials, 1)), r.Low, r.High, r.Safe, r.What)
			}
			return t.Flush()
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.N, "n", 1000, "how many choose")
	f.Float64Var(&o.P, "p", 0.001, "largest probability that is safe")
	f.IntVar(&o.Trials, "trials", 10000, "simulated trials, and followed releases")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the simulation")
	f.DurationVar(&o.Window, "window", time.Minute, "time in which --n nodes join")
	f.DurationVar(&o.Latency, "latency", 50*time.Millisecond, "time until other nodes see a write")
	f.IntVar(&o.Held, "held", 100, "pods on a node")
	f.Float64Var(&o.Churn, "churn", 0.5, "pods that come to the node, and go, each second")
	cli.AddFormat(cmd, &format)
	return cmd
}
