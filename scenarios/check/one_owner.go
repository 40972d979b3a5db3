package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

const oneOwnerName = "one-owner"

// oneOwner: among sandboxes that live and were answered, and apart from that among the books of the agents that run,
// each address occurs once. The two are not held against each other here; books-agree and add-not-forgotten do.
func oneOwner() scenarios.Law {
	return scenarios.Law{
		Name:  oneOwnerName,
		Why:   "Two pods with one address receive each other's traffic, and neither they nor their peers can tell.",
		When:  scenarios.Always,
		Check: checkOneOwner,
		Watch: func() scenarios.Watcher {
			return &ownerWatcher{nodes: map[string]*ownerNode{}, answered: map[netip.Addr]holder{}, leased: map[netip.Addr]holder{}}
		},
	}
}

func checkOneOwner(s scenarios.Snapshot) error {
	type held struct {
		node  string
		owner ipam.Owner
	}
	answered, leased := map[netip.Addr]held{}, map[netip.Addr]held{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) {
			continue
		}
		for _, p := range n.Pods {
			if !p.Addr.IsValid() {
				continue
			}
			if h, taken := answered[p.Addr]; taken {
				return broken(oneOwnerName, s.At, n.Name, "%s was answered to %s on %s and to %s on %s, and both live",
					p.Addr, h.owner, h.node, p.Owner, n.Name)
			}
			answered[p.Addr] = held{n.Name, p.Owner}
		}
		if n.Leases == nil {
			continue
		}
		for l := range n.Leases() {
			if h, taken := leased[l.Addr]; taken {
				return broken(oneOwnerName, s.At, n.Name, "the books give %s to %s on %s and to %s on %s",
					l.Addr, h.owner, h.node, l.Owner, n.Name)
			}
			leased[l.Addr] = held{n.Name, l.Owner}
		}
	}
	return nil
}

// holder is who has an address. It counts only while its node's epoch is the one it was made in, so that a node's death
// or its agent's end costs nothing however much it held.
type holder struct {
	node  *ownerNode
	owner ipam.Owner
	epoch uint32
}

type ownerNode struct {
	name string
	// life ends with the machine, books with the agent's process.
	life, books uint32
	sandboxes   map[ipam.Owner]netip.Addr
}

type ownerWatcher struct {
	nodes            map[string]*ownerNode
	answered, leased map[netip.Addr]holder
	checks           int64
}

func (w *ownerWatcher) Checks() int64 { return w.checks }

func (w *ownerWatcher) Observe(f scenarios.Fact) error {
	switch f.Kind {
	case scenarios.FactAnswered:
		return w.answer(&f)
	case scenarios.FactDeleted, scenarios.FactSandboxGone:
		n := w.node(f.Node)
		if addr, ok := n.sandboxes[f.Owner]; ok {
			delete(n.sandboxes, f.Owner)
			free(w.answered, addr, n, f.Owner)
		}
	case scenarios.FactLeased:
		return w.lease(&f, w.node(f.Node), f.Addr, f.Owner)
	case scenarios.FactReleased:
		free(w.leased, f.Addr, w.node(f.Node), f.Owner)
	case scenarios.FactAgentDown:
		w.node(f.Node).books++
	case scenarios.FactAgentUp:
		n := w.node(f.Node)
		n.books++
		for i := range f.Leases {
			if err := w.lease(&f, n, f.Leases[i].Addr, f.Leases[i].Owner); err != nil {
				return err
			}
		}
	case scenarios.FactNodeGone:
		n := w.node(f.Node)
		n.life++
		n.books++
		clear(n.sandboxes)
	}
	return nil
}

func (w *ownerWatcher) answer(f *scenarios.Fact) error {
	w.checks++
	n := w.node(f.Node)
	if old, ok := n.sandboxes[f.Owner]; ok && old != f.Addr {
		free(w.answered, old, n, f.Owner)
	}
	n.sandboxes[f.Owner] = f.Addr
	h := w.answered[f.Addr]
	w.answered[f.Addr] = holder{n, f.Owner, n.life}
	if h.node == nil || h.epoch != h.node.life || h.node == n && h.owner == f.Owner {
		return nil
	}
	v := broken(oneOwnerName, f.At, n.name, "%s was answered to %s on %s while %s on %s lives with it",
		f.Addr, f.Owner, n.name, h.owner, h.node.name)
	v.Before = f.Addr.String() + ": " + h.node.name + " " + h.owner.String()
	v.After = v.Before + ", " + n.name + " " + f.Owner.String()
	return v
}

func (w *ownerWatcher) lease(f *scenarios.Fact, n *ownerNode, addr netip.Addr, o ipam.Owner) error {
	w.checks++
	h := w.leased[addr]
	w.leased[addr] = holder{n, o, n.books}
	if h.node == nil || h.epoch != h.node.books || h.node == n && h.owner == o {
		return nil
	}
	v := broken(oneOwnerName, f.At, n.name, "the books of %s give %s to %s while those of %s give it to %s",
		n.name, addr, o, h.node.name, h.owner)
	v.Before = addr.String() + ": " + h.node.name + " " + h.owner.String()
	v.After = v.Before + ", " + n.name + " " + o.String()
	return v
}

func (w *ownerWatcher) node(name string) *ownerNode {
	n := w.nodes[name]
	if n == nil {
		n = &ownerNode{name: name, sandboxes: map[ipam.Owner]netip.Addr{}}
		w.nodes[name] = n
	}
	return n
}

// free forgets addr's holder if that is still o on n; somebody else's claim, already reported, stays.
func free(m map[netip.Addr]holder, addr netip.Addr, n *ownerNode, o ipam.Owner) {
	if h, ok := m[addr]; ok && h.node == n && h.owner == o {
		delete(m, addr)
	}
}
