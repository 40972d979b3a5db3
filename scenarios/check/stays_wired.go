package check

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const staysWiredName = "stays-wired"

// staysWired: nothing that a living pod or node needs is removed from a VPP or a Linux host, or replaced there, without
// a cause. It is judged at every call. A premature removal that is undone shows here, but not in laws about settled
// clusters.
//
// A removal concerns the owner of its namespace, address or prefix. Removals without an owner are not judged. Causes
// are facts:
//
//   - Of a pod: its DEL was requested, a GC runs on its node, its sandbox or its node is gone, or it has a newer
//     sandbox. Once, if its link or the shared link of its node's pods was deleted: everything on it is recreated.
//   - Of a peer: it left, its machine is down, or its addresses or blocks differ from what was removed.
//   - Of a service: clients get no endpoint there. Twice each time that this began or ended, or that notifications to
//     nodes were delayed: a node with an outdated view of the service replaces its mapping. While notifications may be
//     late, mappings of a service that had affinity may be replaced freely.
//   - Of the node itself: the same, for its own addresses, gateways, tables and bridge domains. A table once each time
//     that a service changed or was removed, because the last service with an external address takes its table along.
//
// A need that arose during the call does not count against it.
//
// The end of a VPP removes everything without a call, and is no cause for a later removal: the objects that follow
// serve the same pods and peers.
//
// A snapshot has no history, so only runs are judged.
func staysWired() fact.Law {
	return fact.Law{
		Name: staysWiredName,
		Rule: "Nothing that a living pod or node needs is removed from VPP or Linux, or replaced there, without a cause.",
		Why: "A route, tunnel or interface that is removed and restored a moment later is an outage that no check of " +
			"the final state sees.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Removals, fact.Services, fact.NodeAddresses, fact.Sandboxes, fact.Blocks},
		Watch: func() fact.Watcher {
			return &wiredWatcher{nodes: map[string]*wiredNode{}, homes: map[netip.Prefix]*wiredNode{},
				left: map[netip.Prefix][]time.Duration{}, served: map[mapped]int{},
				kept: map[mapped]time.Duration{}}
		},
	}
}

// wiredNode is what one node needs, and what others need to reach it.
type wiredNode struct {
	name  string
	addrs []netip.Addr
	// former are the addresses that it had when it went down, until it is back.
	former []netip.Addr
	blocks []ipam.Block
	// since is when each of its addresses and blocks first led to it, according to facts.
	since map[netip.Prefix]time.Duration
	// owned is when the node got each of its own addresses, non-draining gateways included; disowned is when it lost one.
	owned, disowned map[netip.Addr]time.Duration
	byAddr          map[netip.Addr]*wiredPod
	byNetns         map[string]*wiredPod
	byOwner         map[ipam.Owner]*wiredPod
	// moves is when the node's addresses changed after the first ones. The first ones count too if the store was wiped
	// before, because others may have seen a lost record whose write the node never saw confirmed, or if its record named
	// other ones before. remade holds the causes that removals of paths from this node to others have used up.
	moves  []time.Duration
	remade map[thing]remade
	// told is the last record with the node's blocks and address, even if the store has lost it since.
	told *fact.RecordChange
	// halves are blocks that left the node so far only in its record, or only in its use.
	halves map[netip.Prefix]half
	// lost are sandboxes whose link was deleted, lostAll is when the shared link was, or zero: their ADD may be answered
	// later.
	lost    map[ipam.Owner]bool
	lostAll time.Duration
	// unmapped counts removals of a mapping while clients got an endpoint there.
	unmapped map[mapped]int
	// tables counts removed tables.
	tables int
	// agentUp is when its agent last started, lives counts its starts.
	agentUp time.Duration
	lives   int
}

// thing is an object that may be replaced once for each move of the nodes at its ends.
type thing struct {
	what   fact.Thing
	table  uint32
	prefix netip.Prefix
	addr   netip.Addr
}

// remade counts the causes of a thing's removals: moves of the nodes at its ends, departures of nodes that it led to,
// and for routes changes of nodes' blocks and of ranges.
type remade struct{ moves, reblocked, left, changed int }

// newsLate is how much later than others a node may be notified: a stale watch delivers up to 20 s late, and each of
// its events may be late by as much again.
const newsLate = 50 * time.Second

type wiredPod struct {
	owner ipam.Owner
	pod   string
	addr  netip.Addr
	netns string
	since time.Duration
	// remade is what was removed from it since its link was deleted, or nil if it was not.
	remade map[thing]bool
	// until is when its removal was requested, or zero: removals may be reported late.
	until time.Duration
}

// mapped is an address and port of a service, by IP protocol.
type mapped struct {
	at    netip.AddrPort
	proto uint8
}

