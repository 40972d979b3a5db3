package controllers

import "github.com/vppdrill/vppdrill/ipam/nodeipam"

// idle says which node the controller leaves alone that it is to do something about, when it has done what follows from what it was told, and what that is;
// "" for none.
func (h *hearing) idle() (name, what string) {
	if !h.c.certain.IsZero() {
		return "", ""
	}
	switch {
	case h.ranged():
		return h.bareLeft()
	case h.synced():
		return h.unlooked()
	}
	return h.halfDone()
}

// bareLeft finds a node without pod CIDRs of which no event says why.
func (h *hearing) bareLeft() (name, what string) {
	if h.bare == 0 || h.c.asked > 0 || h.c.due {
		return "", ""
	}
	for _, uid := range sortedNames(h.nodes) {
		if n := h.nodes[uid]; len(n.PodCIDRs) == 0 && n.told[cidrNotAvailable] == "" {
			return n.Name, "an event that says why it has no pod CIDRs"
		}
	}
	return "", ""
}

// unlooked finds a node that was told of and that its loop does not look at. While some have not been surveyed, those that have may wait: nobody is allocated
// anything before all have been looked at.
func (h *hearing) unlooked() (name, what string) {
	surveyed := true
	for _, n := range h.nodes { //vppdrill:unordered all of them
		surveyed = surveyed && n.surveyed
	}
	var left *heard
	for _, n := range h.nodes { //vppdrill:unordered the first name is told
		waits := n.surveyed && !surveyed
		if n.changed && n.asking == 0 && !waits && (left == nil || n.Name < left.Name) {
			left = n
		}
	}
	if left == nil {
		return "", ""
	}
	return left.Name, "a look at what the cloud has for it"
}

// halfDone finds a node whose sync with the cloud stands still although nothing has failed.
func (h *hearing) halfDone() (name, what string) {
	if h.c.asked > 0 { // as many requests as there may be, perhaps
		return "", ""
	}
	var left *heard
	for _, n := range h.nodes { //vppdrill:unordered the first name is told
		done := len(n.PodCIDRs) > 0 && n.NetworkUnavailable == nodeipam.ConditionFalse
		none := n.surveyed && len(n.aliases) == 0 // the cloud has nothing for it
		if !done && !none && !n.failed && n.asking == 0 && (left == nil || n.Name < left.Name) {
			left = n
		}
	}
	switch {
	case left == nil:
		return "", ""
	case !left.surveyed:
		return left.Name, "a look at what the cloud has for it"
	case len(left.PodCIDRs) == 0:
		return left.Name, "a write of the pod CIDRs that the cloud has for it"
	}
	return left.Name, "its condition NetworkUnavailable, which is to be False,"
}
