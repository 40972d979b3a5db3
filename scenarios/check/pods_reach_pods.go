package check

import "github.com/vppdrill/vppdrill/scenarios/fact"

const podsReachPodsName = "pods-reach-pods"

// podsReachPods: real packets of a pod are answered by every other one that pods reach while nothing disturbs them. `vppdrill
// conformance` has a law of this name for clusters. The law reachable walks through tables instead, and needs VPP's.
func podsReachPods() fact.Law {
	return fact.Law{
		Name:    podsReachPodsName,
		Rule:    "Real packets of a pod are answered by every other pod while nothing disturbs either.",
		Why:     "A pod that others do not reach looks healthy to Kubernetes and serves nobody.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Pings},
		Watch:   func() fact.Watcher { return &pingWatcher{} },
	}
}

// pingWatcher counts pings.
type pingWatcher struct{ pings int64 }

func (w *pingWatcher) Checks() int64 { return w.pings }

func (w *pingWatcher) Observe(f *fact.Fact) error {
	x, ok := f.What.(fact.Pinged)
	if !ok {
		return nil
	}
	if w.pings++; x.Failed == "" {
		return nil
	}
	where := "on the same node"
	if x.On != f.Node {
		where = "on " + x.On
	}
	return broken(podsReachPodsName, f.At, f.Node, "%s does not reach %s (%s) %s: %s", x.From, x.To, x.Addr, where, x.Failed)
}
