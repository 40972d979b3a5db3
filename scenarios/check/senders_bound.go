package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/vppwire"
)

const sendersBoundName = "senders-bound"

// sendersBound: a pod that shares its VPP interface with others cannot spoof. Its packets with another pod's address,
// another pod's MAC, or an unassigned address are dropped at that interface. The interface admits exactly the present
// pods. No pod can redirect packets for another pod by ARP or neighbor discovery.
//
// An interface is shared where pods' links are macvlans of one parent. A frame with both the address and the MAC of
// another pod cannot be told from a genuine one, so it is not judged.
func sendersBound() fact.Law {
	return fact.Law{
		Name:    sendersBoundName,
		Rule:    "No pod can send with another pod's address or MAC through an interface that they share.",
		Why:     "Policies, logs and replies trust the source address: a pod that can choose it can impersonate any other.",
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
			if err := unbound(s, n, senders); err != nil {
				return occasions, err
			}
		}
		if err := admitted(s, n, slices.Concat(families[:]...)); err != nil {
			return occasions, err
		}
	}
	return occasions, nil
}

// sharers are a node's pods with an answered address of a family and a macvlan link.
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

// unassigned4 and unassigned6 are addresses that no pod has (RFC 5737, RFC 3849).
var unassigned4, unassigned6 = netip.AddrFrom4([4]byte{192, 0, 2, 1}), netip.AddrFrom16([16]byte{0: 0x20, 1: 1, 2: 0x0d,
	3: 0xb8, 15: 1})

// lie is the forged source of a pod's packet; a zero MAC is the pod's own.
type lie struct {
	src netip.Addr
	mac vppwire.MAC
	as  string
}

// forges sends a pod's packets with another pod's source, or, if it is alone, with an unassigned one. A single pod
// sends to its gateway, because it reaches itself without leaving its namespace.
func forges(s fact.Snapshot, w *walk.Walker, n *fact.NodeState, p, other *sender) error {
	unassigned := unassigned4
	if p.pod.Addr.Is6() {
		unassigned = unassigned6
	}
	lies, to := []lie{{src: unassigned, as: "from " + unassigned.String()}}, p.pod.Gateway
	if other.pod != p.pod {
		to = other.pod.Addr
		lies = append(lies, lie{src: to, as: "with the address of " + other.pod.Pod},
			lie{p.pod.Addr, other.mac, "with the MAC of " + other.pod.Pod})
	}
	if !to.IsValid() {
		return nil
	}
	for _, l := range lies {
		if out, turnedAway := w.Forged(walk.FromPod(n.Name, p.pod.Netns), l.src, l.mac, to); !turnedAway {
			return broken(sendersBoundName, s.At, n.Name, "%s (%s) sends %s, and the packet is %s", p.pod.Pod, p.pod.Addr, l.as,
				out.Kind)
		}
	}
	return nil
}

// unbound finds pods without a static neighbor in VPP. Packets for such a pod go to any pod that announces its address,
// even from its own MAC and address.
func unbound(s fact.Snapshot, n *fact.NodeState, senders []sender) error {
	if len(senders) == 0 {
		return nil
	}
	static := map[fact.Source]bool{}
	for nb := range n.VPP.Neighbors() {
		static[fact.Source{Addr: nb.Addr, MAC: nb.MAC}] = true
	}
	for _, p := range senders {
		if !static[fact.Source{Addr: p.pod.Addr, MAC: p.mac}] {
			return broken(sendersBoundName, s.At, n.Name,
				"VPP learns the MAC of %s (%s) from announcements: no static neighbor binds it to %s", p.pod.Pod, p.pod.Addr, p.mac)
		}
	}
	return nil
}

// admitted compares the sources that a node's guarded interfaces admit with its pods.
func admitted(s fact.Snapshot, n *fact.NodeState, senders []sender) error {
	known := map[fact.Source]bool{}
	for i := range senders {
		known[fact.Source{Addr: senders[i].pod.Addr, MAC: senders[i].mac}] = true
	}
	for ifc := range n.VPP.Interfaces() {
		if !ifc.Guarded && !ifc.Guarded6 {
			continue
		}
		if src, ok := unknownSource(n, ifc.Index, known); ok {
			return broken(sendersBoundName, s.At, n.Name,
				"interface %s admits packets from %s with MAC %s, which belongs to no pod", ifc.Name, src.Addr, src.MAC)
		}
	}
	return nil
}

// unknownSource is an admitted source that belongs to no known pod, or false.
func unknownSource(n *fact.NodeState, index uint32, known map[fact.Source]bool) (fact.Source, bool) {
	for src := range n.VPP.Sources(index) {
		if !known[src] {
			return src, true
		}
	}
	return fact.Source{}, false
}
