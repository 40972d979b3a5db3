package check

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const requestsAnsweredName = "requests-answered"

// requestsAnswered: a CNI request is answered before the runtime's timeout if the node can, and soon if nothing
// disturbs the node. An ADD whose wiring is refused is retried until its deadline. Only the world can say whether the
// agent is to blame for a missing answer: it reports those that it is sure of. An ADD whose namespace is gone, as a
// call has shown, is refused at once, because no retry brings it back.
//
// A snapshot has no history.
func requestsAnswered() fact.Law {
	return fact.Law{
		Name: requestsAnsweredName,
		Rule: "A CNI request is answered before the runtime's timeout, and soon where nothing disturbs the node.",
		Why: "A request that hangs, or waits for a timer without need, delays its pod. A request that fails at the first " +
			"transient error makes the runtime build a new sandbox in vain.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.Sandboxes, fact.Refusals, fact.Patience, fact.RefusedCalls},
		Watch: func() fact.Watcher {
			return &answeredWatcher{open: map[sandboxOf]openAdd{}, netns: map[string]sandboxOf{}}
		},
	}
}

// sandboxOf is a sandbox on a node.
type sandboxOf struct {
	node  string
	owner ipam.Owner
}

// openAdd is an ADD without an answer.
type openAdd struct {
	since time.Duration
	// netns is its namespace, if known; lost is when a call was refused because that is gone, or 0.
	netns string
	lost  time.Duration
}

type answeredWatcher struct {
	open map[sandboxOf]openAdd
	// netns are the namespaces of open ADDs.
	netns  map[string]sandboxOf
	checks int64
}

// lostMost is how long an agent may take to refuse an ADD after a call showed that its namespace is gone.
const lostMost = 5 * time.Second

// slowMost is how long an undisturbed agent may take for a request. 110 pods at once are wired within 0.1 s of the
// simulator's time, and an agent may wait some seconds before it retries a refused call.
const slowMost = 5 * time.Second

// close forgets an ADD.
func (w *answeredWatcher) close(key sandboxOf) {
	delete(w.netns, w.open[key].netns)
	delete(w.open, key)
}

func (w *answeredWatcher) Checks() int64 { return w.checks }

func (w *answeredWatcher) Observe(f *fact.Fact) error {
	key := sandboxOf{f.Node, fact.OwnerOf(f.What)}
	switch x := f.What.(type) {
	case fact.Asked:
		if _, open := w.open[key]; !open && x.Command == fact.AskedAdd {
			w.open[key] = openAdd{since: f.At, netns: x.Netns}
			if x.Netns != "" {
				w.netns[x.Netns] = key
			}
		}
	case fact.CallRefused:
		if key, found := w.netns[x.Netns]; found && key.node == f.Node && x.Calm {
			if add := w.open[key]; add.lost == 0 {
				add.lost = f.At
				w.open[key] = add
			}
		}
	case fact.Answered, fact.SandboxGone:
		w.checks++
		w.close(key)
	case fact.Refused:
		w.checks++
		add, asked := w.open[key]
		w.close(key)
		if add.lost != 0 && x.Wait > 0 && f.At-add.lost > lostMost { // without a Wait the agent may not have had its time
			return broken(requestsAnsweredName, f.At, f.Node,
				"the ADD of %s was refused (%s) only %s after a call had shown that its namespace is gone: check who is notified "+
					"of failed calls",
				x.Owner, x.Why, f.At-add.lost)
		}
		if waited := f.At - add.since; asked && x.Wait > 0 && waited < x.Wait {
			return broken(requestsAnsweredName, f.At, f.Node,
				"the ADD of %s was refused after %s (%s), but it should wait %s for its wiring: check what ends ADDs early",
				x.Owner, waited, x.Why, x.Wait)
		}
	case fact.Slow:
		w.checks++
		if x.Took > slowMost {
			return broken(requestsAnsweredName, f.At, f.Node,
				"the %s of %s was answered after %s, although agent and VPP of %s ran undisturbed: check what it waited for",
				x.Command, x.Owner, x.Took, f.Node)
		}
	case fact.Abandoned:
		w.checks++
		return broken(requestsAnsweredName, f.At, f.Node,
			"the %s of %s had no answer after %s, although agent and VPP of %s ran undisturbed: check what it waits for",
			x.Command, x.Owner, x.Took, f.Node)
	case fact.NodeGone:
		for k := range w.open { //vppdrill:unordered each is deleted by itself
			if k.node == f.Node {
				w.close(k)
			}
		}
	}
	return nil
}
