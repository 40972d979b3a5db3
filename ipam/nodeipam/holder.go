package nodeipam

import (
	"net/netip"
	"time"
)

// holder is one Node object: what it holds of the ranges, and what is being done about it.
type holder struct {
	name, uid string
	// version is the ResourceVersion that requests name; listed the one that the first list showed.
	version, listed string
	labels          map[string]string
	deleting, gone  bool

	// cidrs are claimed: the object's own when settled, else those that are being written into it.
	cidrs   []netip.Prefix
	settled bool
	// texts are the object's pod CIDRs as they stand there.
	texts []string
	// quarantine says what is wrong with them, "" for nothing.
	quarantine string

	phase phase
	// next is the request to make in phaseQueued.
	next request
	// asked is the ID of the outstanding request, 0 for none; since is when the last one was made.
	asked uint64
	since time.Time
	// doubt: a PATCH with cidrs may have been applied, or may be applied later.
	doubt bool
	// unfenced: a predecessor's PATCH may still be applied.
	unfenced bool
	// tries counts failures of the present attempt, backoffs the pauses since the last success.
	tries, backoffs int
	due             time.Time
	// ticket is the holder's place among the waiters; told: CIDRNotAvailable has been recorded.
	ticket uint64
	told   bool
}

// phase is where a holder stands.
type phase uint8

const (
	// phaseIdle: nothing to do until something is heard of the node.
	phaseIdle phase = iota
	// phaseArrived: it needs CIDRs, and allocation has not begun.
	phaseArrived
	// phaseWaiting: it needs CIDRs, and no range has any.
	phaseWaiting
	// phaseQueued: a request is to be made.
	phaseQueued
	// phaseAsked: it was made.
	phaseAsked
	// phaseBackoff: something failed, and due is when to go on.
	phaseBackoff
)

// request is what to ask of the API server for a holder.
type request uint8

const (
	requestPatch request = iota
	requestGet
	requestTouch
)

// effect is the request under its number.
func (h *holder) effect(id uint64) Effect {
	switch h.next {
	case requestPatch:
		return PatchNodeCIDRs{ID: id, Name: h.name, UID: h.uid, ResourceVersion: h.version, CIDRs: h.cidrs}
	case requestGet:
		return GetNode{ID: id, Name: h.name}
	}
	return TouchNode{ID: id, Name: h.name, UID: h.uid, ResourceVersion: h.version}
}
