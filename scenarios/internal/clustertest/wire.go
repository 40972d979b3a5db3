package clustertest

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

const recursive = ^uint32(0)

var (
	hostMAC    = vppwire.MAC{0x01, 0x23, 0x45, 0x67, 0x89, 0x42}
	linuxMAC   = vppwire.MAC{0x02, 0, 0, 0, 0, 0xfe}
	podMAC     = vppwire.MAC{0, 0, 0, 0, 0, 2}
	defaultNet = netip.PrefixFrom(netip.IPv4Unspecified(), 0)
)

// MTUs in bytes: of links between VPP and Linux, of NICs, and what VPP gives every other interface.
const (
	MTU        = 1450
	NICMTU     = 1500
	mtuDefault = 9000
)

func newNode(cfg Config, id uint32) *Node {
	block := netip.PrefixFrom(at(PodSubnet, id<<8), 24)
	hostNet := netip.PrefixFrom(at(HostSubnet, id<<8), 24)
	n := &Node{
		NodeState: fact.NodeState{
			Name: fmt.Sprintf("node-%d", id), UID: fmt.Sprintf("uid-%d", id),
			MachineUp: true, AgentUp: true, VPPUp: true, ID: id,
			Address:    netip.PrefixFrom(at(nodeNet, id), nodeNet.Bits()),
			HostSubnet: hostNet, HostVPP: at(hostNet, 1), HostLinux: at(hostNet, 2),
			Management: []netip.Addr{at(managementNet, id)},
			PodSubnet:  PodSubnet,
			Blocks:     []ipam.Block{{Prefix: block, Gateway: at(block, 1)}},
			Reserved:   []netip.Addr{at(block, 0), at(block, 1), at(block, 254), at(block, 255)},
			MainTable:  MainTable, PodTable: PodTable,
		},
		VPP:   &VPP{Tabs: []uint32{MainTable, PodTable}},
		Linux: &Linux{Spaces: map[string]*vppwire.LinuxState{}},
	}
	v := n.VPP
	v.Ifaces = append(v.Ifaces,
		fact.Interface{Name: "local0", Type: fact.TypeLocal},
		fact.Interface{Name: "GigabitEthernet0/8/0", Type: fact.TypeNIC, Up: true, MTU: mtuDefault, LinkMTU: NICMTU,
			MAC: vppwire.MAC{0x52, 0x54, 0, 0, byte(id >> 8), byte(id)}, Addrs: []netip.Prefix{n.Address}})
	n.addHost(cfg, hostNet)
	v.API = append(v.API, lookup(PodTable, defaultNet, MainTable))
	if cfg.L2 {
		v.API = append(v.API, lookup(MainTable, block, PodTable),
			fact.Route{Table: PodTable, Prefix: block, Action: fact.ActionDrop})
		return n
	}
	n.VXLANAddress = at(vxlanNet, id)
	v.Ifaces = append(v.Ifaces, fact.Interface{Name: "loop0", Type: fact.TypeLoopback, Up: true, MTU: mtuDefault, MAC: bviMAC(id),
		Table4: PodTable, Addrs: []netip.Prefix{netip.PrefixFrom(n.VXLANAddress, vxlanNet.Bits())}, Bridge: Domain, BVI: true, SHG: 1})
	v.Domains = append(v.Domains, fact.Bridge{ID: Domain, Forward: true})
	v.L2 = append(v.L2, fact.FIBEntry{Bridge: Domain, MAC: bviMAC(id), Index: IfaceBVI, BVI: true, Static: true})
	v.API = append(v.API,
		lookup(MainTable, PodSubnet, PodTable), lookup(MainTable, HostSubnet, PodTable), lookup(PodTable, hostNet, MainTable),
		fact.Route{Table: PodTable, Prefix: PodSubnet, Action: fact.ActionDrop},
		fact.Route{Table: PodTable, Prefix: HostSubnet, Action: fact.ActionDrop})
	return n
}

func lookup(table uint32, p netip.Prefix, in uint32) fact.Route {
	return fact.Route{Table: table, Prefix: p, Action: fact.ActionLookup, Lookup: in}
}

