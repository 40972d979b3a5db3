package calico

import (
	"maps"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// keep has addresses wait for the pods that they were assigned for, and forgets what pods were that neither come nor have one.
func (h *Host) keep() {
	clear(h.alloc.kept)
	handles := make(map[string]int)
	for i, c := range h.coming {
		handles[HandleOf(c.owner)] = i
	}
	maps.DeleteFunc(h.uses, func(o ipam.Owner, u Use) bool {
		_, comes := handles[u.Handle]
		return !comes && !h.holds(o)
	})
	for _, p := range h.Want() {
		s := h.view.holding(p.Addr())
		if s == nil {
			continue
		}
		i, _ := space.Index(s.CIDR, p.Addr())
		if k, comes := handles[s.Use(int(i)).Handle]; comes {
			h.alloc.kept[owner(h.coming[k].owner, h.familyOf(p.Addr()))] = p.Addr()
		}
	}
}

// name writes what an address is for, where a pod has it that it was not assigned for. One block is written at a time.
func (h *Host) name() {
	for l := range h.alloc.Leases() {
		s := h.view.holding(l.Addr)
		if s == nil {
			continue
		}
		i, _ := space.Index(s.CIDR, l.Addr)
		if s.Hosts[i] != h.self || s.Use(int(i)).Handle == HandleOf(l.Owner) {
			continue
		}
		first, _ := l.Owner.First()
		u, known := h.uses[first]
		if !known { // it came in a life before
			u = Use{Handle: HandleOf(l.Owner)}
		}
		h.write(Assign, s, s.WithUse(int(i), u))
		return
	}
}

// stranger reports whether an address is by one of some handles, and is the node's, but the agent's not: Calico has assigned it.
func (h *Host) stranger(s Stored, i int, handles map[string]bool) bool {
	return handles[s.Use(i).Handle] && s.Hosts[i] != h.self && NodeOf(s.Hosts[i]) == NodeOf(h.self)
}

// strange is a block with such an address, nil for none.
func (h *Host) strange(handles map[string]bool) *Stored {
	if len(handles) == 0 {
		return nil
	}
	for _, s := range h.view.blocks {
		for i := range s.Hosts {
			if h.stranger(s, i, handles) {
				return &s
			}
		}
	}
	return nil
}
