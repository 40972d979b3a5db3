package sim

import (
	"cmp"
	"context"
	"iter"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/sim/internal/view"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Snapshot implements result.World. It looks at live state: it is valid until time moves on.
func (w *World) Snapshot(context.Context) (_ fact.Snapshot, err error) {
	if w.fallen {
		return fact.Snapshot{}, scenarios.ErrFallen
	}
	defer w.outlive(&err)
	s := fact.Snapshot{At: w.eng.Now(), Recover: w.outlive, Settled: w.quiet() == "" && !slices.ContainsFunc(w.order, (*machine).stands)}
	for _, m := range w.order {
		s.Nodes = append(s.Nodes, m.state())
	}
	slices.SortFunc(s.Nodes, func(a, b fact.NodeState) int { return cmp.Compare(a.Name, b.Name) })
	if w.soaked {
		s.HeldIDs = w.heldIDs()
	}
	s.Services = w.serviceStates(s.Nodes)
	s.Policies = w.policyState()
	if routed, ok := w.system.(controllers.Routed); ok && s.Settled {
		s.Fabric = routed.Fabric()
	}
	s.FreeBlock = w.cluster.Load().Starved > 0 && w.system.FreeBlock()
	if c, ok := w.system.(controllers.Counter); ok && s.Settled {
		s.Ranges = c.Counts()
	}
	return s, nil
}

// stands reports whether a scenario keeps a VPP from carrying packets on a machine that runs: the cluster is as quiet
// as it gets, and not what laws about settled clusters are for.
func (m *machine) stands() bool { return m.up && (m.lacksVPP() || m.vppPaused) }

func (m *machine) state() fact.NodeState {
	n := &fact.NodeState{
		Name: m.name, MachineUp: m.up, AgentUp: m.proc != nil && !m.proc.paused, VPPUp: m.vpp != nil && !m.vppPaused,
		Assigned: m.w.assigned[m.name], Management: m.management,
		NoOffload: !m.w.wiring.KeepOffload, MainTable: m.w.wiring.MainTable, PodTable: m.w.wiring.PodTable, Pods: m.w.sandboxes(m),
	}
	n.Uplink = m.uplink()
	n.Leased, n.OtherNICs = m.leased(), m.otherNICs()
	if node, ok := m.w.api.Node(m.name); ok {
		n.UID = node.UID
	}
	if k := m.w.cluster.Kubelet(m.name); k != nil {
		n.ByID = !m.w.s.Config.IPAM.Assigned() && !m.w.rearranged
		n.WaitingFor = waitingFor(k)
		if n.Waiting = k.Starved() - len(n.WaitingFor); n.Waiting > 0 && m.proc != nil {
			if _, pooled := m.alloc.(controllers.PooledAllocator); pooled && !m.freeForStarved(k) {
				n.Waiting = 0 // what is free is of other pools
			}
		}
	}
	if m.up {
		n.Linux = m.host
	}
	if n.VPPUp {
		n.VPP = view.Of(m.vpp)
	}
	if !n.AgentUp {
		return *n
	}
	a := m.proc.agent
	facts := a.Node()
	n.ID, n.Address = facts.ID, facts.Address
	if m.w.wiring.Overlay() {
		n.VXLANAddress = facts.VXLAN.Addr()
	}
	n.ServiceRange, n.LoadBalancers = facts.Services, m.proc.loadBalancers
	if m.w.wiring.Interconnected() {
		n.HostSubnet, n.HostVPP, n.HostLinux = facts.HostSubnet, facts.HostVPP, facts.HostLinux
		if facts.Stolen.Has() {
			n.HostLinux = facts.Address.Addr()
		}
	}
	if len(facts.PodSubnets) > 0 {
		n.PodSubnet, n.FormerPodSubnets, n.HostSubnets = facts.PodSubnets[0], facts.PodSubnets[1:], facts.HostSubnets
	}
	n.Second = m.second(facts.Second)
	n.Blocks, n.Reserved = a.Blocks(), a.Reserved()
	n.Blocked = m.blocked(n)
	n.Resting, n.Crowded, n.Misfit = m.resting(), m.crowded(), m.misfit()
	if waiter, ok := m.w.system.(controllers.Waiter); ok {
		n.Resting = append(n.Resting, waiter.Waiting(m.name)...)
	}
	if n.VPPUp {
		n.Settings = m.settings(n)
	}
	n.Leases = func() iter.Seq[ipam.Lease] { return a.Leases() }
	return *n
}

// waitingFor is what a kubelet's pods wait for that ask for addresses.
func waitingFor(k *cluster.Kubelet) (list [][]netip.Addr) {
	if k.Starved() == 0 {
		return nil
	}
	for _, p := range k.StarvedPods() {
		if len(p.Wanted) > 0 {
			list = append(list, p.Wanted)
		}
	}
	return list
}

// second is what a node has of the second family.
func (m *machine) second(facts *mode.Node) *fact.SecondFamily {
	if facts == nil {
		return nil
	}
	s := &fact.SecondFamily{Address: facts.Address, PodSubnet: facts.PodSubnets[0], FormerPodSubnets: facts.PodSubnets[1:], HostSubnets: facts.HostSubnets}
	if m.w.wiring.Overlay() {
		s.VXLANAddress = facts.VXLAN.Addr()
	}
	if m.w.wiring.Interconnected() {
		s.HostSubnet, s.HostVPP, s.HostLinux = facts.HostSubnet, facts.HostVPP, facts.HostLinux
	}
	return s
}

// blocked are the assigned blocks that another node's record keeps the node from.
func (m *machine) blocked(n *fact.NodeState) []netip.Prefix {
	return n.BlockedBy(func(p netip.Prefix) bool {
		for _, item := range m.w.store.Store.Look(nodeid.Prefix) {
			info, err := nodeid.ParseRecord(item.Value)
			if err == nil && (info.Name != n.Name || info.UID != n.UID) && slices.ContainsFunc(info.PodNetworks, p.Overlaps) {
				return true
			}
		}
		return false
	})
}
