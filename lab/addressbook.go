package lab

import (
	"encoding/json"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// watermarks are what the configuration says of each node.
func watermarks(c scenarios.IPAM) cilium.Watermarks {
	return cilium.Watermarks{PreAllocate: c.Cilium.PreAllocate, MinAllocate: c.Cilium.MinAllocate, MaxAllocate: c.Cilium.MaxAllocate, MaxAboveWatermark: c.Cilium.MaxAboveWatermark}
}

// addresses is how the agent of a node works on its CiliumNode, nil where it has none.
func (w *World) addresses(socket string) *nodeagent.Addresses {
	c := w.scenario().Config.IPAM
	if !controllers.Addressed(c) {
		return nil
	}
	return &nodeagent.Addresses{Server: socket, Mode: string(c.Cilium.Mode), PodCIDR: c.PodSubnetCIDR.Prefix, Watermarks: watermarks(c),
		Expiration: c.Cilium.Expiration, Pace: w.o.TimeScale}
}

// bookOf is the book that an object is; false for any other object.
func bookOf(o apiserver.Object) (*cilium.AddressBook, bool) {
	data, _ := o["data"].(apiserver.Object)
	text, _ := data[kube.AddressBookKey].(string)
	book := new(cilium.AddressBook)
	return book, o["kind"] == "ConfigMap" && apiserver.Name(o) == kube.AddressBookName && json.Unmarshal([]byte(text), book) == nil
}

// observeBook tells what the operators' book says of nodes, where that has changed: before anybody hears of it, as the server is locked.
func (b *blockSource) observeBook(old, now apiserver.Object) {
	book, ok := bookOf(now)
	if !ok {
		return
	}
	before, _ := bookOf(old) // an empty one where there was none
	for _, n := range b.w.inOrder() {
		if has := book.Of(n.name); !slices.Equal(has, before.Of(n.name)) {
			n.tellAssigned(controllers.Singles(has))
		}
	}
}

// joinBook tells what the book says of a node that joins: what one of its name had is its.
func (b *blockSource) joinBook(n *node) { n.tellAssigned(controllers.Singles(b.book().Of(n.name))) }

// book is the operators' book as it is.
func (b *blockSource) book() *cilium.AddressBook {
	book, _ := bookOf(b.server.Get("configmaps", controllers.LeaseNamespace, kube.AddressBookName))
	return book
}
