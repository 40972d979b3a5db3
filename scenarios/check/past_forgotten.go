package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

const pastForgottenName = "past-forgotten"

// A journal is written anew when so many records have been added as make four times those that it needs and 64 more; where all pods go at once, with
// the next record behind that. It needs those of leases, and of
// addresses that rest, blocks, IDs and peers, which are not counted here: as many as linesMost allows for.
const (
	linesMost = 400
	linesEach = 30
)

// pastForgotten: long after the end nodes know no former range of addresses in which nobody has any, and no journal names one, or holds much more than is so now.
//
// Where some node has addresses outside of the ranges in force, or its agent is down, nobody has to know which former ranges these are of. A cluster of
// two families keeps a former pair for the sake of one.
func pastForgotten() scenarios.Law {
	return scenarios.Law{
		Name:  pastForgottenName,
		Why:   "Former ranges stay routes of every node into VPP, and whoever gives such addresses to something else finds it unreachable; a journal that grows for ever fills the disk and makes each start longer.",
		When:  scenarios.Settled,
		Needs: []scenarios.Evidence{scenarios.Blocks, scenarios.NodeIDs, scenarios.HeldIDs, scenarios.Journals},
		Check: checkPastForgotten,
	}
}

func checkPastForgotten(s scenarios.Snapshot) (occasions int64, err error) {
	if !s.Settled {
		return 0, nil
	}
	regular := allRegular(s)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || !n.AgentUp || n.JournalLines == 0 {
			continue
		}
		occasions++
		leases := 0
		for range n.Leases() {
			leases++
		}
		leases = max(leases, n.JournalLeases)
		if most := linesMost + linesEach*leases; n.JournalLines > most {
			return occasions, broken(pastForgottenName, s.At, n.Name, "the journal of %s has %d records, where %d leases since it was written anew are to make %d at the very most: look at what has it written anew",
				n.Name, n.JournalLines, leases, most)
		}
		if !regular || n.Second != nil {
			continue
		}
		for _, p := range n.FormerPodSubnets {
			if p.Overlaps(n.PodSubnet) {
				continue
			}
			return occasions, broken(pastForgottenName, s.At, n.Name, "%s still knows %s as a range of pods, and nobody has addresses of it: look at what forgets former ranges", n.Name, p)
		}
		for _, p := range n.JournalPodSubnets {
			if p.Overlaps(n.PodSubnet) {
				continue
			}
			return occasions, broken(pastForgottenName, s.At, n.Name, "the journal of %s still names %s as a range of pods, with which its next life would begin: look at what writes it anew", n.Name, p)
		}
	}
	return occasions, nil
}

// allRegular reports whether all who hold an ID run, act on one range of pods, and have addresses of that alone.
func allRegular(s scenarios.Snapshot) bool {
	var in netip.Prefix
	running := map[string]bool{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.AgentUp || n.ID == 0 || in.IsValid() && n.PodSubnet != in {
			return false
		}
		in, running[n.UID] = n.PodSubnet, true
		if slices.ContainsFunc(n.Blocks, func(b ipam.Block) bool { return b.Draining || !in.Contains(b.Prefix.Addr()) }) {
			return false
		}
	}
	return !slices.ContainsFunc(s.HeldIDs, func(h scenarios.HeldID) bool { return !running[h.UID] })
}
