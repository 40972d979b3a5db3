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

func microscopeCommand(c Config) *cobra.Command {
	var before int
	cmd := &cobra.Command{
		Use:   "microscope EVENTS EVENTS | CAPSULE CAPSULE",
		Short: "Find the first event that differs between two runs, and what their clusters held before it",
		Long: `Compare the event lines of two runs (events.jsonl of --events all, from two machines or two versions) and print the first event that
differs, what came right before it in both, and what kind of difference it is: another time, another order, another content, an event that
only one has, or an earlier end. Files with several runs are compared run by run, in their order. Of two capsules the runs are made, their
trails bisected, and the states of all nodes before the first difference compared. Exit code 1 where they differ.`,
		Example: `  vppdrill microscope here/events.jsonl there/events.jsonl
  vppdrill microscope one/one-owner.capsule other/one-owner.capsule`,
		Args: cli.Args(2, 2, "two files of event lines"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if before < 0 {
				return cli.Usagef("microscope: --before %d: at least 0 lines", before)
			}
			if done, err := microscopeCapsules(cmd.Context(), cmd.OutOrStdout(), c, capsuleIn(args[0]), capsuleIn(args[1])); done {
				return err
			}
			var trails [2]*eventReader
			for i, name := range args {
				f, err := os.Open(name)
				if err != nil {
					return cli.BadInput(err)
				}
				defer func() { _ = f.Close() }() // it is only read
				trails[i] = &eventReader{name: name, lines: bufio.NewReaderSize(f, 1<<16)}
			}
			same, err := compareTrails(cmd.OutOrStdout(), trails[0], trails[1], before)
			if err != nil {
				return cli.BadInput(err)
			}
			if !same {
				return cli.Broken(nil)
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&before, "before", 5, "how many common lines before the difference are printed")
	return cmd
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
