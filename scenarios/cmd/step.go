package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
)

// Moment is one event of a run that is about to happen.
type Moment struct {
	Seq    int64
	At     time.Duration
	Parent int64
	Line   string
	State  func() (fact.Snapshot, error)
}

func stepCommand(c Config) *cobra.Command {
	return &cobra.Command{
		Use:   "step CAPSULE",
		Short: "Walk through a capsule's run event by event",
		Long: `Walk through the run of a capsule. It stops before each event and reads a command:

  (nothing), n    go to the next event that changes something; s goes to the very next event
  g EVENT         go to an event's number; b goes to the event that breaks the law
  /TEXT           go to the next event that contains a text
  state [NODE]    print the state of agents, VPPs and Linux, of one node or of all
  law [NAME]      judge this instant, by one law or by all that can
  why             print the event that scheduled this one
  q               quit

Virtual time stands still meanwhile. Commands may come from a pipe.`,
		Example: `  vppdrill debug step out/one-owner.capsule
  echo 'b
  state node-2' | vppdrill debug step out/one-owner.capsule`,
		Args:              cli.Args(1, 1, "one capsule"),
		ValidArgsFunction: completeCapsule,
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.Explorer.Walk == nil {
				return cli.CannotRun(errors.New("this build cannot walk through capsules"))
			}
			capsule, err := inputfile.Read(args[0])
			if err != nil {
				return cli.BadInput(err)
			}
			return newStepper(cmd, c).walk(cmd.Context(), c, capsule)
		},
	}
}

// stepper stands before an event and takes commands.
type stepper struct {
	in   *bufio.Scanner
	out  io.Writer
	laws []fact.Law
	end  func()
	// until is the event at which it stops next, 0 for another reason: text, or every event where all is set.
	until int64
	text  string
	all   bool
	// bad is the event that breaks the law.
	bad   int64
	lines map[int64]string
}

func newStepper(cmd *cobra.Command, c Config) *stepper {
	return &stepper{in: bufio.NewScanner(cmd.InOrStdin()), out: cmd.OutOrStdout(), laws: c.Laws(), lines: map[int64]string{}, all: true}
}

// walk runs the capsule twice: the first run says which event breaks the law.
func (s *stepper) walk(ctx context.Context, c Config, capsule []byte) error {
	o := RunOptions{Laws: s.laws}
	first, err := c.Explorer.Walk(ctx, capsule, o, func(Moment) {})
	if err != nil {
		return cli.BadInput(err)
	}
	if first.Failure != nil {
		s.bad = first.Failure.Event
		fmt.Fprintf(s.out, "%s breaks at event %d of %d: %s\n", first.Failure.Law, s.bad, first.Events, first.Failure.What)
	} else {
		fmt.Fprintf(s.out, "nothing breaks in %d events\n", first.Events)
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	s.end = stop
	r, err := c.Explorer.Walk(inner, capsule, o, func(m Moment) {
		if inner.Err() == nil {
			s.at(m)
		}
	})
	if err != nil {
		return cli.BadInput(err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if inner.Err() == nil {
		fmt.Fprintf(s.out, "the run ends: %s %s\n", r.Verdict, r.Error)
	}
	return nil
}

// at stops before an event where it should, and reads commands until one goes on.
func (s *stepper) at(m Moment) {
	s.lines[m.Seq] = m.Line
	switch {
	case s.until > 0 && m.Seq < s.until, s.text != "" && !strings.Contains(m.Line, s.text),
		s.until == 0 && s.text == "" && !s.all && !notable([]byte(m.Line)) && m.Seq != s.bad:
		return
	}
	s.until, s.text, s.all = 0, "", false
	mark := ""
	if m.Seq == s.bad {
		mark = "  <- breaks the law"
	}
	fmt.Fprintf(s.out, "%d %s %s%s\n", m.Seq, scenarios.FormatDuration(m.At), m.Line, mark)
	for s.in.Scan() {
		if s.command(m, strings.TrimSpace(s.in.Text())) {
			return
		}
	}
	s.end()
}

// command does one command; true: the run goes on.
func (s *stepper) command(m Moment, line string) bool {
	word, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSpace(arg)
	switch {
	case word == "" || word == "n":
		return true
	case word == "s":
		s.all = true
		return true
	case word == "q":
		s.end()
		return true
	case word == "b" && s.bad > m.Seq:
		s.until = s.bad
		return true
	case word == "b":
		fmt.Fprintln(s.out, "no law breaks later on")
	case strings.HasPrefix(line, "/") && len(line) > 1:
		s.text = line[1:]
		return true
	case word == "g":
		n, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || n <= m.Seq {
			fmt.Fprintf(s.out, "%q is no later event\n", arg)
			return false
		}
		s.until = n
		return true
	case word == "why":
		if m.Parent == 0 {
			fmt.Fprintln(s.out, "the run's own timeline scheduled it")
		} else {
			fmt.Fprintf(s.out, "%d %s\n", m.Parent, s.lines[m.Parent])
		}
	case word == "state":
		s.state(m, arg)
	case word == "law":
		s.law(m, arg)
	default:
		fmt.Fprintf(s.out, "%q is not a command%s\n", word, cli.Hint(word, []string{"state", "law", "why", "n", "s", "g", "b", "q"}))
	}
	return false
}

// state prints what a node holds, or all do.
func (s *stepper) state(m Moment, node string) {
	snapshot, err := m.State()
	if err != nil {
		fmt.Fprintln(s.out, cli.FirstLine(err.Error()))
		return
	}
	if _, found := snapshot.Node(node); node != "" && !found {
		fmt.Fprintf(s.out, "there is no node %q now\n", node)
		return
	}
	for _, n := range snapshot.Nodes {
		if node != "" && n.Name != node {
			continue
		}
		for _, line := range n.Lines() {
			fmt.Fprintln(s.out, line)
		}
	}
}

// law prints what laws say of the instant: those that judge snapshots.
func (s *stepper) law(m Moment, name string) {
	snapshot, err := m.State()
	if err != nil {
		fmt.Fprintln(s.out, cli.FirstLine(err.Error()))
		return
	}
	var names []string
	told := false
	for _, l := range s.laws {
		names = append(names, l.Name)
		if name != "" && l.Name != name {
			continue
		}
		told = true
		switch occasions, err := int64(0), error(nil); {
		case l.Check == nil || l.When == fact.Settled && !snapshot.Settled:
			if name != "" {
				fmt.Fprintf(s.out, "%s cannot be judged from a single instant\n", l.Name)
			}
		default:
			if occasions, err = l.Check(snapshot); err != nil {
				fmt.Fprintf(s.out, "%s: broken: %s\n", l.Name, err)
			} else {
				fmt.Fprintf(s.out, "%s: holds, %d occasions\n", l.Name, occasions)
			}
		}
	}
	if !told {
		fmt.Fprintf(s.out, "%q is not a law%s\n", name, cli.Hint(name, names))
	}
}
