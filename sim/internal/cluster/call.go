package cluster

import (
	"slices"
	"time"
)

// Request is one request to a server and what becomes of its answer.
type Request interface {
	// AppendText appends the request's canonical text.
	AppendText(b []byte) []byte
	// Serve performs it at the server and returns the reply: nil, an error, or a value with AppendText. It runs once for
	// each copy that arrives, so perhaps never.
	Serve() any
	// Done is called exactly once at the client: with the first reply that arrives, or with ok false when none did in
	// time. Whether the request was served is then unknown.
	Done(reply any, ok bool)
}

// Call sends r from one endpoint to another. Timers cost events only where something was lost or is late: a caller
// whose answer is certain to come in time never needs one.
func (n *Network) Call(from, to Endpoint, timeout time.Duration, r Request) {
	c := &call{n: n, from: from, to: to, since: n.clock.Now(), deadline: n.clock.Now() + timeout, request: r, older: n.open}
	if n.open != nil {
		n.open.newer = c
	}
	n.open = c
	n.busy.Calls++
	c.transmit(false, nil)
}

type call struct {
	n        *Network
	from, to Endpoint
	since    time.Duration
	deadline time.Duration
	request  Request
	done     bool
	// older and newer are its neighbours among the calls without an answer.
	older, newer *call
	armed        bool
	// there and back are the two arrivals of a call that nothing happens to.
	there, back       arrival
	thereUsed, backed bool
}

// transmit sends the request, or the reply to it.
func (c *call) transmit(back bool, reply any) {
	from, to := c.from, c.to
	if back {
		from, to = to, from
	}
	copies, delays := c.n.pass(from, to)
	if copies == 0 {
		c.arm()
	}
	now := c.n.clock.Now()
	for i := range copies {
		if now+delays[i] > c.deadline {
			c.arm()
		}
		a := c.arrival(back)
		*a = arrival{call: c, back: back, reply: reply}
		c.n.clock.After(delays[i], a)
	}
}

func (c *call) arrival(back bool) *arrival {
	switch {
	case back && !c.backed:
		c.backed = true
		return &c.back
	case !back && !c.thereUsed:
		c.thereUsed = true
		return &c.there
	}
	return new(arrival)
}

// arm starts the caller's timer; its time began with the call.
func (c *call) arm() {
	if !c.armed && !c.done {
		c.armed = true
		c.n.clock.After(max(0, c.deadline-c.n.clock.Now()), c)
	}
}

func (c *call) finish(reply any, ok bool) {
	if c.done {
		return
	}
	c.done = true
	if c.n.open == c {
		c.n.open = c.older
	} else {
		c.newer.older = c.older
	}
	if c.older != nil {
		c.older.newer = c.newer
	}
	c.n.busy.Calls--
	c.request.Done(reply, ok)
}

// OpenCall is an unanswered request.
type OpenCall struct {
	// From asks To.
	From, To string
	Since    time.Duration
	// Text is the request's.
	Text string
}

// Open lists the requests without an answer that have been open since before a time, oldest first.
func (n *Network) Open(before time.Duration) (list []OpenCall) {
	for c := n.open; c != nil; c = c.older {
		if c.since < before {
			list = append(list, OpenCall{n.names[c.from], n.names[c.to], c.since, string(c.request.AppendText(nil))})
		}
	}
	slices.Reverse(list)
	return list
}

// AppendText is the line of the caller's timer.
func (c *call) AppendText(b []byte) []byte {
	b = append(b, "link "...)
	b = c.n.appendWay(b, c.from, c.to)
	if c.done {
		b = append(b, " answered in time "...)
	} else {
		b = append(b, " timeout "...)
	}
	return c.request.AppendText(b)
}

// Fire gives up waiting.
func (c *call) Fire() { c.finish(nil, false) }

// arrival is a request or a reply reaching its end.
type arrival struct {
	call  *call
	back  bool
	reply any
}

func (a *arrival) cut() bool {
	c := a.call
	if a.back {
		return c.n.IsCut(c.to, c.from)
	}
	return c.n.IsCut(c.from, c.to)
}

func (a *arrival) AppendText(b []byte) []byte {
	c := a.call
	b = append(b, "link "...)
	if a.back {
		b = c.n.appendWay(b, c.to, c.from)
	} else {
		b = c.n.appendWay(b, c.from, c.to)
	}
	b = append(b, ' ')
	if a.cut() {
		b = append(b, "lost "...)
	}
	b = c.request.AppendText(b)
	if !a.back {
		return b
	}
	b = append(b, ": "...)
	switch reply := a.reply.(type) {
	case nil:
		return append(b, "ok"...)
	case error:
		return append(b, reply.Error()...)
	case interface{ AppendText([]byte) []byte }:
		return reply.AppendText(b)
	}
	return append(b, "answered"...)
}

func (a *arrival) Fire() {
	c := a.call
	switch {
	case a.cut():
		c.n.dropped++
		c.arm()
	case a.back:
		c.finish(a.reply, true)
	default:
		c.transmit(true, c.request.Serve())
	}
}
