package cilium

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"
)

// DefaultReleaseDelay is how long an address has to be excess before it is marked (excess-ip-release-delay, 1.11).
const DefaultReleaseDelay = 180 * time.Second

// OperatorConfig sets an Operator up. Its zero value never gives addresses back.
type OperatorConfig struct {
	// ReleaseExcessIPs lets resyncs give back what a node does not need.
	ReleaseExcessIPs bool
	// ReleaseDelay is how long an address has to be excess before it is marked, >= 0; usually DefaultReleaseDelay.
	ReleaseDelay time.Duration
}

// Operator keeps the pools of many CiliumNodes between their watermarks. It is a state machine: every method that can
// change what is wanted returns the actions to take, and outcomes come back by methods. Its memory is expendable: a new
// Operator that is told the nodes and the cloud's listing goes on where the last one was, whatever it had on its way.
type Operator struct {
	cfg   OperatorConfig
	nodes map[string]*managed
}

// managed is what the operator knows about one node.
type managed struct {
	node *CiliumNode
	// cloud is the addresses that the cloud has for the node; nil before the first listing.
	cloud AllocationMap
	// asked is how many addresses a call on its way asks for.
	asked int
	// short says that the cloud gave fewer than asked: the next resync asks again.
	short bool
	// writing says that a write is on its way.
	writing bool
	// excess is since when an address is a candidate for release.
	excess map[netip.Addr]time.Time
	// freeing are addresses with a call to the cloud on its way.
	freeing map[netip.Addr]bool
	trouble string
}

// NodeStats is what an operator knows about a node.
type NodeStats struct {
	// Available is the pool's size without what is being released, Used how many of those are in use.
	NodeCount
	// Leaving is how many addresses are in the handshake.
	Leaving int
	// Needed and Excess are by the watermarks, as if nothing was leaving.
	Needed, Excess int
	// Error is what the cloud said last, empty after a success.
	Error string
}

// NewOperator returns an operator that knows no node.
func NewOperator(c OperatorConfig) (*Operator, error) {
	if c.ReleaseDelay < 0 {
		return nil, fmt.Errorf("operator: release delay %s is negative", c.ReleaseDelay)
	}
	return &Operator{cfg: c, nodes: make(map[string]*managed)}, nil
}

// Update takes a node's resource as it is now.
func (o *Operator) Update(now time.Time, n *CiliumNode) ([]Action, error) {
	if n.Metadata.Name == "" {
		return nil, errors.New("operator: a CiliumNode has no name")
	}
	own := n.Clone()
	if err := own.normalize(); err != nil {
		return nil, fmt.Errorf("CiliumNode %s: %w", n.Metadata.Name, err)
	}
	m := o.nodes[n.Metadata.Name]
	if m == nil || m.node.Metadata.UID != own.Metadata.UID {
		// A node with another UID is another machine of the same name; what the cloud has for it is listed anew.
		m = &managed{excess: make(map[netip.Addr]time.Time), freeing: make(map[netip.Addr]bool)}
		o.nodes[n.Metadata.Name] = m
	}
	m.node, m.writing = own, false
	return o.step(now, m, false), nil
}

// Delete forgets a node.
func (o *Operator) Delete(name string) { delete(o.nodes, name) }

// Listed takes the cloud's listing of a node's addresses; nothing happens to a node before its first. A listing must
// be newer than the last Allocated or Freed of the node, because it replaces what those told.
func (o *Operator) Listed(now time.Time, name string, addresses AllocationMap) []Action {
	m := o.nodes[name]
	if m == nil {
		return nil
	}
	m.cloud = maps.Clone(addresses)
	if m.cloud == nil {
		m.cloud = make(AllocationMap)
	}
	return o.step(now, m, false)
}

