package controllers

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// blockHost drives Calico's IPAM on one node, for one life of its agent.
type blockHost struct {
	*nodeWriter
	side        Side
	machine     *calico.Host
	events      inTurn[calico.Event]
	nodes, feed *cluster.Informer
	wake        uint64
	// waiting are plugins that have asked, by number; asked is the last one's.
	waiting map[uint64]func()
	asked   uint64
}

func newBlockHost(s *blockSystem, node string, side Side, alloc calico.Node) *blockHost {
	if plant := s.env.Plant.Side; plant != nil {
		side = plant(node, side)
	}
	h := &blockHost{
		nodeWriter: newNodeWriter(&s.env, node, "calico", &s.requests), side: side, machine: calico.NewHost(s.pools, alloc),
		waiting: make(map[uint64]func()),
	}
	// Fresh: an address that was given back and is another node's by now must not be taken for this node's, nor its former
	// Node object for the present one.
	h.feed = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "calico", At: h.at, Kind: cluster.KindResource, Fresh: true, Handler: blockWatch(h.step)})
	h.nodes = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "calico", At: h.at, Kind: cluster.KindNode, Fresh: true, Handler: nodeWatch{node, h.step}})
	return h
}

func (h *blockHost) start() {
	h.changed()
	h.nodes.Start()
	h.feed.Start()
}

func (h *blockHost) stop() {
	h.dead = true
	h.nodes.Stop()
	h.feed.Stop()
	for _, id := range slices.Sorted(maps.Keys(h.waiting)) {
		h.letGo(id)
	}
}

// changed says how the agent is.
func (h *blockHost) changed() {
	h.step(calico.AgentSeen{Blocks: h.side.Blocks(), Idle: h.side.Idle()})
}

// prepare has then called when the agent may be asked for a pod's address.
func (h *blockHost) prepare(a Attempt, pool string, then func()) {
	h.asked++
	h.waiting[h.asked] = then
	h.step(calico.PodComing{ID: h.asked, Owner: a.Owner, Want: calico.WantOf(h.env.Plan.CalicoAnnotations(pool), nil, nil, a.Wanted)})
}

func (h *blockHost) letGo(id uint64) {
	then := h.waiting[id]
	delete(h.waiting, id)
	then()
}

func (h *blockHost) step(ev calico.Event) {
	h.events.take(ev, func(ev calico.Event) {
		for _, e := range h.machine.Step(h.env.now(), ev) {
			if h.dead {
				return
			}
			h.perform(e)
		}
		if _, woke := ev.(calico.Woke); woke {
			h.env.decided(h.node, "%s", h.machine)
		}
	})
}

func (h *blockHost) perform(e calico.Effect) {
	switch e := e.(type) {
	case calico.WriteBlock:
		h.write(blockRequests[e.For], e.Block.CIDR.String(), writeBlock(e), func(o cluster.Object, err error) { h.step(wroteBlock(o, err)) })
	case calico.TellAgent:
		h.env.Tell(h.node, e.Blocks)
	case calico.LetGo:
		h.letGo(e.ID)
	case calico.Note:
		h.env.Note(h.node, "calico: "+e.Text)
	case calico.WakeAt:
		h.wake++
		n := h.wake
		h.env.Clock.After(e.At.Sub(h.env.now()), &step{h.node, "calico", func() {
			if h.wake == n && !h.dead {
				h.step(calico.Woke{})
			}
		}})
	}
}

func (h *blockHost) want() []netip.Prefix { return h.machine.Want() }

func (h *blockHost) pending() string {
	why := h.machine.Pending()
	if why == "" && h.machine.Owes(h.env.now()) {
		why = "a pod that was refused will find an address"
	}
	return why
}
