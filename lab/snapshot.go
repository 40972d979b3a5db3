package lab

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/configured"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// snapshotTries is how often a snapshot is taken anew because the lab has changed meanwhile.
const snapshotTries = 5

// Snapshot implements result.World. VPP and Linux are dumped only where the lab is quiet before and after: halves of a
// change would be judged otherwise, and laws that look at them ask for quiet anyway.
func (w *World) Snapshot(ctx context.Context) (fact.Snapshot, error) {
	var s fact.Snapshot
	for range snapshotTries {
		quiet := w.quiet(ctx) == ""
		calls := w.calls()
		var err error
		if s, err = w.look(ctx, quiet); err != nil {
			return s, err
		}
		s.Settled = quiet && w.quiet(ctx) == "" && w.calls() == calls
		if s.Settled || !quiet {
			break
		}
	}
	return s, nil
}

// calls counts what all agents have done so far.
func (w *World) calls() int64 {
	sum := int64(0)
	for _, n := range w.inOrder() {
		n.mu.Lock()
		sum += n.last.VPPCalls + n.last.LinuxCalls
		n.mu.Unlock()
	}
	return sum
}

// look takes a snapshot; deep also of dataplanes.
func (w *World) look(ctx context.Context, deep bool) (fact.Snapshot, error) {
	s := fact.Snapshot{At: w.Now()}
	nodes := w.inOrder()
	s.Nodes = make([]fact.NodeState, len(nodes))
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { s.Nodes[i], errs[i] = n.look(ctx, deep) })
	}
	wg.Wait()
	err := errors.Join(errs...)
	starve := false
	for i := range s.Nodes {
		starve = starve || s.Nodes[i].Waiting > 0
	}
	s.FreeBlock = starve && (w.Play.FreeBlock() || w.source.freeBlock())
	s.HeldIDs = w.judged()
	if err == nil {
		err = w.blocked(ctx, s.Nodes)
	}
	slices.SortFunc(s.Nodes, func(a, b fact.NodeState) int { return strings.Compare(a.Name, b.Name) })
	s.Services = w.services.states(s.Nodes)
	s.Policies = w.policyState()
	return s, err
}

// blocked finds the assigned blocks that the record of another node keeps a node from: the store says so, not the
// agent.
func (w *World) blocked(ctx context.Context, nodes []fact.NodeState) error {
	if !slices.ContainsFunc(nodes, func(n fact.NodeState) bool { return len(n.Assigned) > 0 }) {
		return nil
	}
	stored, _, err := w.control.store.All(ctx)
	if err != nil {
		return err
	}
	var records []string
	for key, text := range stored { //vppdrill:unordered it is a question about any of them
		if strings.HasPrefix(key, etcd.StorePrefix+nodeid.Prefix) {
			records = append(records, text)
		}
	}
	for i := range nodes {
		nodes[i].Blocked = HeldByOthers(&nodes[i], slices.Values(records))
	}
	return nil
}

// HeldByOthers are the blocks assigned to a node that the record of another node's ID keeps it from, of all such records.
func HeldByOthers(n *fact.NodeState, records iter.Seq[string]) []netip.Prefix {
	return n.BlockedBy(func(p netip.Prefix) bool {
		for text := range records {
			r, err := nodeid.ParseRecord(text)
			if err == nil && (r.Name != n.Name || r.UID != n.UID) && slices.ContainsFunc(r.PodNetworks, p.Overlaps) {
				return true
			}
		}
		return false
	})
}

