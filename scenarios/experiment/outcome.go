package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Outcome is what an experiment came to. Its JSON is experiment.json; the names are a promise.
type Outcome struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Scenario string   `json:"scenario"`
	Vary     Axes     `json:"vary,omitempty"`
	Measure  []string `json:"measure"`
	Arms     []string `json:"arms,omitempty"`
	// Points are in the order of the design, those of each arm behind one another.
	Points []*Point `json:"points"`
	// Find is the condition that was looked for, where one was.
	Find   string  `json:"find,omitempty"`
	Found  []Found `json:"found,omitempty"`
	Runs   int     `json:"runs"`
	Failed int     `json:"failed"`
}

// Point is one setting with its runs.
type Point struct {
	// Number counts from 1; its scenario is points/NUMBER.yaml in the folder of results.
	Number int     `json:"number"`
	Arm    string  `json:"arm,omitempty"`
	Values []Value `json:"values"`
	// Estimates are of the figures that are measured, Differences against the first arm's.
	Estimates   []Estimate   `json:"estimates"`
	Differences []Difference `json:"differences,omitempty"`
	// Failed lists the seeds that did not pass, with why.
	Failed []FailedRun `json:"failed,omitempty"`

	Scenario *scenarios.Scenario `json:"-"`
	Runs     []*Run              `json:"-"`
	key      string
	// place is the point's in the design: the same settings of another arm have the same.
	place   int
	results string
}

// FailedRun is a seed that did not pass.
type FailedRun struct {
	Seed    uint64         `json:"seed"`
	Verdict result.Verdict `json:"verdict"`
	Error   string         `json:"error"`
}

// Label is the point's settings in one line.
func (p *Point) Label() string {
	text := p.Arm
	for _, v := range p.Values {
		if text != "" {
			text += " "
		}
		text += v.Field + "=" + v.Text
	}
	if text == "" {
		return "as it is"
	}
	return text
}

// Estimate is the point's of a figure.
func (p *Point) Estimate(metric string) (Estimate, bool) {
	i := slices.IndexFunc(p.Estimates, func(e Estimate) bool { return e.Metric == metric })
	if i < 0 {
		return Estimate{}, false
	}
	return p.Estimates[i], true
}

// Mean is the point's mean of any figure, measured or not; false without a run that has it.
func (p *Point) Mean(metric string) (float64, bool) {
	values := p.values(metric)
	if len(values) == 0 {
		return 0, false
	}
	return mean(values), true
}

// Pair is one setting that was compared with another and nothing more: a change.
type Pair struct {
	Before, After *Point
}

// Line is a figure of both. ok is false where one of them does not have it.
func (p Pair) Line(metric string) (before, after Estimate, d Difference, ok bool) {
	before, has := p.Before.Estimate(metric)
	after, hasToo := p.After.Estimate(metric)
	i := slices.IndexFunc(p.After.Differences, func(d Difference) bool { return d.Metric == metric })
	if !has || !hasToo || i < 0 || before.Runs == 0 || after.Runs == 0 {
		return before, after, d, false
	}
	return before, after, p.After.Differences[i], true
}

// Pair is what an outcome of two points of two arms compares; false for any other.
func (o *Outcome) Pair() (Pair, bool) {
	if len(o.Arms) != 2 || len(o.Points) != 2 || o.Find != "" {
		return Pair{}, false
	}
	return Pair{o.Points[0], o.Points[1]}, true
}

// Plan makes an experiment's points of its scenario: everything that can be wrong with them is found before anything runs.
func (f *File) Plan(s *scenarios.Scenario, version string) (*Outcome, error) {
	design, err := points(f.Design, f.Vary)
	if err != nil {
		return nil, f.wrong("vary", err.Error(), "")
	}
	out := &Outcome{Name: f.Name, Version: version, Scenario: s.Name, Vary: f.Vary, Measure: f.Measure}
	if len(out.Measure) == 0 {
		out.Measure = DefaultMeasure
	}
	arms := f.Against
	for _, a := range arms {
		out.Arms = append(out.Arms, a.Name)
	}
	if len(arms) == 0 {
		arms = Arms{{}}
	}
	for place, values := range design {
		for _, a := range arms {
			set := slices.Concat(a.Values, values)
			scenario, err := With(s, set)
			if err != nil {
				at := "vary"
				if a.Name != "" && len(values) == 0 {
					at = "against"
				}
				return nil, f.wrong(at, fmt.Sprintf("%s: %v", (&Point{Arm: a.Name, Values: values}).Label(), err), "")
			}
			out.Points = append(out.Points, &Point{Number: len(out.Points) + 1, Arm: a.Name, Values: values, Scenario: scenario,
				key: KeyOf(scenario), place: place, results: a.Results})
		}
	}
	if f.Find.Where == "" {
		return out, nil
	}
	field, _ := f.Find.Field()
	out.Find = f.Find.text()
	levels, err := levels(f.Find.Within)
	if err != nil {
		return nil, f.wrong("find.within", err.Error(), "")
	}
	for _, p := range out.Points {
		for _, level := range []string{levels[0], levels[len(levels)-1]} {
			if _, err := With(p.Scenario, []Value{{field, level}}); err != nil {
				return nil, f.wrong("find.within", fmt.Sprintf("%s %s: %v", p.Label(), level, err), "")
			}
		}
	}
	return out, nil
}

