package datastore

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// NodePool is which ENIs and units EC2 has given to the instance of a Node, as a Manager knows it. Blocks is what the Node
// should have; whoever drives the Manager sets it after each Step, in its own way: blocks that go may have to be journaled
// and told to other nodes first.
//
// A unit that the Manager gives back is out of Blocks at once, but the Node may still have it. An UnassignUnits or DeleteENI
// must not reach EC2 before the Node has none of its units any more and everybody who routes them knows, and is void when the
// Manager makes another call meanwhile. Where a pod was faster, the driver answers with ErrIPInUse: the Manager asks EC2 then,
// and the unit comes back.
type NodePool struct {
	node *Node
	now  Clock
	enis []*poolENI // by device number, then ID
	// forcedENIs and forcedIPs count what EC2 took away under pods.
	forcedENIs, forcedIPs int
}

type poolENI struct {
	id             string
	device         int
	primary, trunk bool
	created        time.Time
	units          []netip.Prefix // ascending
}

// NewNodePool returns a pool without ENIs for n.
func NewNodePool(n *Node, now Clock) *NodePool { return &NodePool{node: n, now: now} }

// Blocks are the units that the Node should have, in the order in which they are to be used: by ENI, then ascending.
func (p *NodePool) Blocks() []netip.Prefix {
	var list []netip.Prefix
	for _, e := range p.enis {
		list = append(list, e.units...)
	}
	return list
}

func (p *NodePool) eni(id string) *poolENI {
	i := slices.IndexFunc(p.enis, func(e *poolENI) bool { return e.id == id })
	if i < 0 {
		return nil
	}
	return p.enis[i]
}

// AddENI is DataStore.AddENI. Error: ErrDuplicatedENI.
func (p *NodePool) AddENI(eniID string, deviceNumber int, isPrimary, isTrunk bool) error {
	if p.eni(eniID) != nil {
		return ErrDuplicatedENI
	}
	p.enis = append(p.enis, &poolENI{id: eniID, device: deviceNumber, primary: isPrimary, trunk: isTrunk, created: p.now()})
	slices.SortFunc(p.enis, func(a, b *poolENI) int {
		return cmp.Or(cmp.Compare(a.device, b.device), strings.Compare(a.id, b.id))
	})
	return nil
}

// AddIPv4CidrToStore adds a unit to an ENI. Errors: ErrUnknownENI, ErrIPAlreadyInStore when it overlaps another one.
func (p *NodePool) AddIPv4CidrToStore(eniID string, cidr netip.Prefix) error {
	e := p.eni(eniID)
	if e == nil {
		return ErrUnknownENI
	}
	cidr = space.Normal(cidr)
	if slices.ContainsFunc(p.Blocks(), cidr.Overlaps) {
		return ErrIPAlreadyInStore
	}
	e.units = append(e.units, cidr)
	slices.SortFunc(e.units, netip.Prefix.Compare)
	return nil
}

// DelIPv4CidrFromStore takes a unit out; one with pods only with force. Errors: ErrUnknownENI, ErrUnknownIP, ErrIPInUse.
func (p *NodePool) DelIPv4CidrFromStore(eniID string, cidr netip.Prefix, force bool) error {
	e := p.eni(eniID)
	if e == nil {
		return ErrUnknownENI
	}
	i := slices.Index(e.units, space.Normal(cidr))
	if i < 0 {
		return ErrUnknownIP
	}
	if c := p.count(e.units[i]); c.held > 0 {
		if !force {
			return ErrIPInUse
		}
		p.forcedIPs += c.held
	}
	e.units = slices.Delete(e.units, i, i+1)
	return nil
}

// RemoveENIFromDataStore takes an ENI out; one with pods only with force. Errors: ErrUnknownENI, ErrENIInUse.
func (p *NodePool) RemoveENIFromDataStore(eniID string, force bool) error {
	e := p.eni(eniID)
	if e == nil {
		return ErrUnknownENI
	}
	c := p.sum(e)
	if c.held > 0 {
		if !force {
			return ErrENIInUse
		}
		p.forcedENIs++
		p.forcedIPs += c.held
	}
	p.remove(e)
	return nil
}

