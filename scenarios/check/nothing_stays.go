package check

import (
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const nothingStaysName = "nothing-stays"

// nothingStays: a sandbox that is gone has left nothing on its node, whatever interrupted its ADD or DEL: no file of the
// plugins' or the runtime's state, link, address, route, chain or rule. `vppdrill conformance` has a law of this name for
// clusters, which judges by what they list.
//
// What a node has before its first pod, or keeps after pods that nothing disturbed, is its own. While other pods live,
// only what names a sandbox that is gone is told from theirs.
func nothingStays() fact.Law {
	return fact.Law{
		Name:    nothingStaysName,
		Rule:    "A sandbox that is gone has left no file, link, address, route, chain or rule on its node.",
		Why:     "What each pod leaves adds up: addresses run out, rules slow packets down or match the next pod's.",
		When:    fact.Settled,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Remains},
		Check:   checkNothingStays,
	}
}

func checkNothingStays(s fact.Snapshot) (occasions int64, err error) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) {
			continue
		}
		occasions += int64(n.Removed)
		if len(n.Remains) == 0 {
			continue
		}
		first, more := n.Remains[0], ""
		if len(n.Remains) > 1 {
			more = fmt.Sprintf(", and %d more", len(n.Remains)-1)
		}
		v := broken(nothingStaysName, s.At, n.Name, "%s is left of a pod that is gone%s", first.What, more)
		v.Cause = first.Kind
		return max(occasions, 1), v
	}
	return occasions, nil
}
