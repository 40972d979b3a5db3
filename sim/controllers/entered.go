package controllers

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// entered is who holds which CIDR by a ledger's entries. It is counted here anew, so that the product is not judged by its own books.
type entered map[holding]string

type holding struct {
	pool string
	cidr netip.Prefix
}

// add takes an entry that the ledger has.
func (e entered) add(c cilium.Claim) {
	switch h := (holding{c.Pool, c.CIDR}); c.Op {
	case cilium.OpClaim:
		e[h] = c.Node
	case cilium.OpReturn:
		delete(e, h)
	}
}

// needless says why an entry tells the ledger nothing, "" where it does. A claim that is there already confirms that its writer leads, which it has to before
// a resource shows what was claimed, and not again when one does.
func (e entered) needless(c cilium.Claim, seen bool) string {
	holder, held := e[holding{c.Pool, c.CIDR}]
	switch {
	case !strings.Contains(c.Node, "/"):
		return "does not say which node of that name it is about: there may have been others"
	case c.Op == cilium.OpClaim && held && holder == c.Node && seen:
		return "is made although the ledger says so already, and the node's resource shows the CIDR"
	case c.Op == cilium.OpReturn && (!held || holder != c.Node):
		return "is made although the ledger does not say that the node has it"
	}
	return ""
}

// shows reports whether the resource of an incarnation of a node shows a CIDR, as far as the operator has been told.
func (o *operator) shows(incarnation string, cidr netip.Prefix) bool {
	for _, r := range o.views { //vppdrill:unordered at most one is the incarnation's
		if r.Name+"/"+r.UID == incarnation && slices.Contains(shown(r), cidr) {
			return true
		}
	}
	return false
}
