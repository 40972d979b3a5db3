package contiv

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Reasons why a node ID has no address. They come wrapped with the ID and the range.
var (
	// ErrNodeIDRange: the ID is higher than the range has parts or addresses, or 0.
	ErrNodeIDRange = errors.New("nodeID is out of the valid range")
	// ErrNoNodeAddress: the ID lands on an address that no node can have.
	ErrNoNodeAddress = errors.New("no free address for nodeID")
)

// Indices of addresses in one node's subnets, from contiv/vpp 2.1.4 plugins/ipam.
const (
	podGatewayIndex = 1 // in the pod block
	vppEndIndex     = 1 // in the link between VPP and the host
	linuxEndIndex   = 2
)

// Plan is a cluster's address ranges in normal form; IPAMConfig.Resolve makes one. A Plan that is put together by hand
// is checked by Check. The zero Prefix or Addr means that the cluster has no such range or gateway.
type Plan struct {
	// PodSubnet is split into one block of PodSubnetOneNodePrefixLen per node ID.
	PodSubnet                 netip.Prefix
	PodSubnetOneNodePrefixLen int
	// VPPHostSubnet is split into one link of VPPHostSubnetOneNodeLen per node ID.
	VPPHostSubnet           netip.Prefix
	VPPHostSubnetOneNodeLen int
	// NodeInterconnect and VXLAN hold one address per node ID.
	NodeInterconnect netip.Prefix
	VXLAN            netip.Prefix
	Service          netip.Prefix
	// PodIf is used by every node on its own for the VPP ends of pod interfaces.
	PodIf netip.Prefix
	// DefaultGateway is skipped when node addresses are counted, if it lies in NodeInterconnect.
	DefaultGateway netip.Addr
	// NodeGateways are skipped as DefaultGateway is: what single nodes have in its place. In any order.
	NodeGateways []netip.Addr
	// External: pod addresses come from another IPAM plugin.
	External bool
	// DHCP: node addresses come from DHCP.
	DHCP bool
	// Second are the ranges of the second family where the cluster has two, which has no Second itself; else nil.
	Second *Plan
}

// NodePlan is every address that follows from one node's ID.
type NodePlan struct {
	// ID is >= 1.
	ID uint32
	// PodSubnet is the node's block; PodGateway its index 1; NATLoopback its last unicast address.
	PodSubnet   netip.Prefix
	PodGateway  netip.Addr
	NATLoopback netip.Addr
	// VPPHostSubnet is the link between VPP (VPPEnd) and the host's Linux side (LinuxEnd).
	VPPHostSubnet    netip.Prefix
	VPPEnd, LinuxEnd netip.Addr
	// NodeIP is the node's address on the interconnect with the interconnect's length (192.168.16.5/24);
	// the zero Prefix when the plan has no interconnect.
	NodeIP netip.Prefix
	// VXLANIP is the address of the VXLAN bridge domain's virtual interface, with the length of the VXLAN range.
	VXLANIP netip.Prefix
	// Second is the same of the second family where the cluster has two; else nil.
	Second *NodePlan
}

// Check validates what concerns more than one field: lengths, families and overlaps.
func (p Plan) Check() error { return p.check("") }

// check is Check of a plan whose keys end so, where a family has its own.
func (p Plan) check(suffix string) error {
	if err := p.checkSplits(suffix); err != nil {
		return err
	}
	if err := p.checkPairs(); err != nil {
		return err
	}
	if err := p.checkGateway(); err != nil {
		return err
	}
	return p.checkSecond()
}

// checkSplits asks for at least two blocks each, with room for a pod in a pod block (index 0 and 1 and the last two are
// reserved) and for both ends in a host link.
func (p Plan) checkSplits(suffix string) error {
	if err := checkSplit("podSubnetOneNodePrefixLen"+suffix, p.PodSubnet, p.PodSubnetOneNodePrefixLen, blockHostBitsMin); err != nil {
		return err
	}
	return checkSplit("vppHostSubnetOneNodePrefixLen"+suffix, p.VPPHostSubnet, p.VPPHostSubnetOneNodeLen, 2)
}

