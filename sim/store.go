package sim

import (
	"time"

	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// storeTimeout is how long an agent's driver waits for the store, as the client of sim/cluster does.
const storeTimeout = 5 * time.Second

var storeNames = [...]string{agent.StoreList: "list", agent.StoreCreate: "create", agent.StoreUpdate: "update",
	agent.StoreDelete: "delete", agent.StoreWatch: "watch"}

// store sends one request of the agent to the store.
func (p *process) store(r agent.StoreRequest) {
	w := p.m.w
	r = p.m.toStore(r)
	switch r.Op {
	case agent.StoreWatch:
		p.watch = r.ID
	case agent.StoreCreate, agent.StoreUpdate, agent.StoreDelete:
		w.counts.APIWrites++
	}
	if !w.faulty() {
		p.client.Do(r)
		return
	}
	v := w.judge(fault.Op{Node: p.m.name, Kind: fault.KindStore, Name: storeNames[r.Op], Key: r.Key})
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

// told is an event that the agent is told by its driver.
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
				p.m.w.eng.After(storeTimeout, &told{p, agent.StoreReply{ID: id, Err: agent.StoreUnavailable}, "store reply lost"})
				return
			}
		}
	}
	if c, ok := ev.(agent.StoreChanged); ok && p.m.w.faulty() {
		switch p.m.w.judge(fault.Op{Node: p.m.name, Kind: fault.KindStoreWatch, Name: "StoreChanged"}).Action {
		case fault.Vanish, fault.Refuse:
			p.step(agent.StoreWatchLost{Watch: c.Watch})
			return
		case fault.Duplicate:
			p.step(ev)
		}
	}
	p.step(ev)
}

// fromAPI takes what the API server tells through the agent's informers.
func (p *process) fromAPI(ev agent.Event) {
	if p.dead {
		return
	}
	ev = p.ownNode(ev)
	if p.m.w.faulty() {
		switch p.m.w.judge(fault.Op{Node: p.m.name, Kind: fault.KindAPIWatch, Name: "change"}).Action {
		case fault.Vanish, fault.Refuse:
			p.informer(ev).Relist()
			return
		case fault.Duplicate:
			switch ev.(type) {
			case agent.NodesListed, agent.PodsListed, agent.ServicesListed, agent.EndpointsListed: // the end of a list comes once
			default:
				p.step(ev)
			}
		}
	}
	p.step(ev)
}

// informer is the one that an event came through.
func (p *process) informer(ev agent.Event) *cluster.Informer {
	switch ev.(type) {
	case agent.PodsListed:
		return p.feed.Pods
	case agent.PoolsChanged:
		return p.feed.Configs
	case agent.ServiceSeen, agent.ServiceGone, agent.ServicesListed:
		return p.feed.Services
	case agent.EndpointsSeen, agent.EndpointsGone, agent.EndpointsListed:
		return p.feed.Endpoints
	}
	return p.feed.Nodes
}
