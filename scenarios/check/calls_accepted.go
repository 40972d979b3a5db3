package check

import (
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const callsAcceptedName = "calls-accepted"

// callsAccepted: VPP and Linux refuse none of the agent's calls: an object that it adds is absent, its dependencies are
// present, and an object that it removes is present. An unexplained refusal is a wrong order, a wrong key or a wrong
// assumption, which a retry hides from laws about the final state. These facts explain a refusal:
//
//	a runtime may delete a namespace, and links with it, at any time; but no call names one of an earlier boot
//	links of a VPP that starts or stops disappear with their Linux state; routes disappear with their address
//	a manual change makes the state unknown for the rest of the run
//	a route through a gateway is retried after the gateway's own route is restored or replaced
//
// An injected failure explains no later refusal, because an agent checks the outcome of a call before the next one.
// Injected refusals are not reported as facts. A snapshot has no history.
func callsAccepted() fact.Law {
	return fact.Law{
		Name: callsAcceptedName,
		Rule: "VPP and Linux refuse no call of an agent without a cause from outside.",
		Why: "An agent with a wrong view of its VPP works only as long as retries succeed, and leaves pods without " +
			"network when they do not.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.RefusedCalls, fact.Sandboxes, fact.Disturbances, fact.NodeAddresses},
		Watch: func() fact.Watcher {
			return &acceptWatcher{netns: map[string]map[string]bool{}, gone: map[string]time.Duration{}}
		},
	}
}

// linkLag is how long the agent may believe that links of a deleted namespace exist: until their removal is requested,
// which after a lost DEL is a GC.
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
			return broken(callsAcceptedName, f.At, f.Node,
				"%s: the namespace ended with an earlier boot of %s: check what keeps sandboxes of earlier boots from being "+
					"wired", x.Call, f.Node)
		}
		return nil
	}
	if gone, ever := w.gone[f.Node]; ever && f.At-gone < linkLag && strings.HasPrefix(x.Call, "linux_") &&
		strings.Contains(x.Call, "_del of ") {
		return nil
	}
	if w.byHand || strings.Contains(x.Call, "a route to its gateway") {
		return nil
	}
	return broken(callsAcceptedName, f.At, f.Node,
		"%s: nothing explains the refusal: check the order of the calls before it, and which objects the agent believes to "+
			"exist", x.Call)
}
