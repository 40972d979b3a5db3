package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/vppwire"
)

const sendersBoundName = "senders-bound"

// sendersBound: a pod that shares its VPP interface with others sends as nobody else. A packet of its with another's address,
// with another's MAC, or with an address that nobody has goes no further than that interface; the interface admits the pods
// that there are and nobody who was; and where VPP sends what is for a pod is nothing that a pod can tell it, by ARP or neighbor
// discovery.
//
// An interface is shared where pods' links are macvlans of one parent. Whoever gives both another's address and its MAC is told
// from it by nothing in the frame, and not judged here.
func sendersBound() fact.Law {
	return fact.Law{
		Name:    sendersBoundName,
		Why:     "Policies, logs and answers go by a packet's source: who can choose it is whoever it likes.",
		When:    fact.Settled,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Sandboxes, fact.VPPTables, fact.LinuxTables},
		Check:   checkSenders,
	}
}

// sender is one pod on a shared interface.
type sender struct {
	pod *fact.PodState
	mac vppwire.MAC
}

func checkSenders(s fact.Snapshot) (occasions int64, err error) {
	var w *walk.Walker
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.VPP == nil || n.Linux == nil {
			continue
		}
		families := [...][]sender{sharers(n, false), sharers(n, true)}
		for _, senders := range families {
			occasions += int64(len(senders))
			for k := range senders {
				if w == nil {
					w = walk.New(s)
				}
				if err := forges(s, w, n, &senders[k], &senders[(k+1)%len(senders)]); err != nil {
					return occasions, err
				}
			}
			if err := told(s, n, senders); err != nil {
				return occasions, err
			}
		}
		if err := admitted(s, n, slices.Concat(families[:]...)); err != nil {
			return occasions, err
		}
	}
	return occasions, nil
}

// sharers are the pods of a node that were answered an address of a family and whose links are macvlans.
func sharers(n *fact.NodeState, ip6 bool) (list []sender) {
	for i := range n.Pods {
		p := &n.Pods[i]
		if !p.Addr.IsValid() || p.Addr.Is6() != ip6 {
			continue
		}
		if l, ok := n.Linux.Link(p.Netns, linkOf(p)); ok && l.Parent != "" {
			list = append(list, sender{pod: p, mac: l.MAC})
		}
	}
	return list
}

// nobody4 and nobody6 are addresses that no pod has (RFC 5737, RFC 3849).
var nobody4, nobody6 = netip.AddrFrom4([4]byte{192, 0, 2, 1}), netip.AddrFrom16([16]byte{0: 0x20, 1: 1, 2: 0x0d, 3: 0xb8, 15: 1})

// lie is what a pod says that it is; a zero MAC is its own.
type lie struct {
	src netip.Addr
	mac vppwire.MAC
	as  string
}

// forges lets a pod send as another one, or where it is alone as nobody. A pod alone reaches itself without leaving its namespace, so it
// sends to its gateway.
func forges(s fact.Snapshot, w *walk.Walker, n *fact.NodeState, p, other *sender) error {
	nobody := nobody4
	if p.pod.Addr.Is6() {
		nobody = nobody6
	}
	lies, to := []lie{{src: nobody, as: "from " + nobody.String()}}, p.pod.Gateway
	if other.pod != p.pod {
		to = other.pod.Addr
		lies = append(lies, lie{src: to, as: "with the address of " + other.pod.Pod}, lie{p.pod.Addr, other.mac, "with the MAC of " + other.pod.Pod})
	}
	if !to.IsValid() {
		return nil
	}
	for _, l := range lies {
		if out, turnedAway := w.Forged(walk.FromPod(n.Name, p.pod.Netns), l.src, l.mac, to); !turnedAway {
			return broken(sendersBoundName, s.At, n.Name, "%s (%s) sends %s, and the packet is %s", p.pod.Pod, p.pod.Addr, l.as, out.Kind)
		}
	}
	return nil
}

// told finds pods that VPP has no static neighbor for. What is not static goes to whoever announces the address, who may do so by
// its own MAC and from its own address.
func told(s fact.Snapshot, n *fact.NodeState, senders []sender) error {
	if len(senders) == 0 {
		return nil
	}
	static := map[fact.Source]bool{}
	for nb := range n.VPP.Neighbors() {
		static[fact.Source{Addr: nb.Addr, MAC: nb.MAC}] = true
	}
	for _, p := range senders {
		if !static[fact.Source{Addr: p.pod.Addr, MAC: p.mac}] {
			return broken(sendersBoundName, s.At, n.Name, "VPP learns by whom %s (%s) is reached: no neighbor binds it to %s", p.pod.Pod, p.pod.Addr, p.mac)
		}
	}
	return nil
}

// admitted holds what a node's guarded interfaces admit against its pods.
func admitted(s fact.Snapshot, n *fact.NodeState, senders []sender) error {
	known := map[fact.Source]bool{}
	for i := range senders {
		known[fact.Source{Addr: senders[i].pod.Addr, MAC: senders[i].mac}] = true
	}
	for ifc := range n.VPP.Interfaces() {
		if !ifc.Guarded && !ifc.Guarded6 {
			continue
		}
		if src, ok := stranger(n, ifc.Index, known); ok {
			return broken(sendersBoundName, s.At, n.Name, "interface %s admits packets from %s by %s, which is no pod's", ifc.Name, src.Addr, src.MAC)
		}
	}
	return nil
}

// stranger is a source that an interface admits and that is not known; false when there is none.
func stranger(n *fact.NodeState, index uint32, known map[fact.Source]bool) (fact.Source, bool) {
	for src := range n.VPP.Sources(index) {
		if !known[src] {
			return src, true
		}
	}
	return fact.Source{}, false
}
