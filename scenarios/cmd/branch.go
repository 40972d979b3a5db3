package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
)

// Branch is how a run changes at an event.
type Branch struct {
	At                int64
	Label, Choose, Do string
	Last              bool
	Set               string
}

// Branched are two futures of one run.
type Branched struct {
	At   time.Duration
	Line string
	// Choices are those that are made from the event on, as lines.
	Choices []string
	Changed string
	Before  Future
	After   Future
}

// Future is a run from an event on: its lines with their times.
type Future struct {
	Lines  []FutureLine
	Result result.Result
}

// FutureLine is an event with its time.
type FutureLine struct {
	At   time.Duration
	Line string
}

func branchCommand(c Config) *cobra.Command {
	var b Branch
	var most int
	cmd := &cobra.Command{
		Use:   "branch CAPSULE --at EVENT [--choose [LABEL=]VALUE | --do ACTION | --last] | --set FIELD=VALUE",
		Short: "Change one thing in a capsule's run and show both futures",
		Long: `Run a capsule twice, unchanged and with one change at an event. Print what differs, side by side, until both agree again.
The change is one of

  --choose   a choice that the run makes by chance: which node, how late, whether a fault strikes
  --do       one more action of a timeline, also an injected fault
  --last     the order of events at one instant: the event comes last
  --set      a setting of the scenario, from the start of the run

Without a change branch lists the choices from the event on.`,
		Example: `  vppdrill debug branch out/one-owner.capsule --at 120
  vppdrill debug branch out/one-owner.capsule --at 120 --choose 'timeline kill-vpp 1 node=0'
  vppdrill debug branch out/one-owner.capsule --at 120 --do 'restart-agent node=node-2'
  vppdrill debug branch out/one-owner.capsule --at 120 --last
  vppdrill debug branch out/one-owner.capsule --set config.ipam.podSubnetOneNodePrefixLen=25
  vppdrill debug branch out/one-owner.capsule --at 120 --do 'inject fault="(Nth 1 (Kind persist (Refuse)))" node=node-1'`,
		Args: cli.Args(1, 1, "one capsule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case c.Explorer.Branch == nil:
				return cli.CannotRun(errors.New("this build cannot branch capsules"))
			case b.At < 1 && b.Set == "":
				return cli.Usagef("debug branch: --at wants an event's number, from 1 on")
			case b.At != 0 && b.Set != "":
				return cli.Usagef("debug branch: --set counts from the start and takes no --at")
			case countTrue(b.Choose != "", b.Do != "", b.Last, b.Set != "") > 1:
				return cli.Usagef("debug branch: --choose, --do, --last and --set exclude one another")
			case most < 1:
				return cli.Usagef("debug branch: --most %d: at least 1 line", most)
			}
			capsule, err := inputfile.Read(args[0])
			if err != nil {
				return cli.BadInput(err)
			}
			if i := strings.LastIndexByte(b.Choose, '='); i >= 0 {
				b.Label, b.Choose = b.Choose[:i], b.Choose[i+1:]
			}
			found, err := cli.Promptly(cmd.Context(), func() (Branched, error) {
				return c.Explorer.Branch(cmd.Context(), capsule, RunOptions{Laws: c.Laws()}, b)
			})
			if err != nil {
				return cli.BadInput(err)
			}
			tellBranch(cmd.OutOrStdout(), b, found, most)
			return nil
		},
	}
	cmd.ValidArgsFunction = completeCapsule
	cmd.Flags().Int64Var(&b.At, "at", 0, "event at which the changed run diverges")
	cmd.Flags().StringVar(&b.Choose, "choose", "", "a choice's label and its new value: yes, no, other, or a number")
	cmd.Flags().StringVar(&b.Do, "do", "", "an action to do as well")
	cmd.Flags().BoolVar(&b.Last, "last", false, "let the event come last of its instant")
	cmd.Flags().StringVar(&b.Set, "set", "", "FIELD=VALUE, a setting of the scenario, such as config.ipam.podSubnetOneNodePrefixLen=25")
	cmd.Flags().IntVar(&most, "most", 60, "most differing lines to print")
	return cmd
}

func countTrue(list ...bool) (n int) {
	for _, is := range list {
		if is {
			n++
		}
	}
	return n
}

func tellBranch(w io.Writer, b Branch, f Branched, most int) {
	if b.Set == "" {
		fmt.Fprintf(w, "event %d at %s: %s\n", b.At, scenarios.FormatDuration(f.At), f.Line)
	}
	if f.Changed == "" {
		fmt.Fprintf(w, "from here on the run chooses:\n")
		for _, line := range f.Choices {
			fmt.Fprintln(w, "  "+line)
		}
		return
	}
	fmt.Fprintln(w, f.Changed)
	rows, again := sideBySide(f.Before.Lines, f.After.Lines)
	const width = 78
	fmt.Fprintf(w, "%-*s | %s\n", width, "unchanged", "changed")
	for i, r := range rows {
		if i == most {
			fmt.Fprintf(w, "and %d more lines; --most prints them\n", len(rows)-most)
			break
		}
		fmt.Fprintf(w, "%-*s | %s\n", width, cut(r[0], width), r[1])
	}
	switch {
	case len(rows) == 0:
		fmt.Fprintln(w, "both futures are the same")
	case again != "":
		fmt.Fprintf(w, "they agree again from %s on\n", again)
	default:
		fmt.Fprintln(w, "they never agree again")
	}
	fmt.Fprintf(w, "%-*s | %s\n", width, cut(ending(f.Before.Result), width), ending(f.After.Result))
}

func ending(r result.Result) string {
	return strings.TrimSpace(string(r.Verdict) + " " + r.Error)
}

func cut(text string, width int) string {
	r := []rune(text)
	if len(r) <= width {
		return text
	}
	return string(r[:width-1]) + "…"
}

// sideBySide are the lines that only one of two futures has at a time, in the order of time, and from when on both have
// the same.
func sideBySide(a, b []FutureLine) (rows [][2]string, again string) {
	agreed := true
	for len(a) > 0 || len(b) > 0 {
		at := nextAt(a, b)
		left, right := instant(&a, at), instant(&b, at)
		onlyLeft, onlyRight := fact.LinesWithout(left, right), fact.LinesWithout(right, left)
		same := len(onlyLeft) == 0 && len(onlyRight) == 0
		if same && !agreed {
			again = scenarios.FormatDuration(at)
		}
		agreed = same
		if !same {
			again = ""
		}
		for i := range max(len(onlyLeft), len(onlyRight)) {
			var row [2]string
			for k, list := range [...][]string{onlyLeft, onlyRight} {
				if i < len(list) {
					row[k] = scenarios.FormatDuration(at) + " " + list[i]
				}
			}
			rows = append(rows, row)
		}
	}
	return rows, again
}

func nextAt(a, b []FutureLine) time.Duration {
	switch {
	case len(a) == 0:
		return b[0].At
	case len(b) == 0:
		return a[0].At
	}
	return min(a[0].At, b[0].At)
}

// instant takes the lines of one time off a list.
func instant(list *[]FutureLine, at time.Duration) (lines []string) {
	for len(*list) > 0 && (*list)[0].At == at {
		lines = append(lines, (*list)[0].Line)
		*list = (*list)[1:]
	}
	return lines
}
