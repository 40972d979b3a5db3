package check

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const addressRestsName = "address-rests"

// addressRests: an address that a pod had and that was released is not leased to another owner on its node before the configured
// rest has passed, whatever happens to the agent in between. Nobody knows an address that was never answered, and its own pod may
// have it back.
//
// The rest is the configuration's reuse delay or cooling period, which facts carry; where there is none the law judges
// nothing. A lease that the restarted agent reads back was never released as far as its journal knows. A snapshot has no history,
// so there is nothing to check in one.
func addressRests() fact.Law {
	return fact.Law{
		Name:    addressRestsName,
		Why:     "Neighbor tables, connection tracking and policies still mean the pod that had the address before: the next one gets its packets and its verdicts.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Leases, fact.Sandboxes, fact.Rests},
		Watch: func() fact.Watcher {
			return &restWatcher{nodes: map[string]map[netip.Addr]rest{}, pods: newSandboxes()}
		},
	}
}

// rest is when an owner released an address and until when it is nobody else's.
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
			v := broken(addressRestsName, f.At, f.Node, "%s goes to %s %s after it was released, and should rest for %s: look at what its rest was measured by, and at clocks that were set",
				x.Addr, x.Owner, f.At-r.since, r.until-r.since)
			v.Before, v.After = x.Addr.String()+": resting", x.Addr.String()+": "+x.Owner.String()
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
