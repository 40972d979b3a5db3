package check

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

const requestsAnsweredName = "requests-answered"

// requestsAnswered: a CNI request is answered while the runtime waits, where the node is able to; and an ADD whose wiring is refused is
// not given up before its patience is over. Whose fault a missing answer is, is the world's to say: it tells of those that it can vouch
// for.
//
// A snapshot has no history.
func requestsAnswered() scenarios.Law {
	return scenarios.Law{
		Name:  requestsAnsweredName,
		Why:   "A request that hangs holds its pod for minutes, and one that is given up at the first hiccup makes the runtime build a new sandbox for nothing.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Sandboxes, scenarios.Refusals, scenarios.Patience},
		Watch: func() scenarios.Watcher { return &answeredWatcher{since: map[sandboxOf]time.Duration{}} },
	}
}

// sandboxOf is a sandbox on a node.
type sandboxOf struct {
	node  string
	owner ipam.Owner
}

type answeredWatcher struct {
	// since is when an ADD was asked for that has no answer yet.
	since  map[sandboxOf]time.Duration
	checks int64
}

func (w *answeredWatcher) Checks() int64 { return w.checks }

func (w *answeredWatcher) Observe(f *scenarios.Fact) error {
	key := sandboxOf{f.Node, f.Owner}
	switch f.Kind {
	case scenarios.FactAsked:
		if _, open := w.since[key]; !open && f.Text == scenarios.AskedAdd {
			w.since[key] = f.At
		}
	case scenarios.FactAnswered, scenarios.FactSandboxGone:
		w.checks++
		delete(w.since, key)
	case scenarios.FactRefused:
		w.checks++
		since, asked := w.since[key]
		delete(w.since, key)
		if waited := f.At - since; asked && f.Rest > 0 && waited < f.Rest {
			return broken(requestsAnsweredName, f.At, f.Node, "the ADD of %s was refused after %s (%s), and it is to wait %s for its wiring: look at what gives ADDs up",
				f.Owner, waited, f.Text, f.Rest)
		}
	case scenarios.FactAbandoned:
		w.checks++
		return broken(requestsAnsweredName, f.At, f.Node, "the %s of %s had no answer after %s, through which agent and VPP of %s ran and nothing disturbed them: look at what it waits for",
			f.Text, f.Owner, f.Rest, f.Node)
	case scenarios.FactNodeGone:
		for k := range w.since { //vppdrill:unordered each is deleted by itself
			if k.node == f.Node {
				delete(w.since, k)
			}
		}
	}
	return nil
}
