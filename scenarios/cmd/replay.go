package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

func replayCommand(c Config) *cobra.Command {
	var until int64
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "replay CAPSULE",
		Short: "Show the failure in a capsule again, event by event if asked",
		Long: `Run the failure that explore put into a capsule again. With --until the event lines up to that event are printed before
the verdict. A capsule of another version is refused, because its events would be others.`,
		Example: `  vppdrill replay out/one-owner.capsule
  vppdrill replay out/one-owner.capsule --until 31244`,
		Args: cli.Args(1, 1, "one capsule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if until < 0 {
				return cli.Usagef("replay: --until %d: events count from 1", until)
			}
			if c.Explorer.Replay == nil {
				return cli.CannotRun(errors.New("this build cannot replay capsules"))
			}
			return replayCapsule(cmd, c, args[0], until, format)
		},
	}
	cmd.Flags().Int64Var(&until, "until", 0, "print event lines and stop after this event; 0 prints none and goes to the end")
	cli.AddFormat(cmd, &format)
	return cmd
}

func replayCapsule(cmd *cobra.Command, c Config, name string, until int64, format cli.Format) error {
	capsule, err := os.ReadFile(name)
	if err != nil {
		return cli.BadInput(err)
	}
	o := RunOptions{Laws: c.Laws(), Replay: "vppdrill replay " + quote(name)}
	lines := bufio.NewWriter(cmd.OutOrStdout())
	if until > 0 {
		o.Events = func(seq int64, at time.Duration, line []byte) {
			if seq <= until {
				_, _ = fmt.Fprintf(lines, "%d %s %s\n", seq, scenarios.FormatDuration(at), line) // Flush tells
			}
		}
	}
	started := time.Now()
	r, err := promptRun(func(ctx context.Context, _ *scenarios.Scenario, o RunOptions) (scenarios.Result, error) {
		return c.Explorer.Replay(ctx, capsule, until, o)
	})(cmd.Context(), nil, o)
	if flushErr := lines.Flush(); flushErr != nil {
		return cli.BadInput(flushErr)
	}
	if err != nil {
		return cli.BadInput(err)
	}
	if format == cli.JSON {
		err = c.Reports.JSON(cmd.OutOrStdout(), Session{Version: c.Version, Command: commandLine(cmd), Started: started,
			WallSeconds: time.Since(started).Seconds(), Results: []scenarios.Result{r}})
	} else {
		text := c.Reports.Text(cmd.OutOrStdout(), []string{r.Scenario})
		text.Add(r)
		err = text.Close()
	}
	return errors.Join(err, verdictOf([]scenarios.Result{r}))
}
