package lab

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Outage is what one stream between two pods went through while something happened.
type Outage struct {
	From, To   string
	Sent, Lost uint64
	// Longest is the longest time in which nothing arrived.
	Longest time.Duration
}

// streamPace is how often a stream sends, streamsMost how many run at once: two on one node, the rest between nodes.
const (
	streamPace  = time.Millisecond
	streamsMost = 8
	// streamLead is how long streams run before and after: the first packets ask for neighbors.
	streamLead = 300 * time.Millisecond
	streamTail = 500 * time.Millisecond
)

// Continuity streams datagrams between these pods, one a millisecond each, while during happens and until the lab is
// quiet again, and tells what each stream lost. The pods must outlive it.
func (w *World) Continuity(ctx context.Context, places []probe.Place, limit time.Duration, during func() error) ([]Outage, error) {
	if len(places) < 2 {
		return nil, errors.New("streams need two pods")
	}
	// Every pair has been heard of before, so that what is lost is lost to what happens.
	pairs := probe.AllPairs(places, streamsMost)
	if failed := probe.Failed(probe.Mesh(ctx, pairs, pingBytes, false, patience)); len(failed) > 0 {
		return nil, errors.New("before anything happened: " + failed[0].Error())
	}
	var streams []*probe.Stream
	stop := func() []Outage {
		var out []Outage
		for _, s := range streams {
			r := s.Stop()
			out = append(out, Outage{From: s.Pair.From.Name, To: s.Pair.To.Name, Sent: r.Sent, Lost: r.Lost(), Longest: r.Longest})
		}
		return out
	}
	for _, p := range pairs {
		s, err := probe.StartStream(p, streamPace)
		if err != nil {
			stop()
			return nil, err
		}
		streams = append(streams, s)
	}
	pause(ctx, streamLead)
	err := during()
	if err == nil {
		err = w.Settle(ctx, limit)
	}
	_ = pause(ctx, streamTail) // what was lost until then is told
	return stop(), err
}

// doOrder does an action to a standing lab, and with streams tells what traffic went through.
func doOrder(ctx context.Context, w *World, body []byte) (any, error) {
	var what struct {
		Action  string
		Streams bool
	}
	if err := json.Unmarshal(body, &what); err != nil {
		return nil, err
	}
	a, err := scenarios.ParseAction(what.Action)
	if err != nil {
		return nil, err
	}
	if !what.Streams {
		return []Outage{}, w.Do(ctx, a)
	}
	return w.Continuity(ctx, w.Places(), SettleLeast, func() error { return w.Do(ctx, a) })
}
