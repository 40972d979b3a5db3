package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const addressStableName = "address-stable"

// addressStable: while a sandbox lives with an answered address, the agent leases its owner no other address. The law
// same-answer judges the answers.
func addressStable() fact.Law {
	return fact.Law{
		Name:    addressStableName,
		Rule:    "A living sandbox keeps the address that its ADD was answered with.",
		Why:     "If the address of a living sandbox changes, the pod's connections break and its Service endpoint is dead.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Leases, fact.Sandboxes},
		Check:   checkAddressStable,
		Watch:   func() fact.Watcher { return &stableWatcher{pods: newSandboxes(), leases: newSandboxes()} },
	}
}

func checkAddressStable(s fact.Snapshot) (occasions int64, err error) {
	answered := map[ipam.Owner]netip.Addr{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil {
			continue
		}
		clear(answered)
		for _, p := range n.Pods {
			if p.Addr.IsValid() {
				answered[p.Owner] = p.Addr
			}
		}
		for l := range n.Leases() {
			addr, ok := answered[l.Owner]
			if !ok {
				continue
			}
			occasions++
			if addr != l.Addr {
				return occasions, movedTo(&fact.Fact{At: s.At, Node: n.Name}, l.Owner, addr, l.Addr)
			}
		}
	}
	return occasions, nil
}

func movedTo(f *fact.Fact, o ipam.Owner, answered, leased netip.Addr) error {
	v := broken(addressStableName, f.At, f.Node, "%s lives with %s, but the agent leases it %s", o, answered, leased)
	v.Before, v.After = answered.String(), leased.String()
	return v
}

type stableWatcher struct {
	pods sandboxes
	// leases are those of running agents.
	leases sandboxes
	checks int64
}

func (w *stableWatcher) Checks() int64 { return w.checks }

func (w *stableWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Leased:
		w.leases.set(f.Node, x.Owner, x.Addr)
		return w.compare(f, x.Owner)
	case fact.Released:
		if a, _ := w.leases.address(f.Node, x.Owner); a == x.Addr {
			delete(w.leases.nodes[f.Node], x.Owner)
		}
	case fact.AgentDown:
		delete(w.leases.nodes, f.Node)
	case fact.AgentUp:
		delete(w.leases.nodes, f.Node)
		for i := range x.Leases {
			w.leases.set(f.Node, x.Leases[i].Owner, x.Leases[i].Addr)
		}
		for i := range x.Leases {
			if err := w.compare(f, x.Leases[i].Owner); err != nil {
				return err
			}
		}
	case fact.Answered:
		w.pods.observe(f)
		return w.compare(f, x.Owner)
	case fact.NodeGone:
		delete(w.leases.nodes, f.Node)
		w.pods.observe(f)
	default:
		w.pods.observe(f)
	}
	return nil
}

func (w *stableWatcher) compare(f *fact.Fact, o ipam.Owner) error {
	answered, lives := w.pods.address(f.Node, o)
	leased, held := w.leases.address(f.Node, o)
	if !lives || !held {
		return nil
	}
	w.checks++
	if answered != leased {
		return movedTo(f, o, answered, leased)
	}
	return nil
}
