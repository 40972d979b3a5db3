package datastore

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// NodePool is which ENIs and units EC2 has given to the instance of a Node, as a Manager knows it. Blocks is what the
// Node should have; an IPAMD tells its agent.
//
// A unit that the Manager gives back is out of Blocks at once, but the Node may still have it. An UnassignUnits or
// DeleteENI must not reach EC2 before the Node has none of its units any more and all nodes that route them know, and
// is void when the Manager makes another call meanwhile. Where a pod was faster, the answer is ErrIPInUse: the Manager
// asks EC2 then, and the unit comes back. An IPAMD sees to both.
type NodePool struct {
	node  *Node
	clock Clock
	enis  []*eni     // by device number, then ID
	units []poolUnit // ascending
	// alone is not nil where nobody but the pool sets the Node's blocks, and says how long an address cools there. stale:
	// they are to be set before the Node is asked.
	alone *time.Duration
	stale bool
	// forcedENIs and forcedIPs count what EC2 took away under pods.
	forcedENIs, forcedIPs int
}

// eni is one network interface.
type eni struct {
	id             string
	device         int
	primary, trunk bool
	created        time.Time
	units          []netip.Prefix // ascending
}

func compareENI(a, b *eni) int {
	return cmp.Or(cmp.Compare(a.device, b.device), cmp.Compare(a.id, b.id))
}

// poolUnit is what EC2 hands out and takes back as one: a secondary address (/32) or a delegated prefix (/28).
type poolUnit struct {
	netip.Prefix
	eni *eni
}

// NewNodePool returns a pool without ENIs for n.
func NewNodePool(n *Node, now Clock) *NodePool { return &NodePool{node: n, clock: now} }

// Blocks are the units that the Node should have, in the order in which they are to be used: by ENI, then ascending.
func (p *NodePool) Blocks() []netip.Prefix {
	var list []netip.Prefix
	for _, e := range p.enis {
		list = append(list, e.units...)
	}
	return list
}

func (p *NodePool) eni(id string) *eni {
	i := slices.IndexFunc(p.enis, func(e *eni) bool { return e.id == id })
	if i < 0 {
		return nil
	}
	return p.enis[i]
}

// AddENI adds an ENI without units. Error: ErrDuplicatedENI.
func (p *NodePool) AddENI(eniID string, deviceNumber int, isPrimary, isTrunk bool) error {
	if p.eni(eniID) != nil {
		return ErrDuplicatedENI
	}
	e := &eni{id: eniID, device: deviceNumber, primary: isPrimary, trunk: isTrunk, created: p.clock()}
	i, _ := slices.BinarySearchFunc(p.enis, e, compareENI)
	p.enis = slices.Insert(p.enis, i, e)
	return nil
}

// AddIPv4CidrToStore adds a unit to an ENI, a delegated prefix of at most 2^12 addresses or one address as a /32.
// Errors: ErrUnknownENI (with a text of its own), ErrInvalidAddress, ErrIPAlreadyInStore when it overlaps another one.
func (p *NodePool) AddIPv4CidrToStore(eniID string, cidr netip.Prefix) error {
	e := p.eni(eniID)
	if e == nil {
		return errAddToUnknownENI
	}
	cidr = space.Normal(cidr)
	if !cidr.IsValid() || !cidr.Addr().Is4() || space.HostBits(cidr) > 12 || cidr.Contains(p.node.addrs.gateway) {
		return ErrInvalidAddress
	}
	i, _ := p.search(cidr.Addr())
	if i > 0 && p.units[i-1].Overlaps(cidr) || i < len(p.units) && p.units[i].Overlaps(cidr) {
		return ErrIPAlreadyInStore
	}
	p.units = slices.Insert(p.units, i, poolUnit{cidr, e})
	at, _ := slices.BinarySearchFunc(e.units, cidr, netip.Prefix.Compare)
	e.units = slices.Insert(e.units, at, cidr)
	p.stale = true
	return nil
}

// search is the position of the first unit that begins at an address or behind it, and whether it begins there.
func (p *NodePool) search(a netip.Addr) (int, bool) {
	return slices.BinarySearchFunc(p.units, a, func(u poolUnit, a netip.Addr) int { return u.Addr().Compare(a) })
}

