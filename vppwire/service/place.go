package service

import (
	"hash/fnv"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Place is a node's situation.
type Place struct {
	// Node is its name, Zone the one that it is in, empty where that is not said; Address its own one on the interconnect,
	// Hosts those of the host below it.
	Node    string
	Zone    string
	Address netip.Addr
	Hosts   []netip.Addr
	// Pods are the cluster's pod ranges.
	Pods []netip.Prefix
	// MainTable is where the node's own address and its host are, PodTable where pods are, and with Overlay other nodes
	// too.
	MainTable, PodTable uint32
	Overlay             bool
	// LocalWeight is the weight of an endpoint of this node against 1 of another's; not 0.
	LocalWeight uint8
}

// front is one address and port that a service is reached at.
type front struct {
	key
	port  *Port
	twice vppwire.Twice
	local bool // only by endpoints of this node
	// health: by this node's host, which answers load balancers.
	health bool
}

// fronts are those of a service on this node, in order: cluster, external, node ports. A client from outside has its
// own address translated, so that the answer comes back by this node, unless only this node's endpoints are asked.
func (p *Place) fronts(s *Service) []front {
	var out []front
	outside := vppwire.TwiceAlways
	if s.ExternalLocal {
		outside = vppwire.TwiceSelf
	}
	for i := range s.Ports {
		port := &s.Ports[i]
		if port.Proto == 0 {
			continue
		}
		add := func(a netip.Addr, number uint16, twice vppwire.Twice, local bool) {
			if a.Is4() && number != 0 {
				out = append(out, front{key: key{a, number, port.Proto}, port: port, twice: twice, local: local})
			}
		}
		for _, a := range s.ClusterIPs {
			add(a, port.Port, vppwire.TwiceSelf, s.InternalLocal)
		}
		for _, a := range s.ExternalIPs {
			add(a, port.Port, outside, s.ExternalLocal)
		}
		for _, a := range append([]netip.Addr{p.Address}, p.Hosts...) {
			add(a, port.NodePort, outside, s.ExternalLocal)
		}
	}
	if s.ExternalLocal && s.HealthPort != 0 && p.Address.Is4() && len(p.Hosts) > 0 {
		out = append(out, front{key: key{p.Address, s.HealthPort, vppwire.TCP}, twice: vppwire.TwiceAlways, health: true})
	}
	return out
}

// answering is the host as the endpoint of a load balancer's questions: it listens at all of its own addresses, and what
// comes to VPP's is sent there.
func (p *Place) answering(port uint16) []vppwire.Endpoint {
	return []vppwire.Endpoint{{Addr: netip.AddrPortFrom(p.Hosts[0], port), Table: p.MainTable, Weight: drawUnit}}
}

// choose is who serves: the ready ones, or, where there are none, those that go but still serve.
func (p *Place) choose(all []candidate, local bool) []vppwire.Endpoint {
	if local {
		all = slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !p.own(c.Node) })
	}
	who := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !c.Ready })
	if !local {
		who = p.hinted(who)
	}
	if len(who) == 0 {
		who = slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !c.Serving || !c.Terminating })
	}
	return p.weigh(who)
}

// hinted are those that are meant for this node, or else for its zone, where each of them says whom it is meant for and
// one of them this one; else all: the rule of kube-proxy (topologyModeFromHints, pkg/proxy/topology.go), by which a
// Service's trafficDistribution comes about.
func (p *Place) hinted(ready []candidate) []candidate {
	for _, hint := range [...]struct {
		mine string
		of   func(candidate) []string
	}{{p.Node, func(c candidate) []string { return c.ForNodes }}, {p.Zone, func(c candidate) []string { return c.ForZones }}} {
		if slices.ContainsFunc(ready, func(c candidate) bool { return len(hint.of(c)) == 0 }) {
			continue
		}
		if near := slices.DeleteFunc(slices.Clone(ready), func(c candidate) bool { return !slices.Contains(hint.of(c), hint.mine) }); len(near) > 0 {
			return near
		}
	}
	return ready
}

// own: an endpoint that does not say where it runs is taken for one of this node, as upstream does.
func (p *Place) own(node string) bool { return node == "" || node == p.Node }

// drawUnit is the weight of 1 as long as there is room. VPP draws by a number of a linear congruential generator modulo
// the sum of weights (random_u32, src/vppinfra/random.h), whose lowest bits go round in a few steps: of two endpoints
// with weights of 1, sessions that take two numbers each, as those of a client that is its own endpoint, get the same
// one for ever. An odd unit mixes higher bits in.
const drawUnit = 5

// weigh gives endpoints their tables and weights, within what VPP can add up. Of more than that many, each node takes
// others.
func (p *Place) weigh(who []candidate) []vppwire.Endpoint {
	sum := 0
	weight := func(c candidate) uint8 {
		if p.own(c.Node) {
			return p.LocalWeight
		}
		return 1
	}
	for _, c := range who {
		sum += int(weight(c))
	}
	even, unit := sum > vppwire.WeightsMax || len(who) == 1, uint8(1)
	// a lone endpoint too: with its weight, one that comes and goes would change, and VPP forgets sessions of what it
	// weighs anew
	if even {
		sum = len(who)
	}
	if sum*drawUnit <= vppwire.WeightsMax {
		unit = drawUnit
	}
	if len(who) > vppwire.WeightsMax {
		h := fnv.New32a()
		_, _ = h.Write([]byte(p.Node)) // a hash takes everything
		from := int(h.Sum32() % uint32(len(who)))
		who = slices.Concat(who[from:], who[:from])
		slices.SortStableFunc(who, func(a, b candidate) int { return first(p.own(a.Node)) - first(p.own(b.Node)) })
		who = who[:vppwire.WeightsMax]
	}
	out := make([]vppwire.Endpoint, len(who))
	for i, c := range who {
		out[i] = vppwire.Endpoint{Addr: netip.AddrPortFrom(c.Addr, c.port), Table: p.table(c.Endpoint), Weight: unit}
		if !even {
			out[i].Weight *= weight(c)
		}
	}
	return out
}

func first(yes bool) int {
	if yes {
		return 0
	}
	return 1
}

// table is where an endpoint's answers come from: VPP finds their session by it.
func (p *Place) table(e Endpoint) uint32 {
	pod := slices.ContainsFunc(p.Pods, func(r netip.Prefix) bool { return r.Contains(e.Addr) })
	switch {
	case e.Addr == p.Address, slices.Contains(p.Hosts, e.Addr):
		return p.MainTable
	case p.own(e.Node) && pod:
		return p.PodTable
	case e.Node != "" && e.Node != p.Node, pod:
		if p.Overlay {
			return p.PodTable
		}
	case e.Node != "":
		return p.PodTable // a pod of this node, of a range that is going
	}
	return p.MainTable
}