// addHost joins VPP and the host's own stack.
func (n *Node) addHost(cfg Config, hostNet netip.Prefix) {
	ifc := fact.Interface{Name: "tap0", Type: fact.TypeTap, Up: true, MTU: MTU, MAC: hostMAC, Host: "vpp1",
		Addrs: []netip.Prefix{netip.PrefixFrom(n.HostVPP, hostNet.Bits())}}
	end := vppwire.LinuxLink{Name: "vpp1", Type: "tun", MAC: linuxMAC, MTU: MTU, Up: true, Addrs: []netip.Prefix{netip.PrefixFrom(n.HostLinux, hostNet.Bits())}}
	eth0 := vppwire.LinuxLink{Name: "eth0", Type: "device", MTU: NICMTU, Up: true, Addrs: []netip.Prefix{netip.PrefixFrom(n.Management[0], managementNet.Bits())}}
	s := &vppwire.LinuxState{Links: []vppwire.LinuxLink{eth0}}
	if cfg.Veth {
		ifc.Name, ifc.Type, ifc.Host = "host-vpp2", fact.TypeAFPacket, "vpp2"
		end.Type, end.Peer = "veth", "vpp2"
		s.Links = append(s.Links, vppwire.LinuxLink{Name: "vpp2", Type: "veth", Peer: "vpp1", MTU: MTU, Up: true})
	}
	s.Links = append(s.Links, end)
	s.Routes = append(s.Routes, vppwire.HostRoute{Dst: PodSubnet, Via: n.HostVPP, Link: "vpp1"})
	n.Linux.Spaces[""] = s
	n.VPP.Ifaces = append(n.VPP.Ifaces, ifc)
	n.VPP.API = append(n.VPP.API, fact.Route{Table: MainTable, Prefix: host(n.Management[0]), Action: fact.ActionForward, Via: n.HostLinux, Index: IfaceHost})
}

// join makes a peer known.
func (n *Node) join(cfg Config, peer *Node, tunnelNames []string) {
	v := n.VPP
	if cfg.L2 {
		for _, p := range [...]netip.Prefix{peer.Blocks[0].Prefix, peer.HostSubnet, host(peer.Management[0])} {
			v.API = append(v.API, fact.Route{Table: MainTable, Prefix: p, Action: fact.ActionForward, Via: peer.Address.Addr(), Index: recursive})
		}
		return
	}
	index := uint32(len(v.Ifaces))
	v.Ifaces = append(v.Ifaces, fact.Interface{Name: tunnelNames[index-IfaceBVI-1], Type: fact.TypeVXLAN, Up: true, Bridge: Domain, SHG: 1,
		Src: n.Address.Addr(), Dst: peer.Address.Addr(), VNI: VNI, EncapTable: MainTable})
	v.L2 = append(v.L2, fact.FIBEntry{Bridge: Domain, MAC: bviMAC(peer.ID), Index: index, Static: true})
	v.Neighs = append(v.Neighs, fact.Neighbor{Index: IfaceBVI, Addr: peer.VXLANAddress, MAC: bviMAC(peer.ID)})
	v.API = append(v.API, lookup(MainTable, host(peer.Management[0]), PodTable))
	for _, p := range [...]netip.Prefix{host(peer.Management[0]), peer.Blocks[0].Prefix, peer.HostSubnet} {
		v.API = append(v.API, fact.Route{Table: PodTable, Prefix: p, Action: fact.ActionForward, Via: peer.VXLANAddress, Index: IfaceBVI})
	}
}

// The trunk of pods with macvlans: its two ends, and VPP's MAC on it.
const trunkDevice, trunkParent = "vpptrunk", "vpppods"

var trunkMAC = vppwire.MAC{0x02, 0x38}

