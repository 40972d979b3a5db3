package faults

import (
	"slices"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// Store is a store whose requests and deliveries suffer what the Desk says. A nil Port's suffer nothing.
func (p *Port) Store(of host.Store) host.Store {
	if p == nil {
		return of
	}
	return &store{port: p, of: of}
}

type store struct {
	port *Port
	of   host.Store

	mu sync.Mutex
	// watch is the last that was asked for, ended one whose end was told: nothing comes of it any more.
	watch, ended uint64
	changes      queue
}

// Do implements host.Store.
func (s *store) Do(r agent.StoreRequest, tell func(agent.Event)) {
	if r.Op == agent.StoreWatch {
		s.mu.Lock()
		s.watch = r.ID
		s.mu.Unlock()
	}
	unavailable := agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable}
	pass := func(reply agent.StoreReply) { tell(reply) }
	switch v := s.port.judge(fault.Store("", r)); v.Action {
	case fault.Refuse, fault.CrashBefore:
		time.AfterFunc(time.Millisecond, func() { tell(unavailable) })
	case fault.Vanish:
		time.AfterFunc(s.port.cfg.StoreTimeout, func() { tell(unavailable) })
	case fault.Mute, fault.CrashAfter:
		s.send(r, tell, func(reply agent.StoreReply) {
			if reply.Err == agent.StoreUnavailable {
				tell(reply) // there was no answer to lose, and the client has waited
				return
			}
			time.AfterFunc(s.port.cfg.StoreTimeout, func() { tell(unavailable) })
		})
	case fault.Delay:
		time.AfterFunc(v.Delay, func() {
			// A driver gives an older watch up when it is asked for a newer one.
			if r.Op != agent.StoreWatch || s.current(r.ID) {
				s.send(r, tell, pass)
			}
		})
	case fault.Duplicate:
		s.send(r, tell, pass)
		s.send(r, tell, pass)
	default: // Compact too: the Desk has seen to it
		s.send(r, tell, pass)
	}
}

func (s *store) current(watch uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watch == watch
}

// send sends a request; replied gets its reply.
func (s *store) send(r agent.StoreRequest, tell func(agent.Event), replied func(agent.StoreReply)) {
	s.of.Do(r, func(ev agent.Event) {
		switch e := ev.(type) {
		case agent.StoreReply:
			replied(e)
		case agent.StoreChanged:
			s.changed(e, tell)
		default:
			s.changes.put(0, func() { tell(ev) })
		}
	})
}

// changed delivers a change as the Desk says. A watch whose change is lost has ended.
func (s *store) changed(e agent.StoreChanged, tell func(agent.Event)) {
	s.mu.Lock()
	over := s.ended != 0 && s.ended == e.Watch
	s.mu.Unlock()
	if over {
		return
	}
	e.Items = slices.Clone(e.Items)
	v := s.port.judge(fault.StoreChange(""))
	switch v.Action {
	case fault.Vanish, fault.Refuse:
		s.mu.Lock()
		s.ended = e.Watch
		s.mu.Unlock()
		s.changes.put(v.Delay, func() { tell(agent.StoreWatchLost{Watch: e.Watch}) })
		return
	case fault.Duplicate:
		s.changes.put(0, func() { tell(e) })
	}
	s.changes.put(v.Delay, func() { tell(e) })
}

// queue does things in the order in which they come, each late by a time of its own at least. The zero queue is empty.
type queue struct {
	mu    sync.Mutex
	until time.Time
	list  []late
	busy  bool
}

type late struct {
	at time.Time
	do func()
}

// put does something at once where nothing is before it and d is 0.
func (q *queue) put(d time.Duration, do func()) {
	q.mu.Lock()
	at := time.Now().Add(d)
	if at.Before(q.until) {
		at = q.until
	}
	if !q.busy && d == 0 {
		defer q.mu.Unlock()
		do()
		return
	}
	q.until = at
	q.list = append(q.list, late{at, do})
	if !q.busy {
		q.busy = true
		go q.run()
	}
	q.mu.Unlock()
}

func (q *queue) run() {
	for {
		q.mu.Lock()
		if len(q.list) == 0 {
			q.busy = false
			q.mu.Unlock()
			return
		}
		first := q.list[0]
		q.list = q.list[1:]
		q.mu.Unlock()
		time.Sleep(time.Until(first.at))
		first.do()
	}
}
