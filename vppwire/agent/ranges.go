package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// ranges are the cluster's address ranges and what of them is ours.
type ranges struct {
	// history holds every Pools that something may still be left of, oldest first. The last one may not be on disk yet;
	// known says that at least one is, and plan is the newest of those.
	history []Pools
	known   bool
	acting  int64 // plan's generation
	plan    contiv.Plan
	// gateways are those of single nodes, which no node gets as its own address. From the configuration.
	gateways []netip.Addr
	// mine is what follows from our ID, by the newest ranges on disk that have room for it, which are those of generation
	// by; mineOK: some have.
	mine   contiv.NodePlan
	mineOK bool
	by     int64
	unfit  string // why the newest have not, logged once
	// want are the blocks that we should give addresses from.
	want []netip.Prefix
	// waiting says why they are not taken yet; blocked that only other nodes or people can end that; retryAt is when it
	// may end by itself.
	waiting string
	blocked bool
	retryAt time.Time
	// incomplete: what they wait for is the store, which may have lost other nodes' records.
	incomplete bool
	// backAt is until when a block that two nodes have published at the same time is left to the other one.
	backAt time.Time
}

// Two nodes that publish the same addresses at the same time both step back, by backFirst plus backStep for each number
// of their ID: the steps are longer than a store takes, so one of them is first next time.
const (
	backFirst = time.Second
	backStep  = 20 * time.Millisecond
)

// gatewayHostBits is how many host bits a block with a gateway of its own needs (Contiv's pod blocks: network, gateway,
// NAT loopback, broadcast and an address to give).
const gatewayHostBits = 3

func (r *ranges) external() bool { return r.plan.External }

func planOf(p Pools) contiv.Plan {
	plan := contiv.Plan{
		PodSubnet: p.PodSubnet, PodSubnetOneNodePrefixLen: p.PodSubnetOneNodePrefixLen,
		VPPHostSubnet: p.VPPHostSubnet, VPPHostSubnetOneNodeLen: p.VPPHostSubnetOneNodeLen,
		NodeInterconnect: p.NodeInterconnect, VXLAN: p.VXLAN, Service: p.Service,
		DefaultGateway: p.DefaultGateway, External: p.External,
	}
	if s := p.Second; p.Dual() {
		plan.Second = &contiv.Plan{
			PodSubnet: s.PodSubnet, PodSubnetOneNodePrefixLen: s.PodSubnetOneNodePrefixLen,
			VPPHostSubnet: s.VPPHostSubnet, VPPHostSubnetOneNodeLen: s.VPPHostSubnetOneNodeLen,
			NodeInterconnect: s.NodeInterconnect, VXLAN: s.VXLAN, Service: s.Service,
			DefaultGateway: s.DefaultGateway, External: p.External,
		}
	}
	return plan
}

func poolsOf(p contiv.Plan) Pools {
	pools := Pools{
		PodSubnet: p.PodSubnet, PodSubnetOneNodePrefixLen: p.PodSubnetOneNodePrefixLen,
		VPPHostSubnet: p.VPPHostSubnet, VPPHostSubnetOneNodeLen: p.VPPHostSubnetOneNodeLen,
		NodeInterconnect: p.NodeInterconnect, VXLAN: p.VXLAN, Service: p.Service,
		DefaultGateway: p.DefaultGateway, External: p.External,
	}
	if s := p.Second; s != nil {
		pools.Second = FamilyPools{
			PodSubnet: s.PodSubnet, PodSubnetOneNodePrefixLen: s.PodSubnetOneNodePrefixLen,
			VPPHostSubnet: s.VPPHostSubnet, VPPHostSubnetOneNodeLen: s.VPPHostSubnetOneNodeLen,
			NodeInterconnect: s.NodeInterconnect, VXLAN: s.VXLAN, Service: s.Service, DefaultGateway: s.DefaultGateway,
		}
	}
	return pools
}

// planOf is what ranges amount to on this node.
func (r *ranges) planOf(p Pools) contiv.Plan {
	all := planOf(p)
	for _, plan := range all.Families() {
		plan.NodeGateways = r.gateways
	}
	return all
}

// nodePlan is what follows from an ID by the newest ranges.
func (r *ranges) nodePlan(id uint32, cidrs []netip.Prefix) (contiv.NodePlan, error) {
	return nodePlan(&r.plan, id, cidrs)
}

