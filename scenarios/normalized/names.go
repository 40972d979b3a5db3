package normalized

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// names says whose an address, a prefix or a MAC is. What nobody owns is called by its number.
type names struct {
	addrs    map[netip.Addr]string
	prefixes map[netip.Prefix]string
	// macs has every owner: pods on different nodes may share one.
	macs map[vppwire.MAC][]string
}

// namesOf collects what a cluster's nodes and pods own. The first owner of two wins; nodes come in name order, and laws tell
// of second owners.
func namesOf(s fact.Snapshot) *names {
	n := &names{map[netip.Addr]string{}, map[netip.Prefix]string{}, map[vppwire.MAC][]string{}}
	for i := range s.Nodes {
		n.node(&s.Nodes[i])
	}
	for i := range s.Nodes {
		n.hardware(&s.Nodes[i])
	}
	return n
}

func (n *names) node(s *fact.NodeState) {
	n.own(s.Address.Addr(), s.Name)
	n.own(s.VXLANAddress, s.Name+"'s tunnel address")
	n.own(s.HostVPP, s.Name+"'s host link, VPP's end")
	n.own(s.HostLinux, s.Name+"'s host link, Linux's end")
	for i, a := range s.Management {
		what := s.Name + "'s management address"
		if i > 0 {
			what = fmt.Sprintf("%s %d", what, i+1)
		}
		n.own(a, what)
	}
	n.ranges(s.HostSubnet, s.Name+"'s host link")
	n.ranges(s.PodSubnet, "the pod subnet")
	for i, b := range s.Blocks {
		what := s.Name + "'s pods"
		if i > 0 {
			what = fmt.Sprintf("%s (block %d)", what, i+1)
		}
		n.ranges(b.Prefix, what)
	}
	for _, p := range s.Pods {
		n.own(p.Addr, "pod "+p.Pod)
		n.own(p.Gateway, s.Name+"'s pod gateway")
	}
}

// hardware names MACs by the links that have them.
func (n *names) hardware(s *fact.NodeState) {
	if s.Linux != nil {
		for _, p := range s.Pods {
			for l := range s.Linux.Links(p.Netns) {
				n.mac(l.MAC, fmt.Sprintf("pod %s's %s", p.Pod, l.Name))
			}
		}
		r := rolesOf(s, n)
		for l := range s.Linux.Links("") {
			n.mac(l.MAC, s.Name+"'s Linux "+r.link(l))
		}
	}
	if s.VPP != nil {
		r := rolesOf(s, n)
		for i := range s.VPP.Interfaces() {
			n.mac(i.MAC, s.Name+"'s "+r.of(i.Index))
		}
	}
}

func (n *names) own(a netip.Addr, owner string) {
	if a.IsValid() && n.addrs[a] == "" {
		n.addrs[a] = owner
	}
}

func (n *names) ranges(p netip.Prefix, what string) {
	if p.IsValid() && n.prefixes[p.Masked()] == "" {
		n.prefixes[p.Masked()] = what
	}
}

func (n *names) mac(m vppwire.MAC, owner string) {
	if m != (vppwire.MAC{}) {
		n.macs[m] = append(n.macs[m], owner)
	}
}

// addr calls an address by its owner, "-" when there is none.
func (n *names) addr(a netip.Addr) string {
	if !a.IsValid() {
		return "-"
	}
	if owner := n.addrs[a]; owner != "" {
		return "(" + owner + ")"
	}
	return a.String()
}

// prefix calls a prefix by its owner: a range by whose it is, a host route by whose address it is, an address with a length
// by both.
func (n *names) prefix(p netip.Prefix) string {
	if what := n.prefixes[p]; what != "" {
		return "(" + what + ")"
	}
	owner := n.addrs[p.Addr()]
	if owner == "" {
		return p.String()
	}
	return fmt.Sprintf("(%s)/%d", owner, p.Bits())
}

// hw calls a MAC by its owner: of several by the one that has the address, where there is one.
func (n *names) hw(m vppwire.MAC, a netip.Addr) string {
	owners := n.macs[m]
	if len(owners) == 0 {
		return m.String()
	}
	for _, o := range owners {
		if who := n.addrs[a]; who != "" && strings.HasPrefix(o, who+"'s ") {
			return "(" + o + ")"
		}
	}
	return "(" + owners[0] + ")"
}
