package controllers

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// hearing is what one life of the controller manager has been told of Node objects, and has asked about them: its requests and the events that it
// records are judged by that alone, so that nothing counts against it which it cannot know. It decides nothing.
type hearing struct {
	c *controller
	// kind is the allocator's.
	kind nodeipam.CIDRAllocatorType
	// nodes are those that are not known to be gone, by UID; dead those that an answer has told of as gone before the watch did.
	nodes  map[string]*heard
	dead   map[string]bool
	asked  map[uint64]question
	ranges []nodeipam.ClusterCIDR
	// begun: a list of the nodes has come.
	begun bool
	// bare counts nodes without pod CIDRs.
	bare  int
	turns turns
}

// heard is one Node object, as the controller knows it.
type heard struct {
	nodeipam.KubeNode
	// old: what was told last is older than what was told before, as a list may be.
	old bool
	// changed: something was told of it since the cloud was asked last. failed: a request about it has failed since it was read.
	changed, failed bool
	// touched, surveyed: this life's touch was done, and the cloud has answered what it has.
	touched, surveyed bool
	// read: the cloud has said what it has since a loop between it and the cluster began to look at the node.
	read bool
	// asking counts requests without an answer; looked is when the cloud or the API server was asked last.
	asking int
	looked time.Time
	// wrote: an alias was added, or CIDRs were written, since the cloud was asked last.
	wrote bool
	// failedAt is when a request of a loop failed that has not been tried again, zero for none.
	failedAt time.Time
	// picked are CIDRs that this life has asked to have written, for all it knows they are or may be; doubt: nobody knows.
	picked []netip.Prefix
	doubt  bool
	// vain counts writes of pod CIDRs that came to nothing since an event told so.
	vain int
	// aliases are the cloud's.
	aliases []string
	// told are the events about it, by reason: the last message.
	told map[string]string
}

// question is a request, and the object that it is about, with its UID. One that was gone and has come again is another one.
type question struct {
	uid   string
	about *heard
	of    nodeipam.Effect
}

func newHearing(c *controller, kind nodeipam.CIDRAllocatorType, ranges []nodeipam.ClusterCIDR) *hearing {
	return &hearing{c: c, kind: kind, nodes: map[string]*heard{}, dead: map[string]bool{}, asked: map[uint64]question{}, turns: turns{}, ranges: slices.Clone(ranges)}
}

// ranged reports whether the controller carves blocks of ranges by itself.
func (h *hearing) ranged() bool { return h.kind == nodeipam.RangeAllocatorType }

// synced reports whether it keeps nodes and cloud the same, one loop for each node.
func (h *hearing) synced() bool {
	return h.kind == nodeipam.IPAMFromCloudAllocatorType || h.kind == nodeipam.IPAMFromClusterAllocatorType
}

// hear takes in what the controller is told, before it does anything about it.
func (h *hearing) hear(ev nodeipam.Event) {
	switch ev := ev.(type) {
	case nodeipam.NodeAdded:
		h.see(&ev.Node, true)
	case nodeipam.NodeUpdated:
		h.see(&ev.Node, true)
	case nodeipam.NodeDeleted:
		delete(h.dead, ev.Node.UID)
		h.gone(ev.Node.UID)
	case nodeipam.Listed:
		h.listed(ev)
	case nodeipam.Answered:
		h.answered(ev)
	case nodeipam.Aliases:
		q := h.asked[ev.ID]
		delete(h.asked, ev.ID)
		if n := h.nodes[q.uid]; n != nil && n == q.about {
			n.asking--
			n.failed = ev.Outcome != nodeipam.Done
			if n.read = !n.failed; n.failed {
				n.failedAt = h.c.now()
			}
			n.surveyed = n.surveyed || ev.Outcome != nodeipam.Unknown
			n.aliases = ev.CIDRs
		}
	case nodeipam.ClusterCIDRAdded:
		h.ranges = append(h.ranges, ev.ClusterCIDR)
	case nodeipam.ClusterCIDRDeleted:
		h.ranges = slices.DeleteFunc(h.ranges, func(c nodeipam.ClusterCIDR) bool { return c.Name == ev.Name })
	}
}