// eniOf is the ENI with an address, nil when there is none. The address was picked from b.
func (p *NodePool) eniOf(b *block, a netip.Addr) *eni {
	if b != nil && !b.Draining() {
		return b.Own.eni
	}
	if b = p.node.ActiveAt(a); b != nil {
		return b.Own.eni
	}
	return nil
}

// DelIPv4CidrFromStore takes a unit out, which must be one that was added; one with pods only with force. Errors:
// ErrUnknownENI, ErrUnknownIP, ErrIPInUse.
func (p *NodePool) DelIPv4CidrFromStore(eniID string, cidr netip.Prefix, force bool) error {
	e := p.eni(eniID)
	if e == nil {
		return ErrUnknownENI
	}
	i := slices.Index(e.units, space.Normal(cidr))
	if i < 0 {
		return ErrUnknownIP
	}
	if c := p.count(e.units[i]); c[assigned] > 0 {
		if !force {
			return ErrIPInUse
		}
		p.forcedIPs += c[assigned]
	}
	p.forget(e.units[i])
	e.units = slices.Delete(e.units, i, i+1)
	return nil
}

// forget takes a unit of an ENI out of the index.
func (p *NodePool) forget(u netip.Prefix) {
	i, _ := p.search(u.Addr())
	p.units = slices.Delete(p.units, i, i+1)
	p.stale = true
}

// RemoveENIFromDataStore takes an ENI out; one with pods only with force. Errors: ErrUnknownENI, ErrENIInUse.
func (p *NodePool) RemoveENIFromDataStore(eniID string, force bool) error {
	e := p.eni(eniID)
	if e == nil {
		return ErrUnknownENI
	}
	if c := p.sum(e); c[assigned] > 0 {
		if !force {
			return ErrENIInUse
		}
		p.forcedENIs++
		p.forcedIPs += c[assigned]
	}
	p.remove(e)
	return nil
}

func (p *NodePool) remove(e *eni) {
	for _, u := range e.units {
		p.forget(u)
	}
	p.enis = slices.DeleteFunc(p.enis, func(x *eni) bool { return x == e })
}

// RemoveUnusedENI removes one ENI that is not needed and returns its ID, for the caller to detach; "" when there is
// none. Enough judges the account as it would be without the ENI. The ENI with the highest device number goes first.
//
// An ENI stays when it is primary or a trunk, younger than ENILifeMin, or when one of its addresses is not idle.
func (p *NodePool) RemoveUnusedENI(enough func(rest Stats) bool) string {
	for _, e := range slices.Backward(p.enis) {
		if p.deletable(e) && enough(p.stats(e)) {
			p.remove(e)
			return e.id
		}
	}
	return ""
}

func (p *NodePool) deletable(e *eni) bool {
	if e.primary || e.trunk || p.clock().Sub(e.created) < ENILifeMin {
		return false
	}
	c := p.sum(e)
	return c[assigned]+c[cooling]+c[aside] == 0
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

// IdleUnits lists what could be given back to EC2 without harm: units of an ENI of which every address is idle, in
// ascending order.
func (p *NodePool) IdleUnits(eniID string) []netip.Prefix {
	list := []netip.Prefix{}
	if e := p.eni(eniID); e != nil {
		for _, u := range e.units {
			if p.count(u).idle() {
				list = append(list, u)
			}
		}
	}
	return list
}

// occupied reports whether a pod holds an address of a prefix.
func (p *NodePool) occupied(u netip.Prefix) bool {
	for l := range p.node.Leases() {
		if u.Contains(l.Addr) {
			return true
		}
	}
	return false
}

func (p *NodePool) rooms() []Room {
	list := make([]Room, len(p.enis))
	for i, e := range p.enis {
		list[i] = Room{ENI: e.id, Units: len(e.units), Primary: e.primary, Trunk: e.trunk}
	}
	return list
}

// ReadBackingStore has nothing to read: the Node's records are its driver's affair.
func (p *NodePool) ReadBackingStore() error { return nil }

// Flush has nothing to write.
func (p *NodePool) Flush() error { return nil }
