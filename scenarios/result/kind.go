package result

import (
	"cmp"
	"strings"
)

// Kind says what a run that did not pass has in common with others: the broken law with its cause, or the expectation or
// error, without names, numbers and addresses. It is "" for a run that passed or was stopped.
func (r *Result) Kind() string {
	switch {
	case r.Verdict == Pass || r.Verdict == Stopped:
		return ""
	case r.Failure != nil:
		return r.Failure.Law + ": " + cmp.Or(r.Failure.Cause, nameless(r.Failure.What))
	case len(r.Unsupported) > 0:
		return "unsupported: " + strings.Join(r.Unsupported, " ")
	}
	return string(r.Verdict) + ": " + nameless(r.Error)
}

// Kind is a group of runs that failed in the same way.
type Kind struct {
	// Runs are places in the list that was grouped, ascending. The first is the one to show in full.
	Runs []int
}

// Kinds groups the runs of a list that did not pass, in the order in which each group's first run comes.
func Kinds(list []Result) (kinds []Kind) {
	place := map[string]int{}
	for i := range list {
		name := list[i].Kind()
		if name == "" {
			continue
		}
		k, known := place[name]
		if !known {
			k = len(kinds)
			place[name] = k
			kinds = append(kinds, Kind{})
		}
		kinds[k].Runs = append(kinds[k].Runs, i)
	}
	return kinds
}
