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

// staysWired: nothing that a living pod or a living node needs is taken from a VPP or a Linux host, or replaced there, except
// by a cause. It is judged at every call, so that what is taken too soon and put back shows, which laws about quiet pass over.
//
// A removal is about whom its namespace, address or prefix belongs to; what belongs to nobody is not judged. Causes are facts:
//
//	of a pod    its DEL was asked for, a GC runs on its node, its sandbox or its node is gone, or a newer sandbox of it came; and once,
//	            when somebody has deleted its link, or the one that pods of its node share: what sat on the former one is made anew
//	of a peer   it left or its machine is down, or it is reached by other addresses or has other blocks than what was taken
//	of a service   clients get no endpoint there, and twice for each time that this began or ended, or that news were kept from nodes: a node
//	            that takes the service for what it was replaces its mapping as that one's, freely where it had affinity, for as long as news may be late
//	of the node itself  likewise, for its own addresses, gateways, tables and bridge domains; a table once for each time that a service changed
//	or went, as the last one with an outer address takes theirs along
//
// What came to be needed while the call was under way is no reason against it.
//
// The end of a VPP takes everything along without a call and is no cause for one: what is there afterwards was put there
// for the same pods and peers.
//
// A snapshot has no history, so there is nothing to check in one.
func staysWired() fact.Law {
	return fact.Law{
		Name:    staysWiredName,
		Why:     "A route, tunnel or interface that is taken away and put back a moment later is an outage that no test of the end result sees.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Removals, fact.Services, fact.NodeAddresses, fact.Sandboxes, fact.Blocks},
		Watch: func() fact.Watcher {
			return &wiredWatcher{nodes: map[string]*wiredNode{}, homes: map[netip.Prefix]*wiredNode{}, left: map[netip.Prefix][]time.Duration{}, served: map[mapped]int{}, kept: map[mapped]time.Duration{}}
		},
	}
}

// wiredNode is what one node needs, and others to reach it.
type wiredNode struct {
	name  string
	addrs []netip.Addr
	// former are those that it had when it went down, until it is back.
	former []netip.Addr
	blocks []ipam.Block
	// since is from when on each of its addresses and blocks leads to it, as far as anybody has told.
	since map[netip.Prefix]time.Duration
	// owned is since when the node has an address of its own, a gateway that is not draining among them; disowned is when it had one last.
	owned, disowned map[netip.Addr]time.Duration
	byAddr          map[netip.Addr]*wiredPod
	byNetns         map[string]*wiredPod
	byOwner         map[ipam.Owner]*wiredPod
	// moves is when the node's addresses changed after the first ones, and the first ones where the store was wiped before: others may
	// have heard of a record whose answer the node never got, and which is lost; and those that its record tells before it has any. remade holds, of what leads from this node to others, what
	// it was taken away for.
	moves  []time.Duration
	remade map[thing]remade
	// told is the last record that told others of the node's blocks and address, also where the store has lost it since.
	told *fact.RecordChange
	// halves are leavings of the node's blocks that only its record or only what it takes has told of, yet.
	halves map[netip.Prefix]half
	// lost are sandboxes whose link was deleted, lostAll when the one that all share was, zero for never: their ADD may be answered later.
	lost    map[ipam.Owner]bool
	lostAll time.Duration
	// unmapped counts how often a mapping was taken away while clients got an endpoint there.
	unmapped map[mapped]int
	// tables counts the tables that were taken away.
	tables int
	// agentUp is when its agent's present life began, lives how many have.
	agentUp time.Duration
	lives   int
}

// thing is what may be remade once for each move of the nodes at its ends.
type thing struct {
	what   fact.Thing
	table  uint32
	prefix netip.Prefix
	addr   netip.Addr
}

// remade counts what a thing was taken away for: the moves of the nodes at its ends, the leavings of nodes that it led to, and for routes the
// changes of nodes' blocks and of ranges.
type remade struct{ moves, reblocked, left, changed int }

// newsLate is how late a node may hear what others of its kind have long heard: a stale watch delivers up to 20 s late, and each of its news may
// be late by as much again.
const newsLate = 50 * time.Second

type wiredPod struct {
	owner ipam.Owner
	pod   string
	addr  netip.Addr
	netns string
	since time.Duration
	// remade is what was taken from it since its link was deleted; nil: that was not.
	remade map[thing]bool
	// until is when it was asked to go, zero before: removals may be told later than they happened.
	until time.Duration
}

