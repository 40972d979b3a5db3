package timeline

import "slices"

// heals are the pending ones: ends of faults, and what actions have planned for later. Healing runs all that are left.
type heals struct {
	pending []*heal
}

// heal ends one fault; timed ones come by themselves.
type heal struct {
	end   func()
	timed bool
	done  bool
}

func (l *heals) add(end func(), timed bool) *heal {
	h := &heal{end: end, timed: timed}
	l.pending = append(l.pending, h)
	return h
}

// run ends a fault once.
func (l *heals) run(h *heal) {
	if h.done {
		return
	}
	h.done = true
	l.pending = slices.DeleteFunc(l.pending, func(x *heal) bool { return x == h })
	h.end()
}

// all runs everything that is left, also what it adds, in the order in which it was added.
func (l *heals) all() {
	for len(l.pending) > 0 {
		l.run(l.pending[0])
	}
}

// Pending reports whether any fault is still to end; Timed whether any ends by itself.
func (p *Player) Pending() bool { return len(p.heals.pending) > 0 }
func (p *Player) Timed() bool {
	return slices.ContainsFunc(p.heals.pending, func(h *heal) bool { return h.timed })
}