// fitting is what follows from an ID that is held by the newest ranges that have room for it, and their generation; the
// error says why the newest of all have not. A node whose ID the newest have no room for goes on as what it is, in its
// next life too: people may give it other ranges, and until then its pods are reached.
func (r *ranges) fitting(id uint32, cidrs []netip.Prefix) (mine contiv.NodePlan, generation int64, err error) {
	mine, err = r.nodePlan(id, cidrs)
	if err == nil {
		return mine, r.acting, nil
	}
	for _, p := range slices.Backward(r.history) {
		if p.Generation >= r.acting {
			continue
		}
		older := r.planOf(p)
		if mine, failed := nodePlan(&older, id, cidrs); failed == nil {
			return mine, p.Generation, err
		}
	}
	return contiv.NodePlan{}, 0, err
}

// Room says why ranges have no room for a node ID, nil where they have. What single nodes have as their gateways is not
// known here.
func (p Pools) Room(id uint32) error {
	plan := planOf(p)
	_, err := nodePlan(&plan, id, nil)
	return err
}

// nodePlan is what follows from an ID. With external addresses the pod block has nothing to do with it.
func nodePlan(plan *contiv.Plan, id uint32, cidrs []netip.Prefix) (contiv.NodePlan, error) {
	if !plan.External {
		return plan.Node(id)
	}
	mine, err := externalPlan(plan, id, cidrs)
	if err != nil || plan.Second == nil {
		return mine, err
	}
	second, err := externalPlan(plan.Second, id, cidrs)
	if err != nil {
		return contiv.NodePlan{}, err
	}
	mine.Second = &second
	return mine, nil
}

// externalPlan is what follows from an ID with external addresses, in one family.
func externalPlan(plan *contiv.Plan, id uint32, cidrs []netip.Prefix) (contiv.NodePlan, error) {
	// A block that is too small to hold a gateway (EC2 gives single addresses where a subnet is in pieces) says nothing
	// about the node's own wiring; its gateway is elsewhere, and the allocator's affair.
	block := plan.PodSubnet
	for _, own := range ofPlan(plan, cidrs) {
		if own.Addr().BitLen()-own.Bits() >= gatewayHostBits {
			block = own
			break
		}
	}
	return plan.NodeWithBlock(id, block)
}

// blocksOf are the blocks that a node with plan mine should give addresses from.
func (r *ranges) blocksOf(mine contiv.NodePlan, cidrs []netip.Prefix) []netip.Prefix {
	if r.external() {
		var own []netip.Prefix
		for _, plan := range r.plan.Families() {
			own = append(own, ofPlan(plan, cidrs)...)
		}
		return own
	}
	own := []netip.Prefix{mine.PodSubnet}
	if mine.Second != nil {
		own = append(own, mine.Second.PodSubnet)
	}
	return own
}

// ofPlan keeps the prefixes of a plan's address family, masked.
func ofPlan(plan *contiv.Plan, cidrs []netip.Prefix) []netip.Prefix {
	var own []netip.Prefix
	for _, c := range cidrs {
		if c.IsValid() && c.Addr().BitLen() == plan.PodSubnet.Addr().BitLen() && !slices.Contains(own, c.Masked()) {
			own = append(own, c.Masked())
		}
	}
	return own
}

// regular reports whether a node's networks are no more than the block that the plan gives its ID.
func (r *ranges) regular(id uint32, networks []netip.Prefix) bool {
	if !r.known || r.external() || len(networks) == 0 {
		return len(networks) == 0
	}
	theirs, err := r.plan.Node(id)
	return err == nil && slices.Equal(r.blocksOf(theirs, nil), networks)
}

// checkPools says why ranges cannot be acted on.
func (cfg *Config) checkPools(p Pools) error {
	plan := planOf(p)
	if err := plan.Check(); err != nil {
		return err
	}
	return errors.Join(cfg.wirable(plan), cfg.sameFamily(plan))
}

// checkPools says why the agent cannot act on ranges.
func (a *Agent) checkPools(p Pools) error {
	if err := a.cfg.checkPools(p); err != nil {
		return err
	}
	if both, ok := a.alloc.(ipam.DualStack); p.Dual() && (!ok || !both.Dual()) {
		return fmt.Errorf("podSubnetCIDR %s,%s: the node's allocator has one address family", p.PodSubnet, p.Second.PodSubnet)
	}
	for _, old := range a.ranges.history {
		if old.Dual() != p.Dual() || old.PodSubnet.Addr().Is4() != p.PodSubnet.Addr().Is4() {
			return fmt.Errorf("podSubnetCIDR %s: a cluster's families stay as they are, and it began with %s", familiesOf(p), familiesOf(old))
		}
	}
	return nil
}

