package audit

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// readers are those of the kinds that are known, each with its group: a system's records have a row here.
var readers = map[string]Reader{
	"Service": readService, "DaemonSet.apps": readDaemonSet,
	"ServiceCIDR.networking.k8s.io": readServiceCIDR, "IPAddress.networking.k8s.io": readIPAddress,
	"NetworkAttachmentDefinition.k8s.cni.cncf.io": readAttachment,

	"IPAMBlock.crd.projectcalico.org":     readCalicoBlock,
	"BlockAffinity.crd.projectcalico.org": readCalicoAffinity,
	"IPAMHandle.crd.projectcalico.org":    readCalicoHandle,
	"IPPool.crd.projectcalico.org":        readCalicoPool,
	"IPReservation.crd.projectcalico.org": readCalicoReservation,

	"CiliumNode.cilium.io": readCiliumNode, "CiliumPodIPPool.cilium.io": readCiliumPool,
	"PoolNode.vppdrill.github.io": readCiliumNode, "NodeIDRecord.vppdrill.github.io": readNodeID,

	"ENIConfig.crd.k8s.amazonaws.com": readENIConfig, "CNINode.vpcresources.k8s.aws": readNothing, kubectl.IPAMD: readIPAMD,

	"IPPool.whereabouts.cni.cncf.io":                        readWhereaboutsPool,
	"OverlappingRangeIPReservation.whereabouts.cni.cncf.io": readWhereaboutsReservation,

	"Subnet.kubeovn.io": readKubeOVNSubnet, "IP.kubeovn.io": readKubeOVNIP, "Vpc.kubeovn.io": readNothing,

	"IPPool.crd.antrea.io": readAntreaPool, "AntreaAgentInfo.crd.antrea.io": readNothing,
}

// bare are the readers of objects whose group nothing says; IPPools of different groups tell themselves apart.
var bare = map[string]Reader{
	"ServiceCIDR": readServiceCIDR, "IPAddress": readIPAddress, "DaemonSet": readDaemonSet, "NetworkAttachmentDefinition": readAttachment,
	"IPAMBlock": readCalicoBlock, "BlockAffinity": readCalicoAffinity, "IPAMHandle": readCalicoHandle, "IPReservation": readCalicoReservation,
	"CiliumNode": readCiliumNode, "CiliumPodIPPool": readCiliumPool, "PoolNode": readCiliumNode, "NodeIDRecord": readNodeID,
	"ENIConfig": readENIConfig, "OverlappingRangeIPReservation": readWhereaboutsReservation,
	"Subnet": readKubeOVNSubnet, "IP": readKubeOVNIP, "Vpc": readNothing, "IPPool": readAnyPool,
}

// readNothing is the reader of objects that show a system and no address.
func readNothing(*Objects, kubectl.Object) error { return nil }

