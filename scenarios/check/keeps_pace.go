package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

const keepsPaceName = "keeps-pace"

// paces are how long programs document to leave between one time and the next that they do something by themselves.
var paces = map[string]time.Duration{
	// Cilium's pkg/ipam/crd.go: "ipam-cilium-node-update-rate", 15 s.
	scenarios.PacedStatus: 15 * time.Second,
	// amazon-vpc-cni-k8s, pkg/ipamd/ipamd.go: nodeIPPoolReconcileInterval, 60 s.
	scenarios.PacedLook: time.Minute,
	// The same: decreaseIPPoolInterval, 30 s.
	scenarios.PacedShrink: 30 * time.Second,
	// amazon-vpc-cni-k8s, pkg/ipamd/ipamd.go: an interface is looked for each second, and tried again on the host after 10 s.
	scenarios.PacedAwait: time.Second,
	scenarios.PacedSetUp: 10 * time.Second,
	// vppwire/agent/nodeid: storePatience, the timeout of etcd's own command line client.
	scenarios.PacedStore: 5 * time.Second,
	scenarios.PacedWake:  wakesLeast,
}

// wakesLeast is how long WakesInVain wakes in vain take at the least.
const wakesLeast = time.Second

// lateness is how late a program may do what it is to do as soon as it may, with a moment for a clock that runs too slowly, and what is said of one that is later.
var lateness = map[string]struct {
	most time.Duration
	says string
}{
	// ipamd looks at its pool each 5 s (ipPoolMonitorInterval).
	scenarios.PacedReturn: {5*time.Second + 500*time.Millisecond,
		"the ipamd of %s has had more units than its targets allow, and nothing that keeps it from giving them back, for %s, where it is to look each 5s: look at what says when it does so"},
	scenarios.PacedJoin: {500 * time.Millisecond,
		"the ipamd of %s goes on with an interface on its way %s later than it could have: look at what says when it does so"},
}

// rewrittenLeast is how many records an agent adds at the least before it writes its journal anew: compactSlack of vppwire/agent.
const rewrittenLeast = 64

// keepsPace: what a program does at intervals it does no more often than that, a request to the store is given up only after its time, a journal is written anew only when it has grown, and nobody wakes again and again to find nothing to do. retries-back-off is about what has failed; this one, about what succeeds
// each time and is asked for with every pod.
//
// Nothing is judged over the end of a program's life. A snapshot has no history.
func keepsPace() scenarios.Law {
	return scenarios.Law{
		Name:  keepsPaceName,
		Why:   "A program that writes or asks with every pod what it is to write now and then multiplies the load of the API server by all nodes and pods of the cluster.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Paces},
		Watch: func() scenarios.Watcher { return &paceWatcher{} },
	}
}

type paceWatcher struct{ checks int64 }

func (w *paceWatcher) Checks() int64 { return w.checks }

func (w *paceWatcher) Observe(f *scenarios.Fact) error {
	if f.Kind != scenarios.FactPaced {
		return nil
	}
	if f.Text == scenarios.PacedRewrite {
		w.checks++
		if f.Number < rewrittenLeast {
			return broken(keepsPaceName, f.At, f.Node, "the agent of %s writes its whole journal anew, %d records after it did so last, and is to add %d in between: look at what counts them",
				f.Node, f.Number, rewrittenLeast)
		}
		return nil
	}
	if d, bounded := lateness[f.Text]; bounded {
		w.checks++
		if f.Rest > d.most {
			return broken(keepsPaceName, f.At, f.Node, d.says, f.Node, f.Rest)
		}
		return nil
	}
	least, documented := paces[f.Text]
	if !documented {
		return nil
	}
	w.checks++
	if f.Rest >= least-least/100 { // a machine's clock may run too fast
		return nil
	}
	switch f.Text {
	case scenarios.PacedStore:
		return broken(keepsPaceName, f.At, f.Node, "the agent of %s asks the store for something else %s after a request that has no answer yet, and is to wait %s for one: look at what gives requests up",
			f.Node, f.Rest, least)
	case scenarios.PacedWake:
		return broken(keepsPaceName, f.At, f.Node, "the agent of %s wakes %d times within %s, finds nothing to do and hears of nothing: look at what says when it is to wake next",
			f.Node, scenarios.WakesInVain, f.Rest)
	}
	return broken(keepsPaceName, f.At, f.Node, "the address management of %s does %s %s after the last time, and is to leave %s in between: look at what says when the next one is due",
		f.Node, f.Text, f.Rest, least)
}
