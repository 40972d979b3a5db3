package trace

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// fitQuantiles is how many lives a fitted churn draws from: enough for the many that last seconds and the few that last weeks.
const fitQuantiles = 20

// churnOf learns the churn of recorded pods: as many come as were created while the records last, and each lives as long as one of them.
// Of rows those remain that were there at the start, with their recorded ends. lasts is how long pods come.
func churnOf(rows scenarios.Rows, window, lasts time.Duration) (scenarios.Rows, scenarios.Churn, string) {
	var rest scenarios.Rows
	var observed []observed
	for _, r := range rows {
		if r.Create == scenarios.BeforeStart {
			if r.Delete > lasts { // a row's times lie within the run
				r.Delete = scenarios.AfterEnd
			}
			rest = append(rest, r)
			continue
		}
		observed = append(observed, lifeSeen(r, window))
	}
	if len(observed) == 0 {
		return rest, scenarios.Churn{}, "Churn: no pod was created while the records last."
	}
	every := max(window/time.Duration(len(observed)), time.Millisecond)
	lives := quantiles(observed)
	note := fmt.Sprintf("Churn: %d pods came within %s, so one comes each %s; half of them live %s at most, and a tenth longer than %s.",
		len(observed), scenarios.FormatDuration(window.Round(time.Second)), scenarios.FormatDuration(every.Round(time.Millisecond)),
		scenarios.FormatDuration(lives[fitQuantiles/2-1]), scenarios.FormatDuration(lives[fitQuantiles*9/10-1]))
	return rest, scenarios.Churn{Every: every, Lifetimes: lives, Until: lasts}, note
}

// observed is how long a pod was seen to live, and whether its end was.
type observed struct {
	lasted time.Duration
	ended  bool
}

func lifeSeen(r scenarios.WorkloadPod, window time.Duration) observed {
	if r.Delete == scenarios.AfterEnd {
		return observed{max(0, window-r.Create), false}
	}
	return observed{r.Delete - r.Create, true}
}

// quantiles are as many lives, each as likely, by Kaplan and Meier's estimate: a pod whose end was not seen lived at least that long.
// Lives longer than any that was seen to end are twice the longest observation.
func quantiles(list []observed) []time.Duration {
	slices.SortFunc(list, func(a, b observed) int {
		if a.lasted == b.lasted && a.ended != b.ended { // who was seen to end was there until then
			if a.ended {
				return -1
			}
			return 1
		}
		return int(min(max(a.lasted-b.lasted, -1), 1))
	})
	longest := list[len(list)-1].lasted
	lives := make([]time.Duration, 0, fitQuantiles)
	alive := 1.0
	at := func() float64 { return 1 - (float64(len(lives))+0.5)/fitQuantiles } // the share that lives longer than the next quantile
	for i, o := range list {
		if !o.ended {
			continue
		}
		alive *= 1 - 1/float64(len(list)-i)
		for len(lives) < fitQuantiles && alive <= at()+1e-9 {
			lives = append(lives, max(o.lasted.Round(time.Millisecond), time.Millisecond))
		}
	}
	for len(lives) < fitQuantiles {
		lives = append(lives, time.Duration(math.Max(float64(2*longest.Round(time.Millisecond)), float64(time.Second))))
	}
	return lives
}
