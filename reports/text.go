package reports

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/vppdrill/vppdrill/ipam/noun"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Text writes verdict lines as runs finish. Columns stay where they are however long a figure gets, within reason.
type Text struct {
	w      io.Writer
	name   int
	counts Counts
	// laws are the names of all laws so far, in order; judged those that had something to judge in some run, or could
	// not be judged.
	laws   []string
	judged map[string]bool
	err    error
	// results are what the runs exercised; whole: they are all there is.
	results []result.Result
	whole   bool
	// verbose: laws that a world cannot judge or that had no occasion are named, and what no run exercised; else
	// unjudged counts the first.
	verbose  bool
	unjudged map[string]bool
	// open is the run whose verdict has been printed.
	open string
	// colour: w is a terminal that wants it.
	colour bool
	// quiet: runs that passed are only counted.
	quiet bool
	// kinds are the kinds of failures so far, by name; order has them by their first run.
	kinds map[string]*textKind
	order []*textKind
}

// TextOptions say how much a text report holds. A verbose one also names laws without occasions, what no run exercised,
// and what broke in each run of a kind; a quiet one leaves out runs that passed.
type TextOptions struct{ Verbose, Quiet bool }

// textKind is a kind of failures: its first run, and how many there are.
type textKind struct {
	first string
	what  string
	runs  int
}

