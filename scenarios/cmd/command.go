package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// Exit codes, as `vppdrill --help` lists them. 130 is what shells report for a process that SIGINT ended (128+2).
const (
	exitHeld        = 0
	exitBroken      = 1
	exitUsage       = 2
	exitCannotRun   = 3
	exitInterrupted = 130
)

// exit is an error that knows its exit code. A nil err has been told already.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e exit) Unwrap() error { return e.err }

// ExitCode is how a command of any package tells its code: see Execute.
func (e exit) ExitCode() int { return e.code }

// usagef is bad usage or input: one line, nothing written.
func usagef(format string, args ...any) error {
	return exit{exitUsage, fmt.Errorf(format, args...)}
}

// Execute runs one command line and returns the exit code. Results go to out; errors, progress and notes to errOut.
// An error with a method ExitCode() int decides the code, any other one is bad usage; one with an empty text has been told already.
func Execute(ctx context.Context, c Config, args []string, out, errOut io.Writer) int {
	root := rootCommand(c)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	var coded interface {
		error
		ExitCode() int
	}
	switch {
	case err == nil:
		return exitHeld
	case ctx.Err() != nil:
		fmt.Fprintln(errOut, "vppdrill: interrupted")
		return exitInterrupted
	case errors.As(err, &coded):
		if text := firstLine(coded.Error()); text != "" {
			fmt.Fprintln(errOut, "vppdrill: "+text)
		}
		return coded.ExitCode()
	default:
		fmt.Fprintln(errOut, "vppdrill: "+firstLine(err.Error()))
		return exitUsage
	}
}

// firstLine keeps an error to one line, as a terminal full of usage hides it.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
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
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(runCommand(c), duelCommand(c), museumCommand(c), exploreCommand(c), replayCommand(c), schemaCommand(), traceCommand(), reportCommand(c),
		vppModelCommand(), parityCommand(), versionCommand(c))
	root.AddCommand(c.Commands...)
	root.SetFlagErrorFunc(flagError)
	root.SuggestionsMinimumDistance = 2
	return root
}

// unknownCommand refuses what is no command and names the nearest one.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("%sunknown command %q%s", inCommand(cmd), args[0], didYouMean(args[0], names))
}

// flagError names the nearest flag to one that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	text := firstLine(err.Error())
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := strictyaml.Nearest(name, names); near != "" {
			text += fmt.Sprintf("; did you mean --%s?", near)
		}
	}
	return usagef("%s%s", inCommand(cmd), text)
}

// inCommand is "run: ", or nothing for the program itself: every error line begins with its name already.
func inCommand(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return ""
	}
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return path + ": "
}

func didYouMean(word string, candidates []string) string {
	if near := strictyaml.Nearest(word, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; see vppdrill --help"
}

// oneOf refuses a value that is none of the words; what is its flag or place.
func oneOf(what, value string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	hint := ""
	if near := strictyaml.Nearest(value, words); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return usagef("%s %q is none of %s%s", what, value, strings.Join(words, ", "), hint)
}

// args checks the number of arguments in one line of words.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usagef("%swants %s; see %s --help", inCommand(cmd), what, cmd.CommandPath())
		}
		return nil
	}
}
