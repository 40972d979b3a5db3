package agent

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// identity steps the machine of node IDs and does what it asks for.
func (a *Agent) identity(ev nodeid.Event) {
	if !a.permitted {
		a.todo |= todoPermit
	}
	for _, e := range a.ids.Step(a.now, ev) {
		switch e := e.(type) {
		case nodeid.Request:
			a.emit(StoreRequest(e))
		case nodeid.Save:
			a.journal.persist([]Record{a.nodeRecord()}, journalWaiter{what: stepNode, claim: nodeid.Claim(e)})
		case nodeid.RecordChanged:
			a.recordChanged(e.ID)
		case nodeid.MemberChanged:
			a.peers.wireOne(e.ID)
		case nodeid.ListNodes:
			a.emit(ListNodes{})
		case nodeid.Log:
			a.emit(Log{Level: int(e.Level), Message: e.Message})
		case nodeid.Changed:
			a.identityChanged(e)
		}
	}
}

// identityChanged opens the decisions that follow from the node's ID, the records and the nodes.
func (a *Agent) identityChanged(c nodeid.Changed) {
	for _, row := range [...]struct {
		what nodeid.Changed
		open todo
	}{
		{nodeid.WantsAct, todoIdentity},
		{nodeid.WantsJudge, todoStale},
		{nodeid.Viewed, todoBlocks},
		{nodeid.IDChanged, todoRanges},
		{nodeid.StandingChanged, todoPods},
		{nodeid.MemberBack, todoPeers},
		{nodeid.ActingBegan, todoBlocks | todoNode | todoPods},
		{nodeid.RecordsKnown, todoPeers | todoPermit},
		{nodeid.NodesKnown, todoPermit},
	} {
		if c&row.what != 0 {
			a.todo |= row.open
		}
	}
	if c&nodeid.StandingChanged != 0 && a.ids.Usable() || c&nodeid.Advanced != 0 && a.ranges.waiting != "" {
		a.todo |= todoBlocks
	}
	if c&nodeid.RecordsKnown != 0 {
		a.peers.known = true
	}
}

// nodeSeen takes what a Node object says. Of other nodes only the name and UID matter: the rest is in their records.
func (a *Agent) nodeSeen(e NodeSeen) {
	claimed := a.ids.Claim()
	a.identity(nodeid.NodeSeen{Name: e.Name, UID: e.UID})
	a.peers.settleContests(0)
	if e.Name != a.cfg.NodeName {
		return
	}
	mgmt := make([]netip.Addr, 0, len(e.Addresses))
	for _, addr := range e.Addresses {
		if addr = addr.WithZone(""); addr.IsValid() && !slices.Contains(mgmt, addr) {
			mgmt = append(mgmt, addr)
		}
	}
	if !slices.Equal(a.mgmt, mgmt) {
		a.mgmt = mgmt
		a.todo |= todoIdentity
	}
	if a.zone != e.Zone {
		a.zone = e.Zone
		a.todo |= todoServices
	}
	if !slices.Equal(a.podCIDRs, e.PodCIDRs) {
		a.podCIDRs = slices.Clone(e.PodCIDRs)
		a.todo |= todoRanges
	}
	if claimed.ID != 0 && claimed.UID != e.UID {
		a.reassigned()
	}
}

// plan answers the machine of node IDs.
type plan Agent

// IDs implements nodeid.Plan.
func (p *plan) IDs() (most uint32, known bool) {
	if !p.ranges.known {
		return 0, false
	}
	return p.ranges.plan.MaxNodeID(), true
}

// Block implements nodeid.Plan.
func (p *plan) Block(id uint32) (netip.Prefix, bool) {
	mine, err := p.ranges.nodePlan(id, p.podCIDRs)
	if err != nil {
		return netip.Prefix{}, false
	}
	if p.ranges.external() {
		return netip.Prefix{}, true
	}
	return mine.PodSubnet, true
}

// Regular implements nodeid.Plan.
func (p *plan) Regular(id uint32, networks []netip.Prefix) bool {
	return p.ranges.regular(id, networks)
}