// trunk is the interface that the node's pods share, made with the first of them.
func (n *Node) trunk() uint32 {
	for i := range n.VPP.Ifaces {
		if n.VPP.Ifaces[i].Host == trunkDevice {
			return uint32(i)
		}
	}
	n.VPP.Ifaces = append(n.VPP.Ifaces, fact.Interface{Name: "host-" + trunkDevice, Type: fact.TypeAFPacket, Up: true, MTU: MTU, MAC: trunkMAC,
		Table4: PodTable, Host: trunkDevice, Guarded: true})
	s := n.Linux.Spaces[""]
	s.Links = append(s.Links, vppwire.LinuxLink{Name: trunkDevice, Type: "veth", Peer: trunkParent, MTU: MTU, Up: true},
		vppwire.LinuxLink{Name: trunkParent, Type: "veth", Peer: trunkDevice, MTU: MTU, Up: true})
	return uint32(len(n.VPP.Ifaces) - 1)
}

// addPod attaches pod number p, 0 to 250, with everything that belongs to it.
func (n *Node) addPod(cfg Config, p int) {
	addr := at(n.Blocks[0].Prefix, uint32(p)+2)
	gateway := n.Blocks[0].Gateway
	netns := fmt.Sprintf("/run/netns/%d-%d", n.ID, p)
	owner := ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("c-%d-%03d", n.ID, p), IfName: "eth0"}
	index := uint32(len(n.VPP.Ifaces))
	mac := vppwire.MAC{0x02, 0xfe, byte(n.ID >> 8), byte(n.ID), 0, byte(p)}
	ifc := fact.Interface{Name: fmt.Sprintf("tap%d", p+1), Type: fact.TypeTap, Up: true, MTU: MTU, MAC: mac, Table4: PodTable,
		Addrs: []netip.Prefix{host(at(podIfNet, uint32(p)+2))}, Host: "eth0", HostNetns: netns}
	link := vppwire.LinuxLink{Name: "eth0", Type: "tun", MAC: podMAC, MTU: MTU, Up: true, Addrs: []netip.Prefix{host(addr)}}
	own := podMAC
	if cfg.Macvlan {
		index, mac = n.trunk(), trunkMAC
		own = vppwire.MAC{0x02, 0x39, 0, 0, 0, byte(p + 1)}
		link.Type, link.Parent, link.MAC = "macvlan", trunkParent, own
		n.VPP.Ifaces[index].Addrs = append(n.VPP.Ifaces[index].Addrs, ifc.Addrs...)
		n.VPP.Senders = append(n.VPP.Senders, fact.Source{Addr: addr, MAC: own})
	} else if cfg.Veth {
		ifc.Host, ifc.HostNetns = fmt.Sprintf("vd%03d", p), ""
		ifc.Name, ifc.Type = "host-"+ifc.Host, fact.TypeAFPacket
		link.Type, link.Peer = "veth", ifc.Host
		s := n.Linux.Spaces[""]
		s.Links = append(s.Links, vppwire.LinuxLink{Name: ifc.Host, Type: "veth", Peer: "eth0", PeerNetns: netns, MTU: MTU, Up: true})
	}
	if !cfg.Macvlan {
		n.VPP.Ifaces = append(n.VPP.Ifaces, ifc)
	}
	n.VPP.Neighs = append(n.VPP.Neighs, fact.Neighbor{Index: index, Addr: addr, MAC: own})
	n.VPP.API = append(n.VPP.API, fact.Route{Table: PodTable, Prefix: host(addr), Action: fact.ActionForward, Via: addr, Index: index})
	n.Linux.Spaces[netns] = &vppwire.LinuxState{
		Links: []vppwire.LinuxLink{link},
		Routes: []vppwire.HostRoute{
			{Netns: netns, Dst: defaultNet, Via: gateway, Link: "eth0"},
			{Netns: netns, Dst: host(gateway), Link: "eth0"},
		},
		Neighbors: []vppwire.LinuxNeighbor{{Link: "eth0", Addr: gateway, MAC: mac}},
	}
	n.Pods = append(n.Pods, fact.PodState{Owner: owner, Pod: fmt.Sprintf("default/web-%d-%d", n.ID, p), UID: owner.ContainerID,
		Netns: netns, Addr: addr, Gateway: gateway})
	n.Leased = append(n.Leased, ipam.Lease{Owner: owner, Addr: addr, Block: n.Blocks[0].Prefix, Gateway: gateway})
}
