package nodeipam

import "github.com/vppdrill/vppdrill/ipam"

// answered takes in the outcome of a request for a node.
func (r *RangeAllocator) answered(ev Answered) {
	h, ok := r.asked[ev.ID]
	delete(r.asked, ev.ID)
	if !ok || h.gone || h.asked != ev.ID {
		return // the watch was faster: the object is gone or settled
	}
	h.asked, h.phase = 0, phaseIdle
	if ev.Outcome == ipam.NotFound {
		r.bury(h)
		return
	}
	switch h.next {
	case requestPatch:
		r.patched(h, ev)
	case requestGet:
		r.got(h, ev)
	case requestTouch:
		r.touched(h, ev)
	}
}

func (r *RangeAllocator) patched(h *holder, ev Answered) {
	if ev.Outcome == ipam.Done {
		h.texts = texts(h.cidrs)
		r.settle(h)
		if ev.Node != nil {
			r.seeSame(h, ev.Node)
		}
		return
	}
	h.tries++
	h.doubt = h.doubt || ev.Outcome == ipam.Unknown
	switch {
	case h.tries < cidrUpdateRetries && ev.Outcome == ipam.Refused:
		r.enqueue(h, requestPatch)
		return
	case h.tries < cidrUpdateRetries:
		r.enqueue(h, requestGet) // the object tells what happened, or its new version
		return
	}
	h.tries = 0
	r.backoff(h)
	if ev.Outcome != ipam.Conflict { // others write too; that is no failure
		r.record(h, reasonCIDRAssignFailed)
	}
	if ev.Outcome == ipam.Refused && !h.doubt {
		r.free(h)
	}
}

func (r *RangeAllocator) got(h *holder, ev Answered) {
	if ev.Outcome != ipam.Done || ev.Node == nil {
		r.backoff(h)
		return
	}
	written := ev.Node.ResourceVersion != h.listed // by whomever: a request that names the listed version comes too late
	if late := !h.since.Before(r.start.deadline); ev.Node.uid() == h.uid && (written || late) {
		r.fenced(h)
	}
	r.seeSame(h, ev.Node)
}

// seeSame takes in an object that was returned under h's name. Another UID says that h's object is gone; the new one is
// left to the watch, because what that still says of the old one would look newer.
func (r *RangeAllocator) seeSame(h *holder, n *KubeNode) {
	if n.uid() != h.uid {
		r.bury(h)
		return
	}
	_ = r.see(n) // what is wrong has been recorded as an event
}

func (r *RangeAllocator) touched(h *holder, ev Answered) {
	switch ev.Outcome {
	case ipam.Done:
		r.fenced(h)
		if ev.Node != nil {
			r.seeSame(h, ev.Node)
			return
		}
		r.enqueue(h, requestGet) // PATCH needs the new version
	case ipam.Refused:
		r.backoff(h)
	default:
		r.enqueueGetOrRest(h)
	}
}

// enqueueGetOrRest looks at the object at once, or after a pause when looking has not helped.
func (r *RangeAllocator) enqueueGetOrRest(h *holder) {
	if h.tries++; h.tries < cidrUpdateRetries {
		r.enqueue(h, requestGet)
		return
	}
	h.tries = 0
	r.backoff(h)
}

// backoff pauses before going on with h, longer each time.
func (r *RangeAllocator) backoff(h *holder) {
	h.phase = phaseBackoff
	h.due = r.now.Add(NodeUpdateRetryTimeout(h.backoffs, r.params.Picker))
	h.backoffs++
	r.alarms.set(h.due, h)
}

// resume goes on with h after a pause.
func (r *RangeAllocator) resume(h *holder) {
	h.phase = phaseIdle
	if h.unfenced || len(h.cidrs) > 0 {
		r.enqueue(h, requestGet) // much may have happened meanwhile
		return
	}
	_ = r.proceed(h) // who finds nothing waits, and an event says so
}
