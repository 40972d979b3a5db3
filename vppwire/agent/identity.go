package agent

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// conflictsQuiet is how many lost races for an ID are nothing to talk about: upstream gave up after as many.
const conflictsQuiet = 10

// identity is the cluster-wide node ID that every address of the node follows from.
type identity struct {
	// id is the ID that the store has given us, 0 for none; uid is the Node object's UID that it was claimed for.
	id  uint32
	uid string
	// acting: the claim is on disk, so the ID may be acted on.
	acting bool
	// lost says why an ID that is ours must not be used for anything new; empty when it may.
	lost string
	// removed: our own Node object is gone; others may release the ID any time, so we keep our hands off the store.
	removed bool
	// waiting says why no ID can be claimed now.
	waiting   string
	conflicts int
	// patientUntil is how long other nodes' records are waited for where the store has none, zero before the first look.
	patientUntil time.Time
	retryAt      time.Time // patientUntil, or the end of the first quarantine that stands in the way
}

func (d *identity) due() time.Time { return d.retryAt }

// usable reports whether new addresses may be derived from the ID.
func (d *identity) usable() bool { return d.acting && d.lost == "" && !d.removed }

// identify takes the next step towards a record of ours in the store that says what is true. The store is listed and no
// request is outstanding.
func (a *Agent) identify() {
	d := &a.ident
	d.retryAt = time.Time{}
	if d.removed {
		return
	}
	if d.id != 0 && a.uid != "" && a.uid != d.uid {
		a.disown()
	}
	if d.id == 0 {
		a.claim()
		return
	}
	if !a.checkOwner() {
		a.announce(d.uid)
	} else if !a.dropTwin() && !a.dropAnnouncement() && !a.publish() && a.ranges.incomplete {
		a.awaitRecords()
	}
}

// disown gives an ID up that was claimed for an earlier Node object of ours. Blocks and pods stay until a new ID is there:
// then the old block drains and is published under the new ID, which keeps others off it.
func (a *Agent) disown() {
	d := &a.ident
	a.log(levelWarn, "node ID %d belongs to Node UID %s, which is gone; a new one is claimed for %s", d.id, d.uid, a.uid)
	*d = identity{}
	a.todo |= todoRanges
}

// ours reports whether a record is this node's.
func (a *Agent) ours(r *record, uid string) bool {
	return !r.deleted && !r.malformed && uid != "" && r.uid == uid && r.name == a.cfg.NodeName
}

// claim finds our record or asks for a new one: the smallest ID that fits the plan, that nobody holds, and whose block no
// other node still has pods in.
func (a *Agent) claim() {
	if a.uid == "" {
		a.cannotClaim("the Node object of %s has not been seen", a.cfg.NodeName)
		return
	}
	if !a.ranges.known {
		a.cannotClaim("no address ranges are known")
		return
	}
	if a.patient() {
		return
	}
	for i := range a.store.records {
		if r := &a.store.records[i]; a.ours(r, a.uid) {
			a.adopt(r.id)
			return
		}
	}
	if !a.claimBehind(a.strangersBefore()) && !a.claimBehind(0) {
		a.cannotClaim("no node ID from 1 to %d is free", a.ranges.plan.MaxNodeID())
	}
}

// claimBehind asks for the smallest free ID behind the first `before` free ones; false when there is none. Nodes that start
// together leave each other room in the order of their names: each asks once, where all would race for the same ID and a
// thousand nodes make half a million requests.
func (a *Agent) claimBehind(before int) bool {
	d := &a.ident
	most := a.ranges.plan.MaxNodeID()
	for id := uint32(1); id <= most && id != 0; id++ {
		r := a.store.record(id)
		if r != nil && (r.live() || r.malformed) {
			continue
		}
		if r != nil && a.quarantined(r) {
			end := r.released.Add(a.cfg.NodeIDQuarantine)
			if d.retryAt.IsZero() || end.Before(d.retryAt) {
				d.retryAt = end
			}
			continue
		}
		mine, err := a.ranges.nodePlan(id, a.podCIDRs)
		if err != nil || !a.ranges.external() && a.overlapped(mine.PodSubnet) != nil {
			continue
		}
		if before > 0 {
			before--
			continue
		}
		d.waiting = ""
		value := a.infoFor(id, a.uid, nil).String()
		if r == nil {
			a.ask(StoreRequest{Op: StoreCreate, Key: nodeKey(id), Value: value})
		} else {
			a.ask(StoreRequest{Op: StoreUpdate, Key: nodeKey(id), Value: value, Revision: r.rev})
		}
		return true
	}
	return false
}

// strangersBefore counts the nodes without a record whose names come before ours.
func (a *Agent) strangersBefore() int {
	recorded := a.recorded()
	n := 0
	// in any order: it is a count
	for name, m := range a.members.nodes {
		if name < a.cfg.NodeName && !recorded[m.uid] {
			n++
		}
	}
	return n
}

// recorded are the UIDs of nodes that have a record.
func (a *Agent) recorded() map[string]bool {
	recorded := make(map[string]bool, len(a.store.records))
	for i := range a.store.records {
		if r := &a.store.records[i]; !r.deleted && !r.malformed {
			recorded[r.uid] = true
		}
	}
	return recorded
}

// conflicted counts races for an ID that others have won; what they wrote is in the view by now.
func (a *Agent) conflicted() {
	if a.ident.id != 0 {
		return
	}
	a.ident.conflicts++
	if a.ident.conflicts == conflictsQuiet+1 {
		a.log(levelWarn, "no node ID after %d attempts; going on", a.ident.conflicts)
	}
}

