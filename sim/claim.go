package sim

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// claims are the addresses of nodes that a stranger on the wire has said to have.
type claims struct {
	// of are the addresses of each node that was claimed, and whether it still is.
	of map[string]*claim
	// probing is how many VPPs are still to probe their neighbors.
	probing int
}

type claim struct {
	addrs []netip.Addr
	over  bool
}

var _ timeline.Claimants = stage{}

// Claim implements timeline.Claimants.
func (st stage) Claim(node string) error {
	c := st.claims.of[node]
	if c == nil {
		c = &claim{}
		if st.claims.of == nil {
			st.claims.of = make(map[string]*claim)
		}
		st.claims.of[node] = c
	}
	c.over = false
	if m := st.machines[node]; m != nil && m.vpp != nil {
		c.addrs = nil
		for i := range m.vpp.Interfaces() {
			if i.Kind == vppmodel.KindNIC {
				for _, p := range i.Addrs {
					c.addrs = append(c.addrs, p.Addr())
				}
			}
		}
	}
	st.hear(node, st.order, timeline.StrangerMAC)
	return nil
}

// hear has the VPPs of machines hear that another node's addresses have a MAC: the stranger's, or what corrects that.
func (w *World) hear(node string, who []*machine, mac [6]byte) {
	for _, m := range who {
		if m.name == node || m.vpp == nil || m.vppPaused {
			continue
		}
		for i := range m.vpp.Interfaces() {
			if i.Kind != vppmodel.KindNIC {
				continue
			}
			for _, a := range w.claims.of[node].addrs {
				if have, known := m.vpp.Neighbor(i.Index, a); mac == timeline.StrangerMAC || known && have == timeline.StrangerMAC {
					m.vpp.Hear(i.Index, a, mac)
				}
			}
		}
	}
}

// EndClaim implements timeline.Claimants. A VPP that probes its neighbors asks again when the entry is that old, and gets the
// right answer; any other keeps what it has learned (src/vnet/ip-neighbor/ip_neighbor.c, ip_neighbor_age_one).
func (st stage) EndClaim(node string) error {
	c := st.claims.of[node]
	c.over = true
	for _, m := range st.order {
		if m.vpp == nil || m.name == node {
			continue
		}
		age, _ := m.vpp.NeighborSettings(false)
		if age == 0 {
			continue
		}
		st.claims.probing++
		st.After(time.Duration(age)*time.Second, fmt.Sprintf("%s's VPP probes who has %s's address", m.name, node), func() {
			st.claims.probing--
			st.answerFor(node, []*machine{m})
		})
	}
	return nil
}

// answerFor has a node answer machines for its addresses where they have a stranger's MAC for them.
func (w *World) answerFor(node string, who []*machine) {
	c, m := w.claims.of[node], w.machines[node]
	if c == nil || !c.over || m == nil || m.vpp == nil {
		return
	}
	for i := range m.vpp.Interfaces() {
		if i.Kind == vppmodel.KindNIC {
			w.hear(node, who, i.MAC)
			return
		}
	}
}
