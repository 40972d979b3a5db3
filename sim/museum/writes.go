package museum

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// loop asks again and again for nodes that do not exist.
type loop struct {
	asked map[uint64]nodeipam.PatchNodeCIDRs
	last  uint64
}

func (l *loop) step(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
	if a, ok := ev.(nodeipam.Answered); ok && a.Outcome == ipam.NotFound {
		if p, mine := l.asked[a.ID]; mine {
			delete(l.asked, a.ID)
			l.last++
			p.ID = own + l.last
			l.asked[p.ID] = p
			return append(c.Run(now), p)
		}
	}
	effects := c.inner(now, ev)
	for _, e := range effects {
		if p, ok := e.(nodeipam.PatchNodeCIDRs); ok {
			l.asked[p.ID] = p
		}
	}
	return effects
}

// requeued releases the blocks of failed writes and writes them again.
type requeued struct {
	asked map[uint64]nodeipam.PatchNodeCIDRs
	// again are the writes that are made again, by then.
	again []nodeipam.PatchNodeCIDRs
	then  time.Time
	last  uint64
}

func (r *requeued) step(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
	var effects []nodeipam.Effect
	a, ok := ev.(nodeipam.Answered)
	p, mine := r.asked[a.ID]
	switch {
	case ok && a.ID >= own:
	case ok && mine && a.Outcome == ipam.Unknown:
		p.ResourceVersion = "" // of a later try: whatever the object looks like by then
		r.again, r.then = append(r.again, p), now.Add(time.Minute)
		effects = c.inner(now, nodeipam.NodeDeleted{Node: nodeipam.KubeNode{Name: p.Name, UID: p.UID}})
	case slices.ContainsFunc(seen(ev), func(n nodeipam.KubeNode) bool {
		return slices.ContainsFunc(r.again, func(p nodeipam.PatchNodeCIDRs) bool { return p.UID == n.UID })
	}):
	default:
		effects = c.inner(now, ev)
	}
	for _, e := range effects {
		if p, ok := e.(nodeipam.PatchNodeCIDRs); ok {
			r.asked[p.ID] = p
		}
	}
	if len(r.again) > 0 && now.Before(r.then) {
		return c.alarm.join(effects, r.then)
	}
	for _, p := range r.again {
		r.last++
		p.ID = own + r.last
		effects = append(effects, p)
	}
	r.again = nil
	return c.alarm.join(effects, time.Time{})
}

// serial makes one write every pause.
type serial struct {
	queue []nodeipam.PatchNodeCIDRs
	next  time.Time
}

// pause is how long a write takes.
const pause = 10 * time.Second

func (s *serial) step(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
	rest, list := patches(c.inner(now, ev), func(nodeipam.PatchNodeCIDRs) bool { return true })
	s.queue = append(s.queue, list...)
	if len(s.queue) > 0 && !now.Before(s.next) {
		rest = append(rest, s.queue[0])
		s.queue, s.next = s.queue[1:], now.Add(pause)
	}
	if len(s.queue) > 0 {
		return c.alarm.join(rest, s.next)
	}
	return c.alarm.join(rest, time.Time{})
}
