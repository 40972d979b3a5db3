package sim

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/vppmodel/view"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Snapshot implements scenarios.World. It looks at live state: it is valid until time moves on.
func (w *World) Snapshot(context.Context) (scenarios.Snapshot, error) {
	s := scenarios.Snapshot{At: w.eng.Now(), Settled: w.quiet() == ""}
	for _, m := range w.order {
		s.Nodes = append(s.Nodes, m.state())
	}
	slices.SortFunc(s.Nodes, func(a, b scenarios.NodeState) int { return cmp.Compare(a.Name, b.Name) })
	return s, nil
}

func (m *machine) state() scenarios.NodeState {
	n := scenarios.NodeState{
		Name: m.name, MachineUp: m.up, AgentUp: m.proc != nil, VPPUp: m.vpp != nil,
		Granted:   m.w.granted[m.name],
		MainTable: m.w.wiring.MainTable, PodTable: m.w.wiring.PodTable, Pods: m.w.sandboxes(m),
	}
	if node, ok := m.w.api.Node(m.name); ok {
		n.UID = node.UID
	}
	if m.up {
		n.Linux = m.host
	}
	if m.vpp != nil {
		n.VPP = view.Of(m.vpp)
	}
	if m.proc == nil {
		return n
	}
	a := m.proc.agent
	facts := a.Node()
	n.ID, n.Address = facts.ID, facts.Address
	if m.w.wiring.Node == mode.NodeVXLAN {
		n.VXLANAddress = facts.VXLAN.Addr()
	}
	if m.w.wiring.Host != mode.HostNone {
		n.HostSubnet, n.HostVPP, n.HostLinux = facts.HostSubnet, facts.HostVPP, facts.HostLinux
	}
	if len(facts.PodSubnets) > 0 {
		n.PodSubnet = facts.PodSubnets[0]
	}
	n.Blocks, n.Reserved = a.Blocks(), a.Reserved()
	n.Leases = func() iter.Seq[ipam.Lease] { return a.Leases() }
	return n
}
