package sim

import (
	"time"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// storeTimeout is how long an agent's driver waits for the store, as the client of sim/internal/cluster does.
const storeTimeout = 5 * time.Second

// store sends one request of the agent to the store.
func (p *process) store(r agent.StoreRequest) {
	w := p.m.w
	r = p.m.toStore(r)
	if w.unwired() {
		r = p.ownRecord(r)
		if r.Op == agent.StoreWatch { // nobody else writes the node's own record: ownWatch is its news
			p.watch = r.ID
			w.eng.After(time.Millisecond, &told{p, agent.StoreReply{ID: r.ID, Store: w.store.Store.Identity()}, "watches its record"})
			return
		}
	}
	switch r.Op {
	case agent.StoreWatch:
		p.watch = r.ID
	case agent.StoreCreate, agent.StoreUpdate, agent.StoreDelete:
		w.counts.APIWrites++
		p.writing = r
	}
	if !w.faulty() {
		p.client.Do(r)
		return
	}
	v := w.judge(fault.Store(p.m.name, r))
	unavailable := agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable}
	switch v.Action {
	case fault.Pass:
		p.client.Do(r)
	case fault.Refuse, fault.CrashBefore:
		w.eng.After(time.Millisecond, &told{p, unavailable, "store refused"})
	case fault.Vanish:
		w.eng.After(storeTimeout, &told{p, unavailable, "store request lost"})
	case fault.Mute, fault.CrashAfter:
		p.muted = append(p.muted, r.ID)
		p.client.Do(r)
	case fault.Delay:
		w.eng.After(v.Delay, &happening{p.m, "store request late", func() {
			// A driver gives an older watch up when it is asked for a newer one.
			if !p.dead && (r.Op != agent.StoreWatch || r.ID == p.watch) {
				p.client.Do(r)
			}
		}})
	case fault.Duplicate:
		p.client.Do(r)
		p.client.Do(r)
	case fault.Compact:
		p.client.DoCompacted(r)
	}
}

// told is an event that the driver gives the agent.
type told struct {
	p    *process
	ev   agent.Event
	what string
}

// AppendText implements engine.Event.
func (t *told) AppendText(b []byte) []byte {
	b = append(b, t.p.m.name...)
	b = append(b, ' ')
	return append(b, t.what...)
}

// Fire implements engine.Event.
func (t *told) Fire() { t.p.step(t.ev) }

// fromStore takes what the store sends.
func (p *process) fromStore(ev agent.Event) {
	if p.dead {
		return
	}
	switch e := ev.(type) {
	case agent.StoreReply:
		e.Items = p.m.fromStore(e.Items)
		ev = e
	case agent.StoreChanged:
		e.Items = p.m.fromStore(e.Items)
		ev = e
	}
	if r, ok := ev.(agent.StoreReply); ok {
		for i, id := range p.muted {
			if id == r.ID {
				p.muted = append(p.muted[:i], p.muted[i+1:]...)
				if r.Err == agent.StoreUnavailable {
					break // there was no answer to lose, and the client has waited
				}
				p.m.w.eng.After(storeTimeout, &told{p, agent.StoreReply{ID: id, Err: agent.StoreUnavailable}, "store reply lost"})
				return
			}
		}
	}
	if r, ok := ev.(agent.StoreReply); ok && p.m.w.unwired() {
		p.step(ev)
		p.ownWatch(r)
		return
	}
	if !p.m.w.faulty() && p.newsLate == 0 {
		p.step(ev)
		return
	}
	var verdict fault.Verdict
	switch c := ev.(type) {
	case agent.StoreChanged:
		if p.m.w.faulty() {
			verdict = p.m.w.judge(fault.StoreChange(p.m.name))
		}
		switch verdict.Action {
		case fault.Vanish, fault.Refuse:
			ev = agent.StoreWatchLost{Watch: c.Watch}
		case fault.Duplicate:
			p.news(nil, 0, func(time.Duration) { p.step(ev) })
		}
	case agent.StoreWatchLost:
	default:
		p.step(ev)
		return
	}
	p.news(nil, verdict.Delay, func(time.Duration) { p.step(ev) })
}

// news delivers a stream's item to the agent, late by d or at once, and not before what the same stream has brought
// earlier; other streams, and answers, overtake it. The stream is an informer's, nil for the store's watch. tell is
// called with the lateness.
func (p *process) news(stream *cluster.Informer, d time.Duration, tell func(late time.Duration)) {
	w := p.m.w
	now := w.eng.Now()
	at := max(now+d, p.newsUntil[stream])
	if at == now {
		tell(0)
		return
	}
	if p.newsUntil == nil {
		p.newsUntil = map[*cluster.Informer]time.Duration{}
	}
	p.newsUntil[stream] = at
	p.newsLate++
	w.eng.After(at-now, &happening{p.m, "hears late", func() {
		p.newsLate--
		if !p.dead {
			tell(at - now)
		}
	}})
}

// fromAPI takes what the API server sends through the agent's informers.
func (p *process) fromAPI(ev agent.Event) {
	if p.dead {
		return
	}
	if !p.m.w.faulty() && p.newsLate == 0 {
		p.step(p.ownNode(ev))
		return
	}
	from := p.informer(ev)
	if p.gaps[from] {
		return // the informer lists again once the gap has been noticed
	}
	var verdict fault.Verdict
	if p.m.w.faulty() {
		verdict = p.m.w.judge(fault.APIChange(p.m.name))
	}
	tell := func(late time.Duration) {
		if l, ok := ev.(agent.NodesListed); ok {
			l.Age += late
			ev = l
		}
		p.step(p.ownNode(ev))
	}
	switch verdict.Action {
	case fault.Vanish, fault.Refuse:
		if p.gaps == nil {
			p.gaps = map[*cluster.Informer]bool{}
		}
		p.gaps[from] = true // nothing behind a gap is delivered, least of all the end of a list
		p.news(from, 0, func(time.Duration) {
			delete(p.gaps, from)
			from.Relist()
		})
		return
	case fault.Duplicate:
		switch ev.(type) {
		case agent.NodesListed, agent.PodsListed, agent.ServicesListed, agent.EndpointsListed: // the end of a list comes once
		default:
			p.news(from, 0, tell)
		}
	}
	p.news(from, verdict.Delay, tell)
}

// informer is the one that an event came through.
func (p *process) informer(ev agent.Event) *cluster.Informer {
	switch ev.(type) {
	case agent.PodsListed:
		return p.feed.Pods
	case agent.PoolsChanged:
		return p.feed.Configs
	case agent.PolicySeen:
		return p.feed.Policies
	case agent.PeerSeen:
		return p.feed.Peers
	case agent.NamespaceSeen:
		return p.feed.Namespaces
	case agent.SelectableGone, agent.SelectablesListed:
		return [...]*cluster.Informer{policy.Policies: p.feed.Policies, policy.Pods: p.feed.Peers, policy.Namespaces: p.feed.Namespaces}[kindOf(ev)]
	case agent.ServiceSeen, agent.ServiceGone, agent.ServicesListed:
		return p.feed.Services
	case agent.EndpointsSeen, agent.EndpointsGone, agent.EndpointsListed:
		return p.feed.Endpoints
	}
	return p.feed.Nodes
}
