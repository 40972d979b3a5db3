package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const addNotForgottenName = "add-not-forgotten"

// addNotForgotten: the journal that an agent reads when it starts holds every living sandbox whose ADD was answered.
//
// A sandbox counts as living until its DEL is answered, and the agent releases its address a little earlier. The
// watcher therefore judges nothing about an owner from its release until its next answer. The snapshot check judges
// settled snapshots only, where no DEL is in progress. It finds releases that no DEL asked for.
func addNotForgotten() fact.Law {
	return fact.Law{
		Name:    addNotForgottenName,
		Rule:    "The journal that an agent reads at its start holds every living sandbox whose ADD was answered.",
		Why:     "If the agent forgets an address that a pod uses, it gives that address to the next pod.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Leases, fact.Sandboxes},
		Check:   checkAddNotForgotten,
		Watch: func() fact.Watcher {
			return &forgottenWatcher{pods: newSandboxes(), leases: map[ipam.Owner]netip.Addr{}}
		},
	}
}

func checkAddNotForgotten(s fact.Snapshot) (occasions int64, err error) {
	if !s.Settled {
		return 0, nil
	}
	leases := map[ipam.Owner]netip.Addr{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil {
			continue
		}
		clear(leases)
		for l := range n.Leases() {
			leases[l.Owner] = l.Addr
		}
		for _, p := range n.Pods {
			if !p.Addr.IsValid() {
				continue
			}
			occasions++
			if leases[p.Owner] != p.Addr {
				return occasions, broken(addNotForgottenName, s.At, n.Name,
					"%s lives and its ADD was answered with %s, but the agent's leases do not name it", p.Owner, p.Addr)
			}
		}
	}
	return occasions, nil
}

type forgottenWatcher struct {
	pods sandboxes
	// leases is scratch.
	leases map[ipam.Owner]netip.Addr
	checks int64
}

func (w *forgottenWatcher) Checks() int64 { return w.checks }

func (w *forgottenWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Released:
		delete(w.pods.nodes[f.Node], x.Owner)
	case fact.AgentUp:
		return w.readBack(f, x)
	default:
		w.pods.observe(f)
	}
	return nil
}

// readBack compares the journal with the sandboxes and reports the lowest missing address.
func (w *forgottenWatcher) readBack(f *fact.Fact, x fact.AgentUp) error {
	pods := w.pods.nodes[f.Node]
	if len(pods) == 0 {
		return nil
	}
	clear(w.leases)
	for i := range x.Leases {
		w.leases[x.Leases[i].Owner] = x.Leases[i].Addr
	}
	var lost netip.Addr
	var loser ipam.Owner
	for o, addr := range pods { //vppdrill:unordered the lowest address wins, then the lowest owner
		w.checks++
		if w.leases[o] == addr {
			continue
		}
		if !lost.IsValid() || addr.Less(lost) || addr == lost && o.String() < loser.String() {
			lost, loser = addr, o
		}
	}
	if !lost.IsValid() {
		return nil
	}
	return broken(addNotForgottenName, f.At, f.Node,
		"%s lives and its ADD was answered with %s, but the restarted agent's leases do not name it", loser, lost)
}
