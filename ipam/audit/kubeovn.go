package audit

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// ovnCluster is the VPC that the cluster's own network is, and ovnDefault its subnet for pods that name none.
const (
	ovnCluster = "ovn-cluster"
	ovnDefault = "ovn-default"
)

// vpcNetwork is the network of a VPC.
func vpcNetwork(vpc string) string {
	if vpc == "" || vpc == ovnCluster {
		return ""
	}
	return "VPC " + vpc
}

// subnet is a Subnet.
type subnet struct {
	name string
	// network is its VPC's, or the attachment's whose second interfaces have its addresses.
	network string
	ranges  []netip.Prefix
}

func readKubeOVNSubnet(o *Objects, one kubectl.Object) error {
	var spec struct {
		CIDRBlock, VPC, Provider string
		ExcludeIPs               []string
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	s := &subnet{name: one.Metadata.Name, network: vpcNetwork(spec.VPC)}
	if name, namespace, attached := strings.Cut(strings.TrimSuffix(spec.Provider, ".ovn"), "."); attached {
		s.network = namespace + "/" + name
	}
	if spec.CIDRBlock != "" { // a subnet of MACs alone has none
		list, err := kubectl.Prefixes(strings.Split(spec.CIDRBlock, ","))
		if err != nil {
			return fmt.Errorf("spec.cidrBlock: %w", err)
		}
		s.ranges = list
	}
	var except []span
	for _, text := range spec.ExcludeIPs {
		first, last, isRange := strings.Cut(text, "..")
		if !isRange {
			last = first
		}
		if ends := kubectl.Addrs(first, last); len(ends) == 2 {
			except = append(except, span{ends[0], ends[1]})
		}
	}
	for _, p := range s.ranges {
		o.now.pools = append(o.now.pools, pool{by: "subnet " + s.name, source: kubeOVN, network: s.network,
			span: spanOf(p), own: true, except: except})
	}
	o.now.subnet = s
	return nil
}

// subnetNetwork is the network of a subnet that is not known.
const subnetNetwork = "subnet "

func readKubeOVNIP(o *Objects, one kubectl.Object) error {
	var spec struct {
		PodName, Namespace, Subnet, NodeName, PodType string
		IPAddress, V4IPAddress, V6IPAddress           string
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	w := owner{kind: ofPod, namespace: o.word(spec.Namespace), name: spec.PodName,
		kept: spec.PodType == "StatefulSet" || spec.PodType == "VirtualMachine" || spec.PodType == "VirtualMachineInstance"}
	switch {
	case spec.Namespace == "" && spec.NodeName != "":
		w = owner{kind: ofNode, node: o.word(spec.NodeName), what: "join address"}
	case spec.Namespace == "" || spec.PodName == "":
		w = owner{what: "IP " + one.Metadata.Name}
	}
	list := kubectl.Addrs(spec.V4IPAddress, spec.V6IPAddress)
	if len(list) == 0 {
		list = kubectl.Addrs(strings.Split(spec.IPAddress, ",")...)
	}
	for _, a := range list {
		o.use(record{addr: a, network: subnetNetwork + spec.Subnet, owner: w, by: "IP " + one.Metadata.Name, source: kubeOVN})
	}
	return nil
}
