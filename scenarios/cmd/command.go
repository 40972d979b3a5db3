package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Execute runs one command line and returns the exit code. Results go to out; errors, progress and notes to errOut.
func Execute(ctx context.Context, c Config, args []string, out, errOut io.Writer) int {
	root := rootCommand(c)
	root.SetArgs(args)
	printed := cli.Kept(out)
	root.SetOut(printed.Writer)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil && ctx.Err() == nil {
		err = printed.Err()
	}
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(errOut, "vppdrill: interrupted")
		return cli.ExitInterrupted
	}
	code, line := cli.Code(err)
	if line != "" {
		fmt.Fprintln(cli.Plain(errOut), "vppdrill: "+line)
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

// groups are the jobs that `vppdrill --help` sorts commands by, with their commands in order.
var groups = []struct {
	title    string
	commands []string
}{
	{"Rehearse", []string{"run", "init", "trace"}},
	{"Search for failures", []string{"explore"}},
	{"Understand a failure", []string{"debug"}},
	{"Measure and plan", []string{"experiment", "ipam"}},
	{"Real VPPs and clusters", []string{"lab", "agent", "ipamd", "controller", "audit", "conformance"}},
	{"About this program", []string{"describe", "doctor", "version", "completion"}},
}

func rootCommand(c Config) *cobra.Command {
	root := &cobra.Command{
		Use:   "vppdrill",
		Short: "Rehearse what breaks Kubernetes pod networking on FD.io VPP before production does",
		Long: `vppdrill rehearses Kubernetes pod networking on FD.io VPP. A scenario file describes a cluster and what happens to it;
laws judge every run. The same version, scenario and seed give the same events, byte for byte.

Exit codes:
` + cli.ExitCodes(),
		Example: `  vppdrill run --catalog --out out
  vppdrill run my-scenario.yaml --seed 7`,
		Args:          cli.NoCommand,
		RunE:          help,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(runCommand(c), initCommand(c), traceCommand(), exploreCommand(c), debugCommand(c), experimentCommand(c), describeCommand(c), versionCommand(c), manCommand())
	root.AddCommand(c.Commands...)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, sub := range root.Commands() {
		switch sub.Name() {
		case "completion": // cobra's own takes any shell for a wish for help
			sub.Short, sub.Args, sub.RunE = "Print a script that completes words in a shell", cli.NoCommand, help
		case "help": // cobra's own says that it knows no such topic, and succeeds
			sub.Hidden, sub.GroupID = true, groups[len(groups)-1].title
			sub.Run, sub.RunE = nil, func(_ *cobra.Command, words []string) error { return helpOf(root, words) }
		}
	}
	sortByJob(root)
	// --help does not list what it is itself; cobra's template does, even where it is hidden.
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), `(or .IsAvailableCommand (eq .Name "help"))`, ".IsAvailableCommand"))
	completeWords(root)
	root.SetFlagErrorFunc(cli.FlagError)
	root.SuggestionsMinimumDistance = 2
	return root
}

// sortByJob puts each command into its group. A command without one is a broken caller.
func sortByJob(root *cobra.Command) {
	cobra.EnableCommandSorting = false
	of := map[string]string{}
	rank := map[string]int{}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, name := range g.commands {
			of[name], rank[name] = g.title, len(rank)
		}
	}
	all := root.Commands()
	slices.SortStableFunc(all, func(a, b *cobra.Command) int { return rank[a.Name()] - rank[b.Name()] })
	root.RemoveCommand(all...)
	root.AddCommand(all...)
	for _, sub := range all {
		if sub.Hidden {
			continue
		}
		if sub.GroupID = of[sub.Name()]; sub.GroupID == "" {
			panic("cmd: " + sub.Name() + " belongs to no job")
		}
	}
}
