package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/vppwire"
)

// fault plants one mistake in a cluster. pick(n) chooses 0 to n-1; the nodes are frozen afterwards.
type fault struct {
	name  string
	plant func(c *clustertest.Cluster, pick func(n int) int)
}

func anyNode(c *clustertest.Cluster, pick func(int) int) *clustertest.Node {
	return c.Nodes[pick(len(c.Nodes))]
}

func anyIface(c *clustertest.Cluster, pick func(int) int) (*clustertest.Node, *fact.Interface) {
	n := anyNode(c, pick)
	return n, &n.VPP.Ifaces[1+pick(len(n.VPP.Ifaces)-1)]
}

func anySpace(n *clustertest.Node, pick func(int) int) *vppwire.LinuxState {
	if i := pick(len(n.Pods) + 1); i < len(n.Pods) {
		return n.Linux.Spaces[n.Pods[i].Netns]
	}
	return n.Linux.Spaces[""]
}

// cutAt removes one element; the order is free.
func cutAt[T any](s []T, i int) []T {
	s[i] = s[len(s)-1]
	return s[:len(s)-1]
}

// planted is every way in which tests break a cluster. Some of them, with some choices, break nothing: that is for the
// laws to find out.
var planted = []fault{
	{"route-gone", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.VPP.API = cutAt(n.VPP.API, pick(len(n.VPP.API)))
	}},
	{"guard-gone", func(c *clustertest.Cluster, pick func(int) int) {
		_, i := anyIface(c, pick)
		i.Guarded = false
	}},
	{"sender-left", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.VPP.Senders = append(n.VPP.Senders, fact.Source{Addr: n.Blocks[0].Gateway, MAC: vppwire.MAC{2, 0x39, 9}})
	}},
	{"sender-of-another", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		if len(n.VPP.Senders) > 1 {
			n.VPP.Senders = append(n.VPP.Senders, fact.Source{Addr: n.VPP.Senders[1].Addr, MAC: n.VPP.Senders[0].MAC})
		}
	}},
	{"sender-gone", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		if len(n.VPP.Senders) > 0 {
			n.VPP.Senders = cutAt(n.VPP.Senders, pick(len(n.VPP.Senders)))
		}
	}},
	{"parent-down", func(c *clustertest.Cluster, pick func(int) int) {
		s := anyNode(c, pick).Linux.Spaces[""]
		for i := range s.Links {
			if s.Links[i].Name == "vpppods" {
				s.Links[i].Up = false
			}
		}
	}},
	{"route-to-wrong-peer", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		r := &n.VPP.API[pick(len(n.VPP.API))]
		if r.Action == fact.ActionForward {
			r.Via = anyNode(c, pick).VXLANAddress
		}
	}},
	{"route-wrong-interface", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.VPP.API[pick(len(n.VPP.API))].Index = uint32(pick(len(n.VPP.Ifaces) + 2))
	}},
	{"route-wrong-table", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.VPP.API[pick(len(n.VPP.API))].Table ^= 1
	}},
	{"route-drops", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.VPP.API[pick(len(n.VPP.API))].Action = fact.ActionDrop
	}},
	{"route-looks-up", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		r := &n.VPP.API[pick(len(n.VPP.API))]
		r.Action, r.Lookup = fact.ActionLookup, uint32(pick(3))
	}},
	{"half-block-elsewhere", func(c *clustertest.Cluster, pick func(int) int) {
		n, to, via := anyNode(c, pick), anyNode(c, pick), anyNode(c, pick)
		if !via.VXLANAddress.IsValid() {
			n.VPP.API = append(n.VPP.API, fact.Route{Table: clustertest.MainTable, Prefix: netip.PrefixFrom(to.Blocks[0].Prefix.Addr(), 29),
				Action: fact.ActionForward, Via: via.Address.Addr(), Index: ^uint32(0)})
			return
		}
		n.VPP.API = append(n.VPP.API, fact.Route{Table: clustertest.PodTable, Prefix: netip.PrefixFrom(to.Blocks[0].Prefix.Addr(), 30),
			Action: fact.ActionForward, Via: via.VXLANAddress, Index: clustertest.IfaceBVI})
	}},
	{"pod-route-elsewhere", func(c *clustertest.Cluster, pick func(int) int) {
		n, to := anyNode(c, pick), anyNode(c, pick)
		if len(to.Pods) == 0 {
			return
		}
		a := to.Pods[pick(len(to.Pods))].Addr
		n.VPP.API = append(n.VPP.API, fact.Route{Table: clustertest.PodTable, Prefix: netip.PrefixFrom(a, 32), Action: fact.ActionForward,
			Via: a, Index: uint32(pick(len(n.VPP.Ifaces)))})
	}},
	{"pod-address-on-interface", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		to := anyNode(c, pick)
		ifc.Addrs = append([]netip.Prefix{netip.PrefixFrom(to.Pods[pick(len(to.Pods))].Addr, 26+pick(7))}, ifc.Addrs...)
	}},
	{"gateway-on-interface", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		to := anyNode(c, pick)
		a := to.Blocks[0].Gateway
		if pick(2) == 0 {
			a = to.Pods[len(to.Pods)-1].Addr.Next().Next()
		}
		ifc.Addrs = append(ifc.Addrs, netip.PrefixFrom(a, 28+pick(4)))
	}},
	{"block-on-wire", func(c *clustertest.Cluster, pick func(int) int) {
		n, via, to := anyNode(c, pick), anyNode(c, pick), anyNode(c, pick)
		n.VPP.API = append(n.VPP.API, fact.Route{Table: clustertest.PodTable, Prefix: netip.PrefixFrom(to.Blocks[0].Prefix.Addr(), 30+pick(2)),
			Action: fact.ActionForward, Index: clustertest.IfaceNIC})
		ifc := &via.VPP.Ifaces[clustertest.IfaceNIC]
		ifc.Addrs = append(ifc.Addrs, netip.PrefixFrom(to.Pods[0].Addr, 32))
		ifc.Table4 = uint32(pick(2))
		if via == to {
			// The address then is VPP's own, unless the pod's route is looked up first.
			via.VPP.API = append(via.VPP.API, fact.Route{Table: clustertest.MainTable, Prefix: to.Blocks[0].Prefix, Action: fact.ActionLookup, Lookup: clustertest.PodTable})
		}
	}},
	{"interface-down", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.Up = false
	}},
	{"interface-gone", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.Type = 0
	}},
	{"interface-mac", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.MAC[3]++
	}},
	{"interface-table", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.Table4 = uint32(pick(3))
	}},
	{"interface-no-address", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.Addrs = nil
	}},
	{"interface-unbridged", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.Bridge = 0
	}},
	{"interface-mtu", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.MTU = 1400
	}},
	{"nic-mtu", func(c *clustertest.Cluster, pick func(int) int) {
		anyNode(c, pick).VPP.Ifaces[clustertest.IfaceNIC].LinkMTU = 1440
	}},
	{"tunnel-vni", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.VNI++
	}},
	{"tunnel-encap", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.EncapTable = uint32(pick(3))
	}},
	{"tunnel-elsewhere", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.Dst = anyNode(c, pick).Address.Addr()
	}},
	{"group", func(c *clustertest.Cluster, pick func(int) int) {
		_, ifc := anyIface(c, pick)
		ifc.SHG ^= 1
	}},
	{"table-gone", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.VPP.Tabs = cutAt(n.VPP.Tabs, pick(2))
	}},
	{"neighbor-gone", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.VPP.Neighs = cutAt(n.VPP.Neighs, pick(len(n.VPP.Neighs)))
	}},
	{"neighbor-mac", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.VPP.Neighs[pick(len(n.VPP.Neighs))].MAC[4]++
	}},
	{"neighbor-address", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		nb := &n.VPP.Neighs[pick(len(n.VPP.Neighs))]
		nb.Addr = nb.Addr.Next()
	}},
	{"neighbor-on-wire", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.VPP.Neighs = append(n.VPP.Neighs, fact.Neighbor{Index: clustertest.IfaceNIC, Addr: anyNode(c, pick).Address.Addr(), MAC: vppwire.MAC{2, 2, 2, 2, 2, 2}})
	}},
	{"fib-gone", func(c *clustertest.Cluster, pick func(int) int) {
		if n := anyNode(c, pick); len(n.VPP.L2) > 0 {
			n.VPP.L2 = cutAt(n.VPP.L2, pick(len(n.VPP.L2)))
		}
	}},
	{"fib-elsewhere", func(c *clustertest.Cluster, pick func(int) int) {
		if n := anyNode(c, pick); len(n.VPP.L2) > 0 {
			n.VPP.L2[pick(len(n.VPP.L2))].Index = uint32(pick(len(n.VPP.Ifaces)))
		}
	}},
	{"domain-stops", func(c *clustertest.Cluster, pick func(int) int) {
		if n := anyNode(c, pick); len(n.VPP.Domains) > 0 {
			n.VPP.Domains[0].Forward = false
		}
	}},
	{"vpp-down", func(c *clustertest.Cluster, pick func(int) int) { anyNode(c, pick).VPPUp = false }},
	{"link-down", func(c *clustertest.Cluster, pick func(int) int) {
		s := anySpace(anyNode(c, pick), pick)
		s.Links[pick(len(s.Links))].Up = false
	}},
	{"link-mac", func(c *clustertest.Cluster, pick func(int) int) {
		s := anySpace(anyNode(c, pick), pick)
		s.Links[pick(len(s.Links))].MAC[1]++
	}},
	{"link-mtu", func(c *clustertest.Cluster, pick func(int) int) {
		s := anySpace(anyNode(c, pick), pick)
		s.Links[pick(len(s.Links))].MTU = uint32(1400 + 200*pick(2))
	}},
	{"link-address", func(c *clustertest.Cluster, pick func(int) int) {
		s := anySpace(anyNode(c, pick), pick)
		s.Links[pick(len(s.Links))].Addrs = nil
	}},
	{"link-wide-address", func(c *clustertest.Cluster, pick func(int) int) {
		s := anySpace(anyNode(c, pick), pick)
		l := &s.Links[pick(len(s.Links))]
		for i := range l.Addrs {
			l.Addrs[i] = netip.PrefixFrom(l.Addrs[i].Addr(), 31)
		}
	}},
	{"linux-route-gone", func(c *clustertest.Cluster, pick func(int) int) {
		s := anySpace(anyNode(c, pick), pick)
		s.Routes = cutAt(s.Routes, pick(len(s.Routes)))
	}},
	{"linux-route-astray", func(c *clustertest.Cluster, pick func(int) int) {
		n, to := anyNode(c, pick), anyNode(c, pick)
		netns := n.Pods[pick(len(n.Pods))].Netns
		a := to.Pods[pick(len(to.Pods))].Addr
		n.Linux.Spaces[netns].Routes = append(n.Linux.Spaces[netns].Routes,
			vppwire.HostRoute{Netns: netns, Dst: netip.PrefixFrom(a, 28+pick(5)).Masked(), Via: a, Link: "eth0"})
	}},
	{"linux-route-without-gateway", func(c *clustertest.Cluster, pick func(int) int) {
		s := anySpace(anyNode(c, pick), pick)
		s.Routes[0].Via = netip.Addr{}
	}},
	{"linux-asks-for-pods", func(c *clustertest.Cluster, pick func(int) int) {
		n, to := anyNode(c, pick), anyNode(c, pick)
		s := n.Linux.Spaces[n.Pods[pick(len(n.Pods))].Netns]
		s.Routes[0].Via = netip.Addr{}
		gateway := s.Neighbors[0]
		gateway.Addr = to.Pods[0].Addr
		s.Neighbors = append(s.Neighbors, gateway)
		// The host and the node answer as before, so that only pods are affected.
		for _, a := range []netip.Addr{n.HostLinux, n.Address.Addr()} {
			s.Routes = append(s.Routes, vppwire.HostRoute{Dst: netip.PrefixFrom(a, 32), Via: n.Blocks[0].Gateway, Link: "eth0"})
		}
	}},
	{"linux-neighbor-gone", func(c *clustertest.Cluster, pick func(int) int) {
		anySpace(anyNode(c, pick), pick).Neighbors = nil
	}},
	{"namespace-gone", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		delete(n.Linux.Spaces, n.Pods[pick(len(n.Pods))].Netns)
	}},
	{"namespaces-swapped", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		a, b := &n.Pods[pick(len(n.Pods))], &n.Pods[pick(len(n.Pods))]
		a.Netns, b.Netns = b.Netns, a.Netns
	}},
	{"answer-changed", func(c *clustertest.Cluster, pick func(int) int) {
		n, to := anyNode(c, pick), anyNode(c, pick)
		n.Pods[pick(len(n.Pods))].Addr = to.Pods[pick(len(to.Pods))].Addr.Next()
	}},
	{"answered-twice", func(c *clustertest.Cluster, pick func(int) int) {
		n, to := anyNode(c, pick), anyNode(c, pick)
		n.Pods[pick(len(n.Pods))].Addr = to.Pods[pick(len(to.Pods))].Addr
	}},
	{"lease-gone", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.Leased = n.Leased[1:]
	}},
	{"lease-left", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		l := n.Leased[len(n.Leased)-1]
		l.Owner.ContainerID, l.Addr = "left-over", l.Addr.Next()
		n.Leased = append(n.Leased, l)
	}},
	{"pod-without-answer", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.Pods[pick(len(n.Pods))].Addr = netip.Addr{}
	}},
	{"two-blocks", func(c *clustertest.Cluster, pick func(int) int) {
		n := anyNode(c, pick)
		n.Blocks = append(n.Blocks, ipam.Block{Prefix: netip.MustParsePrefix("10.200.0.0/24"), Gateway: netip.MustParseAddr("10.200.0.1")})
	}},
}

func freeze(c *clustertest.Cluster) {
	for _, n := range c.Nodes {
		n.VPP.Freeze()
	}
}