func (h *hearing) listed(ev nodeipam.Listed) {
	if ev.Outcome != nodeipam.Done || ev.ID != 0 && h.begun { // behind the watch's list, its own is not taken in any more
		return
	}
	h.begun = true
	clear(h.dead)
	there := make(map[string]bool, len(ev.Nodes))
	for i := range ev.Nodes {
		there[ev.Nodes[i].UID] = true
	}
	for uid := range h.nodes { //vppdrill:unordered each is forgotten by itself
		if !there[uid] {
			h.gone(uid)
		}
	}
	for i := range ev.Nodes {
		h.see(&ev.Nodes[i], true)
	}
}

// see takes in an object, unless it is older than what is known of it.
func (h *hearing) see(k *nodeipam.KubeNode, news bool) {
	if h.dead[k.UID] {
		return
	}
	n := h.nodes[k.UID]
	if n == nil {
		if old := h.named(k.Name); old != nil {
			h.gone(old.UID) // names are unique
		}
		n = &heard{KubeNode: *k, told: map[string]string{}}
		h.nodes[k.UID] = n
		if len(n.PodCIDRs) == 0 {
			h.bare++
		}
	}
	n.changed = n.changed || news
	if n.old = version(k) < version(&n.KubeNode); n.old {
		return
	}
	if len(n.PodCIDRs) == 0 && len(k.PodCIDRs) > 0 {
		h.bare--
	}
	n.KubeNode = *k
	for _, text := range k.PodCIDRs {
		if p, err := netip.ParsePrefix(text); err == nil {
			h.turns.had(p)
		}
	}
}

func version(k *nodeipam.KubeNode) int64 {
	v, _ := strconv.ParseInt(k.ResourceVersion, 10, 64)
	return v
}

func (h *hearing) gone(uid string) {
	if n := h.nodes[uid]; n != nil {
		delete(h.nodes, uid)
		if len(n.PodCIDRs) == 0 {
			h.bare--
		}
	}
}

func (h *hearing) named(name string) *heard {
	for _, n := range h.nodes { //vppdrill:unordered names are unique
		if n.Name == name {
			return n
		}
	}
	return nil
}

func (h *hearing) answered(ev nodeipam.Answered) {
	q := h.asked[ev.ID]
	delete(h.asked, ev.ID)
	n := h.nodes[q.uid]
	if n == nil || h.synced() && n != q.about {
		return
	}
	if n == q.about {
		n.asking--
	}
	if ev.Outcome == nodeipam.NotFound || ev.Node != nil && ev.Node.UID != q.uid {
		if h.ranged() {
			h.dead[q.uid] = true
			h.gone(q.uid)
		}
		n.failed = true
		return
	}
	done := ev.Outcome == nodeipam.Done
	n.failed = !done || n.failed
	if !done {
		n.failedAt = h.c.now()
	}
	switch q.of.(type) {
	case nodeipam.PatchNodeCIDRs:
		n.wrote = n.wrote || done
		switch {
		case done:
			n.vain, n.doubt = 0, false
		case ev.Outcome == nodeipam.Unknown:
			n.doubt = true
		case ev.Outcome == nodeipam.Refused && !n.doubt:
			n.picked = nil
		}
		if !done {
			n.vain++
		}
	case nodeipam.TouchNode:
		n.touched = n.touched || done
	case nodeipam.GetNode:
		n.failed = !done
	case nodeipam.AddAlias:
		n.aliases, n.wrote = nil, n.wrote || done // it is another one now, or nobody knows
	}
	if done && ev.Node != nil {
		h.see(ev.Node, false)
	}
}

