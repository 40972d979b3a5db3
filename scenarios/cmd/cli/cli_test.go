package cli_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// TestCode goal: every error of a command has one code and at most one line. Method: a table of errors, wrapped and not.
func TestCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		line string
	}{
		{nil, 0, ""},
		{errors.New("plain\nsecond line"), 2, "plain"},
		{cli.Usagef("run: %d", 3), 2, "run: 3"},
		{cli.Broken(nil), 1, ""},
		{cli.CannotRun(errors.New("no VPP")), 3, "no VPP"},
		{fmt.Errorf("outer: %w", cli.Broken(errors.New("inner"))), 1, "inner"},
		{cli.Exit{Code: cli.ExitInterrupted}, 130, ""},
	} {
		if code, line := cli.Code(c.err); code != c.code || line != c.line {
			t.Errorf("%v: %d %q, want %d %q", c.err, code, line, c.code, c.line)
		}
	}
}

// TestUsage goal: what was typed wrongly is one line that begins with the command and names the nearest word. Method: a small tree of
// commands, run with each mistake.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"pla"}, `unknown command "pla"; did you mean "plan"?`},
		{[]string{"fly"}, `unknown command "fly"; see vppdrill --help`},
		{[]string{"plan", "--fromat", "json"}, "plan: unknown flag: --fromat; did you mean --format?"},
		{[]string{"plan", "--format", "jsn"}, `plan: --format "jsn" is none of text, json; did you mean "json"?`},
		{[]string{"plan", "a", "b"}, "plan: wants one file at most; see vppdrill plan --help"},
		{[]string{"plan", "--format", "json"}, "json"},
		{[]string{"plan"}, "text"},
	} {
		var format cli.Format
		root := &cobra.Command{Use: "vppdrill", Args: cli.NoCommand, SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
		root.SetFlagErrorFunc(cli.FlagError)
		plan := &cobra.Command{Use: "plan", Args: cli.Args(0, 1, "one file at most"), RunE: func(*cobra.Command, []string) error { return errors.New(string(format)) }}
		cli.AddFormat(plan, &format)
		root.AddCommand(plan)
		root.SetArgs(c.args)
		if _, line := cli.Code(root.Execute()); line != c.want {
			t.Errorf("%q: %s, want %s", c.args, line, c.want)
		}
	}
}
