package museum

import (
	"net/netip"
	"slices"
	"time"

	ciliumipam "github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// ledgered is what decides in one life of cilium-operator, made to forget. The ledger would stop an operator that has
// missed an entry, because its next one has a number that exists: upstream has no ledger, so entries are numbered here
// behind all there are. What a node shows stays shown, as upstream's operator only adds to a resource.
type ledgered struct {
	ciliumipam.Pools
	life    int
	version uint64
	// forgetLast: the ledger's last claim is missed, in the node's resource too.
	forgetLast bool
	held       *ciliumipam.Claim
	forgotten  netip.Prefix
	// forgetOnExtend: a pool that changes is made from nothing.
	forgetOnExtend bool
	upserts        int
}

// pools wraps every life of the operator.
func pools(change func(p *ledgered)) *sim.Plant {
	return &sim.Plant{Controllers: controllers.Plant{Pools: func(life int, p ciliumipam.Pools) ciliumipam.Pools {
		l := &ledgered{Pools: p, life: life}
		change(l)
		return l
	}}}
}

// UpsertPool implements ciliumipam.Pools.
func (p *ledgered) UpsertPool(name string, spec ciliumipam.PoolSpec) error {
	p.upserts++
	if p.forgetOnExtend && p.upserts > 1 {
		fresh, err := ciliumipam.NewPoolOperator(ciliumipam.PoolOperatorConfig{})
		if err != nil {
			return err
		}
		fresh.FinishRestore()
		p.Pools = fresh
	}
	return p.Pools.UpsertPool(name, spec)
}

// Apply implements ciliumipam.Pools.
func (p *ledgered) Apply(c ciliumipam.Claim) error {
	p.version = max(p.version, c.Version)
	if !p.forgetLast {
		return p.Pools.Apply(c)
	}
	before := p.held
	p.held = &c
	if before == nil {
		return nil
	}
	return p.Pools.Apply(*before)
}

// Adopt implements ciliumipam.Pools.
func (p *ledgered) Adopt(now time.Time, n *ciliumipam.CiliumNode) ([]ciliumipam.Claim, error) {
	if p.held != nil && p.held.Op == ciliumipam.OpClaim {
		p.forgotten = p.held.CIDR
	}
	view := *n
	view.Spec.IPAM.Pools.Allocated = nil
	for _, a := range n.Spec.IPAM.Pools.Allocated {
		a.CIDRs = slices.DeleteFunc(slices.Clone(a.CIDRs), func(c netip.Prefix) bool { return c == p.forgotten })
		view.Spec.IPAM.Pools.Allocated = append(view.Spec.IPAM.Pools.Allocated, a)
	}
	entries, err := p.Pools.Adopt(now, &view)
	return p.renumbered(entries), err
}

// Reconcile implements ciliumipam.Pools.
func (p *ledgered) Reconcile(now time.Time, n *ciliumipam.CiliumNode) ([]ciliumipam.PoolAllocation, []ciliumipam.Claim, error) {
	for _, a := range n.Spec.IPAM.Pools.Allocated {
		if slices.Contains(a.CIDRs, p.forgotten) {
			return n.Spec.IPAM.Pools.Allocated, nil, nil // its resource is not in the cache either
		}
	}
	allocated, entries, err := p.Pools.Reconcile(now, n)
	return merged(n.Spec.IPAM.Pools.Allocated, allocated), p.renumbered(entries), err
}

// Delete implements ciliumipam.Pools.
func (p *ledgered) Delete(now time.Time, incarnation string) []ciliumipam.Claim {
	return p.renumbered(p.Pools.Delete(now, incarnation))
}

// Restate implements ciliumipam.Pools.
func (p *ledgered) Restate() []ciliumipam.Claim { return p.renumbered(p.Pools.Restate()) }

func (p *ledgered) renumbered(entries []ciliumipam.Claim) []ciliumipam.Claim {
	entries = slices.Clone(entries)
	for i := range entries {
		p.version++
		entries[i].Version = p.version
	}
	return entries
}

// merged is what a resource shows and what should be added.
func merged(shown, wanted []ciliumipam.PoolAllocation) []ciliumipam.PoolAllocation {
	out := slices.Clone(shown)
	for _, w := range wanted {
		i := slices.IndexFunc(out, func(a ciliumipam.PoolAllocation) bool { return a.Pool == w.Pool })
		if i < 0 {
			out = append(out, w)
			continue
		}
		out[i].CIDRs = slices.Clone(out[i].CIDRs)
		for _, c := range w.CIDRs {
			if !slices.Contains(out[i].CIDRs, c) {
				out[i].CIDRs = append(out[i].CIDRs, c)
			}
		}
	}
	return out
}
