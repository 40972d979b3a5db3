package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// What a page holds at most. A page of a thousand seeds must still open on a phone; what is cut is said, and
// result.json has all of it.
const (
	detailsMax   = 300 // runs with a section of their own
	overviewMax  = 5000
	pageMax      = 4800 << 10 // bytes: what does not fit is left out, those that passed first
	marksMax     = 400        // marks of one timeline
	tailMax      = 60         // event lines before a failure
	mapNodesMax  = 3          // address maps of a failed run; a run that passed has one
	mapRowsMax   = 48         // addresses of one map
	mapSpansMax  = 900        // held spans of one map of a failed run
	clashesMax   = 20         // stretches with two holders of one address
	kindsMax     = 25         // kinds of failures whose first run is shown in full
	mapSpansPass = 250        // and of one that passed
)

// overview is the page's view of a report: all figures ready to be printed.
type overview struct {
	Version     string
	Environment []labelled
	Counts      Counts
	Headline    string
	// Took is how long the whole command took, or the runs one after the other where the clock was not read.
	Took       string
	Topics     []*topic
	Rows       []row
	RowsCut    int
	Laws       []lawRow
	IdleLaws   []lawRow
	Details    []detail
	DetailsCut int
	// Kinds are those of what failed, in the order of Rows.
	Kinds []failures
	// Incomplete says what is missing of the report, Never names what none of its runs exercised.
	Incomplete string
	Never      []string
}

// failures are the runs of one kind: the first in full, nil where a page has too many, and the others as a list.
type failures struct {
	First  *detail
	Others []row
}

// Title says what the list of the others is.
func (f failures) Title() string {
	if f.First == nil {
		return plural(len(f.Others), "run") + " without a section: " + f.Others[0].Trouble
	}
	return plural(len(f.Others), "more run") + " that failed in the same way"
}

// Place is where and when a run's law broke, in words.
func (r row) Place() string {
	f := r.Result.Failure
	if f == nil {
		return ""
	}
	return "at " + moment(f.AtSeconds) + on(f.Node) + ", event " + thousands(f.Event)
}

// What is a run's failure in a sentence.
func (r row) What() string {
	if f := r.Result.Failure; f != nil {
		return f.What
	}
	return r.Result.Error
}

// labelled is a value with its label.
type labelled struct{ Label, Value string }

// row is one run in the overview table.
type row struct {
	// Number is the run's place in the report, from 1; ID the fragment of its section, empty when it has none.
	Number  int
	ID      string
	Verdict badge
	Result  result.Result
	Checks  int64
	Digest  string
	// Trouble is what went wrong in a few words.
	Trouble string
}

// badge is how a verdict looks: a word and a shape, so that colour is never needed.
type badge struct{ Class, Symbol, Word string }

// lawRow is one law over all runs.
type lawRow struct {
	Name, Rule, Why    string
	Checks, Violations int64
	// Status is the law's over all runs: broken in one is broken, held in one is held.
	Status string
	// Idle: no run held anything to judge.
	Idle   bool
	Broken []row
}

func verdictBadge(v result.Verdict) badge {
	switch v {
	case result.Pass:
		return badge{"pass", "✓", "pass"}
	case result.Fail:
		return badge{"fail", "✗", "fail"}
	case result.Stopped:
		return badge{"error", "–", "stopped"}
	}
	return badge{"error", "!", "error"}
}

func overviewOf(r Report) overview {
	o := overview{Version: r.Version, Environment: environmentFacts(r), Counts: r.Counts(), Headline: headline(r.Counts()), Took: clock(cmp.Or(r.Environment.WallSeconds, r.Counts().WallSeconds))}
	o.Incomplete = oneLine(r.Incomplete)
	if r.Explored == nil && r.Incomplete == "" && len(r.Scenarios) > 0 {
		o.Never = notExercised(r.Scenarios)
	}
	number := map[*result.Result]int{}
	order := make([]*result.Result, len(r.Scenarios))
	for i := range r.Scenarios {
		order[i] = &r.Scenarios[i]
		number[order[i]] = i + 1
	}
	slices.SortStableFunc(order, func(a, b *result.Result) int { return badness(*a) - badness(*b) })
	o.Details = make([]detail, 0, min(len(order), detailsMax)) // kinds point into it
	kinds := map[string]int{}
	for i, s := range order {
		if i >= overviewMax {
			o.RowsCut++
			continue
		}
		one := row{Number: number[s], Verdict: verdictBadge(s.Verdict), Result: *s, Digest: digestShort(s.Digest), Trouble: trouble(*s)}
		for _, l := range s.Laws {
			one.Checks += l.Checks
		}
		kind := s.Kind()
		k, known := kinds[kind]
		if kind != "" && !known {
			k = len(o.Kinds)
			kinds[kind], o.Kinds = k, append(o.Kinds, failures{})
		}
		switch {
		case kind != "" && (known || k >= kindsMax):
			one.ID = fmt.Sprintf("run-%d", one.Number)
			o.Kinds[k].Others = append(o.Kinds[k].Others, one)
		case len(o.Details) < detailsMax:
			one.ID = fmt.Sprintf("run-%d", one.Number)
			o.Details = append(o.Details, detailOf(one, kind != "" && len(o.Details) == 0, s.Verdict == result.Pass && len(order) > wholeMax))
			if kind != "" {
				o.Kinds[k].First = &o.Details[len(o.Details)-1]
			}
		default:
			o.DetailsCut++
		}
		o.Rows = append(o.Rows, one)
	}
	o.group()
	return o
}

