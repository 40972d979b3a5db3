package plan

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Fabric is the ranges that wiring needs beside those of the pods, whatever system gives the pods theirs. A zero Prefix
// is a range that the cluster does not have.
type Fabric struct {
	// VPPHost is split into one link of VPPHostOneNode between VPP and Linux for each node.
	VPPHost        netip.Prefix
	VPPHostOneNode int
	// Interconnect and VXLAN hold one address per node.
	Interconnect, VXLAN netip.Prefix
	// Gateway is stepped over when node addresses are counted, if it lies in Interconnect.
	Gateway netip.Addr
	// Services are the ranges of cluster services, at most one of each family.
	Services []netip.Prefix
}

// FabricOf is the ranges of a Contiv plan that are not for pods.
func FabricOf(p contiv.Plan) Fabric {
	f := Fabric{VPPHost: p.VPPHostSubnet, VPPHostOneNode: p.VPPHostSubnetOneNodeLen, Interconnect: p.NodeInterconnect, VXLAN: p.VXLAN,
		Gateway: p.DefaultGateway}
	if p.Service.IsValid() {
		f.Services = append(f.Services, p.Service)
	}
	return f
}

// What kube-apiserver takes as a range of services: 2^20 addresses at most and 8 at least (--service-cluster-ip-range);
// kubeadm gives the DNS service the tenth address.
const (
	serviceHostBitsMax = 20
	serviceLeast       = 8
	serviceDNS         = 10
)

func (f Fabric) service(d *Draft, r Range) {
	d.Ranges = append(d.Ranges, r)
	longest := r.Prefix.Addr().BitLen() - 3
	fits := fmt.Sprintf("give /%d to /%d", r.Prefix.Addr().BitLen()-serviceHostBitsMax, longest)
	switch n := space.Count(r.Prefix); {
	case space.HostBits(r.Prefix) > serviceHostBitsMax:
		d.Find(ruleServiceSize, Error, r.String(), fmt.Sprintf("it is larger than /%d, and the API server does not start", r.Prefix.Addr().BitLen()-serviceHostBitsMax), fits)
	case n < serviceLeast:
		d.Find(ruleServiceSize, Error, r.String(), fmt.Sprintf("it has %d addresses, and the API server wants at least %d", n, serviceLeast), fits)
	case n <= serviceDNS:
		d.Find(ruleServiceSize, Warning, r.String(), "it has no tenth address, which kubeadm gives the cluster's DNS", fits)
	}
}

// linkHostBitsMin is what a link between VPP and Linux needs: VPP's end is address 1, Linux' end 2.
const linkHostBitsMin = 2

func (f Fabric) Draft(d *Draft) {
	f.links(d)
	f.hosts(d, "nodeInterconnectCIDR", f.Interconnect, f.Gateway)
	f.hosts(d, "vxlanCIDR", f.VXLAN, netip.Addr{})
	for _, s := range f.Services {
		f.service(d, Range{Name: "serviceCIDR", Prefix: space.Normal(s), Purpose: "cluster services", use: useService})
	}
	if gw := f.Gateway; gw.IsValid() && f.Interconnect.IsValid() {
		where := "defaultGateway " + gw.String()
		switch {
		case !f.Interconnect.Contains(gw):
			d.Find(ruleGateway, Warning, where, fmt.Sprintf("nodes of %s do not reach it", f.Interconnect), "give an address of nodeInterconnectCIDR")
		case gw == space.First(f.Interconnect) || gw.Is4() && gw == space.Last(f.Interconnect):
			d.Find(ruleGateway, Error, where, fmt.Sprintf("it is the network or broadcast address of %s", f.Interconnect), "give an address between them")
		}
	}
}

func (f Fabric) links(d *Draft) {
	if !f.VPPHost.IsValid() {
		return
	}
	r := Range{Name: "vppHostSubnetCIDR", Prefix: f.VPPHost, Purpose: "link between VPP and Linux", OneNode: f.VPPHostOneNode, use: useLinks}
	r.Parts = splitInto(d, "vppHostSubnetOneNodePrefixLen", r, linkHostBitsMin, 2)
	d.Ranges = append(d.Ranges, r)
	d.Node(r.String(), r.Parts, fmt.Sprintf("one link of /%d each", r.OneNode))
	d.Reserve(r.Name, "VPP's end (address 1) and Linux' end (address 2) of the link", 2, "node")
}

// splitInto is how many parts a range has, 0 and a finding when its length for one node is not usable: it has to give
// partsMin parts of hostBitsMin bits.
func splitInto(d *Draft, key string, r Range, hostBitsMin int, partsMin uint64) uint64 {
	parts := space.SubnetCount(r.Prefix, r.OneNode)
	longest := r.Prefix.Addr().BitLen() - hostBitsMin
	where := fmt.Sprintf("%s %d", key, r.OneNode)
	switch {
	case parts < partsMin:
		d.Find(ruleSplit, Error, where, fmt.Sprintf("it does not split %s", r), fmt.Sprintf("give %d to %d", r.Prefix.Bits()+int(partsMin-1), longest))
		return 0
	case r.OneNode > longest:
		d.Find(ruleSplit, Error, where, fmt.Sprintf("a part of %s needs at least %d bits for its own addresses", r, hostBitsMin), fmt.Sprintf("give at most %d", longest))
		return 0
	}
	return parts
}

// hosts adds a range of one address per node ID.
func (f Fabric) hosts(d *Draft, name string, all netip.Prefix, gateway netip.Addr) {
	if !all.IsValid() {
		return
	}
	r := Range{Name: name, Prefix: all, Purpose: "one address for each node", use: useNodes}
	d.Ranges = append(d.Ranges, r)
	// Node IDs count from 1, so the network address is nobody's.
	last := less(space.Count(all), 1)
	d.Reserve(name, "network address", 1, "cluster")
	if all.Addr().Is4() && last > 0 {
		last--
		d.Reserve(name, "broadcast address", 1, "cluster")
	}
	if i, ok := space.Index(all, gateway); ok && i <= last && last > 0 {
		last = less(last, 1)
		d.Reserve(name, "default gateway "+gateway.String(), 1, "cluster")
	}
	d.Node(r.String(), last, "one address each")
}
