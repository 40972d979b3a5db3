package check

import (
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const callsAcceptedName = "calls-accepted"

// callsAccepted: VPP and Linux refuse nothing that the agent asks of them: what it adds is not there yet and what it needs is, what it
// takes away is there. A refusal that nothing explains is a wrong order, a wrong key or a wrong belief, which trying again hides from laws
// about the end. Causes are facts:
//
//	namespaces go when runtimes please, and links with them; but none of an earlier boot is asked for
//	a VPP that comes or goes takes its links along, and what Linux had put on them; an address that goes takes its routes along
//	what is broken by hand is not as the agent left it, for the rest of the run
//	a route by way of a gateway, whose own route is being put back or is another's, is tried again behind it
//
// What is injected explains nothing else: an agent looks what became of a call before it makes another. A call that was refused by who injects
// is not told. A snapshot has no history.
func callsAccepted() fact.Law {
	return fact.Law{
		Name:  callsAcceptedName,
		Why:   "An agent that believes something wrong about its VPP gets by as long as it may try again, and leaves pods without network where it may not.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.RefusedCalls, fact.Sandboxes, fact.Disturbances, fact.NodeAddresses},
		Watch: func() fact.Watcher {
			return &acceptWatcher{netns: map[string]map[string]bool{}, gone: map[string]time.Duration{}}
		},
	}
}

// linkLag is how long links that went with a namespace may be taken for present: until somebody asks for their removal, which after a loss is
// a GC.
const linkLag = 10 * time.Minute

type acceptWatcher struct {
	// netns are the namespaces of a node's answered sandboxes: true those of an earlier boot.
	netns map[string]map[string]bool
	// gone is when a node's runtime last removed a sandbox, its VPP came or its addresses changed.
	gone   map[string]time.Duration
	byHand bool
	checks int64
}

func (w *acceptWatcher) Checks() int64 { return w.checks }

func (w *acceptWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Answered:
		w.checks++
		if w.netns[f.Node] == nil {
			w.netns[f.Node] = map[string]bool{}
		}
		w.netns[f.Node][x.Netns] = false
	case fact.SandboxGone, fact.Addressed:
		w.gone[f.Node] = f.At
	case fact.NodeGone:
		for netns := range w.netns[f.Node] { //vppdrill:unordered each is set by itself
			w.netns[f.Node][netns] = true
		}
		w.gone[f.Node] = f.At
	case fact.Disturbed:
		w.byHand = w.byHand || x.By == (scenarios.BreakWiring{}).Verb()
		if x.By == fact.VPPUp {
			w.gone[f.Node] = f.At
		}
	case fact.CallRefused:
		return w.refused(f, x)
	}
	return nil
}

func (w *acceptWatcher) refused(f *fact.Fact, x fact.CallRefused) error {
	w.checks++
	if x.Netns != "" {
		if w.netns[f.Node][x.Netns] {
			return broken(callsAcceptedName, f.At, f.Node, "%s: the namespace ended with an earlier boot of %s: look at what keeps sandboxes of earlier boots from being wired", x.Call, f.Node)
		}
		return nil
	}
	if gone, ever := w.gone[f.Node]; ever && f.At-gone < linkLag && strings.HasPrefix(x.Call, "linux_") && strings.Contains(x.Call, "_del of ") {
		return nil
	}
	if w.byHand || strings.Contains(x.Call, "a route to its gateway") {
		return nil
	}
	return broken(callsAcceptedName, f.At, f.Node, "%s: nothing explains the refusal: look at the order of the calls before it, and at what the agent believes to be there", x.Call)
}