// group puts the rows into topics, and adds up their laws.
func (o *overview) group() {
	o.Topics, o.Laws, o.IdleLaws = topicsOf(o.Rows), nil, nil
	for _, l := range lawRows(o.Rows) {
		if l.Idle {
			o.IdleLaws = append(o.IdleLaws, l)
		} else {
			o.Laws = append(o.Laws, l)
		}
	}
}

// drop takes the sections of runs out. Those that failed are listed instead.
func (o *overview) drop(sections map[string]bool) {
	if len(sections) == 0 {
		return
	}
	for i := range o.Kinds {
		if k := &o.Kinds[i]; k.First != nil && sections[k.First.ID] {
			delete(sections, k.First.ID)
			k.First, k.Others = nil, append([]row{k.First.row}, k.Others...)
		}
	}
	for i := range o.Rows {
		if r := &o.Rows[i]; sections[r.ID] {
			r.ID = ""
			o.DetailsCut++
		}
	}
	o.group()
}

// headline is the one sentence to read if no other.
func headline(c Counts) string {
	runs := plural(c.Total(), "run")
	switch {
	case c.Total() == 0:
		return "No scenario ran."
	case c.Pass == c.Total() && c.Total() == 1:
		return "The run passed."
	case c.Pass == c.Total():
		return "All " + runs + " passed."
	case c.Fail == 0:
		return fmt.Sprintf("%d of %s could not be judged.", c.Error, runs)
	case c.Error == 0:
		return fmt.Sprintf("%d of %s failed.", c.Fail, runs)
	}
	return fmt.Sprintf("%d of %s failed, %d could not be judged.", c.Fail, runs, c.Error)
}

// trouble is a run's failure in a few words.
func trouble(s result.Result) string {
	switch {
	case s.Verdict == result.Pass && s.Failure != nil:
		return "broke as expected: " + s.Failure.Law
	case s.Verdict == result.Pass:
		return ""
	case s.Failure != nil:
		return s.Failure.Law
	case len(s.Unsupported) > 0:
		return "unsupported: " + strings.Join(s.Unsupported, ", ")
	}
	return s.Error
}

// lawRows adds up every law over the runs: broken ones first, then as the runs list them.
func lawRows(rows []row) []lawRow {
	var laws []lawRow
	place, ranks := map[string]int{}, map[string]int{}
	for _, row := range rows {
		for _, l := range row.Result.Laws {
			i, ok := place[l.Name]
			if !ok {
				i = len(laws)
				place[l.Name] = i
				laws = append(laws, lawRow{Name: l.Name, Rule: l.Rule, Why: l.Why, Status: l.StatusText()})
			}
			if statusRank(l) > ranks[l.Name] {
				ranks[l.Name], laws[i].Status = statusRank(l), l.StatusText()
			}
			laws[i].Idle = ranks[l.Name] == statusIdle
			laws[i].Checks += l.Checks
			laws[i].Violations += l.Violations
			if l.Violations > 0 && row.Result.Verdict != result.Pass && !has(laws[i].Broken, row.Result.Scenario) {
				laws[i].Broken = append(laws[i].Broken, row)
			}
		}
	}
	slices.SortStableFunc(laws, func(a, b lawRow) int { return min(len(b.Broken), 1) - min(len(a.Broken), 1) })
	return laws
}

// Ranks of a law's statuses: of what several runs say about one law, the highest counts.
const (
	statusNotJudged = iota + 1
	statusIdle
	statusHeld
	statusBroken
)

func statusRank(l result.LawResult) int {
	switch {
	case l.Violations > 0:
		return statusBroken
	case l.Status == result.NotJudgedStatus:
		return statusNotJudged
	case l.Idle():
		return statusIdle
	}
	return statusHeld
}

// has reports whether a scenario is among rows: one link to several seeds of a scenario is enough. A run that passed
// although a law broke had expected it and is not among them.
func has(rows []row, scenario string) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.Result.Scenario == scenario })
}

func environmentFacts(r Report) []labelled {
	e := r.Environment
	facts := []labelled{{"vppdrill", r.Version}, {"Go", e.Go}, {"Platform", e.Platform}}
	if e.CPUs > 0 {
		facts = append(facts, labelled{"Processors", fmt.Sprintf("%d, of which %d used", e.CPUs, e.GOMAXPROCS)})
	}
	if e.Race {
		facts = append(facts, labelled{"Race detector", "on"})
	}
	facts = append(facts, labelled{"Started", e.Started})
	if e.WallSeconds > 0 {
		facts = append(facts, labelled{"Took", clock(e.WallSeconds)})
	}
	facts = append(facts, labelled{"Command", e.Command})
	return slices.DeleteFunc(facts, func(f labelled) bool { return f.Value == "" })
}