func (p *NodePool) remove(e *poolENI) {
	p.enis = slices.DeleteFunc(p.enis, func(x *poolENI) bool { return x == e })
}

// RemoveUnusedENI is DataStore.RemoveUnusedENI.
func (p *NodePool) RemoveUnusedENI(enough func(rest Stats) bool) string {
	for _, e := range slices.Backward(p.enis) {
		c := p.sum(e)
		young := p.now().Sub(e.created) < ENILifeMin
		if e.primary || e.trunk || young || c.held+c.cooling > 0 || !enough(p.stats(e)) {
			continue
		}
		p.remove(e)
		return e.id
	}
	return ""
}

// ENIIDs lists the ENIs by device number, then ID.
func (p *NodePool) ENIIDs() []string {
	list := make([]string, len(p.enis))
	for i, e := range p.enis {
		list[i] = e.id
	}
	return list
}

// GetENIs is how many ENIs there are.
func (p *NodePool) GetENIs() int { return len(p.enis) }

// GetTrunkENI is the ID of the trunk ENI, "" when there is none.
func (p *NodePool) GetTrunkENI() string {
	for _, e := range p.enis {
		if e.trunk {
			return e.id
		}
	}
	return ""
}

// Units lists an ENI's units in ascending order; nil for an unknown ENI.
func (p *NodePool) Units(eniID string) []netip.Prefix {
	e := p.eni(eniID)
	if e == nil {
		return nil
	}
	return append([]netip.Prefix{}, e.units...)
}

// IdleUnits lists an ENI's units of which every address could be given now, in ascending order.
func (p *NodePool) IdleUnits(eniID string) []netip.Prefix {
	list := []netip.Prefix{}
	if e := p.eni(eniID); e != nil {
		for _, u := range e.units {
			if p.count(u) == (unitCount{}) {
				list = append(list, u)
			}
		}
	}
	return list
}

func (p *NodePool) rooms() []Room {
	list := make([]Room, len(p.enis))
	for i, e := range p.enis {
		list[i] = Room{ENI: e.id, Units: len(e.units), Primary: e.primary, Trunk: e.trunk}
	}
	return list
}

// GetIPStats returns the account of all units.
func (p *NodePool) GetIPStats() Stats { return p.stats(nil) }

// ReadBackingStore has nothing to read: the Node's records are its driver's affair.
func (p *NodePool) ReadBackingStore() error { return nil }

// Flush has nothing to write.
func (p *NodePool) Flush() error { return nil }

// unitCount is how many of a unit's addresses pods hold and how many cool.
type unitCount struct{ held, cooling int }

func (p *NodePool) count(u netip.Prefix) (c unitCount) {
	p.node.saw(p.now())
	p.node.thaw()
	for addr := range p.node.holder { // in any order: it is a sum
		if u.Contains(addr) {
			c.held++
		}
	}
	for addr := range p.node.embers { // in any order: it is a sum
		if u.Contains(addr) {
			c.cooling++
		}
	}
	return c
}

func (p *NodePool) sum(e *poolENI) (sum unitCount) {
	for _, u := range e.units {
		c := p.count(u)
		sum.held += c.held
		sum.cooling += c.cooling
	}
	return sum
}

// stats is the account without one ENI, which may be nil.
func (p *NodePool) stats(without *poolENI) Stats {
	s := Stats{ForceRemovedENIs: p.forcedENIs, ForceRemovedIPs: p.forcedIPs}
	for _, e := range p.enis {
		if e == without {
			continue
		}
		for _, u := range e.units {
			c := p.count(u)
			s.TotalIPs += 1 << (u.Addr().BitLen() - u.Bits())
			s.AssignedIPs += c.held
			s.CooldownIPs += c.cooling
			if u.Bits() < u.Addr().BitLen() {
				s.TotalPrefixes++
				if c == (unitCount{}) {
					s.FreePrefixes++
				}
			}
		}
	}
	return s
}
