package kube_test

import (
	"fmt"
	"net/netip"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/vppdrill/vppdrill/ipam/systemtest"
)

// Goal: agents take addresses of the IPPools whose nodeSelector selects their node, and of no others, also when a node's labels change: what
// its pods have they keep. Method: two pools and two nodes on an API server; a node of no pool's gets nothing.
func TestCalicoPoolsOfNodes(t *testing.T) {
	p := newPlayed(t, systemtest.Setup{System: "calico", Range: netip.MustParsePrefix("10.1.0.0/24"), Block: 29})
	west, other := netip.MustParsePrefix("10.1.0.0/25"), netip.MustParsePrefix("10.1.0.128/25")
	for name, selector := range map[string]string{"pool": "zone == 'west'", "second": "has(zone) && zone != 'west'"} {
		r := west
		if name == "second" {
			r = other
		}
		p.server.put("ippools", calicoObject("IPPool", name, map[string]any{"cidr": r.String(), "blockSize": 29.0, "nodeSelector": selector}))
	}
	zone := func(name, zone string) {
		p.server.addNode(name, func(n *v1.Node) {
			if zone != "" {
				n.Labels = map[string]string{"zone": zone}
			}
		})
	}
	within := func(name string, inWest, inOther int) {
		t.Helper()
		said := func() string {
			return fmt.Sprintf("%s: %v, want %d and %d; %s", name, p.shown(name), inWest, inOther, p.State()[name])
		}
		until(t, func() bool {
			n, m := 0, 0
			for _, a := range p.shown(name) {
				if west.Contains(a.Addr()) {
					n++
				}
				if other.Contains(a.Addr()) {
					m++
				}
			}
			pods := p.State()[name].Pods
			return n == inWest && m == inOther && pods <= n+m && pods == p.nodes[name].wanted
		}, said)
	}
	for name, z := range map[string]string{"a": "west", "b": "east", "c": ""} {
		p.Join(name)
		zone(name, z)
	}
	p.Pods("a", 3)
	p.Pods("b", 3)
	within("a", 3, 0)
	within("b", 0, 3)
	within("c", 0, 0)
	zone("a", "east")
	p.Restart("a") // which hears of its labels first
	p.Pods("a", 5)
	within("a", 3, 2)
	zone("c", "west")
	within("c", 1, 0)
}
