package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const rangesCountedName = "ranges-counted"

// rangesCounted: a controller that cuts nodes' blocks from ranges counts exactly those blocks as taken that node
// objects show or services reserve.
//
// It is judged in a settled cluster, where the controller has seen every change.
func rangesCounted() fact.Law {
	return fact.Law{
		Name: rangesCountedName,
		Rule: "A controller counts exactly those blocks as taken that node objects show or services reserve.",
		Why: "A block that stays counted after its node has gone is lost until the controller restarts, and a block that " +
			"is not counted is given to a second node.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.RangeCounts},
		Check: checkRangesCounted,
	}
}

func checkRangesCounted(s fact.Snapshot) (occasions int64, err error) {
	if !s.Settled {
		return 0, nil
	}
	for _, r := range s.Ranges {
		occasions++
		if r.Counted == r.Shown {
			continue
		}
		look := "how it handled notifications of departed nodes"
		if r.Counted < r.Shown {
			look = "how it handled the nodes that it was notified of"
		}
		return occasions, broken(rangesCountedName, s.At, r.Program,
			"%s counts %d blocks of %s as taken, but nodes and services have %d: check %s",
			r.Program, r.Counted, r.Range, r.Shown, look)
	}
	return occasions, nil
}
