package cmd

import (
	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Commands returns the ipam command.
func Commands() []*cobra.Command {
	ipam := &cobra.Command{
		Use:   "ipam",
		Short: "Plan address ranges, and explain how many addresses nodes keep",
		Example: `  vppdrill ipam plan my-scenario.yaml
  vppdrill ipam explain --instance t3.small --warm-ip 2 --minimum-ip 5 --pods 0,5,9`,
		Args: cli.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	ipam.AddCommand(planCommand(), explainCommand())
	return []*cobra.Command{ipam}
}
