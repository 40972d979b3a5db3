package check

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const addressRestsName = "address-rests"

// addressRests: a released pod address is not leased to another owner on its node before the configured cooldown has
// passed, even across agent restarts. An address that was never answered needs no cooldown, and the same pod may get
// its address back.
//
// Facts carry the cooldown: the configured reuse delay or cooling period. Without one the law judges nothing. A lease
// that the restarted agent reads back was never released as far as its journal knows. A snapshot has no history, so
// only runs are judged.
func addressRests() fact.Law {
	return fact.Law{
		Name: addressRestsName,
		Rule: "A released pod address goes to no other pod of its node before the configured cooldown has passed.",
		Why: "Neighbor tables, connection tracking and policies still refer to the previous pod: a new pod with its " +
			"address gets that pod's packets and policy verdicts.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Leases, fact.Sandboxes, fact.Rests},
		Watch: func() fact.Watcher {
			return &restWatcher{nodes: map[string]map[netip.Addr]rest{}, pods: newSandboxes()}
		},
	}
}

// rest says when an owner released an address, and until when no other owner may have it.
type rest struct {
	owner        ipam.Owner
	since, until time.Duration
}

type restWatcher struct {
	nodes  map[string]map[netip.Addr]rest
	pods   sandboxes
	checks int64
}

func (w *restWatcher) Checks() int64 { return w.checks }

func (w *restWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Released:
		if a, had := w.pods.address(f.Node, x.Owner); x.Rest <= 0 || !had || a != x.Addr {
			return nil
		}
		n := w.nodes[f.Node]
		if n == nil {
			n = map[netip.Addr]rest{}
			w.nodes[f.Node] = n
		}
		n[x.Addr] = rest{x.Owner, f.At, f.At + x.Rest}
	case fact.Leased:
		r, resting := w.nodes[f.Node][x.Addr]
		if !resting {
			return nil
		}
		w.checks++
		delete(w.nodes[f.Node], x.Addr)
		if f.At < r.until && x.Owner != r.owner {
			v := broken(addressRestsName, f.At, f.Node,
				"%s goes to %s %s after it was released, but its cooldown is %s: check which clock measures the cooldown, and "+
					"whether a clock was set",
				x.Addr, x.Owner, f.At-r.since, r.until-r.since)
			v.Before, v.After = x.Addr.String()+": cooling down", x.Addr.String()+": "+x.Owner.String()
			return v
		}
	case fact.AgentUp:
		for i := range x.Leases {
			delete(w.nodes[f.Node], x.Leases[i].Addr)
		}
	case fact.NodeGone:
		delete(w.nodes, f.Node)
		w.pods.observe(f)
	default:
		w.pods.observe(f)
	}
	return nil
}
