package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Keys of the store beside the node records.
const (
	// keyComplete says whether everybody who holds an ID has a record. A store that has lost its data has not got it, and
	// neither has a new one. An administrator who knows better may write valueComplete by hand.
	//
	// The key is created with valueLooking, and made valueComplete by whoever sees it and has nobody to wait for: had the
	// store lost its data in between, there would be no such key to change. A create alone could reach a store that has just
	// been emptied.
	keyComplete   = StorePrefix + "complete"
	valueLooking  = "looking"
	valueComplete = "yes"
	// prefixNewcomer and a node's name is that node's word that nobody has to wait for a record of its own; the value is
	// its Node object's UID.
	prefixNewcomer = StorePrefix + "new/"
)

// note is one of those keys as last seen.
type note struct {
	there bool
	value string
	rev   int64
}

func (n *note) take(item *StoreItem) bool {
	if n.rev >= item.ModRevision {
		return false
	}
	*n = note{there: !item.Deleted, value: item.Value, rev: item.ModRevision}
	return true
}

// notes are the view of those keys.
type notes struct {
	complete note
	// own is our own word; others are kept by name, and only while the store is not complete.
	own    note
	others map[string]note
}

// marked reports whether the store is marked complete.
func (n *notes) marked() bool { return n.complete.there && n.complete.value == valueComplete }

// newcomer is what a node knows about others that have to be waited for while the store is not complete.
type newcomer struct {
	// strangers are the Node objects, by UID with their names, whose nodes have neither a record nor said that they hold
	// no ID; nil: not looked for yet. named is one of them, for people.
	strangers map[string]string
	named     string
}

// takeNote brings an item into the view that is no node record; false when it is none of ours.
func (a *Agent) takeNote(item *StoreItem) bool {
	n := &a.store.notes
	name, isNewcomer := strings.CutPrefix(item.Key, prefixNewcomer)
	switch {
	case item.Key == keyComplete:
		was := n.marked()
		if !n.complete.take(item) {
			return true
		}
		if n.marked() {
			a.newcomer, n.others = newcomer{}, nil
			a.todo |= todoBlocks
		} else if was {
			a.store.stale = true // newcomers were not noted while it was there
		}
	case isNewcomer && name == a.cfg.NodeName:
		n.own.take(item)
	case isNewcomer:
		if n.marked() {
			return true // of no interest: a large cluster has many
		}
		other := n.others[name]
		if !other.take(item) {
			return true
		}
		if n.others == nil {
			n.others = map[string]note{}
		}
		n.others[name] = other
		if other.there {
			a.explained(other.value)
		} else {
			a.newcomer.strangers = nil
		}
	default:
		return false
	}
	a.todo |= todoStore
	return true
}

// forget deletes what a complete list at a revision has not got; self is this node's name.
func (n *notes) forget(self string, listed map[string]bool, revision int64) {
	gone := func(key string, x *note) {
		if !listed[key] && x.rev <= revision {
			*x = note{rev: revision}
		}
	}
	gone(keyComplete, &n.complete)
	gone(prefixNewcomer+self, &n.own)
	for name, x := range n.others { //vppdrill:unordered each by itself
		if gone(prefixNewcomer+name, &x); !x.there {
			delete(n.others, name)
		}
	}
}

// patient reports whether claiming an ID has to wait.
func (a *Agent) patient() bool {
	s := &a.store
	if s.complete(a.cfg.ClaimPatience) {
		return false
	}
	if own := slices.IndexFunc(s.records, func(r record) bool { return a.ours(&r, a.uid) }); own >= 0 {
		// Written by a claim while the store lost its data, so perhaps on somebody else's ID; or by a life whose journal
		// is gone, and then it does not matter which ID comes next.
		r := &s.records[own]
		a.log(levelInfo, "node ID %d: nothing is known of the claim, and the store is not complete: returned", r.id)
		a.ask(StoreRequest{Op: StoreDelete, Key: nodeKey(r.id), Revision: r.rev})
		return true
	}
	if why := a.awaitRecords(); why != "" {
		a.cannotClaim("%s", why)
	}
	return true
}

// complete reports whether every ID and every block that somebody holds has a record in the store; with a negative
// patience that is taken for granted.
func (s *store) complete(patience time.Duration) bool { return patience < 0 || s.notes.marked() }

