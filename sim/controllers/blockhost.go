package controllers

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// blockHost is Calico's IPAM on one node, for one life of its agent: for each pod that comes it assigns the node an address, and gives
// it back when the pod has gone.
type blockHost struct {
	*nodeWriter
	system *blockSystem
	side   Side
	alloc  calico.Node

	// self is the node's incarnation, "" while its Node object is not known.
	self        string
	nodes, feed *cluster.Informer
	view        *blockView
	// mine is what the node has, in the order in which it was seen. begun: what it had at the start is known.
	mine  []netip.Prefix
	begun bool
	// leaving is what it gives back: first its agent drops it, then the block.
	leaving []netip.Prefix
	// told is what the agent was told last. spoke: it was told something in this life.
	told  []netip.Prefix
	spoke bool
	// spent are addresses that a pod has had.
	spent map[netip.Prefix]bool
	// since is since when the agent has been told of each address.
	since map[netip.Prefix]time.Time
	// coming are pods whose plugins have asked, by owner; order is theirs.
	coming map[ipam.Owner]*coming
	order  []ipam.Owner
	// refused are pods that found no address, and when.
	refused   map[ipam.Owner]time.Time
	scheduled bool
	asked     int // leases and blocks when it was evaluated last
}

// coming is a pod for which the node should have an address until some time.
type coming struct {
	until time.Time
	then  func()
}

// comingTime is how long the plugin of a pod waits, by itself or for its kubelet; takingTime is until the pod must have the address
// that is there for it.
const (
	comingTime = time.Minute
	takingTime = 10 * time.Second
	// barredTime is longer than an agent takes to have a new address, if nothing bars it.
	barredTime = 5 * time.Second
	// refusedAgain is within which a pod that found no address is tried again: the most that kubelets wait.
	refusedAgain = 31 * time.Second
)

func newBlockHost(s *blockSystem, node string, side Side, alloc calico.Node) *blockHost {
	h := &blockHost{nodeWriter: newNodeWriter(&s.env, node, "calico", &s.requests), system: s, side: side, alloc: alloc,
		coming: make(map[ipam.Owner]*coming), refused: make(map[ipam.Owner]time.Time), since: make(map[netip.Prefix]time.Time), spent: make(map[netip.Prefix]bool)}
	h.nodeWriter.soon = h.soon
	if plant := s.env.Plant.Side; plant != nil {
		h.side = plant(node, side)
	}
	h.view = newBlockView(h.blocksChanged)
	// Fresh: an address that was given back and is somebody else's by now must not be taken for the node's, nor its former Node object for the
	// present one.
	h.feed = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "calico", At: h.at, Kind: cluster.KindResource, Fresh: true, Handler: h.view})
	h.nodes = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "calico", At: h.at, Kind: cluster.KindNode, Fresh: true, Handler: (*ownNode)(h)})
	return h
}

func (h *blockHost) start() {
	h.nodes.Start()
	h.feed.Start()
}

func (h *blockHost) stop() {
	h.dead = true
	h.nodes.Stop()
	h.feed.Stop()
	for _, o := range h.order {
		if c := h.coming[o]; c.then != nil {
			c.then()
		}
	}
}

// ownNode watches the node's own object.
type ownNode blockHost

// Listed implements cluster.Handler.
func (n *ownNode) Listed(objects []cluster.Object, _ int64) {
	n.self = ""
	for _, o := range objects {
		n.seen(o.(*cluster.Node))
	}
	(*blockHost)(n).soon()
}

// Changed implements cluster.Handler.
func (n *ownNode) Changed(ch cluster.Change) {
	node := ch.Object.(*cluster.Node)
	if node.Name != n.node {
		return
	}
	if ch.Type == cluster.Deleted {
		n.self = ""
	} else {
		n.seen(node)
	}
	(*blockHost)(n).soon()
}

func (n *ownNode) seen(node *cluster.Node) {
	if node.Name == n.node {
		n.self = hostName(node)
	}
}

// want is what the agent should have.
func (h *blockHost) want() []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(h.mine), func(p netip.Prefix) bool { return slices.Contains(h.leaving, p) })
}

// prepare sees to an address for a pod, and calls then when the agent may be asked for it.
func (h *blockHost) prepare(o ipam.Owner, then func()) {
	if _, holds := h.alloc.Lease(o); holds {
		then()
		return
	}
	if h.coming[o] == nil {
		h.order = append(h.order, o)
	} else if was := h.coming[o].then; was != nil {
		was() // the plugin before was killed
	}
	h.coming[o] = &coming{until: h.system.env.now().Add(comingTime), then: then}
	h.later(comingTime)
	h.soon()
}

