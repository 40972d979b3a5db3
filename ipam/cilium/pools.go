package cilium

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Pools is what a PoolTerm decides by: a PoolOperator or ClusterPools.
type Pools interface {
	UpsertPool(name string, spec PoolSpec) error
	RetireRange(name string, r netip.Prefix) error
	Apply(c Claim) error
	Adopt(now time.Time, n *CiliumNode) ([]Claim, error)
	FinishRestore()
	Reconcile(now time.Time, n *CiliumNode) ([]PoolAllocation, []Claim, error)
	Wrote(n *CiliumNode)
	Delete(now time.Time, incarnation string) []Claim
	Records() []Claim
	Restate() []Claim
	ipam.Figured
}

// Upsert adds ranges to a pool, or a pool; PoolsChanged has to follow.
func (t *PoolTerm) Upsert(name string, spec PoolSpec) error {
	return t.cfg.Pools.UpsertPool(name, spec)
}

// Retire takes a range from a pool.
func (t *PoolTerm) Retire(name string, r netip.Prefix) error { return t.cfg.Pools.RetireRange(name, r) }

// Records are who holds which block, as the ledger says; false before that is known.
func (t *PoolTerm) Records() ([]Claim, bool) {
	if !t.ready || t.over {
		return nil, false
	}
	return t.cfg.Pools.Records(), true
}
