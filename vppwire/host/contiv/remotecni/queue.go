package remotecni

import (
	"sync"

	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
)

// queueMax is how many containers may have changed before a stream that is not read ends: more than a node has.
const queueMax = 10_000

// queue holds a stream's events until they are sent: of each container the last one, in the order of the first.
type queue struct {
	filled chan struct{}

	mu     sync.Mutex
	order  []string
	events map[string]containeridx.ChangeEvent
}

func newQueue() *queue {
	return &queue{filled: make(chan struct{}, 1), events: map[string]containeridx.ChangeEvent{}}
}

// put never waits.
func (q *queue) put(e containeridx.ChangeEvent) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, waits := q.events[e.Name]; !waits && len(q.order) <= queueMax {
		q.order = append(q.order, e.Name)
	}
	if len(q.order) <= queueMax { // beyond, the stream ends
		q.events[e.Name] = e
	}
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// take returns what waits; false when there was too much.
func (q *queue) take() (events []containeridx.ChangeEvent, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) > queueMax {
		return nil, false
	}
	for _, name := range q.order {
		events = append(events, q.events[name])
		delete(q.events, name)
	}
	q.order = nil
	return events, true
}
