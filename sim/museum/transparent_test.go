package museum

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	ciliumipam "github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// transparent wraps everything and changes nothing.
func transparent() *sim.Plant {
	p := controllerManagers(func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect { return c.inner(now, ev) })
	p.Config = func(*agent.Config) {}
	contracts := map[*life]*story.Contract{}
	p.Agent = agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
		// The simulator is a driver: it is held to the contract of Step on the way.
		if contracts[l] == nil {
			contracts[l] = story.Watched(l.PlantedAgent)
		}
		return slices.Clone(contracts[l].Step(now, ev))
	})
	p.Allocator = func(_ string, a ipam.NodeAllocator) ipam.NodeAllocator {
		return &leaky{NodeAllocator: a, keep: func(ipam.Owner) bool { return false }}
	}
	p.Journal = func(_ string, e agent.Persist) agent.Persist { return e }
	p.Records = func(_ string, records []agent.Record) []agent.Record { return records }
	p.Stopping = func(string) []agent.StoreRequest { return nil }
	p.Controllers.Pools = func(_ int, p ciliumipam.Pools) ciliumipam.Pools { return struct{ ciliumipam.Pools }{p} }
	p.Controllers.Demand = func(_ string, d ciliumipam.Demand) ciliumipam.Demand { return struct{ ciliumipam.Demand }{d} }
	p.Controllers.Handshake = func(_ string, _ int, h ciliumipam.Handshake) ciliumipam.Handshake {
		return struct{ ciliumipam.Handshake }{h}
	}
	p.Controllers.Side = func(_ string, s controllers.Side) controllers.Side { return struct{ controllers.Side }{s} }
	p.Controllers.Cloud = func(_ string, c controllers.Cloud) controllers.Cloud { return struct{ controllers.Cloud }{c} }
	p.Controllers.Manager = managers(func(m *manager, now time.Time, ev datastore.Event) []datastore.Effect { return m.inner(now, ev) }).Controllers.Manager
	return p
}
