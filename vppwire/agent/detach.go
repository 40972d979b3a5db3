package agent

import (
	"errors"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// podDel takes a CNI DEL: hooks, wiring, journal, answer, in this order. An address is free for others only when the
// wiring is gone. What is not attached is removed already.
func (p *pods) podDel(e PodDel) {
	t := p.byOwner[e.Owner]
	if t == nil {
		p.emit(Answer{Request: e.Request})
		return
	}
	t.dels = append(t.dels, e.Request)
	p.requests[e.Request] = t
	if t.again != nil {
		p.answerAdds(t.again, cancelled)
		t.again = nil
	}
	p.remove(t)
}

var cancelled = Answer{Code: CodeCancelled, Message: "the sandbox was removed while it was being added"}

// remove starts the removal of an attachment, unless it has started. Open ADDs are told.
func (p *pods) remove(t *attachment) {
	if t.removing() {
		p.hasten(t)
		return
	}
	p.changes++
	p.answerAdds(t, cancelled)
	p.underway = without(p.underway, t)
	was := t.phase
	delete(p.hooks, t.hook)
	t.hook = 0
	switch was {
	case phaseWaiting:
		p.erased(t)
	case phaseSaving:
		p.erase(t)
	case phaseWiring:
		p.unwire(t)
	case phaseHooking, phaseUp:
		if p.hookBefore(t) {
			t.phase = phaseUnhooking
			return
		}
		p.unwire(t)
	}
}

// unwire makes the Session want nothing for the attachment. Until VPP and Linux have been looked at once, nothing is
// known to be gone: then it waits.
func (p *pods) unwire(t *attachment) {
	t.phase = phaseUnwiring
	switch {
	case t.stale:
		p.erase(t) // its namespace died with the earlier boot, and VPP with it
	case p.unnamed(t):
		p.wire.Set(t.group, p.wiring.PodObjects(mode.Node{ID: p.ids.Claim().ID}, t.facts()))
		if p.named = !p.looked || p.wire.Dumping(); !p.named {
			p.wire.Drop(t.group)
		}
	case p.looked:
		p.wire.Drop(t.group)
	}
}

// unnamed reports whether the Session does not know what it has found of an attachment: an earlier life wired it, and
// in this one pods are not wired, as the node itself is not, whose ID may have no room in new address ranges. Its
// address would be free while VPP still sends to it.
func (p *pods) unnamed(t *attachment) bool { return p.node.ID == 0 && t.iface == "" }

// unwireDelayed goes on with removals that came before the first look, or that asked for one of their own.
func (p *pods) unwireDelayed() {
	p.named = false
	for _, t := range p.sorted() {
		switch t.phase {
		case phaseUnwiring:
			p.wire.Drop(t.group)
		case phaseWiring, phaseUp:
			p.answerIfDone(t)
		}
	}
}

// erase gives the address back, in the journal first.
func (p *pods) erase(t *attachment) {
	t.phase = phaseErasing
	p.changes++
	released := p.release(t)
	list := append(ipamRecords(released), Record{Kind: RecordGone, Sandbox: Sandbox{Owner: t.sandbox.Owner}})
	p.journal.persist(list, journalWaiter{what: stepDetach, att: t})
	// a draining block has gone with its last address
	if slices.ContainsFunc(released, func(r ipam.Record) bool { return r.Op == ipam.OpDrop }) {
		p.todo |= todoBlocks | todoNode | todoIdentity
	} else if p.rest.awaitedBlocks() != "" {
		p.todo |= todoBlocks
	}
}

// hasten: somebody waits for an attachment that waits for the journal, perhaps for its rewriting.
func (p *pods) hasten(t *attachment) {
	if t.phase == phaseErasing {
		p.journal.hasten()
	}
}

func (p *pods) detachWritten(t *attachment) {
	if t.phase == phaseErasing {
		p.erased(t)
	}
}

// erased forgets an attachment, tells everybody who waited for that, and lets in who waited behind it.
func (p *pods) erased(t *attachment) {
	p.forget(t)
	for _, request := range t.dels {
		delete(p.requests, request)
		p.emit(Answer{Request: request})
	}
	for _, c := range t.gcs {
		p.collected(c)
	}
	if n := t.again; n != nil {
		p.add(n)
		p.waiting = append(p.waiting, n)
	}
	p.todo |= todoPods
}

// gcGrace is how old a list of a GC may be: attachments that were added since may be missing from it. It is how long
// our plugin waits by default, so that a GC which had to wait for the agent does no harm.
const gcGrace = time.Minute

// podGC removes every attachment of a network that the runtime does not name. One that is just being added, or was not
// long ago, is left alone: the runtime made its list before it asked for it.
func (p *pods) podGC(e PodGC) {
	valid := make(map[ipam.Owner]bool, len(e.Valid))
	for _, o := range e.Valid {
		valid[o] = true
	}
	c := &collection{request: e.Request, left: 1} // itself, so that it cannot end before all are counted
	for _, t := range p.sorted() {
		if o := t.sandbox.Owner; o.Network != e.Network || valid[o] || len(t.adds) > 0 && t.phase != phaseUp || p.isNew(t) {
			continue
		}
		p.log(levelInfo, "GC: %s is not known to the runtime: removed", t.sandbox.Owner)
		c.left++
		t.gcs = append(t.gcs, c)
		p.remove(t)
	}
	p.collected(c)
}

// isNew reports whether an attachment may be younger than the list of a GC.
func (p *pods) isNew(t *attachment) bool {
	age := p.now.Sub(t.lease.Since)
	return !t.removing() && age >= 0 && age < gcGrace
}

func (p *pods) collected(c *collection) {
	if c.left--; c.left == 0 && !c.withdrawn {
		p.emit(Answer{Request: c.request})
	}
}

// listed removes what an earlier boot left behind for pods that exist no more. Within the same boot a pod's absence
// proves nothing by itself: static pods run under a UID that the API server does not know, and a forcibly deleted pod's
// containers may still be running. There, the runtime's DEL or GC, or a newer sandbox of the pod, ends an attachment,
// or that its namespace is gone, too: see judgeUnlisted.
func (p *pods) listed(e PodsListed) {
	exists := make(map[string]bool, len(e.UIDs))
	for _, uid := range e.UIDs {
		exists[uid] = true
	}
	p.unlisted = nil
	for _, t := range p.sorted() {
		switch {
		case t.sandbox.PodUID == "" || exists[t.sandbox.PodUID]:
		case t.stale:
			p.log(levelInfo, "pod %s/%s was deleted and the machine started anew: %s is free", t.sandbox.PodNamespace, t.sandbox.PodName, t.lease.Addr)
			p.remove(t)
		default:
			p.unlisted = append(p.unlisted, t)
		}
	}
	p.judgeUnlisted()
}

// judgeUnlisted removes what an earlier life has wired, or has begun to, for a pod that exists no more, when its
// namespace does not either. The runtime may never ask for its DEL: a plugin that it has given up can be heard behind
// that. One of the two alone is not enough: an agent to which the namespaces are not mounted sees none of a living
// pod's.
func (p *pods) judgeUnlisted() {
	p.unlisted = slices.DeleteFunc(p.unlisted, func(t *attachment) bool {
		return p.byOwner[t.sandbox.Owner] != t || t.removing() || !t.since.IsZero() // asked for in this life
	})
	for _, t := range p.unlisted {
		if _, err := p.wire.Done(t.group); errors.Is(err, vppwire.ErrNoNamespace) {
			p.log(levelInfo, "pod %s/%s was deleted, and its namespace %s is gone: %s is free", t.sandbox.PodNamespace, t.sandbox.PodName, t.sandbox.Netns, t.lease.Addr)
			p.remove(t)
		}
	}
}

// withdrawn: nobody waits for a request any more. An ADD goes on all the same, as the runtime will ask for its DEL; one
// that has not even got an address is dropped.
func (p *pods) withdrawn(e Withdrawn) {
	p.withdrawCheck(e.Request)
	t := p.requests[e.Request]
	if t == nil {
		p.withdrawGC(e.Request)
		return
	}
	delete(p.requests, e.Request)
	other := func(r uint64) bool { return r == e.Request }
	t.adds = slices.DeleteFunc(t.adds, other)
	t.dels = slices.DeleteFunc(t.dels, other)
	if t.phase != phaseWaiting || len(t.adds) > 0 {
		return
	}
	if was := p.byOwner[t.sandbox.Owner]; was != t {
		if was != nil && was.again == t {
			was.again = nil
		}
		return
	}
	p.erased(t)
}

// withdrawGC has a GC that nobody waits for go on without an answer.
func (p *pods) withdrawGC(request uint64) {
	for _, t := range p.byOwner { // in any order: its attachments share it
		for _, c := range t.gcs {
			c.withdrawn = c.withdrawn || c.request == request
		}
	}
}
