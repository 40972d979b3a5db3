package calico

import (
	"net/netip"
	"slices"
	"time"
)

// refusal is that a pod found no address, and what it asked for.
type refusal struct {
	at   time.Time
	want Want
}

// asks reports whether a pod gets the address that was assigned for it and no other, as not any of the node's pools will do.
func (h *Host) asks(c *coming) bool {
	if !c.want.plain() || len(h.all.Namespaces) == 0 {
		return !c.want.plain()
	}
	pools, err := h.all.ForPod(h.labels, c.want)
	return err != nil || !slices.Equal(pools.Ranges, h.pools.Ranges)
}

// assignFor is one address for a pod, as it asks for it.
func (h *Host) assignFor(w Want, u Use) (Block, error) {
	pools, err := h.all.ForPod(h.labels, w)
	switch {
	case err != nil:
		return Block{}, err
	case w.Addr.IsValid():
		return pools.AssignTo(h.view.all(), h.self, w.Addr, u)
	}
	return pools.Assign(h.view.all(), h.self, u)
}

// setApart has addresses wait for the pods that asked for them, and keeps others off those and off what is of pools that
// not every pod gets addresses of. It follows keep, which knows for whom addresses were assigned.
func (h *Host) setApart() {
	clear(h.alloc.apart)
	clear(h.alloc.asking)
	asked := make(map[netip.Addr]bool)
	used := h.used()
	for _, c := range h.coming {
		if !h.asks(c) {
			continue
		}
		h.alloc.asking[c.owner] = c.refused
		a, kept := h.alloc.kept[c.owner]
		if w := c.want.Addr; w.IsValid() && a != w {
			delete(h.alloc.kept, c.owner)
			if kept = slices.Contains(h.Want(), netip.PrefixFrom(w, w.BitLen())) && !used[w]; kept {
				a, h.alloc.kept[c.owner] = w, w
			}
		}
		if kept {
			asked[a] = true
		}
	}
	for _, p := range h.Want() {
		if a := p.Addr(); asked[a] || h.all.gives(p) && !h.pools.gives(p) {
			h.alloc.apart[a] = true
		}
	}
}

// lone are the pods that ask for an address which the node does not have yet.
func (h *Host) lone() (list []*coming) {
	for _, c := range h.coming {
		if _, kept := h.alloc.kept[c.owner]; !kept && h.asks(c) {
			list = append(list, c)
		}
	}
	return list
}

// unasked reports whether not every pod may get an address, and none waits for it: it goes back.
func (h *Host) unasked(a netip.Addr) bool {
	waits := slices.ContainsFunc(h.coming, func(c *coming) bool { kept, is := h.alloc.kept[c.owner]; return is && kept == a })
	return h.alloc.apart[a] && !waits
}

// assignAsked asks for what the first of the pods asks for that can have it, and lets those go that can't. It reports
// whether a block is being written.
func (h *Host) assignAsked() bool {
	if h.self == "" {
		return false // its Node object comes
	}
	for _, c := range h.lone() {
		w := c.want.Addr
		if !c.waits || w.IsValid() && slices.Contains(h.leaving, netip.PrefixFrom(w, w.BitLen())) {
			continue // it has gone back to its block in a moment
		}
		b, err := h.assignFor(c.want, h.uses[c.owner])
		if err == nil {
			h.write(Assign, h.view.at(b.CIDR), b)
			return true
		}
		c.refused = err
		h.alloc.asking[c.owner] = err
		h.do(Note{Text: err.Error()})
		h.goOn(c)
	}
	return false
}

// answerAsked lets plugins go on whose address the agent has.
func (h *Host) answerAsked() {
	for _, c := range h.coming {
		a, kept := h.alloc.kept[c.owner]
		if c.waits && kept && h.alloc.apart[a] && h.holdsBlock(netip.PrefixFrom(a, a.BitLen())) {
			h.goOn(c)
		}
	}
}
