package normalized

import (
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// roles calls one node's interfaces and links by what they are for.
type roles struct {
	byIndex map[uint32]string
	// pods are the pods' names by namespace.
	pods map[string]string
}

func rolesOf(s *fact.NodeState, n *names) roles {
	r := roles{map[uint32]string{^uint32(0): "no interface"}, map[string]string{}}
	for _, p := range s.Pods {
		r.pods[p.Netns] = p.Pod
	}
	if s.VPP == nil {
		return r
	}
	nics := 0
	for i := range s.VPP.Interfaces() {
		role := i.Name
		switch i.Type {
		case fact.TypeNIC:
			role = "NIC"
			if nics++; nics > 1 {
				role = fmt.Sprintf("NIC %d", nics)
			}
		case fact.TypeVXLAN:
			role = "tunnel to " + n.addr(i.Dst)
		case fact.TypeLoopback:
			if i.BVI {
				role = fmt.Sprintf("BVI of bridge domain %d", i.Bridge)
			}
		case fact.TypeTap, fact.TypeAFPacket, fact.TypeMemif:
			role = r.served(s, i)
		case fact.TypeLocal:
		}
		r.byIndex[i.Index] = role
	}
	return r
}

// served is who is at the other end of an interface to Linux.
func (r roles) served(s *fact.NodeState, i fact.Interface) string {
	netns := i.HostNetns
	if i.Type == fact.TypeAFPacket && s.Linux != nil {
		if l, ok := s.Linux.Link(i.HostNetns, i.Host); ok {
			netns = l.PeerNetns
		}
	}
	if netns == "" {
		return "interface to the host"
	}
	if pod := r.pods[netns]; pod != "" {
		return "interface to pod " + pod
	}
	return "interface to nobody"
}

func (r roles) of(index uint32) string {
	if role := r.byIndex[index]; role != "" {
		return role
	}
	return "an interface that is gone"
}

// link is a link of the host's own namespace.
func (r roles) link(l vppwire.LinuxLink) string {
	if pod := r.pods[l.PeerNetns]; pod != "" {
		return "veth to pod " + pod
	}
	return l.Name
}
