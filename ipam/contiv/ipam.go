package contiv

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// IPAM is the allocator under the names and with the behaviour of contiv/vpp's plugins/ipam. Before the first
// successful Resync getters return zero values and allocation fails. A failed Resync leaves everything as it was.
type IPAM struct {
	Deps

	reuseDelay time.Duration
	overlap    bool
	state      state
}

// API is what other plugins use of an IPAM.
type API interface {
	NodeIPAddress(nodeID uint32) (netip.Addr, netip.Prefix, error)
	VxlanIPAddress(nodeID uint32) (netip.Addr, netip.Prefix, error)
	HostInterconnectIPInVPP() netip.Addr
	HostInterconnectIPInLinux() netip.Addr
	HostInterconnectSubnetThisNode() netip.Prefix
	HostInterconnectSubnetAllNodes() netip.Prefix
	HostInterconnectSubnetOtherNode(nodeID uint32) (netip.Prefix, error)
	PodSubnetAllNodes() netip.Prefix
	PodSubnetThisNode() netip.Prefix
	PodSubnetOtherNode(nodeID uint32) (netip.Prefix, error)
	ServiceNetwork() netip.Prefix
	PodGatewayIP() netip.Addr
	NatLoopbackIP() netip.Addr
	AllocatePodIP(podID PodID, ipamType, ipamData string) (netip.Addr, error)
	GetPodIP(podID PodID) netip.Prefix
	ReleasePodIP(podID PodID) error
	NodeIDFromPodIP(podIP netip.Addr) (uint32, error)
}

var _ API = (*IPAM)(nil)

// state is what a resync replaces as a whole.
type state struct {
	plan     Plan
	srv6     SRv6Ranges
	pods     netip.Prefix // of this node
	hostLink netip.Prefix // of this node
	alloc    *Allocator   // nil before the first resync
	// aside are addresses that pods have and the allocator never gives: reserved ones that a resync found, and external
	// ones outside of the node's block.
	aside map[PodID]netip.Addr
}

// NewPlugin returns an IPAM that waits for its first Resync.
func NewPlugin(opts ...Option) *IPAM {
	i := &IPAM{}
	for _, o := range opts {
		o(i)
	}
	return i
}

// DefaultPlugin returns a new IPAM without dependencies or options. It is a function, because a variable would be state
// shared by everybody in the process.
func DefaultPlugin() *IPAM { return NewPlugin() }

func (i *IPAM) lock() func() {
	if i.Lock == nil {
		return func() {}
	}
	i.Lock.Lock()
	return i.Lock.Unlock
}

// Init does nothing: all work starts with the first Resync.
func (i *IPAM) Init() error { return nil }

// Close does nothing.
func (i *IPAM) Close() error { return nil }

// Revert does nothing; no event of IPAM's changes anything that a failed transaction would have to undo.
func (i *IPAM) Revert(Event) error { return nil }

// HandlesEvent selects every resync and, with external IPAM, updates of this node.
func (i *IPAM) HandlesEvent(ev Event) bool {
	if ev.Method() != Update {
		return true
	}
	update, ok := ev.(*NodeUpdate)
	return ok && i.concernsUs(update)
}

func (i *IPAM) concernsUs(ev *NodeUpdate) bool {
	return i.ContivConf != nil && i.ContivConf.GetIPAMConfig().UseExternalIPAM &&
		i.ServiceLabel != nil && ev.NodeName == i.ServiceLabel.GetAgentLabel()
}

// Update pushes a PodCIDRChange when this node's podCIDR is another one by value. The description is always empty.
func (i *IPAM) Update(ev Event) (changeDescription string, err error) {
	update, ok := ev.(*NodeUpdate)
	if !ok || !i.concernsUs(update) || podCIDR(update.Prev) == podCIDR(update.New) {
		return "", nil
	}
	change := &PodCIDRChange{LocalPodCIDR: podCIDR(update.New)}
	if i.EventLoop == nil {
		return "", errors.New("no event loop takes " + change.String())
	}
	if err := i.EventLoop.PushEvent(change); err != nil {
		return "", fmt.Errorf("push %s: %w", change, err)
	}
	return "", nil
}

func podCIDR(n *NodeInfo) netip.Prefix {
	if n == nil {
		return netip.Prefix{}
	}
	return space.Normal(n.PodCIDR)
}

// Resync reads configuration and Kubernetes state again on the agent's first resync (resyncCount 1), on a HealingResync
// and on a PodCIDRChange; other resyncs change nothing. Pods with an address in this node's block are registered,
// reserved addresses included, and allocation goes on behind the highest of them. What cools goes on cooling.
func (i *IPAM) Resync(ev Event, kube KubeState, resyncCount int) error {
	switch ev.(type) {
	case *HealingResync, *PodCIDRChange:
	default:
		if resyncCount > 1 {
			return nil
		}
	}
	defer i.lock()()
	next, err := i.load(kube)
	if err != nil {
		return fmt.Errorf("resync IPAM on %s: %w", ev, err)
	}
	i.state = next
	return nil
}

