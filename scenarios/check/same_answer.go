package check

import (
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const sameAnswerName = "same-answer"

// sameAnswer: an ADD repeated for a living sandbox is answered as before, and a DEL repeated for one that is gone succeeds as
// before.
//
// A snapshot has no history; there the law says that the agent's leases would answer each sandbox again with the address and
// gateway that it has.
func sameAnswer() fact.Law {
	return fact.Law{
		Name:    sameAnswerName,
		Why:     "The runtime repeats an ADD whose answer it lost; a second answer that differs leaves a pod whose status lies about its address.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Leases, fact.Sandboxes, fact.Refusals},
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
				return occasions, broken(sameAnswerName, s.At, n.Name, "%s was answered %s via %s and would be answered %s via %s now",
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
			return nil // it was no repetition
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
	v := broken(sameAnswerName, f.At, f.Node, "%s was answered %s and then %s", x.Owner, before, x.Addr)
	v.Before, v.After = before.String(), x.Addr.String()
	return v
}
