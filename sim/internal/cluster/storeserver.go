package cluster

import (
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/sim/store"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// storeTimeout is how long a client waits for the store's answer: the request timeout of etcd's own command line
// client.
const storeTimeout = 5 * time.Second

// StoreServer puts a Store behind the network.
type StoreServer struct {
	Store *store.Store
	clock Clock
	net   *Network
	at    Endpoint
}

// NewStoreServer serves store at an endpoint.
func NewStoreServer(clock Clock, net *Network, at Endpoint, store *store.Store) *StoreServer {
	return &StoreServer{Store: store, clock: clock, net: net, at: at}
}

// SetAvailable starts or ends an outage.
func (s *StoreServer) SetAvailable(up bool) { s.Store.SetAvailable(up) }

// StoreClient is one agent life's connection to the store. It has at most one watch, as agent.StoreWatch demands.
type StoreClient struct {
	// Faults are the hooks of the client's watch.
	Faults StreamFaults

	server *StoreServer
	at     Endpoint
	sink   func(agent.Event)
	closed bool
	watch  *storeFeed
	// opened is the last request that has opened a watch: IDs ascend.
	opened uint64
}

// Connect returns a client at an endpoint. Sink receives StoreReply, StoreChanged and StoreWatchLost until Close.
func (s *StoreServer) Connect(at Endpoint, sink func(agent.Event)) *StoreClient {
	return &StoreClient{server: s, at: at, sink: sink}
}

// Close ends the client: the agent died. Requests on their way are still served.
func (c *StoreClient) Close() {
	c.closed = true
	c.endWatch()
}

// Do performs one request of the agent. StoreReply with StoreUnavailable comes after an outage's refusal, or after 5 s
// when the request or its answer was lost; whether it was done is unknown then.
func (c *StoreClient) Do(r agent.StoreRequest) {
	c.server.net.Call(c.at, c.server.at, storeTimeout, &storeCall{client: c, StoreRequest: r})
}

// DoCompacted is Do of a request before which the store forgets its history.
func (c *StoreClient) DoCompacted(r agent.StoreRequest) {
	c.server.net.Call(c.at, c.server.at, storeTimeout, &storeCall{client: c, StoreRequest: r, compacts: true})
}

func (c *StoreClient) endWatch() {
	if c.watch != nil {
		c.watch.stream.close()
		c.watch = nil
	}
}

type storeCall struct {
	client *StoreClient
	agent.StoreRequest
	feed     *storeFeed
	compacts bool
}

var storeOpNames = [...]string{
	agent.StoreList: "list", agent.StoreCreate: "create", agent.StoreUpdate: "update",
	agent.StoreDelete: "delete", agent.StoreWatch: "watch",
}

func (c *storeCall) AppendText(b []byte) []byte {
	b = append(b, storeOpNames[c.Op]...)
	b = append(b, ' ')
	b = append(b, c.Key...)
	switch c.Op {
	case agent.StoreUpdate, agent.StoreDelete:
		b = append(b, " at "...)
		b = strconv.AppendInt(b, c.Revision, 10)
	case agent.StoreWatch:
		b = append(b, " after "...)
		b = strconv.AppendInt(b, c.Revision, 10)
	}
	if c.Op == agent.StoreCreate || c.Op == agent.StoreUpdate {
		b = append(b, " = "...)
		b = strconv.AppendQuote(b, c.Value)
	}
	return b
}

// Serve runs at the store.
func (c *storeCall) Serve() any {
	st := c.client.server.Store
	if c.compacts {
		st.Compact(st.Revision())
	}
	var out store.Outcome
	switch c.Op {
	case agent.StoreList:
		out = st.List(c.Key)
	case agent.StoreCreate:
		out = st.Txn(store.Op{Kind: store.OpCreate, Key: c.Key, Value: c.Value})
	case agent.StoreUpdate:
		out = st.Txn(store.Op{Kind: store.OpUpdate, Key: c.Key, Value: c.Value, Revision: c.Revision})
	case agent.StoreDelete:
		out = st.Txn(store.Op{Kind: store.OpDelete, Key: c.Key, Revision: c.Revision})
	case agent.StoreWatch:
		out = c.openWatch(st)
	default:
		panic("cluster: unknown store request " + strconv.Itoa(int(c.Op)))
	}
	return &storeReply{agent.StoreReply{ID: c.ID, Err: out.Err, Revision: out.Revision, Store: st.Identity(), Items: out.Items}}
}

// openWatch replaces the client's watch. A request that came twice, or late, opens none: the client reads only one
// stream, and a second one would replace it.
func (c *storeCall) openWatch(st *store.Store) store.Outcome {
	cl := c.client
	if cl.closed || c.ID <= cl.opened {
		return store.Outcome{Revision: st.Revision()}
	}
	f := &storeFeed{client: cl, id: c.ID}
	f.stream = openStream(cl.server.net, cl.server.at, cl.at, receiver[storeChange](f), &cl.Faults, f.closeWatch)
	w, err := st.Watch(c.Key, c.Revision, f)
	if err != agent.StoreOK {
		f.stream.close()
		return store.Outcome{Err: err, Revision: st.Compacted()}
	}
	f.watch = w
	cl.endWatch()
	cl.watch, cl.opened, c.feed = f, c.ID, f
	return store.Outcome{Revision: st.Revision()}
}

// Done runs at the agent.
func (c *storeCall) Done(reply any, ok bool) {
	if c.client.closed {
		return
	}
	if !ok {
		if c.feed != nil && c.client.watch == c.feed {
			c.client.endWatch()
		}
		c.client.sink(agent.StoreReply{ID: c.ID, Err: agent.StoreUnavailable})
		return
	}
	c.client.sink(reply.(*storeReply).StoreReply)
}

type storeReply struct{ agent.StoreReply }

var storeErrorNames = [...]string{
	agent.StoreOK: "ok", agent.StoreConflict: "conflict", agent.StoreCompacted: "compacted", agent.StoreUnavailable: "unavailable",
}

func (r *storeReply) AppendText(b []byte) []byte {
	b = append(b, storeErrorNames[r.Err]...)
	b = append(b, " revision "...)
	b = strconv.AppendInt(b, r.Revision, 10)
	if len(r.Items) > 0 {
		b = append(b, " items "...)
		b = strconv.AppendInt(b, int64(len(r.Items)), 10)
	}
	return b
}

// storeChange is one transaction on its way to a watcher.
type storeChange struct {
	revision int64
	items    []agent.StoreItem
}

// storeFeed joins a watch of the Store to a stream.
type storeFeed struct {
	client *StoreClient
	id     uint64
	watch  *store.Watch
	stream *stream[storeChange]
}

func (f *storeFeed) StoreChanged(revision int64, items []agent.StoreItem) {
	f.stream.send(storeChange{revision, items})
}

func (f *storeFeed) StoreEnded() { f.stream.finish() }

// StoreCompacted ends a watch that is cut off: it has missed what is forgotten now.
func (f *storeFeed) StoreCompacted() { f.stream.abandon() }

func (f *storeFeed) closeWatch() {
	if f.watch != nil {
		f.watch.Close()
	}
}

func (f *storeFeed) appendItems(b []byte, items []storeChange) []byte {
	b = append(b, "store"...)
	for _, c := range items {
		b = append(b, " revision "...)
		b = strconv.AppendInt(b, c.revision, 10)
		for _, item := range c.items {
			b = append(b, ' ')
			b = append(b, item.Key...)
			if item.Deleted {
				b = append(b, " deleted"...)
			}
		}
	}
	return b
}

func (f *storeFeed) receive(items []storeChange) {
	for _, c := range items {
		if f.client.watch != f {
			return
		}
		f.client.sink(agent.StoreChanged{Watch: f.id, Revision: c.revision, Items: c.items})
	}
}

func (f *storeFeed) lost() {
	if f.client.watch == f {
		f.client.watch = nil
		f.client.sink(agent.StoreWatchLost{Watch: f.id})
	}
}