// asks notes a request and says why it is needless, "" where something calls for it.
func (h *hearing) asks(e nodeipam.Effect) (name, why string) {
	var id uint64
	var n *heard
	switch e := e.(type) {
	case nodeipam.PatchNodeCIDRs:
		id, name, n = e.ID, e.Name, h.nodes[e.UID]
	case nodeipam.TouchNode:
		id, name, n = e.ID, e.Name, h.nodes[e.UID]
	case nodeipam.GetNode:
		id, name, n = e.ID, e.Name, h.named(e.Name)
	case nodeipam.SetNetworkAvailable:
		id, name, n = e.ID, e.Name, h.named(e.Name)
	case nodeipam.GetAliases:
		id, name, n = e.ID, e.Name, h.named(e.Name)
	case nodeipam.AddAlias:
		id, name, n = e.ID, e.Name, h.named(e.Name)
	default:
		return "", ""
	}
	if n == nil {
		return name, "is about an object that it knows to be gone"
	}
	if why = h.needless(n, e); why == "" {
		why = h.late(n)
	}
	n.failedAt = time.Time{}
	h.asked[id] = question{n.UID, n, e}
	n.asking++
	switch e := e.(type) {
	case nodeipam.PatchNodeCIDRs:
		if h.ranged() && why == "" && !slices.Equal(n.picked, e.CIDRs) {
			why = h.outOfTurn(e.CIDRs)
		}
		n.picked = e.CIDRs
		delete(n.told, cidrNotAvailable)
	case nodeipam.GetAliases:
		n.changed, n.looked, n.wrote, n.read = false, h.c.now(), false, false
	case nodeipam.GetNode:
		n.looked, n.read = h.c.now(), false
	}
	return name, why
}

// late says that a loop is tried again later than the longest pause behind failures.
func (h *hearing) late(n *heard) string {
	const most = nodeipam.DefaultMaxBackoff + nodeipam.DefaultMaxBackoff/100 // a machine's clock may run too slowly
	if pause := h.c.now().Sub(n.failedAt); h.synced() && !n.failedAt.IsZero() && pause > most {
		return fmt.Sprintf("is made %s after a try has failed, where a pause lasts %s at the most", pause, nodeipam.DefaultMaxBackoff)
	}
	return ""
}

func (h *hearing) needless(n *heard, e nodeipam.Effect) string {
	switch e := e.(type) {
	case nodeipam.PatchNodeCIDRs:
		has := func() bool {
			return slices.EqualFunc(n.PodCIDRs, e.CIDRs, func(text string, p netip.Prefix) bool { return text == p.String() })
		}
		// CloudAllocator's tries of one write are made without another look, as upstream's are.
		if len(n.PodCIDRs) > 0 && !n.old && (h.kind != nodeipam.CloudAllocatorType || n.vain == 0 && has()) {
			return fmt.Sprintf("is to write pod CIDRs into an object of which it has been told that it has %v", n.PodCIDRs)
		}
	case nodeipam.TouchNode:
		if len(n.PodCIDRs) > 0 || n.touched {
			return "is made although it has been told that nothing of a controller before it can be written into the object any more"
		}
	case nodeipam.GetNode:
		if h.ranged() && !n.failed {
			return "is made although nothing about the object has failed since it was read"
		}
		if h.synced() && h.inOrder(n) && h.c.now().Sub(n.looked) < nodeipam.DefaultResync-nodeipam.DefaultResync/100 {
			return fmt.Sprintf("is made %s after it was looked at last, when all was in order", h.c.now().Sub(n.looked))
		}
	case nodeipam.SetNetworkAvailable:
		// CloudAllocator sets it with each sync, as upstream's does, and the others behind whatever they have written of a CIDR.
		if h.synced() && n.NetworkUnavailable == nodeipam.ConditionFalse && !n.wrote {
			return "is made although it has been told that the condition is so"
		}
	case nodeipam.AddAlias:
		if slices.Contains(n.aliases, e.CIDR.String()) {
			return "is made although the cloud has said that the alias is there"
		}
		if h.synced() && !n.read {
			return "is made although the cloud has not said which aliases there are"
		}
	}
	return ""
}

// inOrder reports whether all that is known of a node is as it is to be.
func (h *hearing) inOrder(n *heard) bool {
	return !n.failed && !n.changed && len(n.PodCIDRs) > 0 && slices.Equal(n.PodCIDRs, n.aliases)
}
