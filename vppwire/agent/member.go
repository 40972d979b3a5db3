package agent

import (
	"net/netip"
	"slices"
	"time"
)

// Patience with nodes that may be gone.
const (
	// absentGrace is how long a node record may be there without a Node object before its node counts as gone: the record
	// may have come faster than the Node object's news.
	absentGrace = 30 * time.Second
	// rankDelay separates the live nodes, in ID order, in the duty to release a gone node's ID: the first does it at once,
	// the next only if the first has not within this time.
	rankDelay = 10 * time.Second
)

// members is which nodes the cluster has, as the API server tells it.
type members struct {
	nodes map[string]member // by name
	// round counts NodesListed; a node last told in an earlier round is gone.
	round uint32
	// gone holds UIDs of Node objects that count as gone; guessed those of them that nobody has said to be.
	gone, guessed map[string]bool
	// alive holds UIDs whose nodes have taken a released ID back: they live, whatever we were told. Releasing again at once
	// would go on for ever.
	alive map[string]bool
	// suspects are live records whose nodes are gone or have never been told of; ascending by ID.
	suspects []suspect
	dueAt    time.Time
	// listedAt is when all Node objects were told of last; listing: that was asked for again.
	listedAt time.Time
	listing  bool
}

type member struct {
	uid   string
	round uint32
}

// suspect is one record that may have to be released.
type suspect struct {
	id    uint32
	uid   string
	since time.Time
	// certain: the Node object is known to be gone; otherwise absentGrace has to pass first.
	certain bool
}

