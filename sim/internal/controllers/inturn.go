package controllers

// inTurn has a machine take one event after the other: what happens while the effects of one are performed is its next
// event.
type inTurn[E any] struct {
	waiting []E
	busy    bool
}

// take has step take an event, and all that come meanwhile.
func (q *inTurn[E]) take(ev E, step func(E)) {
	q.waiting = append(q.waiting, ev)
	if q.busy {
		return
	}
	q.busy = true
	for len(q.waiting) > 0 {
		next := q.waiting[0]
		q.waiting = q.waiting[1:]
		step(next)
	}
	q.busy = false
}
