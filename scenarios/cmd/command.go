package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Execute runs one command line and returns the exit code. Results go to out; errors, progress and notes to errOut.
func Execute(ctx context.Context, c Config, args []string, out, errOut io.Writer) int {
	root := rootCommand(c)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(errOut, "vppdrill: interrupted")
		return cli.ExitInterrupted
	}
	code, line := cli.Code(err)
	if line != "" {
		fmt.Fprintln(errOut, "vppdrill: "+line)
	}
	return code
}

// helpOf prints the help of the command that words name.
func helpOf(root *cobra.Command, words []string) error {
	cmd := root
	for _, word := range words {
		i := slices.IndexFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == word || sub.HasAlias(word) })
		if i < 0 {
			return cli.NoCommand(cmd, []string{word})
		}
		cmd = cmd.Commands()[i]
	}
	cmd.InitDefaultHelpFlag()
	return cmd.Help()
}

func rootCommand(c Config) *cobra.Command {
	root := &cobra.Command{
		Use:   "vppdrill",
		Short: "Rehearse what breaks Kubernetes pod networking on FD.io VPP before production does",
		Long: `vppdrill rehearses Kubernetes pod networking on FD.io VPP: a scenario file describes a cluster and what happens to it,
and laws judge what must never be otherwise. The same version, scenario and seed give the same events, byte for byte.

Exit codes: 0 all laws hold, 1 a law is broken, 2 bad usage or input, 3 this world cannot run here, 130 interrupted.`,
		Example: `  vppdrill run --catalog --out out
  vppdrill run my-scenario.yaml --seed 7`,
		Args:          cli.NoCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(runCommand(c), duelCommand(c), experimentCommand(c), collideCommand(), museumCommand(c), exploreCommand(c), replayCommand(c), schemaCommand(), traceCommand(), reportCommand(c),
		vppModelCommand(), parityCommand(), versionCommand(c))
	root.AddCommand(referenceCommands(c)...)
	root.AddCommand(initCommand(), stepCommand(c), branchCommand(c), microscopeCommand(c))
	root.AddCommand(c.Commands...)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, sub := range root.Commands() {
		switch sub.Name() {
		case "completion": // cobra's own takes any shell for a wish for help
			sub.Args, sub.RunE = cli.NoCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help": // cobra's own says that it knows no such topic, and succeeds
			sub.Run, sub.RunE = nil, func(_ *cobra.Command, words []string) error { return helpOf(root, words) }
		}
	}
	completeWords(root)
	root.SetFlagErrorFunc(cli.FlagError)
	root.SuggestionsMinimumDistance = 2
	return root
}