type wiredWatcher struct {
	// fewer counts changes and removals of services.
	fewer int
	// served counts how often an address gained or lost its endpoints, odd while it has some.
	served map[mapped]int
	// kept is when a service replaced one with affinity there. The mapping of a service with affinity is replaced whenever
	// an endpoint comes or goes.
	kept  map[mapped]time.Duration
	nodes map[string]*wiredNode
	// homes are the living nodes by the prefixes that lead to them: their addresses and their blocks.
	homes map[netip.Prefix]*wiredNode
	// left is when a prefix stopped leading to a node: it went down or left, it or its record gave a block back, or it
	// took one in a later life. Objects for the previous node may go when the next has come.
	left map[netip.Prefix][]time.Duration
	// changed is when the cluster's address ranges changed, reblocked counts later changes of nodes' blocks: routes to
	// blocks are then joined and split.
	changed   []time.Duration
	reblocked int
	// wiped: the store has lost nodes' records.
	wiped bool
	// unheard counts faults that delayed notifications of services.
	unheard int
	// last is the latest disturbance of the cluster, at lastAt.
	last   string
	lastAt time.Duration
	checks int64
}

func (w *wiredWatcher) Checks() int64 { return w.checks }

func (w *wiredWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Removed:
		return w.removed(f, x)
	case fact.Answered:
		n := w.node(f.Node)
		n.end(x.Owner)
		p := &wiredPod{owner: x.Owner, pod: x.Pod, addr: x.Addr, netns: x.Netns, since: f.At}
		if n.lost[x.Owner] || n.lostAll != 0 && f.At-n.lostAll < newsLate {
			p.remade = map[thing]bool{}
		}
		n.byOwner[x.Owner], n.byAddr[x.Addr] = p, p
		if x.Netns != "" {
			n.byNetns[x.Netns] = p
		}
	case fact.Asked:
		switch x.Command {
		case "Del":
			w.node(f.Node).ask(x.Owner, f.At)
		case "GC":
			w.node(f.Node).endAll()
		}
	case fact.Deleted, fact.SandboxGone:
		w.node(f.Node).end(fact.OwnerOf(x))
	case fact.Addressed:
		n := w.node(f.Node)
		if len(x.Addrs) == 0 || slices.Equal(x.Addrs, n.addrs) {
			return nil // its agent starts; its VPP keeps running
		}
		w.unhome(n)
		if n.addrs != nil || n.former != nil && !slices.Equal(n.former, x.Addrs) || n.former == nil &&
			(w.wiped || n.toldOther(x.Addrs)) {
			n.moves = append(n.moves, f.At) // including a node that comes back with other addresses
		}
		n.former = nil
		n.addrs = append(n.addrs[:0], x.Addrs...)
		n.own(f.At)
		w.home(n, f.At)
	case fact.RecordChange:
		w.tells(f, x)
	case fact.NodeBlocks:
		n := w.node(f.Node)
		w.unhome(n)
		for i := range n.blocks {
			if p := n.blocks[i].Prefix; !slices.ContainsFunc(x.Blocks, func(b ipam.Block) bool { return b.Prefix == p }) {
				w.leaves(n, p, f.At, byTaking)
			}
		}
		if n.lives > 1 {
			// A node announces a block before it uses it. A process that died in between may have done so, and this one began by
			// announcing none.
			for i := range x.Blocks {
				if p := x.Blocks[i].Prefix; !slices.ContainsFunc(n.blocks, func(b ipam.Block) bool { return b.Prefix == p }) {
					w.leaves(n, p, f.At, byTaking)
				}
			}
		}
		n.blocks = append(n.blocks[:0], x.Blocks...)
		n.own(f.At)
		if len(w.changed) > 0 {
			w.reblocked++
		}
		w.home(n, f.At)
	case fact.NodeGone:
		n := w.node(f.Node)
		n.endAll()
		w.unhome(n)
		n.ways(func(p netip.Prefix) { w.left[p] = append(w.left[p], f.At) })
		n.addrs, n.blocks, n.former, n.since = nil, nil, n.addrs, nil
		n.own(f.At)
		w.last, w.lastAt = f.Node+" went down", f.At
		if x.Left {
			w.last = f.Node + " left"
		}
	case fact.Unregistered:
		// other nodes may hear of the deleted object and of the released record apart, and put right in between what they took away
		n := w.node(f.Node)
		n.ways(func(p netip.Prefix) { w.left[p] = append(w.left[p], f.At, f.At) })
		for _, p := range n.byOwner { //vppdrill:unordered each by itself
			p.remade = map[thing]bool{} // where it gets another ID, its pods get other gateways
		}
		w.last, w.lastAt = "the Node object of "+f.Node+" was deleted", f.At
	case fact.Served:
		w.served[mappedOf(x)]++
		if x.Kept {
			w.kept[mappedOf(x)] = f.At
		}
	case fact.AgentUp:
		n := w.node(f.Node)
		n.agentUp = f.At
		n.lives++
	case fact.Disturbed:
		if x.By == fact.LinkDeleted {
			w.node(f.Node).linkGone(f, x)
		}
		if x.By != fact.VPPUp {
			w.last, w.lastAt = x.By, f.At
		}
		switch x.By {
		case (scenarios.ChangeCIDR{}).Verb():
			w.changed = append(w.changed, f.At)
		case (scenarios.WipeStore{}).Verb():
			w.wiped = true
		case (scenarios.StopAPI{}).Verb(), (scenarios.GapWatch{}).Verb(), (scenarios.StaleWatch{}).Verb():
			w.unheard++
		case (scenarios.ChangeService{}).Verb(), (scenarios.RemoveService{}).Verb():
			w.fewer++
		}
	}
	return nil
}

