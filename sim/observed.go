package sim

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/sim/internal/observe"
)

// observed is a machine as its observer sees it.
type observed struct{ m *machine }

var _ observe.View = observed{}

// Fact implements observe.View.
func (o observed) Fact(f fact.Fact) { o.m.fact(f) }

// Rest implements observe.View: by the machine's clock.
func (o observed) Rest() time.Duration { return o.m.clocks.truly(o.m.w.rest()) }

// Left implements observe.View.
func (o observed) Left(addr netip.Addr, owner ipam.Owner) *fact.Leftover {
	return o.m.leftover(addr, owner, o.m.w.tenants[addr].of(owner))
}

// Formerly implements observe.View.
func (o observed) Formerly(addr netip.Addr, owner ipam.Owner) *fact.Leftover {
	return o.m.formerly(addr, owner)
}

// Pool implements observe.View.
func (o observed) Pool(owner ipam.Owner) string {
	if asker, ok := o.m.w.system.(controllers.PoolAsker); ok {
		return asker.PoolOf(owner)
	}
	return ""
}

// Released implements observe.View.
func (o observed) Released(addr netip.Addr) { o.m.rest(addr) }

// Leased implements observe.View.
func (o observed) Leased(owner ipam.Owner) { o.m.addLeased(owner) }

// Identified implements observe.View.
func (o observed) Identified() { o.m.ableAt = o.m.w.eng.Now() }

// Management implements observe.View.
func (o observed) Management() []netip.Addr { return o.m.management }
