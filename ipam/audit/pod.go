package audit

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

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
	p := pod{podName: podName{o.word(m.Namespace), m.Name}, node: o.word(read.Node), host: read.HostNetwork,
		over:     read.Over,
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
	p.one = said["ovn.kubernetes.io/ip_family"] != "" || said["ovn.kubernetes.io/ip_address"] != "" &&
		!strings.Contains(said["ovn.kubernetes.io/ip_address"], ",") ||
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