func (w *wiredWatcher) removed(f *fact.Fact, x fact.Removed) error {
	w.checks++
	n, r := w.node(f.Node), x.Removal
	if r.What == fact.RemovedMapping {
		m := mapped{netip.AddrPortFrom(r.Addr, r.Port), r.Proto}
		now := w.served[m]
		if at, kept := w.kept[m]; now%2 == 0 || kept && f.At-at < newsLate {
			return nil
		}
		// notifications of a service and its endpoints come one after the other
		if n.unmapped[m]++; n.unmapped[m] > 2*(now+w.unheard) {
			return w.torn(f, x, n, "a service", "it had endpoints all the time")
		}
		return nil
	}
	asked := f.At - x.Ago
	if p := n.podOf(r); p != nil && p.since <= asked && (p.until == 0 || f.At < p.until) {
		if t := (thing{r.What, r.Table, r.Prefix, r.Addr}); p.remade != nil && !p.remade[t] {
			p.remade[t] = true
			return nil
		}
		return w.torn(f, x, n, "pod "+p.pod+" ("+p.addr.String()+")", "its DEL was not requested")
	}
	if peer, p := w.peerOf(n, r); peer != nil {
		if f.At < peer.since[p] { // it was reported late and concerns the previous pod
			return nil
		}
		if w.excused(f, x, n, peer, p) {
			return nil
		}
		return w.torn(f, x, n, peer.name, "it has not left, and its addresses are unchanged")
	}
	if r.What == fact.RemovedTable && n.tables < w.fewer {
		n.tables++
		return nil
	}
	if what := n.needs(r, asked); what != "" {
		return w.torn(f, x, n, f.Node+" itself", what)
	}
	return nil
}

func mappedOf(x fact.Served) mapped {
	m := mapped{x.Endpoint, protoTCP}
	if x.Proto == string(scenarios.UDP) {
		m.proto = protoUDP
	}
	return m
}

// linkGone records whose link was deleted.
func (n *wiredNode) linkGone(f *fact.Fact, x fact.Disturbed) {
	all := x.Owner == (ipam.Owner{})
	if all {
		n.lostAll = f.At
	} else {
		n.lost[x.Owner], n.lost[x.Owner.Second()] = true, true
	}
	for owner, p := range n.byOwner { //vppdrill:unordered each by itself
		if all || owner == x.Owner || owner == x.Owner.Second() {
			p.remade = map[thing]bool{}
		}
	}
}

func (w *wiredWatcher) torn(f *fact.Fact, x fact.Removed, n *wiredNode, whose, why string) error {
	did := "is removed from"
	if x.Removal.Replaced {
		did = "is replaced under"
	}
	after := ""
	if w.last != "" {
		after = "; last disturbance: " + w.last + " " + (f.At - w.lastAt).String() + " ago"
	}
	return broken(staysWiredName, f.At, f.Node, "%s %s %s, which lives: %s; the agent of %s has run for %s%s",
		x.Removal, did, whose, why, f.Node, f.At-n.agentUp, after)
}

// podOf is the living pod that a removal on its node concerns.
func (n *wiredNode) podOf(r *fact.Removal) *wiredPod {
	if r.Netns != "" {
		return n.byNetns[r.Netns]
	}
	switch {
	case r.What == fact.RemovedRoute && r.Prefix.IsSingleIP():
		return n.byAddr[r.Prefix.Addr()]
	case r.What == fact.RemovedNeighbor:
		return n.byAddr[r.Addr]
	}
	return nil
}

// peerOf is the living other node that a removal concerns, and its prefix.
func (w *wiredWatcher) peerOf(n *wiredNode, r *fact.Removal) (*wiredNode, netip.Prefix) {
	p := r.Prefix
	switch {
	case r.What == fact.RemovedAddress || r.What == fact.RemovedLinuxAddress:
		return nil, p
	case r.Addr.IsValid():
		p = netip.PrefixFrom(r.Addr, r.Addr.BitLen())
	case !p.IsValid():
		return nil, p
	}
	if peer := w.homes[p]; peer != n {
		return peer, p
	}
	return nil, p
}

