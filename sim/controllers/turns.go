package controllers

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
)

// turns are the pod CIDRs that a life of a controller knows somebody to have had; true are those that it has given. A range is gone round: a block is given
// again only when no other is left that has been nobody's all the time (Kubernetes' CidrSet, nextCandidate, which Cilium has too).
type turns map[netip.Prefix]bool

// had notes the pod CIDR of a node, which this life may have given or not.
func (t turns) had(p netip.Prefix) {
	if _, known := t[p]; !known {
		t[p] = false
	}
}

// gives notes that a block of a range is given, and says why it is another's turn, "" where it is not. Beside what was taken, others may be out of bounds.
func (t turns) gives(p, of netip.Prefix, bounds func(taken []netip.Prefix) []netip.Prefix) string {
	if !t[p] {
		t[p] = true
		return ""
	}
	taken := slices.SortedFunc(maps.Keys(t), netip.Prefix.Compare)
	if left := blockranges.Left(of, p.Bits(), bounds(taken)); left > 0 {
		return fmt.Sprintf("gives %s again, which was another node's, where %d blocks of %s have been nobody's yet", p, left, of)
	}
	return ""
}

// outOfTurn says why CIDRs are not a node's yet, "" where they may be. Ranges that overlap are gone round each by itself.
func (h *hearing) outOfTurn(cidrs []netip.Prefix) (why string) {
	for _, p := range cidrs {
		var of []netip.Prefix
		for _, c := range h.ranges {
			for _, r := range [...]netip.Prefix{c.IPv4, c.IPv6} {
				if r.IsValid() && r.Overlaps(p) {
					of = append(of, r)
				}
			}
		}
		switch {
		case len(of) > 1:
			h.turns.had(p)
		case len(of) == 1 && why == "":
			why = h.turns.gives(p, of[0], h.c.system.ranges.WithServices)
		}
	}
	return why
}

// outOfTurn says why a claim of a CIDR for a node is another's turn, "" where it may be.
func (o *operator) outOfTurn(c cilium.Claim) string {
	for _, r := range o.system.ranges {
		if r.Overlaps(c.CIDR) {
			return o.turns.gives(c.CIDR, r, func(taken []netip.Prefix) []netip.Prefix { return taken })
		}
	}
	return ""
}