func readAnyPool(o *Objects, one kubectl.Object) error {
	var spec struct {
		Range    string
		IPRanges []any
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	switch {
	case spec.Range != "":
		return readWhereaboutsPool(o, one)
	case len(spec.IPRanges) > 0:
		return readAntreaPool(o, one)
	}
	return readCalicoPool(o, one)
}

// node is a Node, with what its annotations say.
type node struct {
	name     string
	internal []netip.Addr
	// maxPods is how many pods its kubelet takes; 0: unknown.
	maxPods int
	// ready is its condition: True, False, Unknown or nothing. deleting: somebody has asked for its end.
	ready    string
	deleting bool
	cidrs    []netip.Prefix
	ranges   []heldRange
	// own are addresses of pods' ranges that the node itself has.
	own []ownAddr
	// shows are the systems that its annotations show.
	shows systems
	// interfaces names the ENIConfig that it wants.
	interfaces string
}

type ownAddr struct {
	addr netip.Addr
	what string
}

// dead says why nothing may run on a node any more; empty: it is alive as far as it shows.
func (n *node) dead() string {
	switch {
	case n == nil:
		return "does not exist"
	case n.deleting:
		return "is being deleted"
	case n.ready == "False" || n.ready == "Unknown":
		return "is not ready (" + n.ready + ")"
	}
	return ""
}

func (o *Objects) node(one kubectl.Object) error {
	read, err := one.Node()
	if err != nil {
		return err
	}
	n := &node{name: o.word(one.Metadata.Name), internal: read.Internal, cidrs: read.PodCIDRs, maxPods: read.MaxPods, ready: read.Ready,
		deleting: !one.Metadata.Deleted.IsZero()}
	if len(n.internal) == 0 {
		n.internal = read.Addresses
	}
	o.nodes[n.name] = n
	for _, p := range read.PodCIDRs {
		n.ranges = append(n.ranges, heldRange{node: n.name, prefix: p, by: "pod CIDR", source: podCIDRs, whole: true, kept: keptHostLocal})
	}
	for key, value := range one.Metadata.Annotations { //vppdrill:unordered each key is about another field
		if err := n.annotation(key, value); err != nil {
			return err
		}
	}
	for _, key := range []string{"k8s.amazonaws.com/eniConfig", "vpc.amazonaws.com/eniConfig"} {
		for _, said := range []map[string]string{one.Metadata.Annotations, one.Metadata.Labels} {
			if said[key] != "" && n.interfaces == "" {
				n.interfaces = said[key]
			}
		}
	}
	return nil
}

// annotation takes what one annotation of a Node says.
func (n *node) annotation(key, value string) error {
	n.shows.add(systemOfKey(key))
	switch key {
	case nodeSubnets:
		return n.subnets(value)
	case "ovn.kubernetes.io/ip_address":
		for _, a := range kubectl.Addrs(strings.Split(value, ",")...) {
			n.own = append(n.own, ownAddr{a, "join address"})
		}
	}
	if what := ownAnnotations[key]; what != "" {
		for _, a := range kubectl.Addrs(value) {
			n.own = append(n.own, ownAddr{a, what})
		}
	}
	return nil
}

// ownAnnotations are those that say which address of the pods' ranges a node itself has.
var ownAnnotations = map[string]string{
	"projectcalico.org/IPv4IPIPTunnelAddr":         "IPIP tunnel",
	"projectcalico.org/IPv4VXLANTunnelAddr":        "VXLAN tunnel",
	"projectcalico.org/IPv6VXLANTunnelAddr":        "VXLAN tunnel",
	"projectcalico.org/IPv4WireguardInterfaceAddr": "WireGuard interface",
	"projectcalico.org/IPv6WireguardInterfaceAddr": "WireGuard interface",
	"network.cilium.io/ipv4-cilium-host":           "cilium_host interface",
	"network.cilium.io/ipv6-cilium-host":           "cilium_host interface",
	"network.cilium.io/ipv4-health-ip":             "Cilium health endpoint",
	"network.cilium.io/ipv6-health-ip":             "Cilium health endpoint",
	"network.cilium.io/ipv4-Ingress-ip":            "Cilium ingress",
	"network.cilium.io/ipv6-Ingress-ip":            "Cilium ingress",
	"io.cilium.network.ipv4-cilium-host":           "cilium_host interface",
	"io.cilium.network.ipv6-cilium-host":           "cilium_host interface",
	"io.cilium.network.ipv4-health-ip":             "Cilium health endpoint",
	"io.cilium.network.ipv6-health-ip":             "Cilium health endpoint",
}

// pod is a Pod.
type pod struct {
	podName
	node string
	// faces are its addresses; those of its second interfaces are of networks of their own.
	faces []face
	// host: it has its node's addresses. over: it runs no more. deleting: somebody has asked for its end.
	host, over, deleting bool
	// one: it asks for addresses of one family, or for certain ones.
	one bool
	// branch: it has a network interface of the cloud's, which no node's program gives.
	branch bool
	// told: something says which second interfaces it has.
	told bool
	// machine is the virtual machine that runs in it: while that moves, two pods have one address.
	machine string
	// router and subnet are kube-ovn's VPC and subnet of it.
	router, subnet string
	shows          systems
}

// face is an address of a pod.
type face struct {
	addr    netip.Addr
	network string
	// second: the Pod's status does not have it.
	second bool
}

func (p *pod) String() string { return p.podName.String() }

// addrs are those that its status has.
func (p *pod) addrs() (list []netip.Addr) {
	for _, f := range p.faces {
		if !f.second {
			list = append(list, f.addr)
		}
	}
	return list
}

func (o *Objects) pod(one kubectl.Object) error {
	read, err := one.Pod()
	if err != nil {
		return err
	}
	m := one.Metadata
	p := pod{podName: podName{o.word(m.Namespace), m.Name}, node: o.word(read.Node), host: read.HostNetwork, over: read.Over,
		deleting: !m.Deleted.IsZero(), machine: m.Labels["vm.kubevirt.io/name"]}
	for _, a := range read.Addrs {
		p.faces = append(p.faces, face{addr: a})
	}
	if len(m.Annotations) > 0 {
		o.annotations(&p, m.Annotations)
	}
	p.shows.add(systemOfDaemon(m))
	at, again := o.podAt[p.podName]
	if again {
		o.pods[at] = p
		return nil
	}
	o.podAt[p.podName] = int32(len(o.pods))
	o.pods = append(o.pods, p)
	return nil
}

// annotations takes what those of a pod say.
func (o *Objects) annotations(p *pod, said map[string]string) {
	for key := range said { //vppdrill:unordered a set
		p.shows.add(systemOfKey(key))
	}
	p.router, p.subnet = o.word(said["ovn.kubernetes.io/logical_router"]), o.word(said["ovn.kubernetes.io/logical_switch"])
	p.one = said["ovn.kubernetes.io/ip_family"] != "" || said["ovn.kubernetes.io/ip_address"] != "" && !strings.Contains(said["ovn.kubernetes.io/ip_address"], ",") ||
		said["cni.projectcalico.org/ipAddrs"] != "" || said["cni.projectcalico.org/ipAddrsNoIpam"] != ""
	p.branch = said["vpc.amazonaws.com/pod-eni"] != ""
	second, told := secondFaces(said)
	more, alsoTold := podNetworks(said["k8s.ovn.org/pod-networks"])
	for _, f := range more { // which knows of networks that stand in for the default one
		if !slices.Contains(second, f) {
			second = append(second, f)
		}
	}
	p.told = told || alsoTold
	for _, f := range second {
		f.network = o.word(f.network)
		p.faces = append(p.faces, f)
	}
}

// service is a Service, or a range of them.
type service struct {
	podName
	addrs []netip.Addr
	// shared are addresses of load balancers, which services may have together and nodes may lend.
	shared []netip.Addr
	cidrs  []netip.Prefix
}

func readService(o *Objects, one kubectl.Object) error {
	var spec struct {
		ClusterIP   string
		ClusterIPs  []string
		ExternalIPs []string
	}
	var status struct {
		LoadBalancer struct{ Ingress []struct{ IP string } }
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	if err := kubectl.Decode(one.Status, &status); err != nil {
		return err
	}
	if len(spec.ClusterIPs) == 0 {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
	s := service{podName: podName{one.Metadata.Namespace, one.Metadata.Name}, addrs: kubectl.Addrs(spec.ClusterIPs...), shared: kubectl.Addrs(spec.ExternalIPs...)}
	for _, in := range status.LoadBalancer.Ingress {
		s.shared = append(s.shared, kubectl.Addrs(in.IP)...)
	}
	o.now.services = append(o.now.services, s)
	return nil
}

func readServiceCIDR(o *Objects, one kubectl.Object) error {
	var spec struct{ CIDRs []string }
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	cidrs, err := kubectl.Prefixes(spec.CIDRs)
	if len(cidrs) > 0 {
		o.now.services = append(o.now.services, service{podName: podName{name: one.Metadata.Name}, cidrs: cidrs})
	}
	return err
}

// addressClaim is what an IPAddress says: the service that has the address of its name.
type addressClaim struct {
	addr    netip.Addr
	service podName
}

func readIPAddress(o *Objects, one kubectl.Object) error {
	var spec struct {
		ParentRef struct{ Group, Resource, Namespace, Name string }
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	for _, a := range kubectl.Addrs(one.Metadata.Name) {
		if ref := spec.ParentRef; ref.Resource == "services" && ref.Group == "" {
			o.now.claims = &addressClaim{a, podName{ref.Namespace, ref.Name}}
		}
	}
	return nil
}

func readDaemonSet(o *Objects, one kubectl.Object) error {
	o.now.daemon = one.Metadata.Name
	return nil
}
