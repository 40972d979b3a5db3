package nodeipam

import "fmt"

// waiter is a holder's place in line; another ticket on the holder says that it left.
type waiter struct {
	*holder
	ticket uint64
}

// allocate picks blocks for h and has them written, or lets h wait in line.
func (r *RangeAllocator) allocate(h *holder) error {
	cidrs, err := r.ranges.pick(h.labels)
	if err != nil {
		if h.phase != phaseWaiting {
			r.tickets++
			h.phase, h.ticket = phaseWaiting, r.tickets
			r.waiters = append(r.waiters, waiter{h, h.ticket})
		}
		if !h.told {
			h.told = true
			r.record(h, reasonCIDRNotAvailable)
		}
		return fmt.Errorf("failed to allocate cidr: %w", err)
	}
	h.cidrs, h.tries, h.doubt, h.told = cidrs, 0, false, false
	r.enqueue(h, requestPatch)
	return nil
}

// wake gives blocks to those who wait, first come first served.
func (r *RangeAllocator) wake() {
	if r.start.relisting || !r.start.open {
		return
	}
	left := r.waiters[:0]
	for i, w := range r.waiters {
		if w.phase != phaseWaiting || w.holder.ticket != w.ticket || w.gone {
			continue
		}
		if !r.ranges.hasFree() {
			left = append(left, r.waiters[i:]...)
			break
		}
		if r.allocate(w.holder) != nil {
			left = append(left, w) // no range for it, though others have some
		}
	}
	clear(r.waiters[len(left):])
	r.waiters = left
}