// Do runs an experiment that Plan has made.
func (f *File) Do(ctx context.Context, e *Engine, out *Outcome) error {
	if f.Find.Where != "" {
		return f.find(ctx, e, out)
	}
	stored := map[string]map[runKey]*Run{}
	for _, p := range out.Points {
		if p.results != "" && stored[p.results] == nil {
			runs, err := ReadStore(p.results)
			if err != nil {
				return f.wrong("against."+p.Arm, err.Error(), "")
			}
			stored[p.results] = runs
		}
	}
	if err := f.run(ctx, e, out); err != nil {
		return err
	}
	for _, p := range out.Points {
		for seed := range uint64(f.Seeds) {
			if r := stored[p.results][runKey{p.key, seed + 1}]; r != nil {
				p.Runs = append(p.Runs, r)
			}
		}
		if p.results != "" && len(p.Runs) == 0 {
			return f.wrong("against."+p.Arm, fmt.Sprintf("%s has no run of %s", p.results, p.Label()), "")
		}
	}
	out.conclude()
	return nil
}

// run gives each point its seeds, and more as long as Until asks for them.
func (f *File) run(ctx context.Context, e *Engine, out *Outcome) error {
	have := 0
	for want := f.Seeds; want > have; {
		var jobs []job
		var of []*Point
		for _, p := range out.Points {
			if p.results != "" || have > 0 && !f.Until.wants(p) {
				continue
			}
			for seed := len(p.Runs); seed < want; seed++ {
				jobs, of = append(jobs, job{p.Scenario, p.key, uint64(seed + 1)}), append(of, p)
			}
		}
		runs, err := e.do(ctx, jobs)
		if err != nil {
			return err
		}
		for i, r := range runs {
			of[i].Runs = append(of[i].Runs, r)
		}
		have = want
		if f.Until.Metric != "" {
			want = min(have+max(have/2, 4), max(f.Until.most(), f.Seeds))
		}
		if len(jobs) == 0 {
			return nil
		}
	}
	return nil
}

// untilMost is how many seeds a point gets where nobody says.
const untilMost = 200

func (u Until) most() int {
	if u.Most > 0 {
		return u.Most
	}
	return untilMost
}

// wants reports whether a point's figure is not certain enough.
func (u Until) wants(p *Point) bool {
	width, relative, err := u.width()
	if err != nil || u.Metric == "" {
		return false
	}
	e := estimate(u.Metric, p.values(u.Metric))
	if relative {
		width *= max(e.Mean, -e.Mean)
	}
	return e.Few || (e.High-e.Low)/2 > width
}

// values are a figure's in the order of seeds.
func (p *Point) values(metric string) (list []float64) {
	for _, r := range p.Runs {
		if x, ok := r.Figures[metric]; ok {
			list = append(list, x)
		}
	}
	return list
}

// conclude works out estimates and differences.
func (o *Outcome) conclude() {
	first := map[int]*Point{}
	for _, p := range o.Points {
		for _, m := range o.Measure {
			p.Estimates = append(p.Estimates, estimate(m, p.values(m)))
		}
		o.Runs += len(p.Runs)
		for _, r := range p.Runs {
			if r.Verdict != result.Pass {
				p.Failed = append(p.Failed, FailedRun{r.Seed, r.Verdict, r.Error})
			}
		}
		o.Failed += len(p.Failed)
		base := first[p.place]
		if base == nil {
			first[p.place] = p
			continue
		}
		for _, m := range o.Measure {
			a, b := pairs(base, p, m)
			p.Differences = append(p.Differences, differ(m, p.Arm, a, b))
		}
	}
}

// pairs are a figure's values of the seeds that both points have it of.
func pairs(a, b *Point, metric string) (x, y []float64) {
	of := map[uint64]float64{}
	for _, r := range a.Runs {
		if v, ok := r.Figures[metric]; ok {
			of[r.Seed] = v
		}
	}
	for _, r := range b.Runs {
		v, ok := r.Figures[metric]
		before, both := of[r.Seed]
		if ok && both {
			x, y = append(x, before), append(y, v)
		}
	}
	return x, y
}
