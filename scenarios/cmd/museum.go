package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Museum has faults that other projects once had, each with a scenario that holds without and a law that breaks with
// it.
type Museum struct {
	// Exhibits lists them.
	Exhibits func() []Exhibit
	// Known refuses a name that no exhibit has, by a *scenarios.InputError.
	Known func(name string) error
	// Show runs one: without its fault, and with it on up to seeds seeds. An error is a scenario that cannot be run.
	Show func(ctx context.Context, name string, seeds int) (Showing, error)
}

// Exhibit is one fault. Its scenario in the catalogue has its name.
type Exhibit struct {
	Name      string   `json:"name"`
	Incidents []string `json:"incidents"`
	Law       string   `json:"law"`
	Upstream  string   `json:"upstream"`
	Fault     string   `json:"fault"`
}

// Showing is what came of showing one: the run without the fault, and the first with it that broke the law or, when
// none did, the last.
type Showing struct {
	Clean, Planted result.Result
	Caught         bool
}

// checkPlanted refuses a scenario that names a fault that the museum does not have.
func (m Museum) checkPlanted(s *scenarios.Scenario) error {
	if s.Faults.AsItWas == "" || m.Known == nil {
		return nil
	}
	err := m.Known(s.Faults.AsItWas)
	if mistake := (*scenarios.InputError)(nil); errors.As(err, &mistake) {
		return s.Misplaced("faults.asItWas", mistake)
	}
	return err
}

// seedsShown is how many seeds a planted fault gets to be caught.
const seedsShown = 20

func museumCommand(c Config) *cobra.Command {
	var list bool
	seeds, tail := seedsShown, 0
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "museum [NAME...]",
		Short: "Plant faults of other projects and show the law that catches each",
		Long: `Show faults that Contiv, Kubernetes, Cilium, Calico and AWS VPC CNI once had. An exhibit is a scenario of the catalogue that
holds every law, a fault that makes one part behave as upstream's once did, and the law that must break with it. museum
prints the seed and the event at which the law breaks. Exit code 1: an exhibit breaks a law without its fault, or its fault
is not caught.`,
		Example: "  vppdrill debug museum\n  vppdrill debug museum --list\n  vppdrill debug museum two-controllers --tail 20",
		Args:    cli.Args(0, -1, "names of exhibits"),
		RunE: func(cmd *cobra.Command, names []string) error {
			if seeds < 1 || tail < 0 {
				return cli.Usagef("debug museum: --seeds wants at least 1, --tail at least 0")
			}
			chosen, err := c.exhibits(names)
			if err != nil {
				return err
			}
			if list {
				return listExhibits(cmd.OutOrStdout(), format, chosen)
			}
			return c.museum(cmd.Context(), cmd.OutOrStdout(), chosen, seeds, tail, format)
		},
	}
	cmd.ValidArgsFunction = c.completeExhibits
	cmd.Flags().BoolVar(&list, "list", false, "list the exhibits and run nothing")
	cmd.Flags().IntVar(&seeds, "seeds", seeds, "most seeds to try a planted fault with")
	cmd.Flags().IntVar(&tail, "tail", tail, "print this many event lines up to the one that broke the law, at most 40")
	cli.AddFormat(cmd, &format)
	return cmd
}

// exhibits are the named ones, or all, in the museum's order.
func (c Config) exhibits(names []string) ([]Exhibit, error) {
	if c.Museum.Exhibits == nil {
		return nil, cli.CannotRun(fmt.Errorf("this build has no museum"))
	}
	all := c.Museum.Exhibits()
	if len(names) == 0 {
		return all, nil
	}
	known := make([]string, len(all))
	for i, e := range all {
		known[i] = e.Name
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, cli.Usagef("debug museum: no exhibit %q%s", name, cli.Hint(name, known))
		}
	}
	return slices.DeleteFunc(all, func(e Exhibit) bool { return !slices.Contains(names, e.Name) }), nil
}

func listExhibits(w io.Writer, format cli.Format, list []Exhibit) error {
	if format == cli.JSON {
		return json.NewEncoder(w).Encode(struct {
			Exhibits []Exhibit `json:"exhibits"`
		}{list})
	}
	for _, e := range list {
		fmt.Fprintf(w, "%s  %s\n    law       %s\n    upstream  %s\n    fault     %s\n", e.Name, strings.Join(e.Incidents, ", "), e.Law, e.Upstream, e.Fault)
	}
	fmt.Fprintf(w, "%s\n", cli.Counted(len(list), "exhibit"))
	return nil
}

