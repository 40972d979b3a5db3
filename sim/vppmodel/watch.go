package vppmodel

import (
	"context"
	"fmt"
	"slices"

	"go.fd.io/govpp/api"
)

// watchBuffer is how many events wait for their reader before further ones are lost; govpp's own figure.
const watchBuffer = 100

type watcher struct {
	vpp    *VPP
	ctx    context.Context
	name   string
	events chan api.Message
	closed bool
}

// WatchEvent watches one of Events, once VPP was asked for them: by want_interface_events, want_ip_neighbor_events or the like. The channel is buffered
// and filled during the calls that cause events: there is no goroutine, so a done context ends the watch with the next
// event.
func (v *VPP) WatchEvent(ctx context.Context, event api.Message) (api.Watcher, error) {
	if v.killed {
		return nil, ErrKilled
	}
	if !slices.ContainsFunc(Events(), func(m api.Message) bool { return m.GetMessageName() == event.GetMessageName() }) {
		return nil, fmt.Errorf("watch event: %w", unknown(event))
	}
	w := &watcher{vpp: v, ctx: ctx, name: event.GetMessageName(), events: make(chan api.Message, watchBuffer)}
	v.watchers = append(v.watchers, w)
	return w, nil
}

// Events is closed by Close and by the end of VPP.
func (w *watcher) Events() <-chan api.Message { return w.events }

// Close ends the watch; it may be called again.
func (w *watcher) Close() {
	w.end()
	live := w.vpp.watchers[:0]
	for _, o := range w.vpp.watchers {
		if o != w {
			live = append(live, o)
		}
	}
	w.vpp.watchers = live
}

func (w *watcher) end() {
	if !w.closed {
		w.closed = true
		close(w.events)
	}
}

// tell hands an event to every watcher of its kind that has room.
func (v *VPP) tell(event api.Message) {
	for _, w := range v.watchers {
		switch {
		case w.closed || w.name != event.GetMessageName():
		case w.ctx.Err() != nil:
			w.end()
		case len(w.events) < cap(w.events):
			w.events <- event
		}
	}
}
