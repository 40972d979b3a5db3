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
	now := slices.DeleteFunc(h.view.of(h.self), func(p netip.Prefix) bool { return h.familyOf(p.Addr()) < 0 })
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

// balance chooses what goes back of a family, and says how many addresses of it are lacking. What the agent has not taken for barredTime
// does not count while pods wait, as another node's record bars it; a node does not go on collecting such.
func (h *Host) balance(k int) (lacking int) {
	used := h.used()
	needed, have, barred := h.needed(k, used), 0, 0
	var idle []netip.Prefix
	for _, p := range h.Want() {
		if h.familyOf(p.Addr()) != k {
			continue
		}
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

// needed is how many addresses of a family the node should have, beside those that pods have asked for and not got.
func (h *Host) needed(k int, used map[netip.Addr]bool) int {
	n := 0
	for a := range used { // in any order: it is a sum
		if h.familyOf(a) == k {
			n++
		}
	}
	for _, c := range h.coming {
		if !h.lone(c, k) {
			n++
		}
	}
	return max(n, LeastKept)
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

// claimAgain asks for the first address that a pod of the node has and no block says so: the cluster released what the node had while its
// Node object was gone. It reports whether a block is being written. What another host has by now it leaves alone.
func (h *Host) claimAgain() bool {
	if h.self == "" || !h.begun {
		return false
	}
	for l := range h.alloc.Leases() {
		k := h.familyOf(l.Addr)
		if k < 0 || slices.Contains(h.mine, netip.PrefixFrom(l.Addr, l.Addr.BitLen())) {
			continue
		}
		family := h.alloc.families[k]
		first, _ := l.Owner.First()
		if b, err := h.all.Of(family).AssignTo(h.view.all(family), h.self, l.Addr, h.uses[first]); err == nil {
			h.write(Assign, h.view.at(b.CIDR), b)
			return true
		}
	}
	return false
}

// assign asks for more addresses where they are lacking, of one family at a time, and says of which there are none. What pods cannot have of
// one family they are not assigned of the other, where they would have to give it back.
func (h *Host) assign() (none [2]bool) {
	if h.self == "" {
		return none // its Node object comes
	}
	unmet := 0
	for k, n := range h.lacking {
		if n == 0 {
			continue
		}
		if _, err := h.more(k, n); err != nil {
			h.do(Note{Text: err.Error()})
			none[k], unmet = true, max(unmet, n)
		}
	}
	for k, n := range h.lacking {
		if n == 0 || none[k] {
			continue
		}
		if n -= unmet; n <= 0 && slices.ContainsFunc(h.Want(), func(p netip.Prefix) bool { return h.familyOf(p.Addr()) == k }) {
			continue
		}
		if b, err := h.more(k, max(n, LeastKept)); err == nil {
			h.write(Assign, h.view.at(b.CIDR), b)
			return none
		}
	}
	return none
}

// more is a block with so many more addresses of a family for the host, or some of them, those for pods that come first.
func (h *Host) more(k, n int) (Block, error) {
	uses := make([]Use, 0, n)
	for _, c := range h.coming {
		if _, kept := h.alloc.kept[owner(c.owner, k)]; !kept && len(uses) < n && !h.asks(c, k) {
			uses = append(uses, h.uses[c.owner])
		}
	}
	return h.pools[k].Assign(h.view.all(h.alloc.families[k]), h.self, append(uses, make([]Use, n-len(uses))...)...)
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
