package museum

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/supply"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// transparent wraps everything and changes nothing.
func transparent() *sim.Plant {
	p := controllers(func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect { return c.inner(now, ev) })
	p.Config = func(*agent.Config) {}
	p.Agent = agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect { return l.inner(now, ev) })
	p.Allocator = func(_ string, a ipam.NodeAllocator) ipam.NodeAllocator {
		return &leaky{NodeAllocator: a, keep: func(ipam.Owner) bool { return false }}
	}
	p.Journal = func(_ string, e agent.Persist) agent.Persist { return e }
	p.Records = func(_ string, records []agent.Record) []agent.Record { return records }
	p.Stopping = func(string) []agent.StoreRequest { return nil }
	p.Supply.Pools = func(_ int, p supply.Pools) supply.Pools { return struct{ supply.Pools }{p} }
	p.Supply.Demand = func(_ string, d supply.Demand) supply.Demand { return struct{ supply.Demand }{d} }
	p.Supply.Side = func(_ string, s supply.Side) supply.Side { return struct{ supply.Side }{s} }
	p.Supply.Cloud = func(_ string, c supply.Cloud) supply.Cloud { return struct{ supply.Cloud }{c} }
	p.Supply.Manager = managers(func(m *manager, now time.Time, ev datastore.Event) []datastore.Effect { return m.inner(now, ev) }).Supply.Manager
	return p
}