// adopt makes an ID ours that the store shows as ours. It is acted on when it is on disk.
func (a *Agent) adopt(id uint32) {
	a.ident = identity{id: id, uid: a.uid}
	a.log(levelInfo, "node ID %d", id)
	a.persist([]Record{a.nodeRecord()}, journalWaiter{what: stepNode})
	a.todo |= todoRanges | todoStore
}

func (a *Agent) nodeWritten() {
	if a.ident.id == 0 || a.ident.acting {
		return
	}
	a.ident.acting = true
	a.todo |= todoBlocks | todoNode | todoPods | todoSuspects
}

// checkOwner compares the store with the ID that we act on. An ID that somebody else holds by now is never taken back:
// two nodes with one block are worse than one node without.
func (a *Agent) checkOwner() bool {
	d := &a.ident
	r := a.store.record(d.id)
	if r == nil || a.ours(r, d.uid) {
		if d.lost != "" {
			a.log(levelInfo, "node ID %d is ours again", d.id)
			d.lost = ""
			a.todo |= todoBlocks | todoPods
		}
		return true
	}
	lost := fmt.Sprintf("node ID %d is held by node %q with UID %q", d.id, r.name, r.uid)
	if d.lost != lost {
		d.lost = lost
		a.log(levelError, "%s: no more addresses are given out", lost)
		a.todo |= todoPods
	}
	return false
}

// dropTwin deletes another record of ours, left by a claim whose answer was lost and that was done late; true when a
// request went out.
func (a *Agent) dropTwin() bool {
	if own := a.store.record(a.ident.id); own == nil {
		return false
	}
	for i := range a.store.records {
		if r := &a.store.records[i]; r.id != a.ident.id && a.ours(r, a.ident.uid) {
			a.log(levelInfo, "node ID %d is ours too: returned", r.id)
			a.ask(StoreRequest{Op: StoreDelete, Key: nodeKey(r.id), Revision: r.rev})
			return true
		}
	}
	return false
}

// publish writes our record where it does not say what is true; true when a request went out.
func (a *Agent) publish() bool {
	d := &a.ident
	r := a.store.record(d.id)
	switch {
	case a.uid == "" && (r == nil || !r.live()):
		return false // perhaps we have been taken out of the cluster; our Node object tells
	case !a.ranges.mineOK && (r != nil || !a.ranges.known):
		return false
	case !a.ranges.mineOK:
		a.ask(StoreRequest{Op: StoreCreate, Key: nodeKey(d.id), Value: a.holding().String()})
		return true
	case r == nil:
		a.ask(StoreRequest{Op: StoreCreate, Key: nodeKey(d.id), Value: a.infoFor(d.id, d.uid, nil).String()})
		return true
	}
	value := a.infoFor(d.id, d.uid, r).String()
	if value == r.value {
		return false
	}
	a.ask(StoreRequest{Op: StoreUpdate, Key: nodeKey(d.id), Value: value, Revision: r.rev})
	return true
}

// infoFor is what our record should say. What we have not been told yet in this life stays as the record r (nil for none)
// has it, so that a restart does not publish half a node.
func (a *Agent) infoFor(id uint32, uid string, r *record) NodeInfo {
	mine, err := a.ranges.nodePlan(id, a.podCIDRs)
	if err != nil {
		panic("agent: publish an ID without addresses: " + err.Error())
	}
	n := NodeInfo{
		ID: id, Name: a.cfg.NodeName, UID: uid, Address: a.addressIn(mine.NodeIP), Management: a.mgmt,
		PodNetworks: a.networks(a.ranges.blocksOf(mine, a.podCIDRs)), HostNetwork: mine.VPPHostSubnet, VXLAN: mine.VXLANIP.Addr(),
	}
	if r != nil {
		old := r.info()
		if a.uid == "" {
			n.Management = old.Management
		}
		if !n.Address.IsValid() {
			n.Address = old.Address
		}
		if a.uid == "" && a.ranges.external() {
			n.PodNetworks = a.networks(old.PodNetworks)
		}
	}
	return n
}

// networks are the blocks to publish: wanted ones first, then what else is held, in the allocator's order. A wanted one that
// is not held yet is left out while another node has addresses of it: others would send that node's packets here.
func (a *Agent) networks(want []netip.Prefix) []netip.Prefix {
	held := a.alloc.Blocks()
	var list []netip.Prefix
	for _, w := range want {
		if slices.ContainsFunc(held, func(b ipam.Block) bool { return b.Prefix == w }) || a.free(w) {
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

// addressIn is the interconnect address: what we were told, else the configured one, else the plan's.
func (a *Agent) addressIn(planned netip.Prefix) netip.Prefix {
	switch {
	case a.told.IsValid():
		return a.told
	case a.own.address.IsValid():
		return a.own.address
	case a.own.dhcp:
		return netip.Prefix{}
	}
	return planned
}

// ownAddress takes a new interconnect address. It is remembered, as the next life starts before it is told again.
func (a *Agent) ownAddress(addr netip.Prefix) {
	if addr == a.told {
		return
	}
	a.told = addr
	if a.ident.id != 0 {
		a.persist([]Record{a.nodeRecord()}, journalWaiter{})
	}
	a.todo |= todoNode | todoStore
}

// quarantined reports whether a released ID must rest.
func (a *Agent) quarantined(r *record) bool {
	return !r.released.IsZero() && a.now.Before(r.released.Add(a.cfg.NodeIDQuarantine))
}
