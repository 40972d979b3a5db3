package cilium

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// unique checks that no address is in use on two nodes and each is in a block that the ledger gives to its node.
func (w *pWorld) unique(t *testing.T, how []string) {
	holder := make(map[netip.Prefix]string)
	for _, e := range w.ledger {
		if e.Op == OpClaim {
			if other := holder[e.CIDR]; other != "" && other != e.Node {
				t.Fatalf("%q follows a claim of %s", e, other)
			}
			holder[e.CIDR] = e.Node
		} else {
			delete(holder, e.CIDR)
		}
	}
	seen := make(map[netip.Addr]string)
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		for ip := range w.nodes[name].pods {
			block := netip.PrefixFrom(ip, 28).Masked()
			if seen[ip] != "" || holder[block] != name+"/u" {
				t.Fatalf("%s is in use on %s and %q, its block is %q's\nledger %v\n%v", ip, name, seen[ip], holder[block], w.ledger, how)
			}
			seen[ip] = name
		}
	}
}

// rest lets everybody finish; then nobody's write changes anything.
func (w *pWorld) rest(t *testing.T, how []string) {
	w.elect(t)
	w.leaders = w.leaders[len(w.leaders)-1:]
	for range 30 {
		w.now = w.now.Add(time.Minute) // pending requests end
		for _, name := range [...]string{"a", "b", "c"} {
			n := w.nodes[name]
			if !n.restored {
				w.restore(t, n)
			}
			n.see(t)
			w.sync(n)
			for len(w.agentWrites) > 0 {
				w.write(w.agentWrites[0])
				w.agentWrites = w.agentWrites[1:]
			}
			w.leaders[0].seen[name] = n.api
			w.reconcile(w.leaders[0], name)
			for range len(w.leaders[0].queue) {
				w.send(w.leaders[0])
			}
			w.unique(t, how)
		}
	}
	before := fmt.Sprint(w.nodes["a"].api, w.nodes["b"].api, w.nodes["c"].api, len(w.ledger))
	shown := make(map[netip.Prefix]string)
	for _, name := range [...]string{"a", "b", "c"} {
		n := w.nodes[name]
		n.see(t)
		requested, allocated := n.agent.Sync(w.now)
		if fmt.Sprint(requested, allocated) != fmt.Sprint(n.api.Spec.IPAM.Pools.Requested, n.api.Spec.IPAM.Pools.Allocated) {
			t.Fatalf("%s is not at rest: %v %v, stored %v", name, requested, allocated, n.api)
		}
		for _, a := range allocated {
			for _, c := range a.CIDRs {
				if shown[c] != "" {
					t.Fatalf("%s is on %s and %s", c, shown[c], name)
				}
				shown[c] = name
			}
		}
	}
	if after := fmt.Sprint(w.nodes["a"].api, w.nodes["b"].api, w.nodes["c"].api, len(w.ledger)); after != before {
		t.Fatalf("%s became %s", before, after)
	}
	holds := 0
	for _, byPool := range w.leaders[0].op.claims.byNode {
		for _, cidrs := range byPool {
			holds += len(cidrs)
		}
	}
	if holds != len(shown) {
		t.Fatalf("the ledger has %d holds, %d are shown, after %v", holds, len(shown), how)
	}
}

// Goal: no address is ever in use twice or outside of its node's blocks, whatever agents and operators do with old
// views; and once things calm down nobody changes anything any more. Method: seeded walks over all steps of three
// agents and up to two operators, one of them deposed without knowing.
func TestPoolsAreSafe(t *testing.T) {
	claims, returns, allocated := 0, 0, 0
	for walk := range 600 {
		rng := rand.New(rand.NewPCG(uint64(walk), 3))
		w := newPWorld(t)
		how := []string{fmt.Sprint("walk ", walk)}
		for range 250 {
			how = append(how, w.move(t, rng))
			w.unique(t, how)
		}
		for _, n := range w.nodes {
			allocated += len(n.pods)
		}
		w.rest(t, how)
		for _, e := range w.ledger {
			if e.Op == OpClaim {
				claims++
			} else {
				returns++
			}
		}
	}
	if claims < 1000 || returns < 300 || allocated < 1000 {
		t.Errorf("%d claims, %d returns, %d pods: the walks went nowhere", claims, returns, allocated)
	}
}
