package cmd

import (
	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// debugCommand is `vppdrill debug`: everything that helps to understand one run.
func debugCommand(c Config) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "debug",
		Short: "Understand a failure: replay it, step through it, branch it, compare two runs",
		Long: `Understand one run. A capsule holds a failing run: explore and run write one with --out.

replay shows its failure again, step stops before each event, and branch changes one thing and shows both futures.
diff finds the first difference between two runs, or what two worlds end with. report writes a folder's reports again.
museum plants a fault that another project once had and shows the law that catches it. export writes what a node's VPP was
asked up to an instant, for a real VPP to replay.`,
		Example: `  vppdrill debug replay out/one-owner.capsule
  vppdrill debug step out/one-owner.capsule
  vppdrill debug diff here/events.jsonl there/events.jsonl`,
		Args: cli.NoCommand,
		RunE: help,
	}
	cmd.AddCommand(replayCommand(c), stepCommand(c), branchCommand(c), diffCommand(c), reportCommand(c), museumCommand(c), exportCommand(c))
	return cmd
}

// help is the RunE of a command that only holds others.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }
