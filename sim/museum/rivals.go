package museum

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// rivals are two allocators that each miss every other new node for a while.
type rivals struct {
	second nodeipam.Machine
	// late are events that one of the two has not received yet.
	late []lateEvent
	news int
}

type lateEvent struct {
	at     time.Time
	second bool
	ev     nodeipam.Event
}

// rivalLag is how far the two watches are apart.
const rivalLag = 20 * time.Millisecond

func (r *rivals) step(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
	var effects []nodeipam.Effect
	if r.second == nil {
		a, err := nodeipam.New(nodeipam.RangeAllocatorType, c.params, "")
		if err != nil {
			panic("museum: parameters that were accepted before: " + err.Error())
		}
		r.second = a
		effects = append(effects, renumbered(a.Run(now))...)
	}
	for len(r.late) > 0 && !now.Before(r.late[0].at) {
		effects = append(effects, r.tell(c, now, r.late[0].ev, r.late[0].second)...)
		r.late = r.late[1:]
	}
	switch e := ev.(type) {
	case nodeipam.NodeAdded:
		r.news++
		effects = append(effects, r.tell(c, now, ev, r.news%2 == 0)...)
		r.late = append(r.late, lateEvent{now.Add(rivalLag), r.news%2 != 0, ev})
	case nodeipam.Answered:
		effects = append(effects, r.answered(c, now, e)...)
	case nodeipam.Listed:
		if e.ID >= own {
			e.ID -= own
			effects = append(effects, r.tell(c, now, e, true)...)
			break
		}
		effects = append(effects, r.tell(c, now, ev, false)...)
		if e.ID == 0 {
			effects = append(effects, r.tell(c, now, ev, true)...)
		}
	default:
		effects = append(effects, r.tell(c, now, ev, false)...)
		effects = append(effects, r.tell(c, now, ev, true)...)
	}
	if len(r.late) > 0 {
		return c.alarm.join(effects, r.late[0].at)
	}
	return c.alarm.join(effects, time.Time{})
}

func (r *rivals) tell(c *controller, now time.Time, ev nodeipam.Event, second bool) []nodeipam.Effect {
	if !second {
		return slices.Clone(c.inner(now, ev))
	}
	return renumbered(r.second.Step(now, ev))
}

func (r *rivals) answered(c *controller, now time.Time, a nodeipam.Answered) []nodeipam.Effect {
	second := a.ID >= own
	if second {
		a.ID -= own
	}
	return r.tell(c, now, a, second)
}

// renumbered are the second allocator's requests, apart from the first one's. Its alarms are dropped: it goes on at the
// next event.
func renumbered(effects []nodeipam.Effect) (out []nodeipam.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case nodeipam.ListNodes:
			e.ID += own
			out = append(out, e)
		case nodeipam.GetNode:
			e.ID += own
			out = append(out, e)
		case nodeipam.TouchNode:
			e.ID += own
			out = append(out, e)
		case nodeipam.PatchNodeCIDRs:
			e.ID += own
			out = append(out, e)
		case nodeipam.RecordEvent:
			out = append(out, e)
		}
	}
	return out
}
