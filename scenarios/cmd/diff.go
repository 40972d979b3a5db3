package cmd

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// diffFlags are the flags of `vppdrill debug diff`.
type diffFlags struct {
	before int
	worlds []string
	runFlags
}

func diffCommand(c Config) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff EVENTS EVENTS | CAPSULE CAPSULE | SCENARIO… --worlds WORLD,WORLD",
		Short: "Find the first event that differs between two runs, or what differs between two worlds",
		Long: `Compare two runs. Exit code 1 where they differ.

EVENTS are event lines (events.jsonl of --events all, from two machines or two versions). diff prints the first event
that differs, the events right before it, and the kind of difference: another time, order or content, one event more,
or an earlier end. Files with several runs are compared run by run, in their order.

CAPSULE: diff makes both runs, bisects their trails, and compares the state of all nodes before the first difference.

SCENARIO with --worlds: diff runs each scenario in each world and prints what differs at the end: verdicts, laws, and
what VPP, Linux and pods hold. Interfaces and tables go by their owner, not by their number.`,
		Example: `  vppdrill debug diff here/events.jsonl there/events.jsonl
  vppdrill debug diff one/one-owner.capsule other/one-owner.capsule
  vppdrill debug diff node-joins --worlds sim,netns`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.worlds != nil {
				return cli.Args(1, -1, "scenarios")(cmd, args)
			}
			return cli.Args(2, 2, "two files of event lines, two capsules, or scenarios and --worlds")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if f.worlds != nil {
				list, err := c.load(cmd.Context(), false, args)
				if err != nil {
					return err
				}
				return compareWorlds(cmd, c, f, list)
			}
			if done, err := diffCapsules(cmd.Context(), cmd.OutOrStdout(), c, capsuleIn(args[0]), capsuleIn(args[1])); done {
				return err
			}
			return diffEvents(cmd.OutOrStdout(), args, f.before)
		},
	}
	cmd.ValidArgsFunction = c.completeScenarios
	flags := cmd.Flags()
	flags.IntVar(&f.before, "before", 5, "common lines to print before the difference")
	flags.StringSliceVar(&f.worlds, "worlds", nil, "run in each of these worlds, as in sim,netns")
	flags.Uint64Var(&f.seed, "seed", 1, "with --worlds: run this seed only")
	flags.StringVar(&f.out, "out", "", "with --worlds: folder for the report of all runs")
	addJobs(flags, &f.jobs, "with --worlds: runs at the same time")
	complete(cmd, "worlds", allWorlds()...)
	return cmd
}

// check refuses flags that make no comparison.
func (f *diffFlags) check(cmd *cobra.Command) error {
	if f.before < 0 {
		return cli.Usagef("debug diff: --before %d: at least 0 lines", f.before)
	}
	if f.worlds != nil {
		f.seeded = cmd.Flags().Changed("seed")
		return f.checkWorlds()
	}
	for _, name := range []string{"seed", "out", "jobs"} {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("debug diff: --%s needs --worlds", name)
		}
	}
	return nil
}

// diffEvents compares two files of event lines.
func diffEvents(w io.Writer, names []string, before int) error {
	var trails [2]*eventReader
	for i, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return cli.BadInput(err)
		}
		defer func() { _ = f.Close() }() // it is only read
		trails[i] = &eventReader{name: name, lines: bufio.NewReaderSize(f, 1<<16)}
	}
	same, err := compareTrails(w, trails[0], trails[1], before)
	if err != nil {
		return cli.BadInput(err)
	}
	if !same {
		return cli.Broken(nil)
	}
	return nil
}

// eventRecord is one line of events.jsonl: the head of a run, an event, or the note of an interrupt.
type eventRecord struct {
	Scenario   string   `json:"scenario"`
	World      string   `json:"world"`
	Seed       uint64   `json:"seed"`
	Seq        int64    `json:"seq"`
	At         *float64 `json:"at"`
	Line       string   `json:"line"`
	Incomplete string   `json:"incomplete"`
}

func (e *eventRecord) String() string {
	switch {
	case e == nil:
		return "the end"
	case e.At == nil && e.Incomplete != "":
		return "the end: " + e.Incomplete
	case e.At == nil:
		return fmt.Sprintf("run %s in world %s with seed %d", e.Scenario, e.World, e.Seed)
	}
	return fmt.Sprintf("event %d at %gs: %s", e.Seq, *e.At, e.Line)
}