// Allocated is the outcome of an ActAllocate: the addresses that the node got, also when there was an error. After an
// error the next attempt comes with the node's next success or Resync, after fewer addresses than asked for with
// Resync.
func (o *Operator) Allocated(now time.Time, name string, addresses AllocationMap, err error) []Action {
	m := o.nodes[name]
	if m == nil {
		return nil
	}
	m.short = len(addresses) < m.asked
	m.asked = 0
	m.tell(err)
	if m.cloud == nil {
		m.cloud = make(AllocationMap)
	}
	maps.Copy(m.cloud, addresses)
	if err != nil {
		return o.write(m)
	}
	return o.step(now, m, false)
}

// Freed is the outcome of an ActFree. After an error the next attempt comes with the node's next success or Resync.
func (o *Operator) Freed(now time.Time, name string, ip netip.Addr, err error) []Action {
	m := o.nodes[name]
	if m == nil {
		return nil
	}
	m.tell(err)
	if err != nil {
		// The call may have come through all the same: there is no taking back, only trying again.
		delete(m.freeing, ip)
		return o.write(m)
	}
	delete(m.freeing, ip)
	delete(m.cloud, ip)
	return o.step(now, m, false)
}

// Refused says that a write met a newer resource, or failed; that resource comes by Update, or the write is repeated by
// the next Resync.
func (o *Operator) Refused(name string) {
	if m := o.nodes[name]; m != nil {
		m.writing = false
	}
}

func (m *managed) tell(err error) {
	m.trouble = ""
	if err != nil {
		m.trouble = err.Error()
	}
}

// Resync looks at every node, the largest need first and then by name, and marks excess addresses. Call it at
// intervals.
func (o *Operator) Resync(now time.Time) (actions []Action) {
	names := o.Names()
	needed := make(map[string]int, len(names))
	for _, name := range names {
		needed[name] = CalculateNeededIPs(o.nodes[name].count(), o.nodes[name].node.Spec.IPAM.Watermarks)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(needed[b], needed[a]) })
	for _, name := range names {
		actions = append(actions, o.step(now, o.nodes[name], true)...)
	}
	return actions
}

// Names lists the nodes in ascending order.
func (o *Operator) Names() []string { return slices.Sorted(maps.Keys(o.nodes)) }

// Get tells how a node is.
func (o *Operator) Get(name string) (NodeStats, bool) {
	m := o.nodes[name]
	if m == nil {
		return NodeStats{}, false
	}
	return m.stats(), true
}

func (m *managed) stats() NodeStats {
	c := m.count()
	w := m.node.Spec.IPAM.Watermarks
	s := NodeStats{NodeCount: c, Needed: CalculateNeededIPs(c, w), Excess: CalculateExcessIPs(c, w), Error: m.trouble}
	for _, ip := range sortedAddrs(m.pool()) {
		if m.node.Status.IPAM.ReleaseIPs[ip].Blocked() {
			s.Leaving++
		}
	}
	s.Available -= s.Leaving
	return s
}

// pool is what the node's pool should be: what the cloud has, without what was released and may be back already. Such
// an address has to leave the pool first, so that the agent forgets the entry.
func (m *managed) pool() AllocationMap {
	if m.cloud == nil {
		return m.node.Spec.IPAM.Pool
	}
	pool := make(AllocationMap, len(m.cloud))
	//vppdrill:unordered a map is filled
	for ip, a := range m.cloud {
		if m.node.Status.IPAM.ReleaseIPs[ip] != Released {
			a.delegated = false
			pool[ip] = a
		}
	}
	return pool
}

// count is the whole pool, with what is leaving, and what is in use of it.
func (m *managed) count() NodeCount {
	pool := m.pool()
	c := NodeCount{Available: len(pool)}
	//vppdrill:unordered it is a count
	for ip := range m.node.Status.IPAM.Used {
		if _, ok := pool[ip]; ok {
			c.Used++
		}
	}
	return c
}

// sortedAddrs are the keys of m in ascending order.
func sortedAddrs[V any](m map[netip.Addr]V) []netip.Addr {
	return slices.SortedFunc(maps.Keys(m), netip.Addr.Compare)
}
