package check

import (
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const sameAnswerName = "same-answer"

// sameAnswer: a repeated ADD for a living sandbox gets the same answer, and a repeated DEL for a deleted sandbox
// succeeds again.
//
// A snapshot has no history. There the law checks that the agent's leases, where a world reports them, would answer each
// sandbox with its present address and gateway.
func sameAnswer() fact.Law {
	return fact.Law{
		Name: sameAnswerName,
		Rule: "A repeated ADD for a living sandbox gets the same answer, and a repeated DEL succeeds again.",
		Why: "The runtime repeats an ADD whose answer it lost; a different second answer leaves a wrong address in the " +
			"pod's status.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Sandboxes, fact.Refusals},
		Check:   checkSameAnswer,
		Watch:   func() fact.Watcher { return &answerWatcher{pods: newSandboxes()} },
	}
}

func checkSameAnswer(s fact.Snapshot) (occasions int64, err error) {
	leases := map[ipam.Owner]ipam.Lease{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil {
			continue
		}
		clear(leases)
		for l := range n.Leases() {
			leases[l.Owner] = l
		}
		for _, p := range n.Pods {
			l, ok := leases[p.Owner]
			if !ok || !p.Addr.IsValid() {
				continue
			}
			occasions++
			if l.Addr != p.Addr || p.Gateway.IsValid() && l.Gateway.IsValid() && l.Gateway != p.Gateway {
				return occasions, broken(sameAnswerName, s.At, n.Name,
					"the ADD of %s was answered with %s via %s, but would now be answered with %s via %s",
					p.Owner, p.Addr, p.Gateway, l.Addr, l.Gateway)
			}
		}
	}
	return occasions, nil
}

type answerWatcher struct {
	pods   sandboxes
	checks int64
}

func (w *answerWatcher) Checks() int64 { return w.checks }

func (w *answerWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Answered:
		return w.answered(f, x)
	case fact.DelRefused:
		w.checks++
		if _, lives := w.pods.address(f.Node, x.Owner); lives {
			return nil // it was not a repeat
		}
		return broken(sameAnswerName, f.At, f.Node, "a repeated DEL of %s was refused: %s", x.Owner, x.Why)
	}
	w.pods.observe(f)
	return nil
}

func (w *answerWatcher) answered(f *fact.Fact, x fact.Answered) error {
	w.checks++
	before, again := w.pods.address(f.Node, x.Owner)
	w.pods.observe(f)
	if !again || before == x.Addr {
		return nil
	}
	v := broken(sameAnswerName, f.At, f.Node, "the ADD of %s was answered with %s and then with %s", x.Owner, before,
		x.Addr)
	v.Before, v.After = before.String(), x.Addr.String()
	return v
}
