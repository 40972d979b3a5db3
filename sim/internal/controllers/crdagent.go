package controllers

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// crdAgent is the part of a Cilium agent that reports to its operator what is in use and answers it, for one life of a
// node's agent.
type crdAgent struct {
	*ciliumAgent
	addresses *cilium.AddressAgent
}

func newCRDAgent(s *crdSystem, node string, side Side, alloc *cilium.ExpiringNode) *crdAgent {
	plant, life := s.env.Plant, s.restarts[node]
	c := cilium.AddressAgentConfig{Node: node, Alloc: alloc, Mode: string(s.env.Plan.Cilium.Mode), PodCIDR: s.env.Plan.PodSubnetCIDR.Prefix,
		Watermarks: s.watermarks(), Expiration: s.env.Plan.Cilium.Expiration, Pick: picker{&s.env}, Routes: func() []cilium.Route { return s.env.routes(node) }}
	if plant.Handshake != nil {
		c.Handshake = func(h cilium.Handshake) cilium.Handshake { return plant.Handshake(node, life, h) }
	}
	if plant.Expirations != nil {
		c.Timers = func(e cilium.Expirations) cilium.Expirations { return plant.Expirations(node, e) }
	}
	if plant.Routes != nil {
		c.Reserver = func(core *cilium.IPAM) cilium.Reserver { return plant.Routes(node, core, c.Routes) }
	}
	if plant.Side != nil {
		side = plant.Side(node, side)
	}
	m, err := cilium.NewAddressAgent(c)
	Accept(node+"'s Cilium agent", err)
	a := &crdAgent{newCiliumAgent(&s.env, node, m, &s.requests), m}
	a.behind = m.Behind
	a.look = func() cilium.AgentSeen {
		seen := cilium.AgentSeen{Idle: side.Idle()}
		for _, b := range side.Blocks() {
			seen.Held = append(seen.Held, b.Prefix)
		}
		return seen
	}
	return a
}

var _ Preparer = (*crdSystem)(nil)

// Prepare implements Preparer: Cilium's plugin asks its agent for an address, which expires unless a pod has it in
// time.
func (s *crdSystem) Prepare(node string, a Attempt, then func()) {
	if x := s.agents[node]; x != nil {
		if _, err := x.addresses.Reserve(a.Owner); err == nil { // without an address the agent says so
			x.addresses.Placed(a.Pod)
		}
		x.changed()
	}
	then()
}

// Waiter is a System that keeps addresses for pods whose plugins have asked.
type Waiter interface {
	// Waiting are those of a node, ascending: no other pod gets them before their time is over.
	Waiting(node string) []netip.Addr
}

// Waiting implements Waiter.
func (s *crdSystem) Waiting(node string) []netip.Addr {
	if a := s.agents[node]; a != nil {
		return a.addresses.Waiting()
	}
	return nil
}
