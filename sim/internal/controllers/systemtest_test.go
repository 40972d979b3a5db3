package controllers_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/systemtest"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: the stories that each driver of a system has to play alike. Method: ipam/systemtest's, on the modelled API
// server; the real one's test is in vppwire/host/kube.
func TestSystemStories(t *testing.T) {
	for _, system := range []scenarios.System{scenarios.Cilium, scenarios.Calico, scenarios.Datastore} {
		stories, err := systemtest.Stories(string(system))
		if err != nil {
			t.Fatal(err)
		}
		for name, story := range stories {
			t.Run(string(system)+"/"+name, func(t *testing.T) {
				if err := systemtest.Play(story, func(s systemtest.Setup) systemtest.Cluster { return newModelled(t, s) }); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func six(text string) scenarios.CIDRPair { return scenarios.CIDR(netip.MustParsePrefix(text)) }

// modelled is a world as the suite drives one.
type modelled struct{ *world }

func newModelled(t *testing.T, s systemtest.Setup) modelled {
	p := scenarios.IPAM{System: scenarios.System(s.System), PodSubnetOneNodePrefixLen: s.Block}
	p.PodSubnetCIDR = scenarios.CIDR(s.Range)
	if s.Range.Addr().Is6() {
		p.VPPHostSubnetCIDR, p.VXLANCIDR, p.NodeInterconnectCIDR = six("fd02::/64"), six("fd03::/64"), six("fd04::/64")
	}
	p.Cilium.Mode, p.Cilium.PreAllocate = scenarios.CiliumMode(s.Mode), s.PreAllocate
	p.Datastore = scenarios.DefaultConfig().IPAM.Datastore
	return modelled{newWorld(t, p)}
}

// Join implements systemtest.Cluster.
func (m modelled) Join(node string) { m.join(node) }

// Leave implements systemtest.Cluster.
func (m modelled) Leave(node string) { m.leave(node) }

// Restart implements systemtest.Cluster.
func (m modelled) Restart(node string) {
	m.down(node)
	m.up(node, m.agents[node])
}

// Replace implements systemtest.Cluster.
func (m modelled) Replace() { m.must(m.system.LoseLeader(scenarios.LoseLeader{Pause: time.Minute})) }

// Pods implements systemtest.Cluster.
func (m modelled) Pods(node string, n int) { m.agents[node].pods(n) }

// Extend implements systemtest.Cluster.
func (m modelled) Extend(r netip.Prefix) { m.must(m.system.AddRange(r)) }

// State implements systemtest.Cluster.
func (m modelled) State() map[string]systemtest.Node {
	nodes := make(map[string]systemtest.Node, len(m.agents))
	for name, h := range m.agents {
		n := systemtest.Node{Shown: slices.Clone(m.assigned[name]), Pods: h.held()}
		for _, b := range h.alloc.Blocks() {
			n.Held = append(n.Held, b.Prefix)
		}
		nodes[name] = n
	}
	return nodes
}

// Await implements systemtest.Cluster.
func (m modelled) Await(done func() bool) {
	for range 120 {
		if done() {
			return
		}
		m.must(m.run(time.Second))
	}
}