// coloured reports whether a writer is a terminal and colour is not turned off (no-color.org).
func coloured(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// verdict is a verdict's word in its colour, as wide as the widest.
func (t *Text) verdict(v result.Verdict) string {
	word := fmt.Sprintf("%-5s", verdictWord(v))
	code, known := map[result.Verdict]int{result.Pass: 32, result.Fail: 31, result.Error: 33}[v]
	if !t.colour || !known {
		return word
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", code, word)
}

// NewText starts a text report; names are the scenarios to come, so that the columns are known before the first ends.
func NewText(w io.Writer, names []string, o TextOptions) *Text {
	t := &Text{w: w, name: 20, judged: map[string]bool{}, unjudged: map[string]bool{}, colour: coloured(w), verbose: o.Verbose, quiet: o.Quiet,
		kinds: map[string]*textKind{}}
	for _, n := range names {
		t.name = max(t.name, min(len(n), 48))
	}
	return t
}

// Open writes what is known of a run before its causes are: its verdict line and what broke. Add writes the rest.
func (t *Text) Open(r result.Result) {
	t.open = runKey(r)
	t.head(r)
}

func runKey(r result.Result) string { return fmt.Sprintf("%s %s %d", r.Scenario, r.World, r.Seed) }

// line writes a run's verdict line.
func (t *Text) line(r result.Result, end string) {
	t.printf("%s  %-*s  %-9s  seed %-6d  %12s events  %9s virtual  %9s wall  %s%s\n", t.verdict(r.Verdict), t.name,
		oneLine(r.Scenario), oneLine(r.World), r.Seed, thousands(r.Events), clock(r.VirtualSeconds), clock(r.WallSeconds), digestShort(r.Digest), end)
}

// head writes a run's verdict line and what broke.
func (t *Text) head(r result.Result) {
	t.line(r, hollow(r))
	t.addExhausted(r.Summary)
	t.addLaws(r)
	if f := r.Failure; f != nil && r.Verdict != result.Pass {
		t.printf("       law     %s%s at %s, event %s\n", oneLine(f.Law), on(f.Node), moment(f.AtSeconds), thousands(f.Event))
		if rule := r.Rule(); rule != "" {
			t.printf("       rule    %s\n", oneLine(rule))
		}
		t.printf("       what    %s\n", oneLine(f.What))
	}
}

// Add writes one run: its verdict line and, unless it passed, what broke and how to see it again. Of the second and later
// runs of a kind of failure it writes the verdict line, with the first run of that kind.
func (t *Text) Add(r result.Result) {
	t.counts.Add(r)
	t.results = append(t.results, result.Result{Exercised: r.Exercised})
	if t.quiet && r.Verdict == result.Pass {
		t.remember(r)
		return
	}
	if t.repeats(r) {
		return
	}
	if t.open != runKey(r) {
		t.head(r)
	}
	t.open = ""
	if r.Verdict == result.Pass {
		return
	}
	if f := r.Failure; f != nil {
		t.chain(f.Chain, "law "+f.Law+" is broken")
		if f.Follows != "" && len(f.Chain) == 0 {
			t.printf("       after   %s\n", oneLine(f.Follows))
		}
		if len(f.Tail) > 1 { // a trail: only worlds that record one have it
			t.printf("       look    %s\n", look(r))
		}
	} else if r.Verdict == result.Stopped {
		t.printf("       asked   %s\n", oneLine(r.Error))
	} else if r.Error != "" {
		t.printf("       error   %s\n", oneLine(r.Error))
		t.unmet(r.Unmet)
	}
	if len(r.Unsupported) > 0 {
		t.printf("       cannot  %s\n", oneLine(strings.Join(r.Unsupported, ", ")))
	}
	if r.Replay != "" {
		t.printf("       replay  %s\n", oneLine(r.Replay))
	}
}

// unmet writes expectations that did not come true.
func (t *Text) unmet(list []result.Unmet) {
	for _, u := range list {
		t.printf("       expect  %s\n", unmetText(u))
		for _, o := range u.Objects {
			t.printf("       differs %s\n", oneLine(o))
		}
		if u.Cut > 0 {
			t.printf("       differs and %s more\n", thousands(u.Cut))
		}
	}
}

// unmetText is an expectation that did not come true: expected, seen, since when.
func unmetText(u result.Unmet) string {
	text := fmt.Sprintf("%s: expected %s, seen %s", oneLine(u.Field), thousands(u.Expected), thousands(u.Seen))
	if u.SinceSeconds >= 0 {
		text += " since " + moment(u.SinceSeconds)
	}
	return text
}

// repeats counts a run that did not pass, and writes it if it is not the first of its kind.
func (t *Text) repeats(r result.Result) bool {
	name := r.Kind()
	if name == "" {
		return false
	}
	k := t.kinds[name]
	if k == nil {
		k = &textKind{first: fmt.Sprintf("%s seed %d", oneLine(r.Scenario), r.Seed), what: "error: " + r.Error, runs: 1}
		if r.Failure != nil {
			k.what = r.Failure.Law + ": " + r.Failure.What
		} else if r.Verdict == result.Fail {
			k.what = "expect: " + r.Error
		}
		t.kinds[name], t.order = k, append(t.order, k)
		return false
	}
	k.runs++
	t.remember(r)
	what := "the same error"
	if r.Failure != nil {
		what = oneLine(r.Failure.Law)
	}
	t.line(r, fmt.Sprintf("  %s as in %s", what, k.first))
	if t.verbose {
		if r.Failure != nil {
			t.printf("       what    %s\n", oneLine(r.Failure.What))
		}
		t.printf("       replay  %s\n", oneLine(r.Replay))
	}
	return true
}

// groups writes the kinds of failures with their counts, where a run was written in one line because of its kind.
func (t *Text) groups() {
	if failed := t.counts.Fail + t.counts.Error; len(t.order) < failed {
		t.printf("%s did not pass, in %s; the first of each is shown in full above:\n", plural(failed, "run"), plural(len(t.order), "way"))
		for _, k := range t.order {
			t.printf("%8s  %s\n%8s  first in %s\n", thousands(k.runs), oneLine(k.what), "", k.first)
		}
	}
}

// chain writes the links of a chain of causes; broken are the words of the last.
func (t *Text) chain(links []result.Link, broken string) {
	for i, l := range links {
		if l.Kind == "broken" {
			l.Text = broken
		}
		t.printf("       %-7s %2d. %9s  event %-8s %s\n", map[bool]string{true: "cause"}[i == 0], i+1, clock(l.AtSeconds), thousands(l.Event), oneLine(l.Text))
	}
}

// hollow is what a verdict leaves out: pods that never got an address, actions that did nothing.
func hollow(r result.Result) string {
	var parts []string
	if s := r.Summary; s.PodsNeverPlaced > 0 && s.PodsCreated > 0 {
		parts = append(parts, fmt.Sprintf("placed %s of %s", thousands(s.PodsCreated-s.PodsNeverPlaced), plural(int(s.PodsCreated), "pod")))
	}
	if n := len(r.DidNothing); n > 0 {
		text := "did nothing: " + oneLine(r.DidNothing[0])
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return ""
	}
	return "  " + strings.Join(parts, "; ")
}

// look says where the events are that led to a failure: whatever shows the run again has its own way to them.
func look(r result.Result) string {
	where := "at the events"
	if r.Failure.Node != "" {
		where += " of " + oneLine(r.Failure.Node)
	}
	where += " up to " + thousands(r.Failure.Event)
	switch {
	case strings.HasPrefix(r.Replay, "vppdrill run "):
		return where + ": the replay with --events all --out DIR writes them to DIR/events.jsonl"
	case strings.HasPrefix(r.Replay, "vppdrill explore "):
		return where + ": explore with --out DIR keeps a capsule, whose replay prints them with --until " + strconv.FormatInt(r.Failure.Event, 10)
	case strings.HasPrefix(r.Replay, "vppdrill debug replay "):
		return where + ": the replay with --until " + strconv.FormatInt(r.Failure.Event, 10) + " prints them"
	}
	return where
}

// addLaws says which laws the run's world could not judge, of a run that passed only in a verbose report.
func (t *Text) addLaws(r result.Result) {
	t.remember(r)
	for _, l := range r.Laws {
		if l.Status == result.NotJudgedStatus && len(l.Missing) > 0 && (t.verbose || r.Verdict != result.Pass) {
			t.printf("       law     %s %s\n", oneLine(l.Name), oneLine(l.StatusText()))
		}
	}
}

// remember notes which laws found something to judge, and which could not be judged.
func (t *Text) remember(r result.Result) {
	for _, l := range r.Laws {
		if !slices.Contains(t.laws, l.Name) {
			t.laws = append(t.laws, l.Name)
		}
		t.judged[l.Name] = t.judged[l.Name] || !l.Idle()
		if l.Status == result.NotJudgedStatus && len(l.Missing) > 0 {
			t.unjudged[l.Name] = true
		}
	}
}

// idle lists the laws that held in every run and found nothing to judge in any.
func (t *Text) idle() (names []string) {
	for _, name := range t.laws {
		if !t.judged[name] {
			names = append(names, oneLine(name))
		}
	}
	return names
}

// exhaustedMost is how many nodes that ran out of addresses are named; the report has them all.
const exhaustedMost = 5

// addExhausted says which nodes ran out of addresses when: a result, whatever the verdict.
func (t *Text) addExhausted(s result.Summary) {
	for i, n := range s.Exhausted {
		if i == exhaustedMost {
			t.printf("       full    and %s more\n", plural(len(s.Exhausted)-i, "node"))
			break
		}
		t.printf("       full    %s\n", ranOut(n))
	}
	if s.PodsWaited > 0 {
		t.printf("       waited  %s for an address, longest %s\n", plural(int(s.PodsWaited), "pod"), clock(s.LongestWaitSeconds))
	}
	if s.PodsNeverPlaced > 0 {
		t.printf("       never   placed %s: %s\n", plural(int(s.PodsNeverPlaced), "pod"), neverPlaced(s))
	}
}

// neverPlaced says why pods never got an address.
func neverPlaced(s result.Summary) string {
	var why []string
	for _, x := range [...]struct {
		pods int64
		what string
	}{{s.PodsUnscheduled, "without a node"}, {s.PodsWaiting, "still waiting"}, {s.PodsRefused, "refused"}, {s.PodsNeverAnswered, "never answered"}} {
		if x.pods > 0 {
			why = append(why, thousands(x.pods)+" "+x.what)
		}
	}
	return strings.Join(why, ", ")
}

// ranOut is one node's shortage as a sentence.
func ranOut(n result.RanOut) string {
	return fmt.Sprintf("%s had no free address at %s: %s waited, together %s", oneLine(n.Node), moment(n.AtSeconds), plural(int(n.PodsWaited), "pod"), clock(n.WaitSeconds))
}

// Whole says that the runs so far are complete: Close then names what none of them exercised, in a verbose report.
func (t *Text) Whole() { t.whole = true }

// notExercised names what none of some runs came by.
func notExercised(results []result.Result) (names []string) {
	for _, e := range result.NotExercised(result.Exercises(), results) {
		names = append(names, e.Name)
	}
	return names
}

// Close writes the summary line and returns the first error of writing.
func (t *Text) Close() error {
	c := t.counts
	t.groups()
	if names := t.idle(); t.verbose && len(names) > 0 {
		t.printf("held, 0 occasions: %s\n", strings.Join(names, ", "))
	}
	if names := notExercised(t.results); t.verbose && t.whole && len(t.results) > 0 && len(names) > 0 {
		t.printf("not exercised: %s\n", strings.Join(names, ", "))
	}
	t.printf("%s: %d passed, %d failed, %d could not be judged%s; %s events, %s law checks, %s virtual, %s wall%s\n",
		plural(c.Total(), "run"), c.Pass, c.Fail, c.Error, map[bool]string{true: fmt.Sprintf(", %d stopped as asked", c.Stopped)}[c.Stopped > 0], thousands(c.Events), thousands(c.Checks), clock(c.VirtualSeconds), clock(c.WallSeconds), t.hidden())
	return t.err
}

// hidden is how many laws could not be judged, where they are not named.
func (t *Text) hidden() string {
	if n := len(t.unjudged); n > 0 && !t.verbose {
		return fmt.Sprintf("; %s not judged here (-v names them)", plural(n, "law"))
	}
	return ""
}

func (t *Text) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// verdictWord is a verdict that differs from the others without colour and found by eye in a long list.
func verdictWord(v result.Verdict) string {
	switch v {
	case result.Pass:
		return "pass"
	case result.Fail:
		return "FAIL"
	case result.Stopped:
		return "stop"
	}
	return "ERROR"
}

// plural is a count with its noun.
func plural(n int, what string) string { return thousands(n) + " " + noun.Of(n, what) }
