package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const hostReachableName = "host-reachable"

// hostAwayMost is how long a host may be out of reach after its VPP ended, while its agent runs: until an agent has noticed
// a VPP that hangs, 7 s (vppwire/host, pingEvery and pingPatience) or 10 s where a call waits for it (defaultCallTimeout), and has given
// up waiting for it, 5 s (vppwire/agent, stealPatience), with room for what it does then, and for a sender in a lab that tries again.
const hostAwayMost = 20 * time.Second

// hostReachable: a node whose only NIC is taken from its host by an agent's VPP is reached there: others on the wire find
// the host at its addresses, and its answers find them.
//
// Taking the NIC, giving it back, an agent's death at any step and its next life cost no instant. The end of a VPP does,
// until the next one is wired or the host has its NIC back. That time counts while an agent runs: nothing else could end
// it.
//
// A snapshot has no history, so only runs are judged.
func hostReachable() fact.Law {
	return fact.Law{
		Name: hostReachableName,
		Rule: "A host whose NIC VPP takes is reached at its addresses at every instant, but for 20 s after its VPP has ended.",
		Why: "The connection that administrators and the API server have to the node is over this NIC: a node that loses " +
			"it has to be visited. Labs keep real connections with each host and notice what lasts for 2 s.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.HostReaches},
		Watch:   func() fact.Watcher { return &hostWatcher{away: map[string]*away{}} },
	}
}

// away is a host that is out of reach since a time at which its VPP had ended and its agent ran, or not yet.
type away struct {
	fact.HostReach
	since time.Duration
}

type hostWatcher struct {
	// away are hosts that are out of reach, by node.
	away   map[string]*away
	checks int64
}

func (w *hostWatcher) Checks() int64 { return w.checks }

func (w *hostWatcher) Observe(f *fact.Fact) error {
	if err := w.overdue(f.At); err != nil {
		return err
	}
	switch x := f.What.(type) {
	case fact.HostReach:
		w.checks++
		was := w.away[f.Node]
		switch {
		case x.Reached:
			delete(w.away, f.Node)
		case x.VPPLived:
			v := broken(hostReachableName, f.At, f.Node, "the host of %s is out of reach while its VPP lives: %s", f.Node, x.Why)
			v.Way = x.Way
			return v
		case was == nil || x.AgentUp && !was.AgentUp:
			w.away[f.Node] = &away{x, f.At}
		default:
			was.HostReach = x
		}
	case fact.NodeGone:
		delete(w.away, f.Node)
	}
	return nil
}

// overdue is the violation of a host that has been out of reach for too long, the first by name.
func (w *hostWatcher) overdue(now time.Duration) error {
	name := ""
	for node, a := range w.away { //vppdrill:unordered the smallest name
		if a.AgentUp && now-a.since > hostAwayMost && (name == "" || node < name) {
			name = node
		}
	}
	if name == "" {
		return nil
	}
	a := w.away[name]
	delete(w.away, name)
	v := broken(hostReachableName, now, name, "the host of %s has been out of reach for more than %s under a running agent: %s", name, hostAwayMost, a.Why)
	v.Way = a.Way
	return v
}
