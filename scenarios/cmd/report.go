package cmd

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

func reportCommand(c Config) *cobra.Command {
	var format cli.Format
	var verbose bool
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write a folder's reports again from its result.json",
		Long: `Write all reports again from the result.json that an earlier run left in DIR, and print its verdict lines. The exit code
is that of the earlier run.`,
		Example: "  vppdrill debug report out",
		Args:    cli.Args(1, 1, "the folder of an earlier run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			results, err := c.Reports.Again(args[0])
			if err != nil {
				return cli.BadInput(err)
			}
			if format == cli.JSON {
				if err := c.Reports.JSON(cmd.OutOrStdout(), Session{Version: c.Version, Results: results}); err != nil {
					return err
				}
				return verdictOf(results)
			}
			names := make([]string, len(results))
			for i, r := range results {
				names[i] = r.Scenario
			}
			text := c.Reports.Text(cmd.OutOrStdout(), names, TextOptions{Verbose: verbose})
			for _, r := range results {
				text.Add(r)
			}
			if err := text.Close(); err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "vppdrill: wrote "+filepath.Join(args[0], "report.html"))
			return verdictOf(results)
		},
	}
	cli.AddFormat(cmd, &format)
	addVerbose(cmd.Flags(), &verbose)
	return cmd
}