func (h *blockHost) lease(o ipam.Owner) bool {
	_, ok := h.alloc.Lease(o)
	return ok
}

// changed looks whether the agent's step concerns what the node has.
func (h *blockHost) changed() {
	if n := h.alloc.Len() + len(h.side.Blocks()); n != h.asked || len(h.leaving) > 0 || len(h.order) > 0 {
		h.soon()
	}
}

// blocksChanged looks whether a change of blocks concerns what the node has, or a pod to which it could give nothing.
func (h *blockHost) blocksChanged(own bool) {
	if own || len(h.leaving) > 0 || len(h.order) > 0 || !h.begun {
		h.soon()
	}
}

// soon evaluates in an event of its own: the agent is in the middle of a step.
func (h *blockHost) soon() {
	if h.scheduled || h.dead {
		return
	}
	h.scheduled = true
	h.system.env.Clock.After(0, &step{h.node, "calico", func() {
		if h.scheduled = false; !h.dead {
			h.evaluate()
		}
	}})
}

func (h *blockHost) later(d time.Duration) {
	h.system.env.Clock.After(d, &step{h.node, "calico later", h.soon})
}

func (h *blockHost) evaluate() {
	h.asked = h.alloc.Len() + len(h.side.Blocks())
	if !h.view.listed {
		return
	}
	h.look()
	h.forget()
	lacking := h.balance()
	h.system.env.decided(h.node, "has %d addresses, lacks %d and gives back %v", len(h.mine), lacking, h.leaving)
	if want := h.want(); !slices.Equal(want, h.told) || h.begun && !h.spoke {
		h.told, h.spoke = want, h.begun
		h.system.env.Tell(h.node, want)
		if h.dead {
			return
		}
	}
	if h.writing || h.retrying {
		return
	}
	none := false
	if !h.giveBack() && lacking > 0 {
		if none = !h.assign(lacking); none {
			h.keepOne()
		}
	}
	h.answer(none)
}

// keepOne takes one address back from those that are to go, where they are all and there is no other: the agent would wait for a word, and never
// drop them.
func (h *blockHost) keepOne() {
	n := len(h.leaving)
	if n == 0 || len(h.want()) > 0 {
		return
	}
	delete(h.spent, h.leaving[n-1])
	h.leaving = h.leaving[:n-1]
	h.soon()
}

// look brings up to date what the node has. What its agent does not hold when it starts goes back: a request of an agent before, to give
// it back, may still be under way.
func (h *blockHost) look() {
	now := h.view.of(h.self)
	gone := func(p netip.Prefix) bool { return !slices.Contains(now, p) }
	h.mine = slices.DeleteFunc(h.mine, gone)
	for p := range h.since { //vppdrill:unordered each by itself
		if gone(p) {
			delete(h.since, p)
			delete(h.spent, p)
		}
	}
	h.leaving = slices.DeleteFunc(h.leaving, gone)
	used := h.used()
	for _, p := range now {
		if !slices.Contains(h.mine, p) {
			h.mine = append(h.mine, p)
			if !h.begun && !slices.ContainsFunc(h.side.Blocks(), func(b ipam.Block) bool { return b.Prefix == p }) {
				h.leaving = append(h.leaving, p)
			}
		}
	}
	h.begun = h.begun || h.self != ""
	h.leaving = slices.DeleteFunc(h.leaving, func(p netip.Prefix) bool { return used[p.Addr()] })
}

func (h *blockHost) used() map[netip.Addr]bool {
	used := make(map[netip.Addr]bool)
	for l := range h.alloc.Leases() {
		used[l.Addr] = true
	}
	return used
}

// forget drops pods that have their address, and those that never took it.
func (h *blockHost) forget() {
	now := h.system.env.now()
	h.order = slices.DeleteFunc(h.order, func(o ipam.Owner) bool {
		c := h.coming[o]
		over := h.lease(o) || !now.Before(c.until)
		if over {
			delete(h.coming, o)
			if c.then != nil {
				c.then()
			}
		}
		return over
	})
	for o, at := range h.refused { //vppdrill:unordered each by itself
		if h.lease(o) || now.Sub(at) > refusedAgain {
			delete(h.refused, o)
		}
	}
}

// leastKept is what a node has without pods: to an agent, that it has nothing is a word that has not come yet. Upstream, it is the
// node's tunnel address.
const leastKept = 1

