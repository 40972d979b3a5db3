package clustertest

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Config says which cluster to write down.
type Config struct {
	// Nodes is 1 to 4000, PodsPerNode 0 to 250.
	Nodes, PodsPerNode int
	// Veth attaches pods and hosts by veth and AF_PACKET instead of taps.
	Veth bool
	// Macvlan gives pods macvlans on one veth pair with an AF_PACKET interface, guarded; it wins over Veth.
	Macvlan bool
	// L2 joins nodes by plain routes instead of VXLAN tunnels.
	L2 bool
}

// Cluster is a cluster's tables. Node i of Nodes has node ID i+1 and is called node-(i+1).
type Cluster struct {
	Config Config
	Nodes  []*Node
	// Settled is what snapshots say; New sets it.
	Settled bool
}

// Node is one node: what the snapshot says of it, with its tables in concrete types.
// A nil VPP or Linux, or AgentUp false, shows in the snapshot.
type Node struct {
	fact.NodeState
	VPP    *VPP
	Linux  *Linux
	Leased []ipam.Lease
}

// Tables of every node.
const (
	MainTable = 0
	PodTable  = 1
	// VNI and Domain are the tunnels' network identifier and the bridge domain.
	VNI    = 10
	Domain = 1
)

// Interfaces at fixed indexes; tunnels to peers follow in peer order, then pods in order.
const (
	IfaceNIC  = 1
	IfaceHost = 2
	IfaceBVI  = 3
)

// The cluster-wide ranges.
var (
	PodSubnet     = netip.MustParsePrefix("10.0.0.0/8")
	HostSubnet    = netip.MustParsePrefix("172.16.0.0/12")
	nodeNet       = netip.MustParsePrefix("192.168.16.0/20")
	managementNet = netip.MustParsePrefix("192.168.64.0/20")
	vxlanNet      = netip.MustParsePrefix("192.168.32.0/20")
	podIfNet      = netip.MustParsePrefix("100.64.1.0/24")
)

// New writes a cluster down as it should be.
func New(cfg Config) *Cluster {
	c := &Cluster{Config: cfg, Settled: true}
	names := make([]string, cfg.Nodes)
	for i := range names {
		names[i] = fmt.Sprintf("vxlan_tunnel%d", i)
	}
	for i := range cfg.Nodes {
		c.Nodes = append(c.Nodes, newNode(cfg, uint32(i+1)))
	}
	for _, n := range c.Nodes {
		for _, peer := range c.Nodes {
			if peer != n {
				n.join(cfg, peer, names)
			}
		}
		for p := range cfg.PodsPerNode {
			n.addPod(cfg, p)
		}
		n.VPP.Freeze()
	}
	return c
}

// Snapshot shows the cluster as it is now.
func (c *Cluster) Snapshot() fact.Snapshot {
	s := fact.Snapshot{Settled: c.Settled, Nodes: make([]fact.NodeState, len(c.Nodes))}
	for i, n := range c.Nodes {
		st := &s.Nodes[i]
		*st = n.NodeState
		st.VPP, st.Linux, st.Leases = nil, nil, nil
		if n.VPP != nil && n.VPPUp {
			st.VPP = n.VPP
		}
		if n.Linux != nil {
			st.Linux = n.Linux
		}
		if n.AgentUp {
			st.Leases = func() iter.Seq[ipam.Lease] { return slices.Values(n.Leased) }
		}
	}
	return s
}

func at(p netip.Prefix, offset uint32) netip.Addr {
	a := p.Addr().As4()
	x := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	x += offset
	return netip.AddrFrom4([4]byte{byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)})
}

func host(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, 32) }

// bviMAC follows the rule that all nodes must share: 12:2b and the node ID.
func bviMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x12, 0x2b, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}
