package kube

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// Addresses is where an Operator gets single addresses of nodes from: a cloud, or an AddressBook. Its methods are called from many
// goroutines, for one node one after the other. An error that wraps ErrRefused or ErrThrottled says that nothing was done; any other
// leaves it open.
type Addresses interface {
	// List is what a node has.
	List(ctx context.Context, node string) (cilium.AllocationMap, error)
	// Assign gets a node count more, or as many as there are, and returns those that it got, also with an error.
	Assign(ctx context.Context, node string, count int) (cilium.AllocationMap, error)
	// Unassign gives addresses of a node back. What it has not any more has gone already.
	Unassign(ctx context.Context, node string, ips []netip.Addr) error
}

// ErrThrottled: there were too many requests, and one may be made again later.
var ErrThrottled = errors.New("too many requests")

// addressCalls makes a term's requests for addresses beside it: those of one node in their order, so that what a listing says is newer
// than what was answered before.
type addressCalls struct {
	t    *operatorTerm
	from Addresses
	// last is closed when the last request of a node was answered.
	last map[string]chan struct{}
}

// perform makes a request; its answer is told. No other effect is of a term of addresses.
func (c *addressCalls) perform(e cilium.Effect) (cilium.Event, bool) {
	switch e := e.(type) {
	case cilium.ListAddresses:
		c.ask(e.ID, e.Node, func(ctx context.Context) (cilium.AllocationMap, error) { return c.from.List(ctx, e.Node) })
	case cilium.AssignAddresses:
		c.ask(e.ID, e.Node, func(ctx context.Context) (cilium.AllocationMap, error) { return c.from.Assign(ctx, e.Node, e.Count) })
	case cilium.UnassignAddresses:
		c.ask(e.ID, e.Node, func(ctx context.Context) (cilium.AllocationMap, error) {
			return nil, c.from.Unassign(ctx, e.Node, e.IPs)
		})
	default:
		return nil, false
	}
	return nil, true
}

func (c *addressCalls) ask(id uint64, node string, act func(context.Context) (cilium.AllocationMap, error)) {
	before, done := c.last[node], make(chan struct{})
	c.last[node] = done
	t := c.t
	t.others.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		ctx, cancel := context.WithTimeout(t.ctx, t.lock.limit(t.o.cfg.RequestTimeout))
		defer cancel()
		got, err := act(ctx)
		r := cilium.CloudAnswered{ID: id, Err: err, Addresses: got, Throttled: errors.Is(err, ErrThrottled)}
		r.Unknown = err != nil && !r.Throttled && !errors.Is(err, ErrRefused)
		if err != nil {
			t.o.cfg.Log.Debug("addresses", "node", node, "error", err)
		}
		t.tell(func() { t.step(r) })
	})
}

// refusedAddresses is an error of a keeper of addresses that has done nothing.
func refusedAddresses(err error) error { return fmt.Errorf("%w: %w", ErrRefused, err) }
