package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// sandboxes maps living sandboxes to their answered address: from the first answered ADD until DEL is answered, the
// runtime removes the sandbox, or the node dies.
type sandboxes struct {
	nodes map[string]map[ipam.Owner]netip.Addr
}

func newSandboxes() sandboxes { return sandboxes{nodes: map[string]map[ipam.Owner]netip.Addr{}} }

// address is the answered address of owner's living sandbox, or false.
func (s sandboxes) address(node string, o ipam.Owner) (netip.Addr, bool) {
	a, ok := s.nodes[node][o]
	return a, ok
}

func (s sandboxes) set(node string, o ipam.Owner, a netip.Addr) {
	n := s.nodes[node]
	if n == nil {
		n = map[ipam.Owner]netip.Addr{}
		s.nodes[node] = n
	}
	n[o] = a
}

// observe applies a fact. Unrelated kinds change nothing.
func (s sandboxes) observe(f *fact.Fact) {
	switch x := f.What.(type) {
	case fact.Answered:
		s.set(f.Node, x.Owner, x.Addr)
	case fact.Deleted, fact.SandboxGone:
		delete(s.nodes[f.Node], fact.OwnerOf(x))
	case fact.NodeGone:
		delete(s.nodes, f.Node)
	}
}
