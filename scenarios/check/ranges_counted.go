package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const rangesCountedName = "ranges-counted"

// rangesCounted: what carves nodes' blocks from ranges counts those as taken that nodes' objects show or services reserve, and no others.
//
// It is judged in a cluster at rest, in which the controller has heard of everything.
func rangesCounted() fact.Law {
	return fact.Law{
		Name:  rangesCountedName,
		Why:   "A block that is counted after its node has gone is lost until somebody restarts the controller, and one that is not counted is given to a second node.",
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
		look := "what it was told of nodes that have gone, and what it did then"
		if r.Counted < r.Shown {
			look = "what it made of the nodes that it was told of"
		}
		return occasions, broken(rangesCountedName, s.At, r.Program, "%s counts %d blocks of %s as taken, and nodes and services have %d: look at %s",
			r.Program, r.Counted, r.Range, r.Shown, look)
	}
	return occasions, nil
}