// look is one node's part of a snapshot. Pods are listed before the agent's leases: an address that two pods were
// answered one after the other is then leased to the later one.
func (n *node) look(ctx context.Context, deep bool) (fact.NodeState, error) {
	out := fact.NodeState{Name: n.name, UID: n.uid(), MainTable: n.w.agents().MainVRFID, PodTable: n.w.agents().PodVRFID,
		Pods: n.kubelet.sandboxes()}
	wires := n.w.agents()
	wires.ApplyDefaults()
	m := wires.Mode()
	out.MainTable, out.PodTable = m.MainTable, m.PodTable
	out.Waiting, out.WaitingFor = n.kubelet.waiting()
	out.Resting = n.resting()
	out.OtherNICs = n.otherNICs()
	if n.w.scenario().Config.Leases(n.name) {
		out.Leased, _, _ = n.w.dhcp.Leased(n.number)
	}
	if n.w.scenario().Config.Wiring.StealNIC {
		out.Uplink = ManagementDevice
	}
	n.mu.Lock()
	out.Assigned, out.Management = n.assigned, slices.Clone(n.management)
	out.MachineUp, out.VPPUp, out.AgentUp = n.up, n.vpp.proc != nil, n.agent.proc != nil && !n.agent.paused
	n.mu.Unlock()
	if out.AgentUp {
		s, err := n.poll(ctx)
		if err != nil {
			out.AgentUp = false // killed this moment
		} else {
			Claim(&out, &s.State, m)
			out.Resting = append(out.Resting, s.Kept...)
		}
	}
	if !deep {
		return out, nil
	}
	return out, n.dump(ctx, &out)
}

// Claim adds what an agent claims: the node ID that it acts on, what follows from it, its blocks and leases. These are
// claims because laws are about what agents act on; other laws hold them against the sandboxes, the dumps of VPP and
// Linux, and what the API server has said.
func Claim(out *fact.NodeState, s *rest.State, m mode.Config) {
	out.ID, out.Address, out.VXLANAddress = s.ID, s.Address, s.VXLAN
	if m.Interconnected() {
		out.HostSubnet, out.HostVPP, out.HostLinux = s.HostSubnet, s.HostVPP, s.HostLinux
	}
	if n := s.Second; n != nil {
		out.Second = &fact.SecondFamily{Address: n.Address, VXLANAddress: n.VXLAN, HostSubnet: n.HostSubnet, HostVPP: n.HostVPP, HostLinux: n.HostLinux,
			PodSubnet: n.PodSubnet, FormerPodSubnets: n.FormerPodSubnets, HostSubnets: n.HostSubnets}
	}
	out.ServiceRange = s.Services
	out.PodSubnet, out.FormerPodSubnets, out.HostSubnets, out.Blocks, out.Reserved = s.PodSubnet, s.FormerPodSubnets, s.HostSubnets, s.Blocks, s.Reserved
	out.Leases = func() iter.Seq[ipam.Lease] { return slices.Values(s.Leases) }
}

// dump adds the views of VPP and Linux.
func (n *node) dump(ctx context.Context, out *fact.NodeState) error {
	if out.MachineUp {
		pods := make([]string, 0, len(out.Pods))
		for _, p := range out.Pods {
			pods = append(pods, p.Netns)
		}
		l, err := probe.Linux(n.machine.Netns, pods, []string{NICDevice, ManagementDevice})
		if err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		out.Linux = l
	}
	if !out.VPPUp {
		return nil
	}
	c, err := vppproc.Dial(n.machine.VPPDir())
	if err != nil {
		out.VPPUp = false // it died this moment
		return nil
	}
	defer c.Close()
	v, err := probe.VPP(ctx, c, n.w.nicDevices()...)
	if err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	out.VPP = v
	beside, err := probe.Settings(ctx, c)
	if err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	beside.Rearranged = n.w.control.rearranged()
	if adapted, _ := Adapted(n.w.scenario()); out.AgentUp {
		out.Settings = configured.Of(adapted, out, beside)
	}
	out.Crowded, err = Crowded(ctx, c, v)
	return err
}

// Crowded reports whether a VPP has as many AF_PACKET interfaces as one of its version survives.
func Crowded(ctx context.Context, c vppproc.Conn, v fact.VPP) (bool, error) {
	version, err := c.Version(ctx)
	if err != nil {
		return false, err
	}
	most, limited := vppwire.AFPacketRoom(version)
	if !limited {
		return false, nil
	}
	count := 0
	for i := range v.Interfaces() {
		if i.Type == fact.TypeAFPacket || i.Type == fact.TypeNIC {
			count++
		}
	}
	return count >= most, nil
}
