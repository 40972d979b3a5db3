package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

const nicsWiredName = "nics-wired"

// nicsWired: a node's additional NICs are up, in the main VRF, with exactly their own addresses. The node's pods reach
// them and those of other nodes in the same network, and get replies.
func nicsWired() fact.Law {
	return fact.Law{
		Name:  nicsWiredName,
		Rule:  "A node's additional NICs are up with exactly their own addresses, and pods reach them.",
		Why:   "A configured NIC that is not wired leaves its network unreachable.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.OtherNICs, fact.Sandboxes, fact.VPPTables, fact.LinuxTables},
		Check: checkNICsWired,
	}
}

func checkNICsWired(s fact.Snapshot) (occasions int64, err error) {
	var w *walk.Walker
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.VPP == nil || n.ID == 0 {
			continue
		}
		for _, nic := range n.OtherNICs {
			occasions++
			if err := nicStands(s, n, nic); err != nil {
				return occasions, err
			}
			if w == nil {
				w = walk.New(s)
			}
			if err := nicReached(s, w, n, nic); err != nil {
				return occasions, err
			}
		}
	}
	return occasions, nil
}

func nicStands(s fact.Snapshot, n *fact.NodeState, nic fact.OtherNIC) error {
	for f := range n.VPP.Interfaces() {
		if f.Name != nic.Name {
			continue
		}
		switch global := slices.DeleteFunc(slices.Clone(f.Addrs),
			func(p netip.Prefix) bool { return p.Addr().IsLinkLocalUnicast() }); {
		case !f.Up:
			return broken(nicsWiredName, s.At, n.Name, "%s is down", nic.Name)
		case f.Table4 != n.MainTable:
			return broken(nicsWiredName, s.At, n.Name, "%s is in table %d, not in the main table", nic.Name, f.Table4)
		case nic.Addr.IsValid() && !slices.Contains(global, nic.Addr):
			return broken(nicsWiredName, s.At, n.Name, "%s does not have %s, but %v", nic.Name, nic.Addr, global)
		case len(global) > 1:
			return broken(nicsWiredName, s.At, n.Name, "%s has other addresses than %s: %v", nic.Name, nic.Addr, global)
		}
		return nil
	}
	return broken(nicsWiredName, s.At, n.Name, "VPP no longer has %s", nic.Name)
}

// nicReached tries one pod of each node with a path there, because all pods of a node share the path.
func nicReached(s fact.Snapshot, w *walk.Walker, n *fact.NodeState, nic fact.OtherNIC) error {
	if !nic.Addr.IsValid() {
		return nil
	}
	for i := range s.Nodes {
		from := &s.Nodes[i]
		beside := slices.ContainsFunc(from.OtherNICs, func(o fact.OtherNIC) bool {
			return o.Addr.IsValid() &&
				o.Addr.Masked() == nic.Addr.Masked()
		})
		if !lives(from) || from.VPP == nil || from.Linux == nil || !(from == n || beside) {
			continue
		}
		p := slices.IndexFunc(from.Pods, func(p fact.PodState) bool { return p.Addr.IsValid() })
		if p < 0 {
			continue
		}
		pod := &from.Pods[p]
		if o := w.Outcome(walk.FromPod(from.Name, pod.Netns), walk.Packet{Dst: nic.Addr.Addr()}); o.Kind != walk.Delivered ||
			!o.VPP || o.Node != n.Name {
			return broken(nicsWiredName, s.At, from.Name, "%s does not reach %s on %s of %s: %s", pod.Pod, nic.Addr.Addr(),
				nic.Name, n.Name, o.Why)
		}
		if o := w.Outcome(walk.FromTable(n.Name, n.MainTable), walk.Packet{Dst: pod.Addr}); !o.To(from.Name, pod.Netns) {
			return broken(nicsWiredName, s.At, n.Name, "the reply of %s to %s does not arrive: %s", nic.Addr.Addr(), pod.Pod,
				o.Why)
		}
	}
	return nil
}
