package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Endpoint is one end of control-plane links: a node, the API server, the store. The zero Endpoint is invalid.
type Endpoint int32

// NetworkConfig configures a Network.
type NetworkConfig struct {
	// Default is how links behave that Set never named. A zero Default is a fixed delay of 500 µs: a round trip of 1 ms,
	// which is what an API server's cheap request costs in a data centre.
	Default Link
	// StreamTimeout is how long a stream survives a cut; default 45 s, client-go's HTTP/2 health check: a ping after 30 s
	// of silence, 15 s for its answer.
	StreamTimeout time.Duration
}

const (
	defaultDelay         = 500 * time.Microsecond
	defaultStreamTimeout = 45 * time.Second
	// resendDelay is what a lost segment adds to a stream's delay: Linux's TCP_RTO_MIN.
	resendDelay = 200 * time.Millisecond
)

// Network carries requests, replies and streams between endpoints. Each arrival is one event. A link whose delay is
// fixed and that loses and repeats nothing makes no decisions.
type Network struct {
	clock    Clock
	cfg      NetworkConfig
	names    []string
	byName   map[string]Endpoint
	links    map[direction]*link
	streams  map[direction][]breakable
	cuts     int
	onCut    []func(from, to Endpoint)
	busy     Busy
	open     *call // the newest call without an answer
	sent     int64
	dropped  int64
	repeated int64
}

// direction is a pair of endpoints in order; of streams it is the two in ascending order.
type direction struct{ from, to Endpoint }

// breakable is a Stream of any item type.
type breakable interface {
	breakOff()
	resume()
}

// Busy reports what is still under way. The zero Busy is a quiet control plane.
type Busy struct {
	// Calls are requests without an answer yet, Streamed changes on their way to a watcher.
	Calls, Streamed int
	// Unsynced are informers without a live watch; those of stopped processes do not count.
	Unsynced int
}

// Quiet reports whether nothing is under way.
func (b Busy) Quiet() bool { return b == Busy{} }

// NewNetwork returns a network without endpoints.
func NewNetwork(clock Clock, cfg NetworkConfig) *Network {
	if cfg.Default == (Link{}) {
		cfg.Default = Link{DelayMin: defaultDelay, DelayMax: defaultDelay}
	}
	cfg.StreamTimeout = orDefault(cfg.StreamTimeout, defaultStreamTimeout)
	return &Network{
		clock: clock, cfg: cfg, names: []string{"?"}, byName: make(map[string]Endpoint),
		links: make(map[direction]*link), streams: make(map[direction][]breakable),
	}
}

// Endpoint returns the endpoint of that name, which it creates at first.
func (n *Network) Endpoint(name string) Endpoint {
	e, ok := n.byName[name]
	if !ok {
		e = Endpoint(len(n.names))
		n.names = append(n.names, name)
		n.byName[name] = e
	}
	return e
}

// Name is what Endpoint was called with.
func (n *Network) Name(e Endpoint) string { return n.names[e] }

// Busy reports what is under way on the network.
func (n *Network) Busy() Busy { return n.busy }

// Counts returns how many messages were sent, dropped (by loss or a cut) and repeated so far.
func (n *Network) Counts() (sent, dropped, repeated int64) { return n.sent, n.dropped, n.repeated }

// Set makes the direction from one endpoint to another behave like l from now on.
func (n *Network) Set(from, to Endpoint, l Link) {
	if l.DelayMin < 0 || l.DelayMax < l.DelayMin {
		panic(fmt.Sprintf("cluster: link %s>%s delays from %s to %s", n.names[from], n.names[to], l.DelayMin, l.DelayMax))
	}
	n.own(from, to).Link = l
}

// SetDefault makes l the behaviour of every link, those that Set named included.
func (n *Network) SetDefault(l Link) {
	n.cfg.Default = l
	for _, own := range n.links {
		own.Link = l
	}
}

// Default is how links behave that have not been set.
func (n *Network) Default() Link { return n.cfg.Default }

// Cut makes everything sent from one endpoint to the other vanish until Mend. A stream in either direction stands
// still, since its acknowledgements or its data are lost, and breaks when the cut outlives Config.StreamTimeout.
func (n *Network) Cut(from, to Endpoint) {
	l := n.own(from, to)
	if l.cut {
		return
	}
	l.cut, l.cutSince = true, n.clock.Now()
	n.cuts++
	n.clock.After(n.cfg.StreamTimeout, &streamTimeout{n: n, from: from, to: to, since: l.cutSince})
	n.changed(from, to)
}

// Partition cuts both directions.
func (n *Network) Partition(a, b Endpoint) {
	n.Cut(a, b)
	n.Cut(b, a)
}

// Mend ends a cut; streams that survived it go on.
func (n *Network) Mend(from, to Endpoint) {
	l := n.links[direction{from, to}]
	if l == nil || !l.cut {
		return
	}
	l.cut = false
	n.cuts--
	if !n.IsCut(to, from) {
		for _, s := range n.streams[undirected(from, to)] {
			s.resume()
		}
	}
	n.changed(from, to)
}

// MendAll ends every cut, in the order of the endpoints' first appearance.
func (n *Network) MendAll() {
	var cut []direction
	for d, l := range n.links {
		if l.cut {
			cut = append(cut, d)
		}
	}
	slices.SortFunc(cut, func(a, b direction) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for _, d := range cut {
		n.Mend(d.from, d.to)
	}
}

// IsCut reports whether what from sends to to vanishes.
func (n *Network) IsCut(from, to Endpoint) bool {
	if n.cuts == 0 {
		return false
	}
	l := n.links[direction{from, to}]
	return l != nil && l.cut
}

// Cuts counts the directions that are cut.
func (n *Network) Cuts() int { return n.cuts }

// OnCut registers fn to be called after each Cut and Mend.
func (n *Network) OnCut(fn func(from, to Endpoint)) { n.onCut = append(n.onCut, fn) }

func (n *Network) changed(from, to Endpoint) {
	for _, fn := range n.onCut {
		fn(from, to)
	}
}

func undirected(a, b Endpoint) direction { return direction{min(a, b), max(a, b)} }
