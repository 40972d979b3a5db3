package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// asked is controllers.Asked of the source's plan.
func (b *blockSource) asked() bool { return b != nil && controllers.Asked(b.plan) }

// kube is the socket of the API server where agents ask it, "" where they do not.
func (b *blockSource) kube() string {
	if !b.asked() {
		return ""
	}
	return b.socket
}

// pooled are the blocks that a PoolNode shows.
func pooled(o apiserver.Object) (list []netip.Prefix) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	list, _ = controllers.PoolBlocks(text) // one that cannot be read shows none
	return list
}

// observe tells what a PoolNode shows, where that has changed: what the API server says, before anybody hears of it. The server is locked.
func (b *blockSource) observe(old, now apiserver.Object) {
	if controllers.Blocked(b.plan) {
		b.observeBlock(old, now)
		return
	}
	if controllers.Addressed(b.plan) {
		if controllers.Booked(b.plan) { // EC2 says itself what it has assigned
			b.observeBook(old, now)
		}
		return
	}
	kind := func(o apiserver.Object) string { text, _ := o["kind"].(string); return text }
	if cmp.Or(kind(now), kind(old)) != kube.PoolNodeKind {
		return
	}
	o := now
	if o == nil {
		o = old
	}
	n := b.w.node(apiserver.Name(o))
	if n == nil {
		return // it has left, and its machine with it
	}
	var blocks []ipam.Block
	if now != nil {
		for _, p := range pooled(now) {
			blocks = append(blocks, ipam.Block{Prefix: p})
		}
	}
	n.tellAssigned(blocks)
}

// tellAssigned tells what a node is assigned from now on, by whoever assigns it. Where that is less than before its agent has dropped
// the rest already, which is heard of by asking.
func (n *node) tellAssigned(now []ipam.Block) {
	n.mu.Lock()
	fewer := slices.ContainsFunc(n.assigned, func(b ipam.Block) bool { return !slices.Contains(now, b) })
	n.mu.Unlock()
	if fewer {
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		defer cancel()
		_, _ = n.poll(ctx) // an agent that is down holds nothing
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.w.assigned(n, now)
}

// unserved says which node's pods wait for an address while there is a block for them, "" for none.
func (b *blockSource) unserved() string {
	if !b.freeBlock() {
		return ""
	}
	for _, n := range b.w.inOrder() {
		n.mu.Lock()
		runs := n.vpp.proc != nil && n.agent.proc != nil && !n.agent.paused
		n.mu.Unlock()
		if runs && n.relays.api.hears() && n.kubelet.starved() {
			return "pods of " + n.name + " wait for an address, and there is a block"
		}
	}
	return ""
}
