package cluster

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/store"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/storetest"
)

// Goal: the modelled store, its server and its clients owe what etcd owes. Method: the contract's own suite, in virtual
// time, with links that delay.
func TestStoreContract(t *testing.T) {
	storetest.Try(t, func(*testing.T) storetest.Server {
		m := &modelServer{eng: engine.New(engine.Seeded(1))}
		m.net = NewNetwork(m.eng, NetworkConfig{Default: Link{DelayMin: time.Millisecond, DelayMax: 20 * time.Millisecond}})
		m.server = NewStoreServer(m.eng, m.net, m.net.Endpoint("store"), store.New())
		return m
	})
}

type modelServer struct {
	eng     *engine.Engine
	net     *Network
	server  *StoreServer
	clients int
}

// Client implements storetest.Server.
func (m *modelServer) Client() storetest.Client {
	m.clients++
	c := &modelClient{m: m, at: m.net.Endpoint(string(rune('a' + m.clients)))}
	c.client = m.server.Connect(c.at, c.heard)
	return c
}

// Compact implements storetest.Server.
func (m *modelServer) Compact() { m.server.Store.Compact(m.server.Store.Revision()) }

// Wipe implements storetest.Server.
func (m *modelServer) Wipe() { m.server.Store.Wipe() }

// Until implements storetest.Server.
func (m *modelServer) Until(done func() bool) bool {
	for !done() {
		if !m.eng.Step() {
			return false
		}
	}
	return true
}

// modelClient loses answers as the simulator's agents do.
type modelClient struct {
	m       *modelServer
	at      Endpoint
	client  *StoreClient
	tell    func(agent.Event)
	request bool // the next request is lost
	answer  bool // the next answer is
	muted   uint64
}

func (c *modelClient) heard(ev agent.Event) {
	if r, ok := ev.(agent.StoreReply); ok && r.ID == c.muted {
		ev = agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable}
	}
	c.tell(ev)
}

// Do implements storetest.Client.
func (c *modelClient) Do(r agent.StoreRequest, tell func(agent.Event)) {
	c.tell = tell
	if c.request {
		c.request = false
		tell(agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable})
		return
	}
	if c.answer {
		c.answer, c.muted = false, r.ID
	}
	c.client.Do(r)
}

// Lose implements storetest.Client.
func (c *modelClient) Lose(answer bool) { c.request, c.answer = !answer, answer }

// Cut implements storetest.Client.
func (c *modelClient) Cut(off bool) {
	if off {
		c.m.net.Partition(c.at, c.m.server.at)
	} else {
		c.m.net.Mend(c.at, c.m.server.at)
		c.m.net.Mend(c.m.server.at, c.at)
	}
}