// shown is one exhibit's outcome as JSON.
type shown struct {
	Exhibit
	Clean  ran    `json:"clean"`
	Caught *catch `json:"caught,omitempty"`
}

type ran struct {
	Seed    uint64         `json:"seed"`
	Verdict result.Verdict `json:"verdict"`
	Error   string         `json:"error,omitempty"`
	Events  int64          `json:"events"`
	Digest  string         `json:"digest"`
}

type catch struct {
	Seed      uint64   `json:"seed"`
	Event     int64    `json:"event"`
	AtSeconds float64  `json:"atSeconds"`
	What      string   `json:"what"`
	Line      string   `json:"line"`
	Digest    string   `json:"digest"`
	Tail      []string `json:"tail,omitempty"`
}

// museum shows exhibits one after the other.
func (c Config) museum(ctx context.Context, w io.Writer, list []Exhibit, seeds, tail int, format cli.Format) error {
	var outcomes []shown
	good := 0
	width := 0
	for _, e := range list {
		width = max(width, len(e.Name))
	}
	for _, e := range list {
		s, err := c.Museum.Show(ctx, e.Name, seeds)
		if err != nil {
			return cli.BadInput(fmt.Errorf("debug museum: %s: %w", e.Name, err))
		}
		o := outcome(e, s, tail)
		if o.Caught != nil && o.Clean.Verdict == result.Pass {
			good++
		}
		outcomes = append(outcomes, o)
		if format == cli.Text {
			tellExhibit(w, width, seeds, o)
		}
	}
	if format == cli.JSON {
		if err := json.NewEncoder(w).Encode(struct {
			Exhibits []shown `json:"exhibits"`
			Caught   int     `json:"caught"`
		}{outcomes, good}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(w, "%s: %d caught by their laws and holding without the fault, %d not\n", cli.Counted(len(list), "exhibit"), good, len(list)-good)
		if len(list) > 1 {
			tellLaws(w, outcomes)
		}
	}
	if good < len(list) {
		return cli.Broken(nil)
	}
	return nil
}

func outcome(e Exhibit, s Showing, tail int) shown {
	o := shown{Exhibit: e, Clean: ran{Seed: s.Clean.Seed, Verdict: s.Clean.Verdict, Error: s.Clean.Error, Events: s.Clean.Events, Digest: s.Clean.Digest}}
	if f := s.Clean.Failure; f != nil {
		o.Clean.Error = f.Law + ": " + f.What
	}
	if f := s.Planted.Failure; s.Caught && f != nil {
		o.Caught = &catch{Seed: s.Planted.Seed, Event: f.Event, AtSeconds: f.AtSeconds, What: f.What, Line: f.Line, Digest: s.Planted.Digest}
		o.Caught.Tail = f.Tail[max(0, len(f.Tail)-tail):]
	}
	return o
}

// tellExhibit prints one exhibit's outcome.
func tellExhibit(w io.Writer, width, seeds int, o shown) {
	verdict := "caught"
	if o.Caught == nil || o.Clean.Verdict != result.Pass {
		verdict = "MISSED"
	}
	fmt.Fprintf(w, "%s  %-*s  %s\n", verdict, width, o.Name, strings.Join(o.Incidents, ", "))
	if o.Clean.Verdict == result.Pass {
		fmt.Fprintf(w, "        without  every law holds, seed %d, %d events\n", o.Clean.Seed, o.Clean.Events)
	} else {
		fmt.Fprintf(w, "        without  %s: %s\n", o.Clean.Verdict, o.Clean.Error)
	}
	if o.Caught == nil {
		fmt.Fprintf(w, "        planted  %s holds on %s\n", o.Law, cli.Counted(seeds, "seed"))
		return
	}
	at := time.Duration(o.Caught.AtSeconds * float64(time.Second)).Round(10 * time.Microsecond)
	fmt.Fprintf(w, "        planted  %s breaks at seed %d, event %d, %s: %s\n", o.Law, o.Caught.Seed, o.Caught.Event, at, o.Caught.What)
	for _, line := range o.Caught.Tail {
		fmt.Fprintln(w, "                 "+line)
	}
}

// tellLaws prints how many exhibits each law has caught.
func tellLaws(w io.Writer, outcomes []shown) {
	by := map[string]int{}
	var laws []string
	for _, o := range outcomes {
		if o.Caught == nil {
			continue
		}
		if by[o.Law] == 0 {
			laws = append(laws, o.Law)
		}
		by[o.Law]++
	}
	slices.Sort(laws)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, law := range laws {
		fmt.Fprintf(t, "  %s\t%d\n", law, by[law])
	}
	_ = t.Flush() // w's errors are told by whoever owns it
}
