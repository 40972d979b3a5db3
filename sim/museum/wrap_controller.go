package museum

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// controller is one life of the controller manager's allocator with a planted fault around its steps.
type controller struct {
	nodeipam.Machine
	life   int
	params nodeipam.CIDRAllocatorParams
	step   func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect
	alarm  alarm
}

// Step implements nodeipam.Machine.
func (c *controller) Step(now time.Time, ev nodeipam.Event) []nodeipam.Effect {
	return c.step(c, now, ev)
}

// inner is the allocator's own step.
func (c *controller) inner(now time.Time, ev nodeipam.Event) []nodeipam.Effect {
	return c.Machine.Step(now, ev)
}

// controllerManagers wraps every life of the controller manager by one step.
func controllerManagers(step func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect) *sim.Plant {
	return &sim.Plant{Controllers: controllers.Plant{Controller: func(life int, p nodeipam.CIDRAllocatorParams, a nodeipam.Machine) nodeipam.Machine {
		return &controller{Machine: a, life: life, params: p, step: step}
	}}}
}

// blocks is how many blocks the controller's ranges have.
func (c *controller) blocks() (n int) {
	for _, r := range c.params.MultiCIDRs {
		n += 1 << (r.IPv4.Addr().BitLen() - r.PerNodeHostBits - r.IPv4.Bits())
	}
	return n
}

// inRange reports whether a pod CIDR lies in one of the controller's ranges.
func (c *controller) inRange(cidr string) bool {
	p, err := netip.ParsePrefix(cidr)
	return err == nil && slices.ContainsFunc(c.params.MultiCIDRs, func(r nodeipam.ClusterCIDR) bool { return r.IPv4.Overlaps(p) })
}

// seen are the nodes that an event is about; a list's are all of them.
func seen(ev nodeipam.Event) []nodeipam.KubeNode {
	switch e := ev.(type) {
	case nodeipam.NodeAdded:
		return []nodeipam.KubeNode{e.Node}
	case nodeipam.NodeUpdated:
		return []nodeipam.KubeNode{e.Node}
	case nodeipam.Listed:
		return e.Nodes
	}
	return nil
}

// patches splits effects into writes of pod CIDRs that a function names and everything else.
func patches(effects []nodeipam.Effect, named func(p nodeipam.PatchNodeCIDRs) bool) (rest []nodeipam.Effect, list []nodeipam.PatchNodeCIDRs) {
	for _, e := range effects {
		if p, ok := e.(nodeipam.PatchNodeCIDRs); ok && named(p) {
			list = append(list, p)
		} else {
			rest = append(rest, e)
		}
	}
	return rest, list
}

// alarm joins the alarms of an allocator and of what is planted around it: a driver keeps only the last one.
type alarm struct{ theirs time.Time }

// join takes the allocator's alarms out of effects and puts the earlier of the two in their place; the zero time is
// none.
func (a *alarm) join(effects []nodeipam.Effect, mine time.Time) (out []nodeipam.Effect) {
	for _, e := range effects {
		if w, ok := e.(nodeipam.WakeAt); ok {
			a.theirs = w.At
		} else {
			out = append(out, e)
		}
	}
	at := a.theirs
	if at.IsZero() || !mine.IsZero() && mine.Before(at) {
		at = mine
	}
	return append(out, nodeipam.WakeAt{At: at})
}

// own is the first number of requests that planted faults make themselves; the allocator never gets there.
const own = 1 << 40
