package gen

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// wirings are all ways of connecting pods, nodes and hosts.
var wirings = struct {
	pod  []scenarios.PodWiring
	node []scenarios.NodeWiring
	host []scenarios.HostWiring
}{
	[]scenarios.PodWiring{scenarios.PodVETH, scenarios.PodTAP, scenarios.PodMACVLAN},
	[]scenarios.NodeWiring{scenarios.NodeVXLAN, scenarios.NodeL2},
	[]scenarios.HostWiring{scenarios.HostTAP, scenarios.HostVETH, scenarios.HostNone},
}

// LifePrefix begins the names of Lives.
const LifePrefix = "life-"

// Lives returns, for every address management system and every way of wiring, a cluster of two nodes that does everything once: pods
// are added and deleted, garbage is collected, the address plan changes, a node joins, one leaves, agent and VPP restart. They are
// small enough to let each of their operations fail in every way; in them nothing is left to chance but what the run's seed decides.
func Lives() []*scenarios.Scenario {
	var lives []*scenarios.Scenario
	for _, system := range scenarios.Systems() {
		for _, pod := range wirings.pod {
			for _, node := range wirings.node {
				for _, host := range wirings.host {
					lives = append(lives, life(system, scenarios.Wiring{Pod: pod, Node: node, Host: host}))
				}
			}
		}
	}
	return lives
}

func life(system *scenarios.AddressSystem, w scenarios.Wiring) *scenarios.Scenario {
	s := scenarios.Default()
	s.Name = LifePrefix + strings.Join([]string{string(system.Name), string(w.Pod), string(w.Node), string(w.Host)}, "-")
	s.Labels = []string{"life"}
	s.Goal = fmt.Sprintf("Two nodes with %s, pods by %s, nodes by %s, hosts by %s do everything once.", system.Name, w.Pod, w.Node, w.Host)
	s.Topology.Nodes, s.Topology.PodsPerNode = 2, 1
	s.Config.Wiring.Pod, s.Config.Wiring.Node, s.Config.Wiring.Host = w.Pod, w.Node, w.Host
	s.Config.Agent.NodeIDQuarantine = 10 * time.Second
	s.Limits.Settle = 20 * time.Minute
	first := scenarios.NodeRef("node-1")
	c := &s.Config.IPAM
	c.Use(system)
	var change scenarios.Action = scenarios.AddRange{CIDR: systemSecond}
	if c.PodSubnetCIDR, c.Ranges = scenarios.CIDR(systemSubnet), []netip.Prefix{systemFirst}; c.Traits().ByID {
		c.Ranges, change = nil, scenarios.ChangeCIDR{PodSubnetCIDR: scenarios.CIDR(podRanges[2])}
	}
	pods := system.Draws.Life(c, w.Pod)
	do := func(actions ...scenarios.Action) {
		for _, a := range actions {
			s.Timeline = append(s.Timeline, scenarios.Step{Trigger: scenarios.WhenSettled, Action: a})
		}
	}
	do(scenarios.CreatePods{Count: pods, Node: first}, scenarios.DeletePods{Count: pods, Node: first}, scenarios.GC{Node: first}, change,
		scenarios.AddNode{Count: 1}, scenarios.RemoveNode{Node: "node-2"}, scenarios.RestartAgent{Node: first}, scenarios.RestartVPP{Node: first},
		scenarios.Settle{})
	if c.OnEC2() { // ipamd gives an interface back once a minute
		last := len(s.Timeline) - 1
		s.Timeline[last] = scenarios.Step{Trigger: scenarios.AfterPrevious, Time: 3 * time.Minute, Action: scenarios.Settle{}}
	}
	if err := s.Validate(); err != nil {
		panic(fmt.Sprintf("gen: %s is invalid: %v\n%s", s.Name, err, s.Marshal()))
	}
	return &s
}