func checkSplit(field string, all netip.Prefix, length, hostBitsMin int) error {
	switch {
	case !all.IsValid():
		return fmt.Errorf("%s %d: there is no range to split", field, length)
	case length <= all.Bits():
		return fmt.Errorf("%s %d: prefix length for one node must be higher than that of the cluster-wide subnet %s", field, length, all)
	case length > all.Addr().BitLen()-hostBitsMin:
		return fmt.Errorf("%s %d: prefix length for one node must leave at least %d bits of %s to hosts", field, length, hostBitsMin, all)
	}
	return nil
}

// namedRange is a range under the name that its configuration key has.
type namedRange struct {
	name  string
	value netip.Prefix
}

func (p Plan) ranges() [6]namedRange {
	return [...]namedRange{
		{"podSubnetCIDR", p.PodSubnet},
		{"vppHostSubnetCIDR", p.VPPHostSubnet},
		{"vxlanCIDR", p.VXLAN},
		{"nodeInterconnectCIDR", p.NodeInterconnect},
		{"serviceCIDR", p.Service},
		{"podIfIPCIDR", p.PodIf},
	}
}

func (p Plan) checkPairs() error {
	ranges := p.ranges()
	for i, a := range ranges {
		for _, b := range ranges[i+1:] {
			switch {
			case !a.value.IsValid() || !b.value.IsValid():
			case a.value.Addr().BitLen() != b.value.Addr().BitLen():
				return fmt.Errorf("%s %s and %s %s: a cluster has one address family", a.name, a.value, b.name, b.value)
			case space.Overlap(a.value, b.value):
				return fmt.Errorf("%s %s overlaps %s %s", a.name, a.value, b.name, b.value)
			}
		}
	}
	return nil
}

func (p Plan) checkGateway() error {
	switch gw := p.DefaultGateway; {
	case !gw.IsValid():
		return nil
	case gw.BitLen() != p.PodSubnet.Addr().BitLen():
		return fmt.Errorf("defaultGateway %s and podSubnetCIDR %s: a cluster has one address family", gw, p.PodSubnet)
	case p.NodeInterconnect.Contains(gw) && (gw == space.First(p.NodeInterconnect) || gw.Is4() && gw == space.Last(p.NodeInterconnect)):
		return fmt.Errorf("defaultGateway %s is the network or broadcast address of nodeInterconnectCIDR %s", gw, p.NodeInterconnect)
	}
	return nil
}

