package lab

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// calico is how the agent of a node assigns it addresses, nil with another system.
func (w *World) calico(socket string) *nodeagent.Calico {
	c := w.scenario().Config.IPAM
	if !controllers.Blocked(c) {
		return nil
	}
	return &nodeagent.Calico{Server: socket, Families: c.Resolved().FamilyPools(), Pace: w.o.TimeScale}
}

// putAsking makes the object of a pod that asks for a pool, which is all that agents look for in one.
func (b *blockSource) putAsking(p *pod) {
	notes := apiserver.Object{}
	for name, text := range b.plan.CalicoAnnotations(p.pool) { //vppdrill:unordered each sets its own key
		notes[name] = text
	}
	b.server.Put("pods", apiserver.Object{"apiVersion": "v1", "kind": "Pod", "metadata": apiserver.Object{
		"namespace": "default", "name": p.name, "uid": p.uid, "annotations": notes}})
}

// blockOf is the block that an object is; false for any other.
func blockOf(o apiserver.Object) (calico.Block, bool) {
	if o["kind"] != kube.IPAMBlockKind {
		return calico.Block{}, false
	}
	s, err := kube.ReadBlock(o)
	return s.Block, err == nil
}

// observeBlock tells what blocks say of nodes, where that has changed: before anybody hears of it, as the server is locked.
func (b *blockSource) observeBlock(old, now apiserver.Object) {
	if now["kind"] == "Node" {
		b.tellShare(apiserver.Name(now))
		return
	}
	was, before := blockOf(old)
	is, after := blockOf(now)
	if !before && !after {
		return
	}
	b.asideOf(was, -len(was.Free))
	b.asideOf(is, len(is.Free))
	block := was.CIDR
	if after {
		block = is.CIDR
	}
	var names []string
	for _, h := range slices.Concat(was.Hosts, is.Hosts) {
		if name := calico.NodeOf(h); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, fact.CompareNames)
	for _, name := range names {
		var list []netip.Addr
		for i, h := range is.Hosts {
			if calico.NodeOf(h) == name {
				list = append(list, is.Addr(i))
			}
		}
		if slices.Equal(list, b.shares[name][block]) {
			continue
		}
		if b.shares[name] == nil {
			b.shares[name] = map[netip.Prefix][]netip.Addr{}
		}
		b.shares[name][block] = list
		b.tellShare(name)
	}
}

// tellShare tells what all blocks say of a node. Of a machine that has left nobody asks any more, and what one had whose Node object was
// deleted went with that. The server is locked.
func (b *blockSource) tellShare(name string) {
	if n := b.w.node(name); n != nil && !n.registration.none.Load() {
		n.tellAssigned(b.share(name))
	}
}

// share is what all blocks say of a node. The server is locked.
func (b *blockSource) share(node string) []ipam.Block {
	var all []netip.Addr
	for _, list := range b.shares[node] { //vppdrill:unordered sorted as blocks
		all = append(all, list...)
	}
	return controllers.Singles(all)
}

// asideOf counts more or fewer free addresses of a block for the node with its affinity. The server is locked.
func (b *blockSource) asideOf(block calico.Block, n int) {
	if node := calico.NodeOf(block.Affinity); node != "" && n != 0 {
		b.aside[node] += n
		b.w.Record.Tell(fact.Fact{Node: node, What: fact.SetAside{Addresses: uint32(max(0, b.aside[node]))}}, "")
	}
}