// awaitRecords takes the next step towards a complete store: it says what has to be waited for, or asks for the mark. In a store
// without it, IDs and blocks without a record may be held all the same: the agents of their nodes may be down or cut off,
// while VPP forwards.
//
// Where records are found in such a store, it has lost its data and their owners have written them again, so nobody takes
// anything before every existing node has a record or has said that it holds no ID. Where there are none, this may be a
// cluster's first start, and some node may have no agent at all: that is waited for as long as ClaimPatience. Whoever has
// waited marks the store, and nobody waits after that.
func (a *Agent) awaitRecords() (why string) {
	d, s := &a.ident, &a.store
	if !a.nodesListed {
		return "the nodes have not been listed"
	}
	if stranger := a.stranger(); stranger != "" {
		if d.id == 0 && a.announce(a.uid) {
			return ""
		}
		why = "waits for the record of " + stranger + " and perhaps others"
		if slices.ContainsFunc(s.records, func(r record) bool { return !r.deleted }) {
			return "the store has lost data: " + why
		}
		if d.patientUntil.IsZero() {
			d.patientUntil = a.now.Add(a.cfg.ClaimPatience)
		}
		if !due(d.patientUntil, a.now) {
			d.retryAt = d.patientUntil
			return why
		}
	}
	if mark := s.notes.complete; mark.there {
		a.ask(StoreRequest{Op: StoreUpdate, Key: keyComplete, Value: valueComplete, Revision: mark.rev})
	} else {
		a.ask(StoreRequest{Op: StoreCreate, Key: keyComplete, Value: valueLooking})
	}
	return ""
}

// announce tells the others not to wait for a record of ours; true when a request went out.
func (a *Agent) announce(uid string) bool {
	n := &a.store.notes
	switch {
	case a.store.complete(a.cfg.ClaimPatience) || n.own.there && n.own.value == uid:
		return false
	case n.own.there:
		a.ask(StoreRequest{Op: StoreUpdate, Key: prefixNewcomer + a.cfg.NodeName, Value: uid, Revision: n.own.rev})
	default:
		a.ask(StoreRequest{Op: StoreCreate, Key: prefixNewcomer + a.cfg.NodeName, Value: uid})
	}
	return true
}

// dropAnnouncement takes our word back when our record says more; true when a request went out.
func (a *Agent) dropAnnouncement() bool {
	n := &a.store.notes
	if !n.own.there {
		return false
	}
	a.ask(StoreRequest{Op: StoreDelete, Key: prefixNewcomer + a.cfg.NodeName, Revision: n.own.rev})
	return true
}

// explained: the node whose Node object has this UID need not be waited for.
func (a *Agent) explained(uid string) { delete(a.newcomer.strangers, uid) }

// stranger names a node, other than this one, that has to be waited for; empty when there is none. It is found once and
// kept as long as it is one: with n nodes starting at the same time this is asked n times.
func (a *Agent) stranger() string {
	c := &a.newcomer
	if c.strangers == nil {
		a.findStrangers()
	}
	if len(c.strangers) == 0 {
		return ""
	}
	if _, still := c.strangers[c.named]; !still {
		// in any order: the greatest name is kept; where nodes start in the order of their names, it comes last
		for uid, name := range c.strangers {
			if best, ok := c.strangers[c.named]; !ok || name > best {
				c.named = uid
			}
		}
	}
	return c.strangers[c.named]
}

func (a *Agent) findStrangers() {
	recorded, found := a.recorded(), map[string]string{}
	for name, n := range a.members.nodes { // in any order: one entry each
		if other := a.store.notes.others[name]; name != a.cfg.NodeName && !recorded[n.uid] && !(other.there && other.value == n.uid) {
			found[n.uid] = name
		}
	}
	a.newcomer.strangers = found
}

// holding is the record of an ID that the present ranges have no addresses for: it keeps others off the ID and the blocks.
func (a *Agent) holding() NodeInfo {
	return NodeInfo{ID: a.ident.id, Name: a.cfg.NodeName, UID: a.ident.uid, Management: a.mgmt, PodNetworks: a.networks(nil)}
}

func (a *Agent) cannotClaim(format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	if a.ident.waiting != why {
		a.ident.waiting = why
		a.log(levelInfo, "no node ID yet: %s", why)
	}
}
