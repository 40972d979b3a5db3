package nodeipam

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// listing is how a controller that begins learns of the nodes: it asks for a list until there is one, or gives up.
type listing struct {
	// wanted: there is no list yet. dead: none came in nodeListTimeout.
	wanted, dead bool
	// since is when the first was asked for, try when to ask next, failures how many failed.
	since, try time.Time
	failures   int
	asked      uint64
}

// ask appends the request for a list where one is due, with the number after last, or that it is time to give up.
func (l *listing) ask(out []Effect, now time.Time, leads bool, last *uint64) []Effect {
	if !l.wanted || l.dead {
		return out
	}
	if l.since.IsZero() {
		l.since = now
	}
	if l.asked != 0 || now.Before(l.try) || !leads {
		return out
	}
	if now.Sub(l.since) >= nodeListTimeout {
		l.dead = true
		//lint:ignore ST1005 the text is upstream's
		return append(out, GiveUp{fmt.Errorf("Failed to list all nodes in %s, cannot proceed without updating CIDR map", nodeListTimeout)})
	}
	*last++
	l.asked = *last
	return append(out, ListNodes{*last})
}

// answered reports whether ev is a list to be taken in. After one that failed it is asked again at the time that is
// returned, the zero time for never.
func (l *listing) answered(now time.Time, ev Listed) (ok bool, again time.Time) {
	if ev.ID != 0 && ev.ID != l.asked {
		return false, time.Time{}
	}
	l.asked = 0
	if ev.Outcome == ipam.Done {
		return true, time.Time{}
	}
	if l.wanted {
		l.try = now.Add(min(updateRetryTimeout<<min(l.failures, 10), nodeListRetryMax))
		l.failures++
		return false, l.try
	}
	return false, time.Time{}
}
