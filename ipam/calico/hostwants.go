package calico

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// refusal is that a pod found no address, and what it asked for.
type refusal struct {
	at   time.Time
	want Want
}

// asks reports whether a pod gets the address of a family that was assigned for it and no other, as not any of the node's
// pools will do.
func (h *Host) asks(c *coming, k int) bool {
	family := h.alloc.families[k]
	if plain := c.want.plain(family); !plain || len(h.all.Namespaces) == 0 {
		return !plain
	}
	pools, err := h.all.ForPod(h.labels, c.want, family)
	return err != nil || !slices.Equal(pools.Ranges, h.pools[k].Ranges)
}

// asksAny reports whether a pod asks for an address of some family.
func (h *Host) asksAny(c *coming) bool {
	for k := range h.alloc.families {
		if h.asks(c, k) {
			return true
		}
	}
	return false
}

// assignFor is one address of a family for a pod, as it asks for it.
func (h *Host) assignFor(w Want, u Use, k int) (Block, error) {
	family := h.alloc.families[k]
	pools, err := h.all.ForPod(h.labels, w, family)
	a := w.Addrs[placeOf(family)]
	switch {
	case err != nil:
		return Block{}, err
	case a.IsValid():
		return pools.AssignTo(h.view.all(family), h.self, a, u)
	}
	return pools.Assign(h.view.all(family), h.self, u)
}

// setApart has addresses wait for the pods that asked for them, and keeps others off those and off what is of pools that
// not every pod gets addresses of. It follows keep, which knows for whom addresses were assigned.
func (h *Host) setApart() {
	clear(h.alloc.apart)
	clear(h.alloc.asking)
	asked := make(map[netip.Addr]bool)
	used := h.used()
	for _, c := range h.coming {
		for k, family := range h.alloc.families {
			if !h.asks(c, k) {
				continue
			}
			o := owner(c.owner, k)
			h.alloc.asking[o] = c.refused
			a, kept := h.alloc.kept[o]
			if w := c.want.Addrs[placeOf(family)]; w.IsValid() && a != w {
				delete(h.alloc.kept, o)
				if kept = slices.Contains(h.Want(), netip.PrefixFrom(w, w.BitLen())) && !used[w]; kept {
					a, h.alloc.kept[o] = w, w
				}
			}
			if kept {
				asked[a] = true
			}
		}
	}
	for _, p := range h.Want() {
		if a := p.Addr(); asked[a] || h.all.gives(p) && !h.pools[h.familyOf(a)].gives(p) {
			h.alloc.apart[a] = true
		}
	}
}

// lone reports whether a pod asks for an address of a family which the node does not have yet.
func (h *Host) lone(c *coming, k int) bool {
	_, kept := h.alloc.kept[owner(c.owner, k)]
	return !kept && h.asks(c, k)
}

// unasked reports whether not every pod may get an address, and none waits for it: it goes back.
func (h *Host) unasked(a netip.Addr) bool {
	k := h.familyOf(a)
	waits := slices.ContainsFunc(h.coming, func(c *coming) bool { kept, is := h.alloc.kept[owner(c.owner, k)]; return is && kept == a })
	return h.alloc.apart[a] && !waits
}

// assignAsked asks for what the first of the pods asks for that can have it, and lets those go that can't. It reports
// whether a block is being written.
func (h *Host) assignAsked() bool {
	if h.self == "" {
		return false // its Node object comes
	}
	for _, c := range h.coming {
		block, err := h.asked(c)
		switch {
		case err != nil:
			h.do(Note{Text: err.Error()})
			h.goOn(c)
		case block != nil:
			h.write(Assign, h.view.at(block.CIDR), *block)
			return true
		}
	}
	return false
}

// asked is the first block to be written for what a pod asks for that the node does not have yet, nil for none. With an error it can't have
// it of a family, and nothing is assigned of the other.
func (h *Host) asked(c *coming) (first *Block, err error) {
	for k, family := range h.alloc.families {
		w := c.want.Addrs[placeOf(family)]
		a, barred := h.barred(c, k)
		if !c.waits || !barred && (!h.lone(c, k) || w.IsValid() && slices.Contains(h.leaving, netip.PrefixFrom(w, w.BitLen()))) {
			continue // it has gone back to its block in a moment
		}
		var b Block
		if barred {
			err = fmt.Errorf("%s: the record of another node, or of a former one, has it", a)
		} else {
			b, err = h.assignFor(c.want, h.uses[c.owner], k)
		}
		if err != nil {
			c.refused = err
			h.alloc.asking[owner(c.owner, k)] = err
			return nil, err
		}
		if first == nil {
			first = &b
		}
	}
	return first, nil
}

// barred reports whether the agent has not taken for barredTime what was assigned for a pod as it asked for it.
func (h *Host) barred(c *coming, k int) (netip.Addr, bool) {
	a, kept := h.alloc.kept[owner(c.owner, k)]
	p := netip.PrefixFrom(a, a.BitLen())
	since, told := h.since[p]
	return a, kept && told && h.asks(c, k) && !h.holdsBlock(p) && h.now.Sub(since) >= barredTime
}

// hasAsked reports whether the agent has the address of a family that a pod asked for.
func (h *Host) hasAsked(c *coming, k int) bool {
	a, kept := h.alloc.kept[owner(c.owner, k)]
	return kept && h.alloc.apart[a] && h.holdsBlock(netip.PrefixFrom(a, a.BitLen()))
}
