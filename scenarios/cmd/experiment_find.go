package cmd

import (
	"fmt"
	"io"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/experiment"
)

// tellLimits says before a search what it takes at most.
func tellLimits(w io.Writer, file *experiment.File, points int) {
	tried, of, seeds := file.Limits()
	if tried == 0 {
		return
	}
	at := ""
	if points > 1 {
		at = fmt.Sprintf(" at each of %d points", points)
	}
	fmt.Fprintf(w, "vppdrill: the search tries at most %d of %d levels%s with at most %d seeds each, %d runs in all\n", tried, of, at, seeds, points*tried*seeds)
}

// follow is a search's line of progress: what is known, the level under way, and what may still come at most.
func follow(e *experiment.Engine, file *experiment.File, points int) func(elapsed time.Duration, done float64) string {
	var now atomic.Pointer[experiment.Search]
	tried, _, seeds := file.Limits()
	field, _ := file.Find.Field()
	e.Searching = func(s experiment.Search) { now.Store(&s) }
	return func(elapsed time.Duration, done float64) string {
		s := now.Load()
		if s == nil {
			return " done, the search begins"
		}
		text := " done"
		if points > 1 {
			text += fmt.Sprintf(", point %d of %d", s.Point.Number, points)
		}
		text += fmt.Sprintf(", %s=%s holds in %d of %d", field, s.Level.Level, s.Level.Held, s.Level.Runs)
		if known := bracket(s.Holds, s.Fails); known != "" {
			text += ", " + known
		}
		runs := s.Most - s.Level.Runs + s.Left*s.Most + (points-s.Point.Number)*tried*seeds
		return text + fmt.Sprintf(", at most %d more levels and %d more runs", s.Left, runs) + pace(done, 0, elapsed)
	}
}

// bracket is what is known of where a condition ends.
func bracket(holds, fails string) string {
	switch {
	case holds != "" && fails != "":
		return fmt.Sprintf("known to hold at %s and not at %s", holds, fails)
	case holds != "":
		return "known to hold at " + holds
	case fails != "":
		return "known not to hold at " + fails
	}
	return ""
}

// tellInterrupted prints what a search that did not end knows.
func tellInterrupted(w io.Writer, out *experiment.Outcome) {
	for _, f := range out.Found {
		known := bracket(f.Level, f.Next)
		switch {
		case known == "":
			known = "nothing known yet"
		case !f.Interrupted:
			known = fmt.Sprintf("holds up to %s, not at %s", f.Level, f.Next)
		}
		fmt.Fprintf(w, "vppdrill: %s: %s\n", out.Points[f.Point-1].Label(), known)
		if !f.Interrupted {
			continue
		}
		for _, t := range f.Tried {
			fmt.Fprintf(w, "  %s: %d of %d runs\n", t.Level, t.Held, t.Runs)
		}
	}
}

// tellFound prints what was found at each point.
func tellFound(w io.Writer, out *experiment.Outcome) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\n\n", out.Find)
	fmt.Fprintln(t, "point\tholds up to\tnot at\truns there\tshare\tinterval")
	for _, f := range out.Found {
		for _, x := range f.Tried {
			if x.Level == f.Level {
				fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.3g\t%.3g to %.3g\n", out.Points[f.Point-1].Label(), f.Level, f.Next, x.Runs, float64(x.Held)/float64(x.Runs), x.Low, x.High)
			}
		}
	}
	return t.Flush()
}
