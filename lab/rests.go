package lab

import (
	"net/netip"
	"slices"
	"time"
)

// Rests are a node's released addresses and until when each rests, in the scenario's time. What an agent does not tell
// is taken for longer than it can be: a law that looks for addresses which nobody needs would find one early otherwise.
type Rests map[netip.Addr]time.Duration

// Begin notes that an address was released at a time and rests this long; End, that somebody has it.
func (r *Rests) Begin(a netip.Addr, at, rest time.Duration) {
	if rest <= 0 {
		return
	}
	if *r == nil {
		*r = Rests{}
	}
	(*r)[a] = at + rest
}

func (r Rests) End(a netip.Addr) { delete(r, a) }

// Again is for an agent that has started: its time may have stood still meanwhile.
func (r Rests) Again(now, rest time.Duration) {
	for a := range r { //vppdrill:unordered each by itself
		r[a] = now + rest
	}
}

// At are those that rest at a time, in order; ended: some have come to their end since it was asked last.
func (r Rests) At(now time.Duration) (list []netip.Addr, ended bool) {
	for a, until := range r { //vppdrill:unordered sorted below
		if until > now {
			list = append(list, a)
		} else {
			delete(r, a)
			ended = true
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list, ended
}

// restMost is the longest that the configuration keeps a released address unused, in the scenario's time.
func (w *World) restMost() time.Duration {
	rest := w.scenario().Config.IPAM.AddressRest()
	if rest <= 0 {
		return 0
	}
	d := rest + rest/restSlack + time.Second
	return time.Duration(float64(d) * w.o.TimeScale)
}

// resting are the node's resting addresses. Where a rest has ended, pods that wait for an address are tried again at
// once.
func (n *node) resting() []netip.Addr {
	n.mu.Lock()
	list, ended := n.rests.At(n.w.Now())
	n.mu.Unlock()
	if ended {
		n.kubelet.changed()
	}
	return list
}