// Record implements nodeid.Plan. Without addresses for an ID that is held already, its record keeps others off the ID
// and the blocks.
func (p *plan) Record(c nodeid.Claim, present *nodeid.Record) (nodeid.Record, bool) {
	a := (*Agent)(p)
	if c != a.ids.Claim() || a.ranges.mineOK {
		return a.recordFor(c, present), true
	}
	if present != nil || !a.ranges.known {
		return nodeid.Record{}, false
	}
	return nodeid.Record{ID: c.ID, Name: a.cfg.NodeName, UID: c.UID, Management: a.mgmt, PodNetworks: a.networks(nil)}, true
}

// recordFor is what our record should say. What we have not been told yet in this life stays as the present record (nil
// for none) has it, so that a restart does not publish half a node.
func (a *Agent) recordFor(c nodeid.Claim, present *nodeid.Record) nodeid.Record {
	mine, _, err := a.ranges.fitting(c.ID, a.podCIDRs)
	if mine.ID == 0 {
		panic("agent: publish an ID without addresses: " + err.Error())
	}
	n := nodeid.Record{
		ID: c.ID, Name: a.cfg.NodeName, UID: c.UID, Address: a.addressIn(mine.NodeIP), Management: a.mgmt,
		PodNetworks: a.networks(a.ranges.blocksOf(mine, a.podCIDRs)), HostNetwork: mine.VPPHostSubnet, VXLAN: mine.VXLANIP.Addr(),
	}
	if s := mine.Second; s != nil {
		n.SecondAddress, n.SecondHostNetwork, n.SecondVXLAN = s.NodeIP, s.VPPHostSubnet, s.VXLANIP.Addr()
	}
	if present != nil {
		seen := a.ids.UID() != ""
		if !seen {
			n.Management = present.Management
		}
		if !n.Address.IsValid() {
			n.Address = present.Address
		}
		if !seen && a.ranges.external() {
			n.PodNetworks = a.networks(present.PodNetworks)
		}
	}
	return n
}

// networks are the blocks to publish: wanted ones first, then what else is held, in the allocator's order. A wanted one
// that is not held yet is left out while another node has addresses of it: others would send that node's packets here.
func (a *Agent) networks(want []netip.Prefix) []netip.Prefix {
	held := a.alloc.Blocks()
	var list []netip.Prefix
	isHeld := func(w netip.Prefix) bool {
		return slices.ContainsFunc(held, func(b ipam.Block) bool { return b.Prefix == w })
	}
	fresh := a.free(slices.DeleteFunc(slices.Clone(want), isHeld))
	for _, w := range want {
		if isHeld(w) || slices.Contains(fresh, w) {
			list = append(list, w)
		}
	}
	for _, b := range held {
		list = appendMissing(list, b.Prefix)
	}
	for _, d := range a.journal.drops {
		list = appendMissing(list, d.prefix)
	}
	return list
}

func appendMissing(list []netip.Prefix, p netip.Prefix) []netip.Prefix {
	if slices.Contains(list, p) {
		return list
	}
	return append(list, p)
}

// addressIn is the interconnect address: the stolen NIC's, what we were told, else the configured one, else what is leased or the plan's.
func (a *Agent) addressIn(planned netip.Prefix) netip.Prefix {
	switch {
	case a.InSTNMode():
		if !a.steal.saved {
			return netip.Prefix{}
		}
		return a.steal.of.Addrs[0]
	case a.told.IsValid():
		return a.told
	case a.own.address.IsValid():
		return a.own.address
	case a.leasing():
		return a.lease.addr
	}
	return planned
}

// ownAddress takes a new interconnect address. It is remembered, as the next life starts before it is told again.
func (a *Agent) ownAddress(addr netip.Prefix) {
	if addr == a.told {
		return
	}
	a.told = addr
	if a.ids.Claim().ID != 0 {
		a.journal.persist([]Record{a.nodeRecord()}, journalWaiter{})
	}
	a.todo |= todoNode | todoIdentity
}
