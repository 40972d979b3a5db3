package controllers

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// Plant wraps parts of a System so that a fault is back that some upstream had; see sim.Plant. Nil functions wrap nothing.
type Plant struct {
	// Controller wraps one life of the controller manager's allocator, which was made with these parameters.
	Controller func(life int, p nodeipam.CIDRAllocatorParams, a nodeipam.Machine) nodeipam.Machine
	// Pools wraps what decides in one life of cilium-operator.
	Pools func(life int, p Pools) Pools
	// Demand wraps what one life of a node's Cilium agent asks for and gives back.
	Demand func(node string, d Demand) Demand
	// Handshake wraps what one life of a node's Cilium agent says in the release handshake; lives count from 1.
	Handshake func(node string, life int, h Handshake) Handshake
	// Expirations wraps the timers of addresses in one life of a node's Cilium agent, Routes how it keeps its host's routes out.
	Expirations func(node string, e Expirations) Expirations
	Routes      func(node string, core *cilium.IPAM, routes func() []cilium.Route) Reserver
	// Side wraps what is seen of one life of a node's agent.
	Side func(node string, s Side) Side
	// Manager wraps one life of a node's ipamd, which decides about pool.
	Manager func(node string, pool *datastore.NodePool, m Manager) Manager
	// Cloud wraps the EC2 that a node's ipamds ask.
	Cloud func(node string, c Cloud) Cloud
}

// Pools is what cilium-operator decides by: cilium.PoolOperator.
type Pools interface {
	UpsertPool(name string, spec cilium.PoolSpec) error
	RetireRange(name string, r netip.Prefix) error
	Apply(c cilium.Claim) error
	Adopt(now time.Time, n *cilium.CiliumNode) ([]cilium.Claim, error)
	FinishRestore()
	Reconcile(now time.Time, n *cilium.CiliumNode) ([]cilium.PoolAllocation, []cilium.Claim, error)
	Wrote(n *cilium.CiliumNode)
	Delete(now time.Time, incarnation string) []cilium.Claim
	Records() []cilium.Claim
}

// Demand is what a Cilium agent asks its operator for.
type Demand interface {
	// Needed is how many addresses the node needs in all, Excess which blocks it can give back and still have them.
	Needed(now time.Time) int
	Excess(needed int) []netip.Prefix
	// Refused says that an owner found no address.
	Refused(now time.Time, o ipam.Owner)
	// Occupied reports whether a pod holds an address of a block.
	Occupied(p netip.Prefix) bool
}

// Manager is what an ipamd decides by: datastore.Manager.
type Manager = datastore.Keeper

// Cloud is EC2 as one instance sees it: ec2.Instance.
type Cloud interface {
	Describe(now time.Time) ([]ec2.ENI, error)
	Metadata(now time.Time) []ec2.ENI
	Create(now time.Time, units int, prefixes bool) (ec2.ENI, time.Time, error)
	Assign(now time.Time, eni string, units int, prefixes bool) ([]netip.Prefix, error)
	Unassign(now time.Time, eni string, units []netip.Prefix) error
	Delete(now time.Time, eni string) error
	Attach(now time.Time, tags map[string]string, trunk bool) (string, error)
	Terminate(now time.Time)
}

// allocatorDemand is the demand of a node's allocator.
type allocatorDemand struct {
	cilium.NodeDemand
	alloc *cilium.Node
}

// Needed implements Demand.
func (d *allocatorDemand) Needed(now time.Time) int { return d.NodeDemand.Needed(now, d.alloc) }

// Excess implements Demand.
func (d *allocatorDemand) Excess(needed int) []netip.Prefix {
	return d.NodeDemand.Excess(d.alloc, needed)
}

// Occupied implements Demand.
func (d *allocatorDemand) Occupied(p netip.Prefix) bool {
	for l := range d.alloc.Leases() {
		if p.Contains(l.Addr) {
			return true
		}
	}
	return false
}
