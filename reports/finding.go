package reports

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// finding is a run that did not pass, as build servers show it beside the code.
type finding struct {
	// rule is the broken law, or what else is wrong; short and full describe it.
	rule, short, full string
	// text is what happened, replay the command that shows it again.
	text, replay string
	// file is the scenario's, or the run's name where it has none: servers refuse findings without. place is it as a URI.
	file, place string
	// key is the same for the same finding of another run of the job.
	key string
}

// findings are those of a report, in its order.
func findings(r Report) (list []finding) {
	for _, s := range r.Scenarios {
		if s.Verdict == result.Pass || s.Verdict == result.Stopped {
			continue
		}
		f := finding{rule: "not-judged", short: "A run that could not be judged says nothing.", text: s.Error, replay: oneLine(s.Replay)}
		switch {
		case s.Failure != nil:
			f.rule, f.text = s.Failure.Law, s.Failure.What
			if i := slices.IndexFunc(s.Laws, func(l result.LawResult) bool { return l.Name == f.rule }); i >= 0 {
				f.short, f.full = cmp.Or(s.Laws[i].Rule, s.Laws[i].Why), s.Laws[i].Why
			}
		case s.Verdict == result.Fail:
			f.rule, f.short = "expectation", "What a scenario expects beside the laws did not come true."
		}
		f.short, f.full, f.text = oneLine(f.short), oneLine(f.full), oneLine(f.text)
		f.file = filepath.ToSlash(cmp.Or(s.File, s.Scenario))
		f.place = (&url.URL{Path: f.file}).String()
		f.key = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %s %s %d", f.rule, f.file, s.Scenario, s.Seed)))
		list = append(list, f)
	}
	return list
}
