package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// try is something that a program asks of others: whose it is, one of the Texts of a FactFailed, and what it is.
type try struct{ whose, of, what string }

// vain is how often a try has failed in a row, and since when.
type vain struct {
	number uint32
	since  time.Duration
}

// writing is the last write of a process' journal that was asked for, the last one that failed or was under way when one did, and of which of
// those laws know what the agent said.
type writing struct{ wrote, gaveUp, toldOf uint64 }

// failed tells that a try has failed once more.
func (w *World) failed(t try, node string) {
	v, row := w.vain[t]
	if !row {
		if w.vain == nil {
			w.vain = map[try]vain{}
		}
		v.since = w.eng.Now()
	}
	v.number++
	w.vain[t] = v
	w.emit(scenarios.Fact{Kind: scenarios.FactFailed, Node: node, Text: t.of, Broken: t.what, Number: v.number, Rest: w.eng.Now() - v.since})
}

// anew forgets rows of failures: whoever has something new to try for begins again.
func (w *World) anew(of func(try) bool) {
	for t := range w.vain { //vppdrill:unordered each is deleted by itself
		if of(t) {
			delete(w.vain, t)
		}
	}
}

// requested tells what became of a controller's request. What others have done meanwhile is no failure.
func (w *World) requested(op fault.Op, of string, err error) {
	t := try{op.Node, of, op.Name + " " + op.Key}
	if of == scenarios.TriedCloud {
		t.what = "what EC2 is asked" // any success ends a row
	}
	switch {
	case err == nil:
		delete(w.vain, t)
	case errors.Is(err, cluster.ErrConflict), errors.Is(err, cluster.ErrNotFound), errors.Is(err, datastore.ErrIPInUse):
	default:
		node := ""
		if w.machines[op.Node] != nil {
			node = op.Node
		}
		w.failed(t, node)
	}
}

// tried notes what an event tells the agent of what it has tried, before the agent learns of it.
func (p *process) tried(ev agent.Event) {
	w, name := p.m.w, p.m.name
	switch ev := ev.(type) {
	case agent.Woke:
		return
	case agent.StoreReply:
		t := try{name, scenarios.TriedStore, "what the store is asked"}
		if ev.Err == agent.StoreUnavailable {
			w.failed(t, name)
		} else {
			delete(w.vain, t)
		}
		p.conflicted(ev)
		p.refusing.heard(p, ev)
	case agent.Called:
		p.triedCall(ev.Result)
	case agent.Persisted:
		p.triedWrite(ev)
	case agent.VPPUp:
		w.anew(func(t try) bool { return t.whose == name })
		return
	}
	if len(w.vain) == 0 {
		return
	}
	_, written := ev.(agent.Persisted)
	_, called := ev.(agent.Called)
	w.anew(func(t try) bool {
		return t.whose == name && (t.of == scenarios.TriedJournal && !written || t.of == scenarios.TriedWiring && !called)
	})
}

// triedCall notes what became of a call. A look that is refused for a reason is answered: what it asks about is not there.
func (p *process) triedCall(r vppwire.Result) {
	w, c := p.m.w, p.call.call
	refused := r.Err != nil && (c.Writes() || errors.Is(r.Err, refusal(unspecified)))
	if !refused && len(w.vain) == 0 {
		return
	}
	t := try{p.m.name, scenarios.TriedLook, string(c.AppendText(nil))}
	if c.Writes() {
		t.of = scenarios.TriedWiring
	}
	if refused {
		w.failed(t, p.m.name)
	} else {
		delete(w.vain, t)
	}
}

// triedWrite notes what became of a write of the journal. Those that were under way when one failed are given up with it.
func (p *process) triedWrite(e agent.Persisted) {
	t := try{p.m.name, scenarios.TriedJournal, "a write of its journal"}
	switch {
	case e.Err == nil:
		delete(p.m.w.vain, t)
		p.unsaved = unsaved{}
	case e.Seq > p.gaveUp:
		p.unsaved = unsaved{times: p.unsaved.times + 1, at: p.m.w.eng.Now(), waits: true}
		p.gaveUp = p.wrote
		p.m.w.failed(t, p.m.name)
	}
}

// unsaved is a journal whose last write has failed.
type unsaved struct {
	// times are the failures in a row, the last one at at.
	times uint32
	at    time.Duration
	// waits: it has not been written anew since, and nothing explains that it is late.
	waits bool
}

// saves tells of a journal that is written anew behind a failure, after how long a pause.
func (p *process) saves(e agent.Persist) {
	if e.Replace && p.unsaved.waits {
		p.unsaved.waits = false
		p.m.w.emit(scenarios.Fact{Kind: scenarios.FactRetried, Node: p.m.name, Text: scenarios.TriedJournal, Broken: "a write of its journal", Number: p.unsaved.times, Rest: p.m.w.eng.Now() - p.unsaved.at})
	}
}

// conflict is what a write to the store was refused for: another one stands there.
type conflict struct {
	key      string
	revision int64
}

// conflicted notes a write that was refused for what had refused the one before: its answer has said what stands there.
func (p *process) conflicted(ev agent.StoreReply) {
	if ev.Err != agent.StoreConflict || len(ev.Items) != 1 {
		return
	}
	w, c := p.m.w, conflict{ev.Items[0].Key, ev.Items[0].ModRevision}
	of := func(c conflict) try {
		return try{p.m.name, scenarios.TriedConflict, fmt.Sprintf("a write of %s, which stands there since revision %d,", c.key, c.revision)}
	}
	if c == p.conflict {
		w.failed(of(c), p.m.name)
	} else if p.conflict.key != "" && len(w.vain) > 0 {
		delete(w.vain, of(p.conflict))
	}
	p.conflict = c
}

// refusing is a store that has refused what an agent has asked for since it granted something last.
type refusing struct {
	// times are the refusals in a row, the last one at at.
	times uint32
	at    time.Duration
	// vague: something else may have kept the agent from asking again in its time.
	vague bool
}

// heard notes what the store has answered, before the agent learns of it.
func (s *refusing) heard(p *process, ev agent.StoreReply) {
	asked := p.storeAskedAt
	if ev.ID == p.watch {
		asked = p.listing.watchedAt
	}
	switch {
	case ev.ID != p.watch && ev.ID != p.storeRequest.ID: // given up
	case p.m.w.eng.Now()-asked >= storeGivesUp:
		s.vague = true // it may have been given up before, or at this instant
	case ev.Err == agent.StoreUnavailable:
		s.times, s.at = s.times+1, p.m.w.eng.Now()
	case ev.ID != p.watch:
		*s = refusing{}
	}
}

// asks tells of a request behind a refusal, after how long a pause. What had no answer was given up in between, and counts as a refusal that nobody sees.
func (s *refusing) asks(p *process) {
	now := p.m.w.eng.Now()
	s.vague = s.vague || p.storeAsked != 0 || p.watch != 0 && !p.listing.answered && now-p.listing.watchedAt >= storeGivesUp
	if s.times > 0 && !s.vague {
		p.m.w.emit(scenarios.Fact{Kind: scenarios.FactRetried, Node: p.m.name, Text: scenarios.TriedStore, Broken: "what the store is asked", Number: s.times, Rest: now - s.at})
	}
}