// balance chooses what goes back, and says how many addresses are lacking. What the agent has not taken for barredTime does not count
// while pods wait, as another node's record bars it; a node does not go on collecting such.
func (h *blockHost) balance() (lacking int) {
	needed := max(h.alloc.Len()+len(h.order), leastKept)
	used, held, now := h.used(), h.side.Blocks(), h.system.env.now()
	have, barred := 0, 0
	var idle []netip.Prefix
	for _, p := range h.want() {
		since, told := h.since[p]
		if !told {
			h.since[p] = now
			h.later(barredTime)
		}
		free := !used[p.Addr()]
		if !free {
			h.spent[p] = true
		} else if h.spent[p] { // its pod has gone: the next one gets the address that has been free for the longest
			h.leaving = append(h.leaving, p)
			continue
		}
		if free && told && now.Sub(since) >= barredTime && !slices.ContainsFunc(held, func(b ipam.Block) bool { return b.Prefix == p }) {
			if barred++; len(h.order) > 0 {
				continue
			}
		}
		have++
		// What the agent was told a moment ago it may still take.
		if free && (slices.ContainsFunc(held, func(b ipam.Block) bool { return b.Prefix == p }) || told && now.Sub(since) >= barredTime) {
			idle = append(idle, p)
		}
	}
	for ; have > needed && len(idle) > 0; have-- {
		h.leaving = append(h.leaving, idle[0])
		idle = idle[1:]
	}
	if barred > needed {
		return 0
	}
	return max(needed-have, 0)
}

// giveBack writes the first block of which the agent has dropped something for good: it is journaled, and the other nodes know.
func (h *blockHost) giveBack() bool {
	if len(h.leaving) == 0 || !h.side.Idle() {
		return false
	}
	held := h.side.Blocks()
	for _, name := range sortedNames(h.view.seen) {
		b, _ := blockOf(h.view.seen[name])
		var left []netip.Addr
		for _, p := range h.leaving {
			if b.CIDR.Contains(p.Addr()) && !slices.ContainsFunc(held, func(x ipam.Block) bool { return x.Prefix == p }) {
				left = append(left, p.Addr())
			}
		}
		if len(left) > 0 {
			next, _ := b.Release(h.self, left...)
			h.put(blockRelease, h.view.seen[name], next)
			return true
		}
	}
	return false
}

// assign asks for more addresses; false where there are none.
func (h *blockHost) assign(n int) bool {
	if h.self == "" {
		return true // its Node object comes
	}
	b, err := h.system.pools.Assign(h.view.blocks(), h.self, n)
	if err != nil {
		h.system.env.Note(h.node, "calico: "+err.Error())
		return false
	}
	h.put(blockAssign, h.view.seen[b.CIDR.String()], b)
	return true
}

// answer lets plugins go on for which there is an address and, when no more are to be had, those for which there will be none.
func (h *blockHost) answer(none bool) {
	used, ready, assigned := h.used(), 0, 0
	for _, p := range h.want() {
		if !used[p.Addr()] {
			assigned++
		}
	}
	for _, b := range h.side.Blocks() {
		if !b.Draining && !used[b.Prefix.Addr()] {
			ready++
		}
	}
	now := h.system.env.now()
	var letGo []func()
	for i, o := range h.order {
		c := h.coming[o]
		if c.then != nil && (ready > 0 || none && i >= assigned) {
			letGo = append(letGo, c.then)
			c.then, c.until = nil, now.Add(takingTime)
		}
		ready--
	}
	if len(letGo) > 0 {
		h.later(takingTime)
	}
	for _, then := range letGo {
		then()
	}
}

// put writes a block in the place of an old one.
func (h *blockHost) put(what string, old *cluster.Resource, b calico.Block) {
	h.write(what, b.CIDR.String(), swap(old, b), func(o cluster.Object, err error) {
		switch {
		case err == nil:
			h.view.wrote(old, o)
			h.soon()
		case errors.Is(err, cluster.ErrConflict), errors.Is(err, cluster.ErrExists), errors.Is(err, cluster.ErrNotFound):
			h.wait(conflictTime) // the watch tells what is there, before that as a rule
		default:
			h.wait(retryTime)
		}
	})
}

// conflictTime is until a block is tried again that somebody else was faster to write; longer than a watch takes as a rule.
const conflictTime = 20 * time.Millisecond

func (h *blockHost) pending() string {
	switch {
	case !h.view.listed || h.self == "":
		return "its blocks are not known"
	case h.writing || h.scheduled || h.retrying:
		return "its blocks are being written"
	case len(h.leaving) > 0:
		return "it gives addresses back"
	}
	for _, o := range h.order {
		if h.coming[o].then != nil {
			return "a pod waits for its address"
		}
	}
	h.forget()
	if len(h.refused) > 0 {
		if _, err := h.system.pools.Assign(h.system.blocks(), h.self, 1); err == nil {
			return "a pod that was refused will find an address"
		}
	}
	return ""
}
