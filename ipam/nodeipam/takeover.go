package nodeipam

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// takeover is the time before the first allocation: nodes are listed, what they hold is occupied, and those that hold
// nothing are touched. A predecessor's PATCH names a version of its node that is not newer than the list, so after the
// touch it can not be applied any more, and no block that it carries can turn up later. A node that refuses to be
// touched is looked at after fenceWaitMax instead: by then the API server has given up whatever a predecessor asked of
// it.
type takeover struct {
	listing
	open bool
	// arrived are those who need CIDRs, in order; unfenced counts those who are not touched yet.
	arrived  []*holder
	unfenced int
	// deadline is when every request of a predecessor has been applied or given up.
	deadline time.Time
	// relisting: nobody gets anything until the whole list is seen.
	relisting bool
	// trusting skips the touching, so that tests see what it is good for.
	trusting bool
}

// takeOver occupies what listed nodes hold.
func (r *RangeAllocator) takeOver(nodes []KubeNode) {
	r.start.wanted = false
	for i := range nodes {
		if len(nodes[i].cidrTexts()) > 0 {
			_ = r.see(&nodes[i]) // a bad one is quarantined, and an event says why
		}
	}
	for i := range nodes {
		if n := &nodes[i]; len(n.cidrTexts()) == 0 {
			_ = r.see(n) // nothing is allocated yet
			if h := r.byUID[n.uid()]; !r.start.trusting && h.phase == phaseArrived {
				h.unfenced, h.listed = true, n.ResourceVersion
				r.start.unfenced++
				r.enqueue(h, requestTouch)
			}
		}
	}
}

// fenced notes that no predecessor's PATCH can reach h any more.
func (r *RangeAllocator) fenced(h *holder) {
	if h.unfenced {
		h.unfenced = false
		r.start.unfenced--
	}
}

// begin does what is due before the first allocation, and starts it when nothing stands in the way.
func (r *RangeAllocator) begin() {
	s := &r.start
	switch {
	case s.open || s.dead:
		return
	case s.wanted:
		r.out = s.ask(r.out, r.now, r.leads(), &r.lastID)
		return
	case s.deadline.IsZero():
		s.deadline = r.now.Add(fenceWaitMax)
	}
	if s.unfenced > 0 {
		return
	}
	s.open = true
	arrived := s.arrived
	s.arrived = nil
	for _, h := range arrived {
		if h.phase == phaseArrived {
			h.phase = phaseIdle
			_ = r.proceed(h) // who finds nothing waits, and an event says so
		}
	}
}

// listed takes in a list: the one at the start, or a later one after a gap in the watch, which shows what is gone.
func (r *RangeAllocator) listed(ev Listed) {
	s := &r.start
	ok, again := s.answered(r.now, ev)
	if !again.IsZero() {
		r.alarms.set(again, nil)
	}
	if !ok {
		return
	}
	clear(r.dead)
	var gone []*holder
	exists := make(map[string]bool, len(ev.Nodes))
	for i := range ev.Nodes {
		exists[ev.Nodes[i].uid()] = true
	}
	for _, h := range r.byUID {
		if !exists[h.uid] {
			gone = append(gone, h)
		}
	}
	slices.SortFunc(gone, func(a, b *holder) int { return strings.Compare(a.name, b.name) })
	if s.wanted {
		for _, h := range gone {
			r.drop(h)
		}
		r.takeOver(ev.Nodes)
		return
	}
	// What is gone steps aside first, then what others hold is occupied, and only then somebody gets what is left.
	r.start.relisting = true
	for _, h := range gone {
		r.drop(h)
	}
	for i := range ev.Nodes {
		if len(ev.Nodes[i].cidrTexts()) > 0 {
			_ = r.see(&ev.Nodes[i])
		}
	}
	r.start.relisting = false
	r.wake()
	for i := range ev.Nodes {
		_ = r.see(&ev.Nodes[i])
	}
}

func texts(cidrs []netip.Prefix) []string {
	list := make([]string, len(cidrs))
	for i, c := range cidrs {
		list[i] = c.String()
	}
	return list
}