// familiesOf are the pod subnets of ranges as a configuration has them.
func familiesOf(p Pools) string {
	if p.Dual() {
		return p.PodSubnet.String() + "," + p.Second.PodSubnet.String()
	}
	return p.PodSubnet.String()
}

// poolsChanged takes newer ranges; they are acted on when they are on disk.
func (a *Agent) poolsChanged(p Pools) {
	r := &a.ranges
	if n := len(r.history); n > 0 && p.Generation <= r.history[n-1].Generation {
		return
	}
	if err := a.checkPools(p); err != nil {
		a.log(levelError, "address ranges of generation %d are refused: %v", p.Generation, err)
		return
	}
	r.history = append(r.history, p)
	a.journal.persist(poolsRecords(p), journalWaiter{what: stepPools, gen: p.Generation})
}

// poolsRecords are ranges as the journal has them, behind the format that they need.
func poolsRecords(p Pools) []Record {
	one := Record{Kind: RecordPools, Pools: p}
	if p.Dual() {
		return []Record{{Kind: RecordFormat, Format: formatDual}, one}
	}
	return []Record{one}
}

func (a *Agent) poolsWritten(generation int64) {
	r := &a.ranges
	if r.known && generation <= r.acting {
		return
	}
	for _, p := range r.history {
		if p.Generation == generation {
			a.actOn(p)
		}
	}
}

// actOn makes p the ranges that everything follows from.
func (a *Agent) actOn(p Pools) {
	r := &a.ranges
	r.known, r.acting, r.plan = true, p.Generation, r.planOf(p)
	a.identity(nodeid.Replanned{})
	a.todo |= todoRanges
}

// resolve works out what is ours after the ranges, the ID or the Node object's pod CIDRs changed.
func (a *Agent) resolve() {
	r := &a.ranges
	r.mineOK = false
	a.todo |= todoIdentity | todoBlocks | todoNode | todoPods
	id := a.ids.Claim().ID
	if !r.known || id == 0 {
		return
	}
	mine, by, err := r.fitting(id, a.podCIDRs)
	switch {
	case err == nil:
		r.unfit = ""
	case r.unfit != err.Error():
		r.unfit = err.Error()
		a.log(levelError, "node ID %d does not fit the address ranges: %v", id, err)
	}
	if mine.ID == 0 {
		return
	}
	r.mine, r.mineOK, r.by = mine, true, by
	r.want = r.blocksOf(mine, a.podCIDRs)
}

// takeBlocks makes the allocator pick from the blocks that are ours. Before a block is used for the first time, the
// view of the store must show our own record with it, and nobody else's record with an address of it. Two nodes that
// publish overlapping blocks write one after the other, so at least the later one sees both: they never both go on.
//
// Where another node stands in the way, our old blocks drain all the same: its new block may be waiting for them.
func (a *Agent) takeBlocks() {
	r := &a.ranges
	before, awaited := r.waiting, r.incomplete
	r.waiting, r.blocked, r.incomplete, r.retryAt = "", false, false, time.Time{}
	defer func() {
		if r.incomplete != awaited {
			a.identity(nodeid.Await{On: r.incomplete})
		}
	}()
	if !a.ids.Usable() || !r.mineOK {
		return
	}
	if len(r.want) == 0 && a.ids.UID() != "" {
		// What is held already stays in use: that nothing is assigned may be a word that has not come yet.
		r.waiting, r.blocked = "the Node object has no pod CIDR", true
		a.todo |= todoPods
	}
	if slices.Equal(a.activeBlocks(), r.want) {
		return
	}
	take := a.takeable()
	if r.waiting != "" && r.waiting != before {
		a.log(levelInfo, "blocks: %s", r.waiting)
	}
	if r.waiting != "" && (!r.blocked || r.incomplete) || len(r.want) == 0 || slices.Equal(a.activeBlocks(), take) {
		return
	}
	records, err := a.alloc.SetBlocks(a.now, take)
	if err != nil {
		// A pod of a held block stands in the way. What is active must drain, or that never ends.
		r.waiting, r.blocked = err.Error(), true
		if r.waiting != before {
			a.log(levelWarn, "blocks: %v", err)
		}
		a.drainBut(nil)
		return
	}
	a.blocksSet(records)
}