// mapped is an address and port of a service, by IP protocol.
type mapped struct {
	at    netip.AddrPort
	proto uint8
}

type wiredWatcher struct {
	// fewer counts how often a service changed or went.
	fewer int
	// served counts how often it has changed whether clients get an endpoint at an address, odd while they do.
	served map[mapped]int
	// kept is when a service began there behind one with affinity, whose mapping is replaced with each endpoint that comes or goes.
	kept  map[mapped]time.Duration
	nodes map[string]*wiredNode
	// homes are the living nodes by what leads to them: their addresses, as prefixes, and their blocks.
	homes map[netip.Prefix]*wiredNode
	// left is when nodes went down or left, or gave a block back or told others so, or took one in a later life, by what led to them: what was there for one may go when the next has
	// come.
	left map[netip.Prefix][]time.Duration
	// changed is when the cluster's address ranges changed, reblocked counts changes of nodes' blocks behind the first of these: routes to
	// blocks are then joined and parted.
	changed   []time.Duration
	reblocked int
	// wiped: the store has lost what nodes had written there.
	wiped bool
	// unheard counts what kept news of services from nodes.
	unheard int
	// last is what disturbed the cluster last, at lastAt.
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
			return nil // its agent starts; its VPP goes on
		}
		w.unhome(n)
		if n.addrs != nil || n.former != nil && !slices.Equal(n.former, x.Addrs) || n.former == nil && (w.wiped || n.toldOther(x.Addrs)) {
			n.moves = append(n.moves, f.At) // also one that comes back to other addresses than it went with
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
			// A node tells others of a block before it takes it. A life that died in between may have, and this one began by telling of none.
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
		if n.unmapped[m]++; n.unmapped[m] > 2*(now+w.unheard) { // a service and its endpoints are heard of one after the other
			return w.torn(f, x, n, "a service", "it has had endpoints all along")
		}
		return nil
	}
	asked := f.At - x.Ago
	if p := n.podOf(r); p != nil && p.since <= asked && (p.until == 0 || f.At < p.until) {
		if t := (thing{r.What, r.Table, r.Prefix, r.Addr}); p.remade != nil && !p.remade[t] {
			p.remade[t] = true
			return nil
		}
		return w.torn(f, x, n, "pod "+p.pod+" ("+p.addr.String()+")", "nobody asked for its DEL")
	}
	if peer, p := w.peerOf(n, r); peer != nil {
		if f.At < peer.since[p] { // it was told late, and is about who was there before
			return nil
		}
		if w.excused(f, x, n, peer, p) {
			return nil
		}
		return w.torn(f, x, n, peer.name, "it has not left, and is reached by what it was")
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

// linkGone notes whose link was deleted.
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
	did := "is taken from"
	if x.Removal.Replaced {
		did = "is replaced under"
	}
	after := ""
	if w.last != "" {
		after = "; last before it: " + w.last + " " + (f.At - w.lastAt).String() + " ago"
	}
	return broken(staysWiredName, f.At, f.Node, "%s %s %s, which lives: %s; the agent of %s has run for %s%s",
		x.Removal, did, whose, why, f.Node, f.At-n.agentUp, after)
}

// podOf is the living pod that a removal on its node is about.
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

// peerOf is the living other node that a removal is about, and what of it.
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

// excused: the node or its peer has moved, or another node was where the peer is now, since the thing was taken away last. Where nodes move
// again, blocks go to and fro, or ranges change one after the other, a node that hears late takes away for each of them what others took away
// long ago: each move, each leaving and each change is then a cause of its own.
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
	case was.reblocked != reblocked, was.moves > moves: // those of another peer
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

// needs says what of the node itself a removal is about that was decided on at a time.
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

// own keeps since when the node has which addresses.
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

// ask notes that a pod's DEL was asked for.
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
		n = &wiredNode{name: name, byAddr: map[netip.Addr]*wiredPod{}, byNetns: map[string]*wiredPod{}, byOwner: map[ipam.Owner]*wiredPod{}, lost: map[ipam.Owner]bool{}, unmapped: map[mapped]int{}, disowned: map[netip.Addr]time.Duration{}, halves: map[netip.Prefix]half{}}
		w.nodes[name] = n
	}
	return n
}
