package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const oneOwnerName = "one-owner"

// oneOwner: each address occurs once among living sandboxes whose ADD was answered, and separately once among the
// leases of running agents, where a world reports leases. The law add-not-forgotten compares the two.
//
// A sandbox stops counting when its DEL is answered, or when the agent releases its address after its DEL was asked
// for: the pod's processes end before the runtime sends DEL, and if the answer is lost, the runtime repeats it only
// later. A snapshot does not show requests: in an unsettled one, a sandbox that its node's leases do not name does not
// count.
func oneOwner() fact.Law {
	return fact.Law{
		Name:    oneOwnerName,
		Rule:    "No two pods hold the same address at the same time.",
		Why:     "Two pods with one address receive each other's traffic, and neither they nor their peers can detect it.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Sandboxes},
		Check:   checkOneOwner,
		Watch: func() fact.Watcher {
			return &ownerWatcher{nodes: map[string]*ownerNode{}, answered: map[netip.Addr]holder{},
				leased: map[netip.Addr]holder{}}
		},
	}
}

func checkOneOwner(s fact.Snapshot) (occasions int64, err error) {
	type held struct {
		node  *fact.NodeState
		owner ipam.Owner
	}
	released := func(h held) bool {
		if s.Settled || h.node.Leases == nil {
			return false
		}
		for l := range h.node.Leases() {
			if l.Owner == h.owner {
				return false
			}
		}
		return true
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
			occasions++
			h, taken := answered[p.Addr]
			if taken && released(held{n, p.Owner}) {
				continue
			}
			if taken && !released(h) {
				return occasions, broken(oneOwnerName, s.At, n.Name, "%s was answered to %s on %s and to %s on %s, and both live",
					p.Addr, h.owner, h.node.Name, p.Owner, n.Name)
			}
			answered[p.Addr] = held{n, p.Owner}
		}
		if n.Leases == nil {
			continue
		}
		for l := range n.Leases() {
			occasions++
			if h, taken := leased[l.Addr]; taken {
				return occasions, broken(oneOwnerName, s.At, n.Name, "%s is leased to %s on %s and to %s on %s",
					l.Addr, h.owner, h.node.Name, l.Owner, n.Name)
			}
			leased[l.Addr] = held{n, l.Owner}
		}
	}
	return occasions, nil
}

// holder is the owner of an address. It is valid only in the epoch of its node in which it was made, so that the end of
// a node or agent costs constant time.
type holder struct {
	node  *ownerNode
	owner ipam.Owner
	epoch uint32
}

type ownerNode struct {
	name string
	// life ends with the machine, process with the agent.
	life, process uint32
	sandboxes     map[ipam.Owner]netip.Addr
	// ending holds the sandboxes whose DEL was asked for.
	ending map[ipam.Owner]bool
}

type ownerWatcher struct {
	nodes            map[string]*ownerNode
	answered, leased map[netip.Addr]holder
	checks           int64
}

func (w *ownerWatcher) Checks() int64 { return w.checks }

func (w *ownerWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Answered:
		return w.answer(f, x)
	case fact.Asked:
		n := w.node(f.Node)
		for _, o := range [...]ipam.Owner{x.Owner, x.Owner.Second()} {
			if x.Command == "Del" && n.sandboxes[o].IsValid() {
				n.ending[o] = true
			}
		}
	case fact.Deleted, fact.SandboxGone:
		w.end(w.node(f.Node), fact.OwnerOf(x))
	case fact.Leased:
		return w.lease(f, w.node(f.Node), x.Addr, x.Owner)
	case fact.Released:
		n := w.node(f.Node)
		free(w.leased, x.Addr, n, x.Owner)
		if n.ending[x.Owner] && n.sandboxes[x.Owner] == x.Addr {
			w.end(n, x.Owner)
		}
	case fact.AgentDown:
		w.node(f.Node).process++
	case fact.AgentUp:
		n := w.node(f.Node)
		n.process++
		for i := range x.Leases {
			if err := w.lease(f, n, x.Leases[i].Addr, x.Leases[i].Owner); err != nil {
				return err
			}
		}
		for o := range n.ending { //vppdrill:unordered each by itself
			// The previous process had written this release but not reported it.
			if h := w.leased[n.sandboxes[o]]; h.node != n || h.epoch != n.process || h.owner != o {
				w.end(n, o)
			}
		}
	case fact.NodeGone:
		n := w.node(f.Node)
		n.life++
		n.process++
		clear(n.sandboxes)
		clear(n.ending)
	}
	return nil
}

// end: the sandbox no longer needs its address.
func (w *ownerWatcher) end(n *ownerNode, o ipam.Owner) {
	delete(n.ending, o)
	if addr, ok := n.sandboxes[o]; ok {
		delete(n.sandboxes, o)
		free(w.answered, addr, n, o)
	}
}

func (w *ownerWatcher) answer(f *fact.Fact, x fact.Answered) error {
	w.checks++
	n := w.node(f.Node)
	if old, ok := n.sandboxes[x.Owner]; ok && old != x.Addr {
		free(w.answered, old, n, x.Owner)
	}
	n.sandboxes[x.Owner] = x.Addr
	delete(n.ending, x.Owner)
	h := w.answered[x.Addr]
	w.answered[x.Addr] = holder{n, x.Owner, n.life}
	if h.node == nil || h.epoch != h.node.life || h.node == n && h.owner == x.Owner {
		return nil
	}
	v := broken(oneOwnerName, f.At, n.name, "%s was answered to %s on %s while %s on %s lives with it",
		x.Addr, x.Owner, n.name, h.owner, h.node.name)
	v.Before = x.Addr.String() + ": " + h.node.name + " " + h.owner.String()
	v.After = v.Before + ", " + n.name + " " + x.Owner.String()
	return v
}

func (w *ownerWatcher) lease(f *fact.Fact, n *ownerNode, addr netip.Addr, o ipam.Owner) error {
	w.checks++
	h := w.leased[addr]
	w.leased[addr] = holder{n, o, n.process}
	if h.node == nil || h.epoch != h.node.process || h.node == n && h.owner == o {
		return nil
	}
	v := broken(oneOwnerName, f.At, n.name, "%s leases %s to %s while %s leases it to %s",
		n.name, addr, o, h.node.name, h.owner)
	v.Before = addr.String() + ": " + h.node.name + " " + h.owner.String()
	v.After = v.Before + ", " + n.name + " " + o.String()
	return v
}

func (w *ownerWatcher) node(name string) *ownerNode {
	n := w.nodes[name]
	if n == nil {
		n = &ownerNode{name: name, sandboxes: map[ipam.Owner]netip.Addr{}, ending: map[ipam.Owner]bool{}}
		w.nodes[name] = n
	}
	return n
}

// free forgets addr's holder if that is still o on n. Another owner's claim, already reported, stays.
func free(m map[netip.Addr]holder, addr netip.Addr, n *ownerNode, o ipam.Owner) {
	if h, ok := m[addr]; ok && h.node == n && h.owner == o {
		delete(m, addr)
	}
}