func (m *members) init() {
	m.nodes, m.gone, m.guessed, m.alive = map[string]member{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
}

// nodeSeen takes what a Node object says. Of other nodes only the name and UID matter: the rest is in their records.
func (a *Agent) nodeSeen(e NodeSeen) {
	m := &a.members
	old, known := m.nodes[e.Name]
	m.nodes[e.Name] = member{uid: e.UID, round: m.round}
	if known && old.uid != e.UID {
		a.nodeIsGone(old.uid)
	}
	if !known || old.uid != e.UID {
		a.newcomer.strangers = nil
	}
	if m.gone[e.UID] { // told gone by a gap in the news
		delete(m.gone, e.UID)
		delete(m.guessed, e.UID)
		a.todo |= todoPeers
	}
	m.suspects = slices.DeleteFunc(m.suspects, func(s suspect) bool { return s.uid == e.UID })
	if e.Name == a.cfg.NodeName {
		a.ownNodeSeen(e)
	}
}

func (a *Agent) ownNodeSeen(e NodeSeen) {
	if a.uid != e.UID || a.ident.removed {
		a.uid, a.ident.removed = e.UID, false
		a.todo |= todoStore | todoBlocks | todoPods
	}
	mgmt := make([]netip.Addr, 0, len(e.Addresses))
	for _, addr := range e.Addresses {
		if addr = addr.WithZone(""); addr.IsValid() && !slices.Contains(mgmt, addr) {
			mgmt = append(mgmt, addr)
		}
	}
	if !slices.Equal(a.mgmt, mgmt) {
		a.mgmt = mgmt
		a.todo |= todoStore
	}
	if !slices.Equal(a.podCIDRs, e.PodCIDRs) {
		a.podCIDRs = slices.Clone(e.PodCIDRs)
		a.todo |= todoRanges
	}
}

// nodeGone takes the end of a Node object; one of an earlier UID does not concern the present node of that name.
func (a *Agent) nodeGone(e NodeGone) {
	m := &a.members
	if now, ok := m.nodes[e.Name]; ok && now.uid == e.UID {
		delete(m.nodes, e.Name)
	}
	a.nodeIsGone(e.UID)
}

// nodesAreListed: whoever has not been told of since the list before is gone.
func (a *Agent) nodesAreListed() {
	m := &a.members
	m.listedAt, m.listing = a.now, false
	if len(m.suspects) > 0 {
		a.todo |= todoSuspects
	}
	var absent []string
	for name, n := range m.nodes {
		if n.round != m.round {
			absent = append(absent, name)
		}
	}
	slices.Sort(absent)
	for _, name := range absent {
		uid := m.nodes[name].uid
		delete(m.nodes, name)
		a.nodeIsGone(uid)
	}
	m.round++
	if _, ok := m.nodes[a.cfg.NodeName]; !ok && a.ident.id != 0 {
		a.ownNodeIsGone()
	}
	if !a.nodesListed {
		a.nodesListed = true
		a.todo |= todoPermit | todoStore
	}
	for i := range a.store.records {
		a.suspect(&a.store.records[i])
	}
}

// nodeIsGone unwires the node whose Node object had this UID, at once, and makes its ID a case for release.
func (a *Agent) nodeIsGone(uid string) {
	m := &a.members
	if uid == "" || m.gone[uid] && !m.guessed[uid] {
		return
	}
	m.gone[uid] = true
	delete(m.guessed, uid)
	delete(m.alive, uid)
	a.explained(uid)
	if a.ident.id == 0 || a.ranges.incomplete {
		a.todo |= todoStore
	}
	if uid == a.uid || a.uid == "" && uid == a.ident.uid {
		a.ownNodeIsGone()
	}
	for i := range a.store.records {
		if r := &a.store.records[i]; r.uid == uid && !r.deleted {
			a.wirePeer(r)
			a.suspect(r)
		}
	}
}

// ownNodeIsGone: we have been taken out of the cluster. Pods keep running; no address is given out and nothing is written
// to the store, where the others release our ID, until a Node object of ours is there again.
func (a *Agent) ownNodeIsGone() {
	if a.ident.removed {
		return
	}
	a.ident.removed = true
	a.log(levelWarn, "the Node object of %s is gone: no more addresses are given out", a.cfg.NodeName)
	a.todo |= todoPods
}

// takenBack: the node of a released record has written it again. Where its absence was a guess, the guess was wrong; where
// we were told so, it has not heard yet and gets the time that a guess would.
func (a *Agent) takenBack(r *record) {
	m := &a.members
	m.alive[r.uid] = true
	if m.guessed[r.uid] {
		a.log(levelInfo, "node %s (ID %d) lives", r.name, r.id)
		delete(m.gone, r.uid)
		delete(m.guessed, r.uid)
	}
}

// suspect lists a live record whose node is gone or unheard of.
func (a *Agent) suspect(r *record) {
	m := &a.members
	if !a.nodesListed || !r.live() || r.malformed || r.id == a.ident.id || a.ours(r, a.uid) || m.present(r) ||
		m.alive[r.uid] && !m.gone[r.uid] {
		return
	}
	certain := m.gone[r.uid] && !m.alive[r.uid]
	at, found := slices.BinarySearchFunc(m.suspects, r.id, func(s suspect, id uint32) int { return int(int64(s.id) - int64(id)) })
	if found && m.suspects[at].uid == r.uid {
		m.suspects[at].certain = m.suspects[at].certain || certain
	} else {
		s := suspect{id: r.id, uid: r.uid, since: a.now, certain: certain}
		if found {
			m.suspects[at] = s
		} else {
			m.suspects = slices.Insert(m.suspects, at, s)
		}
	}
	if certain || m.dueAt.IsZero() { // else the one that is due first brings it up
		a.todo |= todoSuspects
	}
}

// present reports whether the record's node is known to exist.
func (m *members) present(r *record) bool {
	n, ok := m.nodes[r.name]
	return ok && n.uid == r.uid && !m.gone[r.uid]
}

// judgeSuspects unwires nodes that stayed absent, and releases the IDs of gone nodes where that is our turn.
//
// That a record's node has never been told of says little when the record is newer than the list of nodes: we may be cut
// off from the API server and its news, while the node runs. So the nodes are listed again first, by those whose turn it is.
func (a *Agent) judgeSuspects() {
	m := &a.members
	m.dueAt = time.Time{}
	rank := -1
	keep := m.suspects[:0]
	for _, s := range m.suspects {
		r := a.store.record(s.id)
		if r == nil || !r.live() || r.uid != s.uid || m.present(r) || m.alive[s.uid] && !m.gone[s.uid] {
			continue
		}
		keep = append(keep, s)
		at := s.since
		if !s.certain {
			at = at.Add(absentGrace)
			if m.listedAt.Before(s.since) {
				if rank < 0 {
					rank = a.rank()
				}
				if turn := at.Add(time.Duration(rank) * rankDelay); a.now.Before(turn) {
					m.dueBy(turn)
				} else if !m.listing {
					m.listing = true
					a.emit(ListNodes{})
				}
				continue
			}
			if a.now.Before(at) {
				m.dueBy(at)
				continue
			}
			if !m.gone[s.uid] {
				m.gone[s.uid], m.guessed[s.uid] = true, true
				a.log(levelInfo, "node %s (ID %d) has no Node object: it counts as gone", r.name, r.id)
				a.wirePeer(r)
			}
		}
		if rank < 0 {
			rank = a.rank()
		}
		if at = at.Add(time.Duration(rank) * rankDelay); a.now.Before(at) {
			m.dueBy(at)
			continue
		}
		a.release(r)
	}
	m.suspects = keep
}

func (m *members) dueBy(at time.Time) {
	if m.dueAt.IsZero() || at.Before(m.dueAt) {
		m.dueAt = at
	}
}

// rank counts the live nodes with a lower ID than ours: they come before us in duties that one node has.
func (a *Agent) rank() int {
	n := 0
	for i := range a.store.records {
		r := &a.store.records[i]
		if r.id >= a.ident.id {
			break
		}
		if r.live() && !r.malformed && !a.members.gone[r.uid] {
			n++
		}
	}
	return n
}

// release marks a gone node's record as released, so that its quarantine begins. When the store is busy or resting, its
// next answer brings us back here.
func (a *Agent) release(r *record) {
	s := &a.store
	if !a.ident.usable() || s.asked.ID != 0 || s.stale || !s.listed || a.now.Before(s.retryAt) {
		return
	}
	n := r.info()
	n.ReleasedAt = a.now.UTC()
	a.log(levelInfo, "node ID %d of node %s is released", r.id, r.name)
	a.ask(StoreRequest{Op: StoreUpdate, Key: nodeKey(r.id), Value: n.String(), Revision: r.rev})
}
