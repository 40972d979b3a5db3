package sim

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// listing is what gives an agent cause to ask the store for what it has been told already, as far as who sees their conversation knows.
type listing struct {
	// caused: something may have been missed since the last list.
	caused bool
	// watchedAt is when the last watch was asked for; watching: it has been answered, or has told something, and nothing has ended it.
	watchedAt time.Duration
	watching  bool
	// answered: the last watch has been answered, if only with a refusal.
	answered bool
	// unsure: a request had no answer in this life, so that what stands in the store may be changed late by it.
	unsure bool
	// identity is the store's data by the last answer; marked: that it is complete has been told.
	identity uint64
	marked   bool
	// since is since when it knows that data.
	since time.Duration
}

// storeGivesUp is the least that an agent, whose clock may run too fast, waits for an answer of the store.
const storeGivesUp = storeTimeout - storeTimeout/100

// heardOfStore notes what an event gives cause for, before the agent learns of it.
func (p *process) heardOfStore(ev agent.Event) {
	l := &p.listing
	switch e := ev.(type) {
	case agent.StoreReply:
		l.answered = l.answered || e.ID == p.watch
		asked := p.storeRequest
		known := l.identity
		switch {
		case e.Err == agent.StoreUnavailable || e.Err == agent.StoreCompacted:
			l.caused, l.unsure = true, true
			if e.ID == p.watch {
				l.watching = false
			}
		case e.ID == p.watch:
			l.watching = true
		case e.ID != asked.ID:
			return // given up
		case asked.Op == agent.StoreList:
			was := l.marked
			l.watching, l.marked = false, false
			l.marks(e.Items)
			l.caused, l.identity = was && !l.marked, 0
		case e.Err == agent.StoreConflict && (len(e.Items) == 0 || e.Items[0].Deleted):
			l.caused = true // it may be that what was seen last is gone
		default:
			l.marks(e.Items)
			if asked.Key == nodeid.KeyComplete {
				l.marked = true
			}
		}
		l.caused = l.caused || l.identity != 0 && e.Store != 0 && e.Store != l.identity
		if e.Store != 0 {
			l.identity = e.Store
		}
		if l.identity != known {
			l.since = p.m.w.eng.Now()
		}
	case agent.StoreChanged:
		if e.Watch == p.watch {
			l.watching = true
		}
		was := l.marked
		l.marks(e.Items)
		l.caused = l.caused || was && !l.marked
	case agent.StoreWatchLost:
		l.caused = true
		if e.Watch == p.watch {
			l.watching = false
		}
	}
}

// marks notes what items say of whether everybody's record is in the store.
func (l *listing) marks(items []agent.StoreItem) {
	for i := range items {
		if items[i].Key == nodeid.KeyComplete {
			l.marked = !items[i].Deleted && items[i].Value == nodeid.ValueComplete
		}
	}
}

// needless tells of a request for what the agent has been told, or for what is so already; of a list only where nothing disturbs the cluster, as
// answers that are late or come twice may be cause enough.
func (p *process) needless(r agent.StoreRequest) {
	l, now := &p.listing, p.m.w.eng.Now()
	tell := func(text, why string) {
		p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: text, Broken: why})
	}
	if why := p.revisions.outdated(r); why != "" {
		tell("the "+r.Op.String()+" of "+r.Key, why)
	}
	switch r.Op {
	case agent.StoreList:
		late := p.storeAsked != 0 && now-p.storeAskedAt >= storeGivesUp || p.watch != 0 && !l.watching && now-l.watchedAt >= storeGivesUp
		if !l.caused && !late && p.m.w.isCalm(now) {
			tell("a list of the store", "is made where nothing can have been missed since the last one")
		}
		l.unsure = l.unsure || p.storeAsked != 0
	case agent.StoreWatch:
		if l.watching {
			tell("a watch of the store", "is begun while another one goes on")
		}
		l.watching, l.answered, l.watchedAt = false, false, now
	case agent.StoreCreate, agent.StoreUpdate:
		if r.Key == nodeid.KeyAssumed {
			p.untimely(tell)
		}
		record, err := nodeid.ParseRecord(r.Value)
		if err != nil {
			return // whoever doubts the mark of a complete store writes it again
		}
		p.omits(&record, tell)
		p.outOfTurn(&record, tell)
		if r.Op == agent.StoreCreate || l.unsure {
			return
		}
		for _, item := range p.m.w.store.Store.Look(r.Key) {
			if item.Key == r.Key && item.ModRevision == r.Revision && item.Value == r.Value {
				tell(fmt.Sprintf("an update of %s in the store", r.Key), "")
			}
		}
	}
}

// untimely tells of nodes without a record that are given up before the patience with them is over.
func (p *process) untimely(tell func(text, why string)) {
	patience := p.m.w.claimPatience(p.m.name)
	if waited := p.m.w.eng.Now() - p.listing.since; waited < patience-patience/100 {
		tell("the word that nobody waits any more for nodes without a record", fmt.Sprintf("is written %s after this life has seen the store, where they are waited for %s", waited, patience))
	}
}

// omits tells of a node's record that does not name a block that the node's disk holds.
func (p *process) omits(record *nodeid.Record, tell func(text, why string)) {
	if record.Name != p.m.name || !record.ReleasedAt.IsZero() {
		return
	}
	if b, found := p.m.saved.unpublished(record.PodNetworks); found {
		tell(fmt.Sprintf("the record of node ID %d", record.ID), fmt.Sprintf("is written without %s, which the node's disk does not know to be dropped", b))
	}
}
