package sim

import (
	"fmt"
	"maps"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

const (
	// strangerGrace is how long the record of a node that an agent has never been told of is left alone before the API server is asked about it, as in
	// the documents.
	strangerGrace = 30 * time.Second
	// knownNodes is up to how many nodes it is noted what each agent was told of each.
	knownNodes = 64
)

// acquaintance is what a life of an agent was told of nodes, by the UIDs of their Node objects: what it may ask the API server to list again for.
type acquaintance struct {
	// told are those whose objects it was told to be there or to be gone, names those that are there, by the nodes' names.
	told  map[string]bool
	names map[string]string
	// records are the records that the store has shown, by their keys.
	records map[string]acquainted
	// lost are the UIDs whose records have gone from the store, or been written anew behind a release.
	lost map[string]bool
	// asked is when it last asked for a list that has not come, if waiting.
	asked   time.Duration
	waiting bool
}

// acquainted is the record of a node: who that is, since when it is known, and whether it is released.
type acquainted struct {
	name, uid string
	id        uint32
	since     time.Duration
	released  bool
}

// heard notes what an event tells, before the agent learns of it.
func (q *acquaintance) heard(p *process, ev agent.Event) {
	if len(p.m.w.order) > knownNodes {
		return
	}
	if q.told == nil {
		*q = acquaintance{told: map[string]bool{}, names: map[string]string{}, records: map[string]acquainted{}, lost: map[string]bool{}}
	}
	switch e := ev.(type) {
	case agent.NodeSeen:
		q.told[e.UID], q.names[e.Name] = true, e.UID
	case agent.NodeGone:
		q.told[e.UID] = true
		maps.DeleteFunc(q.names, func(_, uid string) bool { return uid == e.UID })
	case agent.NodesListed:
		if q.waiting && p.m.w.eng.Now()-e.Age+e.Age/50 >= q.asked { // the agent counts the age by its own clock
			q.waiting = false
		}
		there := make(map[string]bool, len(e.UIDs))
		for _, uid := range e.UIDs {
			there[uid] = true
		}
		maps.DeleteFunc(q.names, func(_, uid string) bool { return !there[uid] })
	case agent.StoreReply:
		if e.ID == p.storeRequest.ID && p.storeRequest.Op == agent.StoreList && e.Err == agent.StoreOK {
			q.listed(e.Items)
		}
		q.shown(p, e.Items)
	case agent.StoreChanged:
		q.shown(p, e.Items)
	}
}

// listed takes what a complete list does not have for gone.
func (q *acquaintance) listed(items []agent.StoreItem) {
	there := make(map[string]bool, len(items))
	for i := range items {
		there[items[i].Key] = true
	}
	for key, r := range q.records { //vppdrill:unordered each is by itself
		if !there[key] {
			q.lost[r.uid] = true
			delete(q.records, key)
		}
	}
}

func (q *acquaintance) shown(p *process, items []agent.StoreItem) {
	for i := range items {
		item := &items[i]
		was, known := q.records[item.Key]
		r, err := nodeid.ParseRecord(item.Value)
		if item.Deleted || err != nil {
			if known {
				q.lost[was.uid] = true
				delete(q.records, item.Key)
			}
			continue
		}
		now := acquainted{r.Name, r.UID, r.ID, p.m.w.eng.Now(), !r.ReleasedAt.IsZero()}
		if known && was.uid == now.uid && was.released == now.released {
			continue
		}
		if known && (was.uid != now.uid || was.released) {
			q.lost[was.uid] = true
		}
		q.records[item.Key] = now
	}
}

// asks tells of a list of the nodes that an agent asks the API server for without a reason: where it has been told of all nodes whose records it has seen, waits for
// such a list already, or is not the one whose turn it is.
func (q *acquaintance) asks(p *process) {
	if q.told == nil {
		return
	}
	now := p.m.w.eng.Now()
	tell := func(why string, args ...any) {
		p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "a list of the nodes", Broken: fmt.Sprintf(why, args...)})
	}
	if q.waiting {
		tell("is asked for while one is under way")
	}
	q.asked, q.waiting = now, true
	for uid := range q.lost { // in any order: one is enough
		if !q.told[uid] {
			return
		}
	}
	stranger, since, rank := "", time.Duration(0), 0
	for _, r := range q.records { // in any order: the first one that was shown counts
		strange := !r.released && (!q.told[r.uid] || q.lost[r.uid])
		if strange && (stranger == "" || r.since < since || r.since == since && r.name < stranger) {
			stranger, since = r.name, r.since
		}
		if !r.released && r.id < p.agent.ID() && q.names[r.name] == r.uid {
			rank++
		}
	}
	if stranger == "" {
		tell("is asked for, and the agent has been told of every node whose record it has seen")
	} else if due := p.m.clocks.truly(strangerGrace + time.Duration(rank)*releaseTurn); now-since < due-due/100 {
		tell("is asked for %s behind the record of %s, where it is this node's turn after %s", now-since, stranger, due)
	}
}
