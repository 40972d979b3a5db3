package kubectl

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Node is what of a Node concerns addresses.
type Node struct {
	Addresses []netip.Addr
	// Internal are those of type InternalIP, by which nodes reach each other.
	Internal []netip.Addr
	// PodCIDRs are masked.
	PodCIDRs []netip.Prefix
	// MaxPods is how many pods its kubelet takes; 0: unknown.
	MaxPods int
	// Ready is its condition of that name: True, False or Unknown; empty where it shows none.
	Ready string
}

// Node reads an object of kind Node. Addresses that are names of hosts are left out; a pod CIDR that is none is an
// error.
func (o Object) Node() (Node, error) {
	var n Node
	var spec struct {
		PodCIDR  string
		PodCIDRs []string
	}
	var status struct {
		Addresses   []struct{ Type, Address string }
		Conditions  []struct{ Type, Status string }
		Allocatable struct{ Pods string }
	}
	if err := Decode(o.Spec, &spec); err != nil {
		return n, err
	}
	if err := Decode(o.Status, &status); err != nil {
		return n, err
	}
	if len(spec.PodCIDRs) == 0 && spec.PodCIDR != "" {
		spec.PodCIDRs = []string{spec.PodCIDR}
	}
	var err error
	if n.PodCIDRs, err = Prefixes(spec.PodCIDRs); err != nil {
		return n, fmt.Errorf("spec.podCIDRs: %w", err)
	}
	for _, a := range status.Addresses {
		n.Addresses = append(n.Addresses, Addrs(a.Address)...)
		if a.Type == "InternalIP" {
			n.Internal = append(n.Internal, Addrs(a.Address)...)
		}
	}
	for _, c := range status.Conditions {
		if c.Type == "Ready" {
			n.Ready = c.Status
		}
	}
	n.MaxPods, _ = strconv.Atoi(status.Allocatable.Pods) // a count, or nothing
	return n, nil
}

// Pod is what of a Pod concerns addresses.
type Pod struct {
	// Node is empty before the pod is bound.
	Node  string
	Addrs []netip.Addr
	// HostNetwork: it has its node's addresses. Over: it runs no more.
	HostNetwork, Over bool
}

// Pod reads an object of kind Pod.
func (o Object) Pod() (Pod, error) {
	var spec struct {
		NodeName    string
		HostNetwork bool
	}
	var status struct {
		Phase, PodIP string
		PodIPs       []struct{ IP string }
	}
	if err := Decode(o.Spec, &spec); err != nil {
		return Pod{}, err
	}
	if err := Decode(o.Status, &status); err != nil {
		return Pod{}, err
	}
	p := Pod{Node: spec.NodeName, HostNetwork: spec.HostNetwork, Over: status.Phase == "Succeeded" || status.Phase == "Failed"}
	texts := make([]string, 0, 2)
	for _, ip := range status.PodIPs {
		texts = append(texts, ip.IP)
	}
	if strings.Join(texts, "") == "" {
		texts = []string{status.PodIP}
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		a, err := netip.ParseAddr(text)
		if err != nil {
			return Pod{}, fmt.Errorf("status.podIPs: %w", err)
		}
		p.Addrs = append(p.Addrs, a.Unmap())
	}
	return p, nil
}

// Prefix reads a prefix, masked.
func Prefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// Prefixes reads what Kubernetes writes as texts, masked.
func Prefixes(texts []string) (list []netip.Prefix, err error) {
	for _, t := range texts {
		p, err := Prefix(t)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// Addrs does the same for addresses, and leaves out what is none: "None", and names of hosts.
func Addrs(texts ...string) (list []netip.Addr) {
	for _, t := range texts {
		if a, err := netip.ParseAddr(t); err == nil {
			list = append(list, a.Unmap())
		}
	}
	return list
}