// reassigned: our Node object was registered anew, and begins with no more than it says. What the one before was assigned may be another
// node's by now, so nothing more is given from it.
func (a *Agent) reassigned() {
	active := a.activeBlocks()
	keep := slices.DeleteFunc(slices.Clone(active), func(p netip.Prefix) bool { return !slices.Contains(a.podCIDRs, p) })
	if a.ranges.external() && len(keep) < len(active) {
		a.drainBut(keep)
	}
}

// drainBut lets only these of the active blocks be allocated from.
func (a *Agent) drainBut(keep []netip.Prefix) {
	records, err := a.alloc.SetBlocks(a.now, keep)
	if err != nil {
		panic("agent: drain blocks: " + err.Error())
	}
	a.blocksSet(records)
}

func (a *Agent) blocksSet(records []ipam.Record) {
	if len(records) > 0 {
		a.journal.persist(ipamRecords(records), journalWaiter{})
	}
	a.todo |= todoIdentity | todoNode | todoPods
}

// awaitedBlocks says why not all blocks that the node should have are taken; empty when they are.
func (a *Agent) awaitedBlocks() string { return a.ranges.waiting }

// takeable are the wanted blocks that may be used now; waiting says what the others wait for.
func (a *Agent) takeable() []netip.Prefix {
	r := &a.ranges
	if len(r.want) == 0 {
		return nil
	}
	active, unpublished := a.alloc.Blocks(), false
	holding := func(w netip.Prefix) bool {
		return slices.ContainsFunc(active, func(b ipam.Block) bool { return b.Prefix == w })
	}
	fresh := slices.DeleteFunc(slices.Clone(r.want), holding)
	holders, shows := a.ids.Holders(a.now, fresh), a.ids.Shown()
	var take []netip.Prefix
	for _, w := range r.want {
		if holding(w) {
			take = append(take, w)
			continue
		}
		holder := holders[0]
		holders = holders[1:]
		switch shown, held := shows(w), holder.Name != ""; {
		case !a.ids.Complete():
			r.incomplete = true
		case shown && !held:
			take = append(take, w)
		case held:
			a.blockedBy(w, holder, shown)
		default:
			unpublished = true
		}
	}
	if r.incomplete {
		r.waiting, r.blocked = "the store may have lost the records of nodes that have addresses of the blocks", true
		a.todo |= todoIdentity
	} else if unpublished {
		r.waiting, r.blocked = "the blocks are not published yet", false
		if a.now.Before(r.backAt) {
			r.retryAt = r.backAt
		}
		a.todo |= todoIdentity
	}
	return take
}

// blockedBy notes that another node has addresses of a wanted block. One that we have published at the same time is
// taken out of our record again.
func (a *Agent) blockedBy(block netip.Prefix, holder nodeid.Holder, shown bool) {
	r := &a.ranges
	r.waiting, r.blocked = fmt.Sprintf("block %s: node %s still has addresses of it", block, holder.Name), true
	if shown {
		r.backAt = a.now.Add(backFirst + time.Duration(a.ids.Claim().ID)*backStep)
		r.retryAt = r.backAt
		a.todo |= todoIdentity
	}
	if !holder.Free.IsZero() {
		r.retryAt = holder.Free
	}
}

func ipamRecords(list []ipam.Record) []Record {
	records := make([]Record, len(list), len(list)+1)
	for i, r := range list {
		records[i] = Record{Kind: RecordIPAM, IPAM: r}
	}
	return records
}

func (a *Agent) activeBlocks() []netip.Prefix {
	var active []netip.Prefix
	for _, b := range a.alloc.Blocks() {
		if !b.Draining {
			active = append(active, b.Prefix)
		}
	}
	return active
}

// free are those of the blocks that may be published: nobody else has addresses of them, and we do not step back from
// them.
func (a *Agent) free(blocks []netip.Prefix) []netip.Prefix {
	if len(blocks) == 0 || !a.ids.Complete() || a.now.Before(a.ranges.backAt) {
		return nil
	}
	var list []netip.Prefix
	for i, h := range a.ids.Holders(a.now, blocks) {
		if h.Name == "" {
			list = append(list, blocks[i])
		}
	}
	return list
}
