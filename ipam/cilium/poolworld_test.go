package cilium

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"
)

// pWorld is a cluster with named pools: nodes with agents and pods, operators that fail over, a ledger, an API server
// whose writes have a version as precondition, and writes that arrive late.
type pWorld struct {
	now     time.Time
	ledger  []Claim
	nodes   map[string]*pNode
	leaders []*pLeader
	// agentWrites are on their way.
	agentWrites []pWrite
}

type pNode struct {
	api     *CiliumNode
	version int
	agent   *MultiPool
	seen    *CiliumNode
	// pods survive the agent; restored says that the agent knows them.
	pods     map[netip.Addr]string
	restored bool
}

type pLeader struct {
	op    *PoolOperator
	seen  map[string]*CiliumNode
	queue []pWrite
}

// pWrite is entries to append, then a resource to write if its version is still the present one.
type pWrite struct {
	entries []Claim
	node    *CiliumNode
	// from is who gets the answer, unless it has crashed since.
	from *MultiPool
}

func newPWorld(t *testing.T) *pWorld {
	w := &pWorld{now: epoch, nodes: make(map[string]*pNode)}
	for _, name := range [...]string{"a", "b", "c"} {
		n := &pNode{api: &CiliumNode{Metadata: ObjectMeta{Name: name, UID: "u"}}, pods: make(map[netip.Addr]string)}
		w.nodes[name] = n
		n.stored()
		w.startAgent(t, n)
		w.restore(t, n)
	}
	w.elect(t)
	return w
}

func (n *pNode) stored() {
	n.version++
	n.api.Metadata.ResourceVersion = strconv.Itoa(n.version)
}

func (w *pWorld) startAgent(t *testing.T, n *pNode) {
	var err error
	n.agent, err = NewMultiPool(MultiPoolConfig{IPv4: true, PreAllocate: map[string]int{"default": 2}, Pick: new(scatter)})
	if err == nil {
		err = n.agent.Update(n.api.Spec.IPAM.Pools.Allocated)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.seen, n.restored = n.api, false
}

func (w *pWorld) restore(t *testing.T, n *pNode) {
	// The agent writes its resource and reads it back, so that what its predecessor still has on its way fails.
	n.stored()
	n.see(t)
	for _, ip := range sortedAddrs(n.pods) {
		if _, err := n.agent.AllocateIP(n.pods[ip], ip, ip.String()); err != nil {
			t.Fatalf("restore of %s: %v", ip, err)
		}
	}
	n.agent.FinishRestore()
	n.restored = true
}

func (w *pWorld) elect(t *testing.T) {
	op, err := NewPoolOperator(PoolOperatorConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range w.ledger {
		if err := op.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	for name, cidr := range map[string]string{"default": "10.0.0.0/26", "blue": "10.1.0.0/27"} {
		if err := op.UpsertPool(name, PoolSpec{IPv4: []netip.Prefix{netip.MustParsePrefix(cidr)}, MaskSize4: 28}); err != nil {
			t.Fatal(err)
		}
	}
	l := &pLeader{op: op, seen: make(map[string]*CiliumNode)}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		l.seen[name] = w.nodes[name].api
		entries, err := op.Adopt(w.now, w.nodes[name].api)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) > 0 {
			l.queue = append(l.queue, pWrite{entries: entries})
		}
	}
	op.FinishRestore()
	w.leaders = append(w.leaders, l)
	if len(w.leaders) > 2 {
		w.leaders = w.leaders[1:]
	}
}

func (n *pNode) see(t *testing.T) {
	n.seen = n.api
	if err := n.agent.Update(n.api.Spec.IPAM.Pools.Allocated); err != nil {
		t.Fatal(err)
	}
}

// sync publishes; like a real client, an agent has one write on its way.
func (w *pWorld) sync(n *pNode) {
	if slices.ContainsFunc(w.agentWrites, func(x pWrite) bool { return x.from == n.agent }) {
		return
	}
	c := n.seen.Clone()
	c.Spec.IPAM.Pools.Requested, c.Spec.IPAM.Pools.Allocated = n.agent.Sync(w.now)
	w.agentWrites = append(w.agentWrites, pWrite{node: c, from: n.agent})
}

// write stores a resource; the answer to an agent comes at once, to one that still lives.
func (w *pWorld) write(x pWrite) bool {
	n := w.nodes[x.node.Metadata.Name]
	if x.node.Metadata.ResourceVersion != n.api.Metadata.ResourceVersion {
		if x.from == n.agent {
			n.agent.Refused()
		}
		return false
	}
	n.api = x.node.Clone()
	n.stored()
	return true
}

func (w *pWorld) reconcile(l *pLeader, name string) {
	c := l.seen[name].Clone()
	allocated, entries, _ := l.op.Reconcile(w.now, c) // an exhausted pool is no failure here
	c.Spec.IPAM.Pools.Allocated = allocated
	l.queue = append(l.queue, pWrite{entries: entries, node: c})
}

func (w *pWorld) send(l *pLeader) {
	if len(l.queue) == 0 {
		return
	}
	x := l.queue[0]
	l.queue = l.queue[1:]
	for _, e := range x.entries {
		if e.Version != uint64(len(w.ledger))+1 {
			if w.leaders = slices.DeleteFunc(w.leaders, func(y *pLeader) bool { return y == l }); len(w.leaders) == 0 {
				w.leaders = append(w.leaders, l) // it will be deposed again
				l.queue = nil
			}
			return
		}
		w.ledger = append(w.ledger, e)
	}
	if x.node != nil && w.write(x) {
		l.op.Wrote(x.node)
		l.seen[x.node.Metadata.Name] = w.nodes[x.node.Metadata.Name].api
	}
}