func (i *IPAM) load(kube KubeState) (state, error) {
	if i.NodeSync == nil || i.ContivConf == nil {
		return state{}, errors.New("NodeSync and ContivConf are needed")
	}
	if i.reuseDelay != 0 && i.Now == nil {
		return state{}, errors.New("a reuse delay needs a clock")
	}
	config := i.ContivConf.GetIPAMConfig()
	plan, err := config.parse()
	if err != nil {
		return state{}, err
	}
	if plan.Second != nil {
		return state{}, fmt.Errorf("podSubnetCIDR %q: contiv/vpp's plugin has one address family", config.PodSubnetCIDR)
	}
	if gw := i.ContivConf.GetStaticDefaultGW(); gw.IsValid() && !plan.DHCP {
		plan.DefaultGateway = space.NormalAddr(gw)
	}
	if !i.overlap {
		if err := plan.Check(); err != nil {
			return state{}, err
		}
	}
	s := state{plan: plan, aside: make(map[PodID]netip.Addr)}
	if s.srv6, err = config.SRv6.Resolve(); err != nil {
		return state{}, err
	}
	id := i.NodeSync.GetNodeID()
	if s.pods, err = i.podsThisNode(plan, kube, id); err != nil {
		return state{}, err
	}
	if s.hostLink, err = blockOf("vppHostSubnetCIDR", plan.VPPHostSubnet, plan.VPPHostSubnetOneNodeLen, id); err != nil {
		return state{}, err
	}
	if s.alloc, err = New(Config{External: plan.External, ReuseDelay: i.reuseDelay}); err != nil {
		return state{}, err
	}
	if _, err := s.alloc.SetBlocks(i.now(), []netip.Prefix{s.pods}); err != nil {
		return state{}, err
	}
	s.register(kube.Pods)
	if old := i.state.alloc; old != nil {
		old.Capacity(i.now()) // so that its records leave out what cools no more
		for _, r := range old.Records() {
			if r.Op == ipam.OpRelease {
				_ = s.alloc.Apply(r) // the error is that a pod has the address again
			}
		}
	}
	return s, nil
}

// podsThisNode is the block of this node: from its Kubernetes node with external IPAM, else, and when that has none, by
// ID.
func (i *IPAM) podsThisNode(plan Plan, kube KubeState, id uint32) (netip.Prefix, error) {
	if plan.External && i.ServiceLabel != nil {
		self := i.ServiceLabel.GetAgentLabel()
		at := slices.IndexFunc(kube.Nodes, func(n NodeState) bool { return n.Name == self })
		if at >= 0 && kube.Nodes[at].PodCIDR != "" {
			p, err := space.ParsePrefix(kube.Nodes[at].PodCIDR)
			if err != nil {
				return netip.Prefix{}, fmt.Errorf("podCIDR of node %s: %w", self, err)
			}
			return p, nil
		}
	}
	return blockOf("podSubnetCIDR", plan.PodSubnet, plan.PodSubnetOneNodePrefixLen, id)
}

// register takes over pods that live on this node. A pod on a reserved address keeps it, but once released it is gone;
// a pod on another pod's address is left out: one odd record must not stop the node.
func (s *state) register(pods []PodState) {
	var highest netip.Addr
	for _, pod := range pods {
		addr, err := netip.ParseAddr(pod.IPAddress)
		addr = space.NormalAddr(addr)
		if err != nil || !s.pods.Contains(addr) || s.aside[pod.ID].IsValid() {
			continue
		}
		err = s.alloc.Apply(ipam.Record{Op: ipam.OpLease, Owner: pod.ID.owner(), Addr: addr, Prefix: s.pods})
		if errors.Is(err, ipam.ErrNotInPool) {
			err = s.putAside(pod.ID, addr)
		}
		if err == nil && (!highest.IsValid() || highest.Less(addr)) {
			highest = addr
		}
	}
	if highest.IsValid() {
		// The cursor can only be refused for an address outside of the block.
		_ = s.alloc.Apply(ipam.Record{Op: ipam.OpCursor, Addr: highest, Prefix: s.pods})
	}
}

// putAside notes an address that the allocator never gives.
func (s *state) putAside(id PodID, addr netip.Addr) error {
	//vppdrill:unordered no two pods have one address
	for other, has := range s.aside {
		if has == addr && other != id {
			return fmt.Errorf("address %s of pod %s is held by pod %s: %w", addr, id, other, ipam.ErrTaken)
		}
	}
	s.aside[id] = addr
	return nil
}

// errNotReady is returned between construction and the first successful Resync.
var errNotReady = fmt.Errorf("IPAM waits for its first resync: %w", ipam.ErrNoBlock)
