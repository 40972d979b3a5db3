package cilium

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"
)

// step decides what one node needs now. It moves the handshake on, asks for what is needed, marks what is excess (only
// in a resync), and writes the outcome.
func (o *Operator) step(now time.Time, m *managed, resync bool) []Action {
	if m.cloud == nil || m.writing {
		return nil
	}
	next := maps.Clone(m.node.Status.IPAM.ReleaseIPs)
	if next == nil {
		next = make(map[netip.Addr]HandshakeState)
	}
	m.settle(now, next)
	c, w := m.count(), m.node.Spec.IPAM.Watermarks
	excess := CalculateExcessIPs(c, w)
	if !o.cfg.ReleaseExcessIPs {
		excess = 0
	}
	leaving := takeBack(m.cloud, next, excess)
	actions := m.free(next, resync)
	n := CalculateRequest(NodeCount{Available: c.Available - leaving, Used: c.Used}, w)
	if n == 0 && !agreed(next) {
		m.trouble = "" // what went wrong is wanted no more, or has come about otherwise
	}
	mayAsk := m.asked == 0 && (resync || m.trouble == "" && !m.short)
	if n > 0 && mayAsk {
		m.asked = n
		actions = append(actions, Action{Kind: ActAllocate, Node: m.node.Metadata.Name, Count: n})
	}
	o.mark(now, m, next, excess-leaving, resync)
	return append(actions, m.write(next)...)
}

// settle does what the protocol demands: refusals are forgotten, addresses that the cloud no longer has are released.
func (m *managed) settle(now time.Time, next map[netip.Addr]HandshakeState) {
	for _, ip := range sortedAddrs(next) {
		_, there := m.cloud[ip]
		switch state := next[ip]; {
		case state == DoNotRelease:
			// Whatever made the agent refuse may be over soon: the delay starts anew.
			delete(next, ip)
			m.excess[ip] = now
		case state == ReadyForRelease && !there:
			// A cloud that has given the address anew already will be asked to free it once more.
			next[ip] = Released
		}
	}
}

// agreed reports whether some address is to be freed.
func agreed(next map[netip.Addr]HandshakeState) bool {
	return slices.ContainsFunc(sortedAddrs(next), func(ip netip.Addr) bool { return next[ip] == ReadyForRelease })
}

// takeBack unmarks addresses beyond what is excess, the last in order first, and returns how many are leaving. What the
// agent has agreed to goes all the way, although the protocol would let the operator take it back before it calls the
// cloud: an operator before this one, or one with an older view beside it, may have called already.
func takeBack(pool AllocationMap, next map[netip.Addr]HandshakeState, excess int) (leaving int) {
	var marked []netip.Addr
	for _, ip := range sortedAddrs(next) {
		if _, there := pool[ip]; !there || next[ip] == Released {
			continue
		}
		leaving++
		if next[ip] == MarkedForRelease {
			marked = append(marked, ip)
		}
	}
	for _, ip := range slices.Backward(marked) {
		if leaving <= excess {
			break
		}
		delete(next, ip)
		leaving--
	}
	return leaving
}

// free calls the cloud for what the agent has agreed to. After a failure only a resync tries again.
func (m *managed) free(next map[netip.Addr]HandshakeState, resync bool) (actions []Action) {
	for _, ip := range sortedAddrs(next) {
		if next[ip] != ReadyForRelease || m.freeing[ip] || m.trouble != "" && !resync {
			continue
		}
		m.freeing[ip] = true
		actions = append(actions, Action{Kind: ActFree, Node: m.node.Metadata.Name, IP: ip})
	}
	return actions
}

// mark lets the best n candidates age, and in a resync marks those that are old enough.
func (o *Operator) mark(now time.Time, m *managed, next map[netip.Addr]HandshakeState, n int, resync bool) {
	chosen := make(map[netip.Addr]bool)
	for _, ip := range m.candidates(next, n) {
		chosen[ip] = true
		since, known := m.excess[ip]
		if !known {
			since = now
			m.excess[ip] = now
		}
		if resync && now.Sub(since) >= o.cfg.ReleaseDelay {
			next[ip] = MarkedForRelease
			delete(m.excess, ip)
		}
	}
	for _, ip := range sortedAddrs(m.excess) {
		if !chosen[ip] {
			delete(m.excess, ip)
		}
	}
}

// candidates are up to n unused addresses: those of the interface with most of them first, ties by identifier, then by
// address. An interface's own address is none, and nothing of an interface with delegated prefixes, which Cilium keeps
// whole (pkg/aws/eni, PrepareIPRelease).
func (m *managed) candidates(next map[netip.Addr]HandshakeState, n int) []netip.Addr {
	if n <= 0 {
		return nil
	}
	pool := m.pool()
	whole := make(map[string]bool)
	for _, a := range m.cloud { //vppdrill:unordered it becomes a set
		whole[a.Resource] = whole[a.Resource] || a.delegated
	}
	var list []netip.Addr
	perInterface := make(map[string]int)
	for _, ip := range sortedAddrs(pool) {
		_, used := m.node.Status.IPAM.Used[ip]
		_, there := m.node.Spec.IPAM.Pool[ip]
		id := pool[ip].Resource
		// An entry that is only now forgotten has to be seen gone before there is another one.
		if used || !there || whole[id] || next[ip] != "" || m.node.Status.IPAM.ReleaseIPs[ip] != "" || m.node.Status.ENI.ENIs[id].IP == ip {
			continue
		}
		perInterface[id]++
		list = append(list, ip)
	}
	slices.SortStableFunc(list, func(a, b netip.Addr) int {
		x, y := pool[a].Resource, pool[b].Resource
		return cmp.Or(cmp.Compare(perInterface[y], perInterface[x]), cmp.Compare(x, y))
	})
	return list[:min(n, len(list))]
}

// write writes the handshake as it is, for a changed pool or error.
func (o *Operator) write(m *managed) []Action {
	if m.cloud == nil || m.writing {
		return nil
	}
	return m.write(maps.Clone(m.node.Status.IPAM.ReleaseIPs))
}

// write asks for a write if pool, handshake or error differ from what is stored.
func (m *managed) write(next map[netip.Addr]HandshakeState) []Action {
	n := m.node.Clone()
	n.Status.IPAM.ReleaseIPs = next
	if len(next) == 0 {
		n.Status.IPAM.ReleaseIPs = nil
	}
	n.Status.IPAM.OperatorStatus.Error = m.trouble
	// The pool follows the handshake that is about to be stored.
	after := managed{node: n, cloud: m.cloud}
	n.Spec.IPAM.Pool = after.pool()
	if len(n.Spec.IPAM.Pool) == 0 {
		n.Spec.IPAM.Pool = nil
	}
	if maps.Equal(n.Spec.IPAM.Pool, m.node.Spec.IPAM.Pool) &&
		maps.Equal(n.Status.IPAM.ReleaseIPs, m.node.Status.IPAM.ReleaseIPs) &&
		n.Status.IPAM.OperatorStatus == m.node.Status.IPAM.OperatorStatus {
		return nil
	}
	m.writing = true
	return []Action{{Kind: ActWrite, Node: n.Metadata.Name, Resource: n}}
}
