package calico

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// holdsBlock reports whether the agent has an address as a block.
func (h *Host) holdsBlock(p netip.Prefix) bool {
	return slices.ContainsFunc(h.agent.Blocks, func(b ipam.Block) bool { return b.Prefix == p })
}

// used are the addresses of pods.
func (h *Host) used() map[netip.Addr]bool {
	used := make(map[netip.Addr]bool)
	for l := range h.alloc.Leases() {
		used[l.Addr] = true
	}
	return used
}

// look brings up to date what the node has. What its agent does not hold when it starts goes back: a request of an
// agent before, to give it back, may still be under way.
func (h *Host) look() {
	now := h.view.of(h.self)
	gone := func(p netip.Prefix) bool { return !slices.Contains(now, p) }
	h.mine = slices.DeleteFunc(h.mine, gone)
	for p := range h.since { // in any order: each by itself
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
			if !h.begun && !h.holdsBlock(p) {
				h.leaving = append(h.leaving, p)
			}
		}
	}
	h.begun = h.begun || h.self != ""
	h.leaving = slices.DeleteFunc(h.leaving, func(p netip.Prefix) bool { return used[p.Addr()] })
}

// balance chooses what goes back, and says how many addresses are lacking. What the agent has not taken for barredTime
// does not count while pods wait, as another node's record bars it; a node does not go on collecting such.
func (h *Host) balance() (lacking int) {
	needed := max(h.alloc.Len()+len(h.coming)-len(h.lone()), LeastKept)
	used := h.used()
	have, barred := 0, 0
	var idle []netip.Prefix
	for _, p := range h.Want() {
		since, told := h.since[p]
		if !told {
			h.since[p] = h.now
			h.soon(h.now.Add(barredTime))
		}
		free := !used[p.Addr()]
		if !free {
			h.spent[p] = true
		} else if h.spent[p] || h.unasked(p.Addr()) { // its pod has gone: the next one gets the address that has been free for the longest
			h.leaving = append(h.leaving, p)
			continue
		}
		held, late := h.holdsBlock(p), told && h.now.Sub(since) >= barredTime
		if free && late && !held {
			if barred++; len(h.coming) > 0 {
				continue
			}
		}
		have++
		if free && (held || late) && !h.alloc.apart[p.Addr()] { // what the agent was told a moment ago it may still take
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

// giveBack writes the first block of which the agent has dropped something for good: it is journaled, and the other
// nodes know.
func (h *Host) giveBack() bool {
	if s := h.strange(h.left); s != nil {
		next := s.clone()
		for i := range s.Hosts {
			if h.stranger(*s, i, h.left) {
				next.free(i)
			}
		}
		h.write(Release, s, next)
		return true
	}
	clear(h.left) // nothing is theirs any more
	if len(h.leaving) == 0 || !h.agent.Idle {
		return false
	}
	for _, s := range h.view.blocks {
		var left []netip.Addr
		for _, p := range h.leaving {
			if s.CIDR.Contains(p.Addr()) && !h.holdsBlock(p) {
				left = append(left, p.Addr())
			}
		}
		if len(left) > 0 {
			next, _ := s.Release(h.self, left...)
			h.write(Release, &s, next)
			return true
		}
	}
	return false
}

// assign asks for more addresses; false where there are none.
func (h *Host) assign(n int) bool {
	if h.self == "" {
		return true // its Node object comes
	}
	uses := make([]Use, 0, n)
	for _, c := range h.coming {
		if _, kept := h.alloc.kept[c.owner]; !kept && len(uses) < n && !h.asks(c) {
			uses = append(uses, h.uses[c.owner])
		}
	}
	b, err := h.pools.Assign(h.view.all(), h.self, append(uses, make([]Use, n-len(uses))...)...)
	if err != nil {
		h.do(Note{Text: err.Error()})
		return false
	}
	h.write(Assign, h.view.at(b.CIDR), b)
	return true
}

// keepOne takes one address back from those that are to go, where they are all and there is no other: the agent would
// wait for a word, and never drop them.
func (h *Host) keepOne() {
	n := len(h.leaving)
	if n == 0 || len(h.Want()) > 0 {
		return
	}
	delete(h.spent, h.leaving[n-1])
	h.leaving = h.leaving[:n-1]
	h.soon(h.now)
}

// wrote goes on behind a write.
func (h *Host) wrote(ev Wrote) {
	w, ok := h.end()
	if !ok {
		return
	}
	switch ev.Outcome {
	case ipam.Done:
		h.view.wrote(w, ev.Block)
		h.conflicts = 0
		h.soon(h.now)
	case ipam.Conflict, ipam.NotFound: // the watch reports what is there, before that as a rule
		h.pause(h.soon(h.now.Add(min(conflictTime<<h.conflicts, retryTime))))
		h.conflicts = min(h.conflicts+1, conflictsMost)
	default:
		h.pause(h.soon(h.now.Add(retryTime)))
	}
}
