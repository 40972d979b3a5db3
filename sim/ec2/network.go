package ec2

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Zone has a subnet for instances and one for the pods' interfaces, which is the same without custom networking.
type Zone struct{ Nodes, Pods *Subnet }

// ZoneConfig describes a Zone.
type ZoneConfig struct {
	// CIDR is the instances' subnet, Pods that of pods' interfaces, invalid where it is the same.
	CIDR, Pods netip.Prefix
	// Taken are addresses of the pods' subnet that others have for ever.
	Taken []netip.Prefix
}

func newZone(c ZoneConfig) Zone {
	z := Zone{Nodes: NewSubnet(c.CIDR)}
	if z.Pods = z.Nodes; c.Pods.IsValid() {
		z.Pods = NewSubnet(c.Pods)
	}
	for _, t := range c.Taken {
		for a := t.Addr(); t.Contains(a); a = a.Next() {
			z.Pods.Occupy(a)
		}
	}
	return z
}

// Network is the subnets of a cluster's nodes, and what of them others in the VPC have for now.
type Network struct {
	Zones   []Zone
	foreign []netip.Prefix
}

// NewNetwork returns the network of zones; without any, pods is one subnet. Others have what of pods is in none of the ranges.
func NewNetwork(zones []ZoneConfig, pods netip.Prefix, ranges []netip.Prefix) *Network {
	n := &Network{}
	for _, c := range zones {
		n.Zones = append(n.Zones, newZone(c))
	}
	if len(zones) == 0 {
		n.Zones = []Zone{newZone(ZoneConfig{CIDR: pods})}
	}
	n.occupy(pods, func(a netip.Addr) bool {
		return !slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Contains(a) })
	})
	return n
}

// ZoneOf is the number of a node's zone: by turns, by the node's own number, so that one that comes again is where it was.
func (n *Network) ZoneOf(node string) int {
	number, err := strconv.Atoi(node[strings.LastIndexByte(node, '-')+1:])
	if err != nil || number < 1 {
		number = 1
	}
	return (number - 1) % len(n.Zones)
}

// Occupy has another user take the free addresses of a prefix.
func (n *Network) Occupy(p netip.Prefix) { n.occupy(p, func(netip.Addr) bool { return true }) }

func (n *Network) occupy(p netip.Prefix, taken func(netip.Addr) bool) {
	for a := p.Masked().Addr(); p.Contains(a); a = a.Next() {
		if taken(a) && slices.ContainsFunc(n.Zones, func(z Zone) bool { return z.Pods.Occupy(a) }) {
			n.foreign = append(n.foreign, netip.PrefixFrom(a, a.BitLen()))
		}
	}
}

// Vacate gives back what another user had of a prefix.
func (n *Network) Vacate(r netip.Prefix) {
	n.foreign = slices.DeleteFunc(n.foreign, func(p netip.Prefix) bool {
		inside := r.Contains(p.Addr())
		if inside {
			for _, z := range n.Zones {
				z.Pods.Vacate(p.Addr())
			}
		}
		return inside
	})
}