func (e *eventRecord) same(o *eventRecord) bool {
	if e == nil || o == nil {
		return e == o
	}
	if (e.At == nil) != (o.At == nil) || e.At != nil && *e.At != *o.At {
		return false
	}
	return e.Scenario == o.Scenario && e.Seed == o.Seed && e.Seq == o.Seq && e.Line == o.Line && e.Incomplete == o.Incomplete
}

// eventReader reads events.jsonl line by line.
type eventReader struct {
	name   string
	lines  *bufio.Reader
	number int
}

// errNoEvents: a file does not hold event lines.
var errNoEvents = errors.New("no event line of --events all")

// next is the next line, nil at the end.
func (r *eventReader) next() (*eventRecord, error) {
	const most = 1 << 20
	line, err := r.lines.ReadSlice('\n')
	var whole []byte
	for errors.Is(err, bufio.ErrBufferFull) && len(whole) < most {
		whole = append(whole, line...)
		line, err = r.lines.ReadSlice('\n')
	}
	line = append(whole, line...)
	r.number++
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, nil
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s:%d: %w", r.name, r.number, errors.Join(errNoEvents, err))
	}
	var e eventRecord
	if err := json.Unmarshal(line, &e); err != nil || e.At == nil && e.Scenario == "" && e.Incomplete == "" {
		return nil, fmt.Errorf("%s:%d: %w", r.name, r.number, errNoEvents)
	}
	return &e, nil
}

// compareTrails prints the first difference of two trails; false where there is one.
func compareTrails(w io.Writer, a, b *eventReader, before int) (bool, error) {
	var common []*eventRecord
	events := 0
	for {
		x, err := a.next()
		if err != nil {
			return false, err
		}
		y, err := b.next()
		if err != nil {
			return false, err
		}
		if !x.same(y) {
			for _, e := range common {
				fmt.Fprintf(w, "both    %s\n", e)
			}
			fmt.Fprintf(w, "first   %s\nsecond  %s\n", x, y)
			why, err := classOf(x, y, a, b)
			if err == nil {
				fmt.Fprintf(w, "%s\n", why)
			}
			return false, err
		}
		if x == nil {
			if events == 0 {
				return false, fmt.Errorf("%s: %w", a.name, errNoEvents)
			}
			fmt.Fprintf(w, "the same %d events\n", events)
			return true, nil
		}
		if x.At != nil {
			events++
		}
		if common = append(common, x); len(common) > before {
			common = slices.Delete(common, 0, len(common)-before)
		}
	}
}

// aheadMost is how many lines are searched for one that comes in another order.
const aheadMost = 2000

// classOf says what kind of difference two lines are.
func classOf(x, y *eventRecord, a, b *eventReader) (string, error) {
	switch {
	case x == nil || y == nil:
		return "one run ends earlier than the other", nil
	case x.At == nil || y.At == nil:
		return "other runs: the files were not made by the same command", nil
	case x.Line == y.Line:
		return "the time differs: the same thing happens earlier or later", nil
	}
	laterInB, err := ahead(b, x)
	if err != nil {
		return "", err
	}
	laterInA, err := ahead(a, y)
	switch {
	case err != nil:
		return "", err
	case laterInA && laterInB:
		return "the order differs: both happen in both (map order, or goroutines that race)", nil
	case laterInB:
		return "the second has an event more", nil
	case laterInA:
		return "the first has an event more", nil
	}
	first, _, _ := strings.Cut(x.Line, " ")
	second, _, _ := strings.Cut(y.Line, " ")
	if first == second {
		return "the content differs: " + first + " does something else (chance outside of the seed, a clock, or another version)", nil
	}
	return "something else happens", nil
}

// ahead looks whether a line comes soon at the same time.
func ahead(r *eventReader, want *eventRecord) (bool, error) {
	for range aheadMost {
		e, err := r.next()
		if err != nil || e == nil || e.At == nil || *e.At > *want.At {
			return false, err
		}
		if e.Line == want.Line && *e.At == *want.At {
			return true, nil
		}
	}
	return false, nil
}
