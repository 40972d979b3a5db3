package host

import (
	"context"
	"net/netip"
	"sync"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Granted is a Cluster in which the agent's own node has blocks that another program grants for its pod CIDRs; what Node objects say of
// pod CIDRs is passed over. Before the first Give the agent hears nothing of its own node: at each start it would hear that it has
// nothing any more. Its methods may be called from any goroutine.
type Granted struct {
	of      Cluster
	node    string
	another func()

	mu sync.Mutex // over all below, and over the order in which the agent is told
	// own is the own node as the cluster tells it; nil: there is none. Before given, ends of lists are held back, and another list is
	// asked for.
	own         *agent.NodeSeen
	given, held bool
	// blocks are those of the Node object with UID holder, once there was one: another one of the node's name begins without.
	blocks []netip.Prefix
	holder string
	tell   func(agent.Event) // nil before Watch
}

var _ Cluster = (*Granted)(nil)

// NewGranted returns what a cluster is to the agent of a node. another, where set, is called when the node's Node object is another one
// or gone; it must not block.
func NewGranted(of Cluster, node string, another func()) *Granted {
	return &Granted{of: of, node: node, another: another}
}

// Give makes blocks the own node's.
func (g *Granted) Give(blocks []netip.Prefix) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.given, g.blocks = true, blocks
	if g.own != nil && g.tell != nil {
		own := *g.own
		own.PodCIDRs = blocks
		g.tell(own)
	}
	if g.held {
		g.held = false
		g.of.Relist()
	}
}

// Begin is Give where nothing was given yet.
func (g *Granted) Begin(blocks []netip.Prefix) {
	g.mu.Lock()
	given := g.given
	g.mu.Unlock()
	if !given {
		g.Give(blocks)
	}
}

// Another is the own Node object's UID, empty while there is none; false where it is this one, and before the cluster has told of any.
func (g *Granted) Another(than string) (uid string, another bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.own != nil {
		uid = g.own.UID
	}
	return uid, g.holder != "" && uid != than
}

// Relist implements Cluster.
func (g *Granted) Relist() { g.of.Relist() }

// Watch implements Cluster.
func (g *Granted) Watch(ctx context.Context, tell func(agent.Event)) {
	g.mu.Lock()
	g.tell = tell
	g.mu.Unlock()
	g.of.Watch(ctx, func(ev agent.Event) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if ev = g.granted(ev); ev != nil {
			tell(ev)
		}
	})
}

// granted is what the agent hears of an event, nil for nothing.
func (g *Granted) granted(ev agent.Event) agent.Event {
	switch e := ev.(type) {
	case agent.NodeSeen:
		e.PodCIDRs = nil
		if e.Name == g.node {
			own, was := e, g.own
			g.own = &own
			if g.holder != "" && g.holder != own.UID {
				g.blocks = nil // they may be another node's by now
			}
			g.holder = own.UID
			if was == nil || was.UID != own.UID {
				g.changed()
			}
			if !g.given {
				return nil
			}
			e.PodCIDRs = g.blocks
		}
		return e
	case agent.NodeGone:
		if g.own != nil && e.UID == g.own.UID {
			g.own = nil
			g.changed()
		}
	case NodesListed:
		if !g.given { // the own node would count as gone
			g.held = true
			return nil
		}
	}
	return ev
}

func (g *Granted) changed() {
	if g.another != nil {
		g.another()
	}
}
