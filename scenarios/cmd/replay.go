package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
)

func replayCommand(c Config) *cobra.Command {
	var until int64
	var regress bool
	var want string
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "replay CAPSULE",
		Short: "Show a capsule's failure again",
		Long: `Run a capsule's failure again. --until prints the event lines up to an event before the verdict.

Another version has other events. It runs the capsule's scenario as a regression test, says "fixed" when the law no longer
breaks, and names what could not be repeated; --regress does so with the same version, too. The exit code is 0 for what
is fixed and 1 for what still breaks, or the other way round with --want broken.`,
		Example: `  vppdrill debug replay out/one-owner.capsule
  vppdrill debug replay out/one-owner.capsule --until 31244
  git bisect run vppdrill debug replay old/one-owner.capsule`,
		Args: cli.Args(1, 1, "one capsule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if until < 0 {
				return cli.Usagef("debug replay: --until %d: events count from 1", until)
			}
			if err := cli.OneOf("--want", want, "fixed", "broken"); err != nil {
				return err
			}
			if c.Explorer.Replay == nil {
				return cli.CannotRun(errors.New("this build cannot replay capsules"))
			}
			if regress {
				if until > 0 {
					return cli.Usagef("debug replay: --regress and --until exclude each other")
				}
				return wanted(want, regressCapsule(cmd, c, args[0], format))
			}
			return wanted(want, replayCapsule(cmd, c, args[0], until, format))
		},
	}
	cmd.ValidArgsFunction = completeCapsule
	cmd.Flags().Int64Var(&until, "until", 0, "print event lines and stop after this event; 0: print none and run to the end")
	cmd.Flags().BoolVar(&regress, "regress", false, "run the capsule's scenario as a regression test, also with its own version")
	cmd.Flags().StringVar(&want, "want", "fixed", "what exit code 0 means: fixed, the law holds; or broken, it still breaks")
	complete(cmd, "want", "fixed", "broken")
	cli.AddFormat(cmd, &format)
	return cmd
}

// wanted turns the exit code round where a failure is wanted.
func wanted(want string, err error) error {
	if want == "fixed" {
		return err
	}
	switch code, _ := cli.Code(err); code {
	case cli.ExitHeld:
		return cli.Broken(errors.New("debug replay: the law does not break, and --want broken asks for it"))
	case cli.ExitBroken:
		return nil
	}
	return err
}

// regressCapsule runs a capsule as this program's own run.
func regressCapsule(cmd *cobra.Command, c Config, name string, format cli.Format) error {
	capsule, err := inputfile.Read(name)
	if err != nil {
		return cli.BadInput(err)
	}
	if c.Explorer.Regress == nil {
		return cli.CannotRun(errors.New("this build cannot replay capsules"))
	}
	var notes []string
	started := time.Now()
	r, err := cli.Promptly(cmd.Context(), func() (result.Result, error) {
		r, n, err := c.Explorer.Regress(cmd.Context(), capsule, RunOptions{Laws: c.Laws(), Replay: "vppdrill debug replay --regress " + quote(name)})
		notes = n
		return r, err
	})
	if err != nil {
		return cli.BadInput(err)
	}
	if err := c.tellReplay(cmd, r, format, started); err != nil {
		return err
	}
	for _, note := range notes {
		if text, fixed := strings.CutPrefix(note, "fixed: "); fixed && format == cli.Text {
			fmt.Fprintln(cmd.OutOrStdout(), "fixed: "+text)
			continue
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "vppdrill: "+note)
	}
	return verdictOf([]result.Result{r})
}

// tellReplay prints the one run of a replay.
func (c Config) tellReplay(cmd *cobra.Command, r result.Result, format cli.Format, started time.Time) error {
	if format == cli.JSON {
		return c.Reports.JSON(cmd.OutOrStdout(), Session{Version: c.Version, Command: commandLine(cmd), Started: started,
			WallSeconds: time.Since(started).Seconds(), Results: []result.Result{r}})
	}
	text := c.Reports.Text(cmd.OutOrStdout(), []string{r.Scenario}, TextOptions{})
	text.Add(r)
	return text.Close()
}

func replayCapsule(cmd *cobra.Command, c Config, name string, until int64, format cli.Format) error {
	capsule, err := inputfile.Read(name)
	if err != nil {
		return cli.BadInput(err)
	}
	o := RunOptions{Laws: c.Laws(), Replay: "vppdrill debug replay " + quote(name)}
	lines := bufio.NewWriter(cmd.OutOrStdout())
	if until > 0 {
		o.Events = func(seq int64, at time.Duration, line []byte) {
			if seq <= until {
				_, _ = fmt.Fprintf(lines, "%d %s %s\n", seq, scenarios.FormatDuration(at), line) // Flush tells
			}
		}
	}
	started := time.Now()
	r, err := promptRun(func(ctx context.Context, _ *scenarios.Scenario, o RunOptions) (result.Result, error) {
		return c.Explorer.Replay(ctx, capsule, until, o)
	})(cmd.Context(), nil, o)
	if flushErr := lines.Flush(); flushErr != nil {
		return cli.BadInput(flushErr)
	}
	if until == 0 && cmd.Context().Err() == nil && (errors.Is(err, ErrOtherVersion) || err != nil && r.Verdict == result.Pass) {
		return regressCapsule(cmd, c, name, format)
	}
	if err != nil {
		return cli.BadInput(err)
	}
	err = c.tellReplay(cmd, r, format, started)
	return errors.Join(err, verdictOf([]result.Result{r}))
}