// gateways are the addresses of NodeInterconnect that no node may get, ascending. What no node gets anyway is left out.
func (p Plan) gateways() []netip.Addr {
	if !p.DefaultGateway.IsValid() && len(p.NodeGateways) == 0 {
		return nil
	}
	var list []netip.Addr
	for _, gw := range append([]netip.Addr{p.DefaultGateway}, p.NodeGateways...) {
		gw = space.NormalAddr(gw)
		if p.NodeInterconnect.Contains(gw) && gw != space.First(p.NodeInterconnect) && !(gw.Is4() && gw == space.Last(p.NodeInterconnect)) {
			list = append(list, gw)
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return slices.Compact(list)
}

// MaxNodeID is the highest ID whose every address exists: each ID in 1..MaxNodeID has a NodePlan, none above has.
// 0 means that no node fits. With External the pod blocks set no limit: they do not follow from IDs.
func (p Plan) MaxNodeID() uint32 {
	blocks := space.SubnetCount(p.PodSubnet, p.PodSubnetOneNodePrefixLen)
	if p.External {
		blocks = math.MaxUint32
	}
	limit := min(
		blocks,
		space.SubnetCount(p.VPPHostSubnet, p.VPPHostSubnetOneNodeLen),
		maxHost(p.VXLAN, nil),
		maxHost(p.NodeInterconnect, p.gateways()),
		math.MaxUint32,
	)
	if p.Second != nil {
		limit = min(limit, uint64(p.Second.MaxNodeID()))
	}
	return uint32(limit)
}

// Node is every address of node id. The error wraps ErrNodeIDRange or ErrNoNodeAddress and names the range that id does
// not fit. Unlike IPAM's getters it never returns a broadcast address, which works for nobody.
func (p Plan) Node(id uint32) (NodePlan, error) {
	block, err := blockOf("podSubnetCIDR", p.PodSubnet, p.PodSubnetOneNodePrefixLen, id)
	if err != nil {
		return NodePlan{}, err
	}
	n, err := p.NodeWithBlock(id, block)
	if err != nil || p.Second == nil {
		return n, err
	}
	second, err := p.Second.Node(id)
	if err != nil {
		return NodePlan{}, err
	}
	n.Second = &second
	return n, nil
}

// NodeWithBlock is Node for a node whose pod block was decided elsewhere, as with External. It is of the block's family
// alone.
func (p Plan) NodeWithBlock(id uint32, block netip.Prefix) (NodePlan, error) {
	n := NodePlan{ID: id, PodSubnet: space.Normal(block)}
	var err error
	if n.PodGateway, err = space.Nth(n.PodSubnet, podGatewayIndex); err != nil {
		return NodePlan{}, fmt.Errorf("pod gateway: %w", err)
	}
	if n.NATLoopback, err = space.NthLast(n.PodSubnet, 1); err != nil {
		return NodePlan{}, fmt.Errorf("NAT loopback: %w", err)
	}
	if n.VPPHostSubnet, err = blockOf("vppHostSubnetCIDR", p.VPPHostSubnet, p.VPPHostSubnetOneNodeLen, id); err != nil {
		return NodePlan{}, err
	}
	if n.VPPEnd, err = space.Nth(n.VPPHostSubnet, vppEndIndex); err != nil {
		return NodePlan{}, fmt.Errorf("VPP end of the host link: %w", err)
	}
	if n.LinuxEnd, err = space.Nth(n.VPPHostSubnet, linuxEndIndex); err != nil {
		return NodePlan{}, fmt.Errorf("linux end of the host link: %w", err)
	}
	if n.VXLANIP, err = hostOf("vxlanCIDR", p.VXLAN, nil, id, false); err != nil {
		return NodePlan{}, err
	}
	if n.NodeIP, err = hostOf("nodeInterconnectCIDR", p.NodeInterconnect, p.gateways(), id, false); err != nil {
		return NodePlan{}, err
	}
	return n, nil
}

// PodIfAddr is the VPP end of the interface of the pod with that number, from 1, on its node: that address of PodIf.
// Numbers tell pods of a node apart, where their addresses in two blocks may have the same host bits. The error of a
// number that the range is too small for is ipam.ErrExhausted.
func (p Plan) PodIfAddr(number uint32) (netip.Addr, error) {
	if count := space.Count(p.PodIf); number < 1 || count < 3 || uint64(number) > count-2 {
		return netip.Addr{}, fmt.Errorf("podIfIPCIDR %s has no address for pod interface %d: %w", p.PodIf, number, ipam.ErrExhausted)
	}
	return space.Nth(p.PodIf, uint64(number))
}

// NodeID is the ID of the node whose block addr lies in; the last ID owns block 0.
func (p Plan) NodeID(addr netip.Addr) (uint32, error) {
	n, err := space.SubnetIndex(p.PodSubnet, p.PodSubnetOneNodePrefixLen, addr)
	if err != nil {
		return 0, fmt.Errorf("pod IP %s not from pod subnet %s: %w", addr, p.PodSubnet, err)
	}
	if n == 0 {
		n = space.SubnetCount(p.PodSubnet, p.PodSubnetOneNodePrefixLen)
	}
	if n > math.MaxUint32 {
		return 0, fmt.Errorf("pod IP %s: %w: %d > %d", addr, ErrNodeIDRange, n, uint32(math.MaxUint32))
	}
	return uint32(n), nil
}
