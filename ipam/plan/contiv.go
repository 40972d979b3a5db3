package plan

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Contiv is a cluster of Contiv-VPP: every address of a node follows from its ID.
type Contiv struct{ Config contiv.IPAMConfig }

func (Contiv) System() string { return "contiv" }

// What one block keeps from pods (contiv/vpp 2.1.4 plugins/ipam), and the host bits that it needs to have one left.
const (
	blockReserved    = 4
	blockHostBitsMin = 3
)

func (s Contiv) Draft(d *Draft, _ Cluster) error {
	p, refused := s.Config.Resolve()
	if refused != nil {
		var err error
		if p, err = Read(s.Config); err != nil {
			return err
		}
	}
	f := FabricOf(p)
	pods := Range{Name: "podSubnetCIDR", Prefix: p.PodSubnet, Purpose: "pods", OneNode: p.PodSubnetOneNodePrefixLen, use: usePods}
	pods.Parts = splitInto(d, "podSubnetOneNodePrefixLen", pods, blockHostBitsMin, 2)
	d.Ranges = append(d.Ranges, pods)
	if !p.External {
		d.Node(pods.String(), pods.Parts, fmt.Sprintf("one block of /%d each", pods.OneNode))
	}
	d.Node("node IDs", math.MaxUint32, "an ID has 32 bits")
	inBlock(d, pods)
	f.Draft(d)
	s.podInterfaces(d, p, pods)
	if p.External {
		d.Find(ruleExternal, Warning, "useExternalIPAM true", "each node's pod range is its Node object's podCIDR, and pod addresses come from another plugin",
			"plan those with system nodeipam, and keep podSubnetCIDR around them")
	}
	if pods.Parts > 0 && !p.External {
		d.Notes = append(d.Notes, fmt.Sprintf("the node with ID %d has the first block of podSubnetCIDR, all others the block of their ID", pods.Parts))
	}
	if refused != nil {
		s.refused(d, refused)
	}
	return nil
}

// inBlock adds, and returns, what one node's block of a range that is wired the Contiv way has for pods.
func inBlock(d *Draft, r Range) uint64 {
	fits := uint64(0)
	if r.Parts > 0 {
		fits = less(space.Count(netip.PrefixFrom(r.Prefix.Addr(), r.OneNode)), blockReserved)
	}
	d.Pod("block of "+r.String(), fits, fmt.Sprintf("a /%d without %d reserved addresses", r.OneNode, blockReserved))
	d.Reserve(r.String(), "network address, gateway (address 1), NAT loopback (last but one) and last address of the block", blockReserved, "node")
	return fits
}

// podInterfaces adds the node-local range of VPP's ends of pod interfaces.
func (s Contiv) podInterfaces(d *Draft, p contiv.Plan, pods Range) {
	if !p.PodIf.IsValid() {
		return
	}
	d.Ranges = append(d.Ranges, Range{Name: "podIfIPCIDR", Prefix: p.PodIf, Purpose: "VPP ends of pod interfaces, the same on each node", use: useLocal})
	// Interfaces are numbered from 1; the network address and the broadcast address belong to none.
	if pods.Parts > 0 && space.HostBits(p.PodIf) < pods.Prefix.Addr().BitLen()-pods.OneNode {
		d.Pod("podIfIPCIDR "+p.PodIf.String(), less(space.Count(p.PodIf), 2), "one for each pod, without network and broadcast address")
		d.Find(rulePodIf, Error, "podIfIPCIDR "+p.PodIf.String(), fmt.Sprintf("it is smaller than a block of /%d, so the last pods get no interface address", pods.OneNode),
			fmt.Sprintf("give at most /%d", pods.OneNode))
	}
}

// refused tells what Contiv's own check says, unless a finding says it better already.
func (s Contiv) refused(d *Draft, err error) {
	if s.Config.ContivCIDR != "" && (s.Config.PodSubnetCIDR != "" || s.Config.VPPHostSubnetCIDR != "" || s.Config.VXLANCIDR != "" ||
		s.Config.PodSubnetOneNodePrefixLen != 0 || s.Config.VPPHostSubnetOneNodePrefixLen != 0) {
		d.Find(ruleIgnored, Error, "contivCIDR "+s.Config.ContivCIDR, "it decides every range but the service's, and others are given too: "+err.Error(),
			"give one of them")
		return
	}
	d.refusal = err
}

// Read is contiv.IPAMConfig.Resolve without the checks: the plan of a configuration that can be read, whether it can
// work or not. Its errors are those of values that cannot be read.
func Read(c contiv.IPAMConfig) (contiv.Plan, error) {
	var p contiv.Plan
	var failed error
	read := func(key, text, standard string) netip.Prefix {
		if text == "" {
			text = standard
		}
		if text == "" {
			return netip.Prefix{}
		}
		prefix, err := space.ParsePrefix(text)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s %q: %w", key, text, err)
		}
		return prefix
	}
	if c.ContivCIDR != "" {
		var err error
		if p, err = contiv.DissectContivCIDR(c); err != nil {
			return contiv.Plan{}, err
		}
	} else {
		p.PodSubnet = read("podSubnetCIDR", c.PodSubnetCIDR, contiv.DefaultPodSubnetCIDR)
		host, vxlan, length := "", "", contiv.DefaultOneNodePrefixLen6
		if p.PodSubnet.Addr().Is4() {
			host, vxlan, length = contiv.DefaultVPPHostCIDR, contiv.DefaultVXLANCIDR, contiv.DefaultOneNodePrefixLen4
		}
		p.VPPHostSubnet = read("vppHostSubnetCIDR", c.VPPHostSubnetCIDR, host)
		p.VXLAN = read("vxlanCIDR", c.VXLANCIDR, vxlan)
		if !c.NodeInterconnectDHCP {
			p.NodeInterconnect = read("nodeInterconnectCIDR", c.NodeInterconnectCIDR, "")
		}
		p.PodSubnetOneNodePrefixLen, p.VPPHostSubnetOneNodeLen = c.PodSubnetOneNodePrefixLen, c.VPPHostSubnetOneNodePrefixLen
		if p.PodSubnetOneNodePrefixLen == 0 {
			p.PodSubnetOneNodePrefixLen = length
		}
		if p.VPPHostSubnetOneNodeLen == 0 {
			p.VPPHostSubnetOneNodeLen = length
		}
		for _, need := range [...]struct {
			key   string
			value netip.Prefix
		}{{"vppHostSubnetCIDR", p.VPPHostSubnet}, {"vxlanCIDR", p.VXLAN}} {
			if failed == nil && !need.value.IsValid() {
				failed = fmt.Errorf("%s is empty: only IPv4 clusters have a default", need.key)
			}
		}
	}
	p.External, p.DHCP = c.UseExternalIPAM, c.NodeInterconnectDHCP
	service := ""
	if p.PodSubnet.Addr().Is4() {
		service = contiv.DefaultServiceCIDR
	}
	p.Service = read("serviceCIDR", c.ServiceCIDR, service)
	if c.PodIfIPCIDR != "" {
		p.PodIf = read("podIfIPCIDR", c.PodIfIPCIDR, "")
	}
	if c.DefaultGateway != "" && !c.NodeInterconnectDHCP {
		gateway, err := netip.ParseAddr(c.DefaultGateway)
		if err != nil && failed == nil {
			failed = fmt.Errorf("defaultGateway %q: %w", c.DefaultGateway, err)
		}
		p.DefaultGateway = space.NormalAddr(gateway)
	}
	if failed != nil {
		return contiv.Plan{}, failed
	}
	return p, nil
}