// excused: the node or its peer has moved, or another node had the peer's prefix, since the last removal of the thing.
// If nodes move repeatedly, blocks go back and forth, or ranges change in a row, a node with late notifications makes
// one removal for each: each move, each departure and each change is a cause of its own.
func (w *wiredWatcher) excused(f *fact.Fact, x fact.Removed, n, peer *wiredNode, p netip.Prefix) bool {
	r, left, changed, reblocked := x.Removal, w.left[p], []time.Duration(nil), 0
	moves, known := len(n.moves)+len(peer.moves), heardBy(f.At, n.moves, 0)+heardBy(f.At, peer.moves, 0)
	if r.What == fact.RemovedRoute || r.What == fact.RemovedLinuxRoute {
		changed, reblocked = w.changed, w.reblocked
	}
	k := thing{r.What, r.Table, r.Prefix, r.Addr}
	was := n.remade[k]
	heard, followed := heardBy(f.At, left, was.left), heardBy(f.At, changed, was.changed)
	switch {
	case was.reblocked != reblocked, was.moves > moves: // of another peer
		was = remade{moves, reblocked, heard, followed}
	case was.moves < moves:
		was.moves, was.left, was.changed = max(was.moves+1, known), heard, followed
	case heard < len(left):
		was.left = heard + 1
	case followed < len(changed):
		was.changed = followed + 1
	case was.left < heard || was.changed < followed:
		was.left, was.changed = heard, followed
	default:
		return false
	}
	if n.remade == nil {
		n.remade = map[thing]remade{}
	}
	n.remade[k] = was
	return true
}

// needs says which need of the node itself a removal violates that was decided at a time.
func (n *wiredNode) needs(r *fact.Removal, asked time.Duration) string {
	if len(n.addrs) == 0 {
		return ""
	}
	owns := func(a netip.Addr) bool {
		since, own := n.owned[a]
		gone, was := n.disowned[a]
		return own && since <= asked && !(was && gone == asked && since == asked)
	}
	switch r.What {
	case fact.RemovedTable, fact.RemovedBridge:
		return "the node still has its ID and addresses"
	case fact.RemovedAddress, fact.RemovedLinuxAddress:
		if owns(r.Prefix.Addr()) {
			return "the node still has that address"
		}
	case fact.RemovedInterface, fact.RemovedUp:
		for _, a := range r.Addrs {
			if owns(a.Addr()) {
				return "the node still has its address " + a.Addr().String()
			}
		}
	}
	return ""
}

// own records since when the node has each address.
func (n *wiredNode) own(at time.Duration) {
	now := map[netip.Addr]time.Duration{}
	add := func(a netip.Addr) {
		since, had := n.owned[a]
		if !had {
			since = at
		}
		now[a] = since
	}
	for _, a := range n.addrs {
		add(a)
	}
	for i := range n.blocks {
		if b := &n.blocks[i]; !b.Draining {
			add(b.Gateway)
		}
	}
	for a := range n.owned { //vppdrill:unordered each by itself
		if _, has := now[a]; !has {
			n.disowned[a] = at
		}
	}
	n.owned = now
}

// ask records that a pod's DEL was requested.
func (n *wiredNode) ask(o ipam.Owner, at time.Duration) {
	for _, holder := range [...]ipam.Owner{o, o.Second()} {
		if p := n.byOwner[holder]; p != nil && p.until == 0 {
			p.until = max(at, 1)
		}
	}
}

func (n *wiredNode) end(o ipam.Owner) {
	p := n.byOwner[o]
	if p == nil {
		return
	}
	delete(n.byOwner, o)
	if n.byAddr[p.addr] == p {
		delete(n.byAddr, p.addr)
	}
	if n.byNetns[p.netns] == p {
		delete(n.byNetns, p.netns)
	}
}

func (n *wiredNode) endAll() {
	clear(n.byOwner)
	clear(n.byAddr)
	clear(n.byNetns)
}

func (w *wiredWatcher) node(name string) *wiredNode {
	n := w.nodes[name]
	if n == nil {
		n = &wiredNode{name: name, byAddr: map[netip.Addr]*wiredPod{}, byNetns: map[string]*wiredPod{},
			byOwner: map[ipam.Owner]*wiredPod{}, lost: map[ipam.Owner]bool{}, unmapped: map[mapped]int{},
			disowned: map[netip.Addr]time.Duration{}, halves: map[netip.Prefix]half{}}
		w.nodes[name] = n
	}
	return n
}
