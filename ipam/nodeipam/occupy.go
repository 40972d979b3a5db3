package nodeipam

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// occupy takes in an object that has pod CIDRs, ours or somebody else's. It returns what is wrong with them.
func (r *RangeAllocator) occupy(h *holder, n *KubeNode) error {
	texts := n.cidrTexts()
	if h.settled && h.quarantine == "" && slices.Equal(texts, h.texts) {
		return nil
	}
	h.texts = texts
	r.fenced(h)
	cidrs, _ := n.parseCIDRs() // judge tells what is wrong with them
	// Pod CIDRs that are set never change again, so a PATCH of ours that is still on its way is bound to be refused.
	r.settle(h)
	if old := h.cidrs; !slices.Equal(old, cidrs) {
		h.cidrs = cidrs
		for _, c := range cidrs {
			r.ranges.claim(c)
		}
		for _, c := range old {
			r.ranges.giveBack(c)
		}
		defer r.wake()
	}
	return r.judge(h)
}

// settle ends whatever was being done for h: its object says what it holds.
func (r *RangeAllocator) settle(h *holder) {
	h.settled, h.phase, h.asked = true, phaseIdle, 0
	h.tries, h.backoffs, h.doubt, h.told = 0, 0, false, false
}

// judge works out whether the CIDRs of h's object are readable, inside the ranges and nobody else's, and quarantines h
// if not.
func (r *RangeAllocator) judge(h *holder) error {
	var wrong []error
	for i, text := range h.texts {
		cidr, err := space.ParsePrefix(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("failed to parse node %s, CIDR %s: %w", h.name, text, err))
			continue
		}
		const occupied = "failed to mark cidr as occupied: node:%s has an allocated cidr: %s at index:%d that "
		switch inside, shared := r.ranges.standing(cidr); {
		case !inside:
			wrong = append(wrong, fmt.Errorf(occupied+"does not exist in cluster cidrs configuration", h.name, cidr, i))
		case shared:
			wrong = append(wrong, fmt.Errorf(occupied+"overlaps a range in use", h.name, cidr, i))
		}
	}
	if len(wrong) == 0 {
		h.quarantine = ""
		return nil
	}
	err := errors.Join(wrong...)
	if reason := strings.ReplaceAll(err.Error(), "\n", "; "); h.quarantine != reason {
		h.quarantine = reason
		r.out = append(r.out, RecordEvent{Name: h.name, UID: h.uid, Type: eventNormal, Reason: reasonCIDRQuarantined, Message: reason})
	}
	return err
}

// Reasons of events, upstream's and, from CIDRQuarantined on, this package's.
const (
	eventNormal              = "Normal"
	eventWarning             = "Warning"
	reasonCIDRNotAvailable   = "CIDRNotAvailable"
	reasonCIDRAssignFailed   = "CIDRAssignmentFailed"
	reasonInvalidClusterCIDR = "InvalidClusterCIDR"
	reasonCIDRQuarantined    = "CIDRQuarantined"
)

// record records a change of a node's status in upstream's words.
func (r *RangeAllocator) record(h *holder, status string) {
	r.out = append(r.out, statusEvent(h.name, h.uid, status))
}

func statusEvent(name, uid, status string) RecordEvent {
	return RecordEvent{Name: name, UID: uid, Type: eventNormal, Reason: status, Message: "Node " + name + " status is now: " + status}
}
