package ipamd

import (
	"context"
	"sync"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// caller performs a Manager's calls, one at a time, in the order in which they are asked for.
type caller struct {
	calls   chan datastore.Call
	answers chan datastore.Result
}

func newCaller() caller {
	return caller{calls: make(chan datastore.Call, 1), answers: make(chan datastore.Result, 1)}
}

// ask asks for a call. Where two were given up and the first is under way still, this one is given up, too.
func (c caller) ask(call datastore.Call) {
	select {
	case c.calls <- call:
	default:
	}
}

// start performs calls at a cloud until stop is called, which waits for the last one.
func (c caller) start(ctx context.Context, cloud Cloud) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var calling sync.WaitGroup
	calling.Go(func() { c.run(ctx, cloud) })
	return func() {
		cancel()
		calling.Wait()
	}
}

// run performs calls at a cloud until ctx ends.
func (c caller) run(ctx context.Context, cloud Cloud) {
	for {
		select {
		case <-ctx.Done():
			return
		case call := <-c.calls:
			r := cloud.Do(ctx, call)
			r.Number = call.Number
			select {
			case c.answers <- r:
			case <-ctx.Done():
			}
		}
	}
}
