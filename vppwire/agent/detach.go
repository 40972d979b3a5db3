package agent

import (
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// podDel takes a CNI DEL: hooks, wiring, journal, answer, in this order. An address is free for others only when the wiring
// is gone. What is not attached is removed already.
func (a *Agent) podDel(e PodDel) {
	t := a.pods.byOwner[e.Owner]
	if t == nil {
		a.emit(Answer{Request: e.Request})
		return
	}
	t.dels = append(t.dels, e.Request)
	a.pods.requests[e.Request] = t
	if t.again != nil {
		a.answerAdds(t.again, cancelled)
		t.again = nil
	}
	a.remove(t)
}

var cancelled = Answer{Code: CodeCancelled, Message: "the sandbox was removed while it was being added"}

// remove starts the removal of an attachment, unless it has started. Open ADDs are told.
func (a *Agent) remove(t *attachment) {
	if t.removing() {
		return
	}
	a.answerAdds(t, cancelled)
	a.pods.wiring = without(a.pods.wiring, t)
	was := t.phase
	delete(a.pods.hooks, t.hook)
	t.hook = 0
	switch was {
	case phaseWaiting:
		a.erased(t)
	case phaseSaving:
		a.erase(t)
	case phaseWiring:
		a.unwire(t)
	case phaseHooking, phaseUp:
		if a.hookBefore(t) {
			t.phase = phaseUnhooking
			return
		}
		a.unwire(t)
	}
}

// unwire makes the Session want nothing for the attachment. Until VPP and Linux have been looked at once, nothing is known
// to be gone: then it waits.
func (a *Agent) unwire(t *attachment) {
	t.phase = phaseUnwiring
	switch {
	case t.stale:
		a.erase(t) // its namespace died with the earlier boot, and VPP with it
	case a.looked:
		a.wire.Set(t.group, nil)
	}
}

// unwireDelayed goes on with removals that came before the first look.
func (a *Agent) unwireDelayed() {
	for _, t := range a.pods.sorted() {
		switch t.phase {
		case phaseUnwiring:
			a.wire.Set(t.group, nil)
		case phaseWiring, phaseUp:
			a.answerIfDone(t)
		}
	}
}

// erase gives the address back, in the journal first.
func (a *Agent) erase(t *attachment) {
	t.phase = phaseErasing
	released := a.alloc.Release(a.now, t.sandbox.Owner)
	list := append(ipamRecords(released), Record{Kind: RecordGone, Sandbox: Sandbox{Owner: t.sandbox.Owner}})
	a.persist(list, journalWaiter{what: stepDetach, att: t})
	if len(released) > 1 { // a draining block has gone with its last address
		a.todo |= todoBlocks | todoNode | todoIdentity
	} else if a.ranges.waiting != "" {
		a.todo |= todoBlocks
	}
}

func (a *Agent) detachWritten(t *attachment) {
	if t.phase == phaseErasing {
		a.erased(t)
	}
}

// erased forgets an attachment, tells everybody who waited for that, and lets in who waited behind it.
func (a *Agent) erased(t *attachment) {
	a.pods.remove(t)
	for _, request := range t.dels {
		delete(a.pods.requests, request)
		a.emit(Answer{Request: request})
	}
	for _, c := range t.gcs {
		a.collected(c)
	}
	if n := t.again; n != nil {
		a.pods.add(n)
		a.pods.waiting = append(a.pods.waiting, n)
	}
	a.todo |= todoPods
}

// podGC removes every attachment of a network that the runtime does not name. One that is just being added is left alone:
// the runtime made its list before it asked for it.
func (a *Agent) podGC(e PodGC) {
	valid := make(map[ipam.Owner]bool, len(e.Valid))
	for _, o := range e.Valid {
		valid[o] = true
	}
	c := &collection{request: e.Request, left: 1} // itself, so that it cannot end before all are counted
	for _, t := range a.pods.sorted() {
		if o := t.sandbox.Owner; o.Network != e.Network || valid[o] || len(t.adds) > 0 && t.phase != phaseUp {
			continue
		}
		a.log(levelInfo, "GC: %s is not known to the runtime: removed", t.sandbox.Owner)
		c.left++
		t.gcs = append(t.gcs, c)
		a.remove(t)
	}
	a.collected(c)
}

func (a *Agent) collected(c *collection) {
	if c.left--; c.left == 0 {
		a.emit(Answer{Request: c.request})
	}
}

// podsAreListed removes what an earlier boot left behind for pods that exist no more. Within the same boot a pod's absence
// proves nothing: static pods run under a UID that the API server does not know, and a forcibly deleted pod's containers
// may still be running. There, the runtime's DEL or GC, or a newer sandbox of the pod, ends an attachment.
func (a *Agent) podsAreListed(e PodsListed) {
	if !a.podsListed {
		a.podsListed = true
		a.todo |= todoPermit
	}
	stale := slices.DeleteFunc(a.pods.sorted(), func(t *attachment) bool { return !t.stale || t.sandbox.PodUID == "" })
	if len(stale) == 0 {
		return
	}
	exists := make(map[string]bool, len(e.UIDs))
	for _, uid := range e.UIDs {
		exists[uid] = true
	}
	for _, t := range stale {
		if !exists[t.sandbox.PodUID] {
			a.log(levelInfo, "pod %s/%s was deleted and the machine started anew: %s is free", t.sandbox.PodNamespace, t.sandbox.PodName, t.lease.Addr)
			a.remove(t)
		}
	}
}

// withdrawn: nobody waits for a request any more. An ADD goes on all the same, as the runtime will ask for its DEL; one that
// has not even got an address is dropped.
func (a *Agent) withdrawn(e Withdrawn) {
	t := a.pods.requests[e.Request]
	if t == nil {
		return
	}
	delete(a.pods.requests, e.Request)
	other := func(r uint64) bool { return r == e.Request }
	t.adds = slices.DeleteFunc(t.adds, other)
	t.dels = slices.DeleteFunc(t.dels, other)
	if t.phase != phaseWaiting || len(t.adds) > 0 {
		return
	}
	if was := a.pods.byOwner[t.sandbox.Owner]; was != t {
		if was != nil && was.again == t {
			was.again = nil
		}
		return
	}
	a.erased(t)
}
