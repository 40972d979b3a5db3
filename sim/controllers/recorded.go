package controllers

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
)

// Reasons of events about nodes, as people read them.
const (
	cidrNotAvailable   = "CIDRNotAvailable"
	cidrAssignFailed   = "CIDRAssignmentFailed"
	cidrQuarantined    = "CIDRQuarantined"
	invalidClusterCIDR = "InvalidClusterCIDR"
)

// assignTries is how many writes of a node's CIDRs come to nothing before an event says so (upstream's cidrUpdateRetries).
const assignTries = 3

// recorded says what is wrong with an event that the controller records when it was told ev, "" for nothing.
func (h *hearing) recorded(e nodeipam.RecordEvent, ev nodeipam.Event) string {
	if e.Reason == invalidClusterCIDR {
		h.ranges = slices.DeleteFunc(h.ranges, func(c nodeipam.ClusterCIDR) bool { return c.Name == e.Name })
		return ""
	}
	s := h.c.system
	switch name, was := s.uids[e.UID]; {
	case !was:
		return fmt.Sprintf("no Node object ever had the UID %q", e.UID)
	case name != e.Name:
		return fmt.Sprintf("the Node object with the UID %q is %s", e.UID, name)
	}
	if other := h.mentions(e); other != "" {
		return other
	}
	n := h.nodes[e.UID]
	if n == nil {
		if _, about := ev.(nodeipam.NodeDeleted); about {
			return ""
		}
		return "it knows that the node is gone"
	}
	before := n.told[e.Reason]
	n.told[e.Reason] = e.Message
	switch e.Reason {
	case cidrNotAvailable:
		if h.ranged() {
			if before == e.Message {
				return "it has recorded the same before, and nothing has changed since"
			}
			return h.available(n)
		}
		if a, answer := ev.(nodeipam.Aliases); !answer || a.Outcome == nodeipam.Done && len(a.CIDRs) > 0 {
			return "the cloud has some for it, or was not asked"
		}
	case cidrAssignFailed:
		tries := n.vain
		n.vain = 0
		if a, answer := ev.(nodeipam.Answered); !answer || a.Outcome == nodeipam.Done || a.Outcome == nodeipam.Conflict && h.ranged() {
			return "no write of its pod CIDRs has come to nothing now"
		}
		if tries < assignTries {
			return fmt.Sprintf("%d writes of its pod CIDRs have come to nothing, of %d that are tried", tries, assignTries)
		}
	case cidrQuarantined:
		if before == e.Message {
			return "it has recorded the same before, and nothing has changed since"
		}
		return h.quarantined(n, e.Message)
	case nodeipam.MismatchEvent:
		if len(n.PodCIDRs) == 0 || len(n.aliases) == 0 || n.PodCIDRs[0] == n.aliases[0] {
			return fmt.Sprintf("the node has %v, and the cloud %v", n.PodCIDRs, n.aliases)
		}
	}
	return ""
}

// mentions says which node a message is about, where that is not the event's.
func (h *hearing) mentions(e nodeipam.RecordEvent) string {
	own := false
	for _, word := range strings.FieldsFunc(e.Message, func(r rune) bool { return strings.ContainsRune(" :,;\"'()", r) }) {
		own = own || word == e.Name
		if h.c.system.names[word] && word != e.Name {
			return "its text is about " + word
		}
	}
	if !own && (e.Reason == cidrNotAvailable || e.Reason == cidrAssignFailed || e.Reason == cidrQuarantined) {
		return "its text names no node"
	}
	return ""
}

// available says that a block is free for a node, "" where the controller can have found none: others may have picked one each that it has not
// asked for yet.
func (h *hearing) available(n *heard) string {
	taken, others := h.taken(n)
	var free uint64
	for _, c := range h.ranges {
		least, any := uint64(0), false
		for _, p := range [...]netip.Prefix{c.IPv4, c.IPv6} {
			if !p.IsValid() {
				continue
			}
			left := blockranges.Left(p, p.Addr().BitLen()-c.PerNodeHostBits, taken)
			if !any || left < least {
				least, any = left, true
			}
		}
		free += least
	}
	if free > others {
		return fmt.Sprintf("%d blocks are free by all that it knows, and %d other nodes may get one", free, others)
	}
	return ""
}

// taken is what nodes beside n have, or may get by what was asked for, and services; and how many others may get something still.
func (h *hearing) taken(n *heard) (taken []netip.Prefix, others uint64) {
	for _, uid := range sortedNames(h.nodes) {
		o := h.nodes[uid]
		if o == n {
			continue
		}
		for _, text := range o.PodCIDRs {
			if p, err := netip.ParsePrefix(text); err == nil {
				taken = append(taken, p)
			}
		}
		if len(o.PodCIDRs) == 0 {
			if taken = append(taken, o.picked...); len(o.picked) == 0 {
				others++
			}
		}
	}
	return h.c.system.ranges.WithServices(taken), others
}

// quarantined says that a node's CIDRs are not what the message has against them.
func (h *hearing) quarantined(n *heard, message string) string {
	taken, others := h.taken(n)
	named := false
	for _, text := range n.PodCIDRs {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return ""
		}
		named = named || strings.Contains(message, text)
		inside := slices.ContainsFunc(h.ranges, func(c nodeipam.ClusterCIDR) bool {
			return slices.ContainsFunc([]netip.Prefix{c.IPv4, c.IPv6}, func(r netip.Prefix) bool { return r.IsValid() && r.Overlaps(p) && r.Bits() <= p.Bits() })
		})
		if !inside || others > 0 || slices.ContainsFunc(taken, p.Overlaps) {
			if named {
				return ""
			}
		}
	}
	return fmt.Sprintf("the node has %v, which lie in ranges and overlap nothing in use", n.PodCIDRs)
}
