package datastore

import (
	"fmt"
	"net/netip"
)

// Stats is how many addresses a store has and what they are doing. Total = assigned + cooling + quarantined +
// available.
type Stats struct {
	TotalIPs, AssignedIPs int
	// CooldownIPs were given back less than the cooling period ago.
	CooldownIPs int
	// QuarantinedIPs are named by damaged checkpoint entries.
	QuarantinedIPs int
	// TotalPrefixes is how many delegated /28 prefixes there are, FreePrefixes how many of them have all addresses
	// available.
	TotalPrefixes, FreePrefixes int
	// ForceRemovedENIs and ForceRemovedIPs count, since the store was made, what went away under pods.
	ForceRemovedENIs, ForceRemovedIPs int
}

// AvailableAddresses is how many addresses could be assigned at this moment.
func (s Stats) AvailableAddresses() int {
	return s.TotalIPs - s.AssignedIPs - s.CooldownIPs - s.QuarantinedIPs
}

// GetStats returns total and assigned addresses.
func (p *NodePool) GetStats() (total, assignedIPs int) {
	s := p.stats(nil)
	return s.TotalIPs, s.AssignedIPs
}

// GetIPStats returns the whole account.
func (p *NodePool) GetIPStats() Stats { return p.stats(nil) }

// stats is the account without one ENI, which may be nil.
func (p *NodePool) stats(without *eni) Stats {
	s := Stats{ForceRemovedENIs: p.forcedENIs, ForceRemovedIPs: p.forcedIPs}
	for _, e := range p.enis {
		if e == without {
			continue
		}
		for _, u := range e.units {
			c := p.count(u)
			s.TotalIPs += 1 << (u.Addr().BitLen() - u.Bits())
			s.AssignedIPs += c[assigned]
			s.CooldownIPs += c[cooling]
			s.QuarantinedIPs += c[aside]
			if !u.IsSingleIP() {
				s.TotalPrefixes++
				if c.idle() {
					s.FreePrefixes++
				}
			}
		}
	}
	return s
}

// idle reports whether no address is anything else.
func (c counts) idle() bool { return c[assigned]+c[cooling]+c[aside] == 0 }

func (p *NodePool) sum(e *eni) (sum counts) {
	for _, u := range e.units {
		for s, n := range p.count(u) {
			sum[s] += n
		}
	}
	return sum
}

// count is the account of a unit, whether the Node has it as a block or not.
func (p *NodePool) count(u netip.Prefix) (c counts) {
	p.settle()
	a := &p.node.addrs
	a.expire(p.clock())
	if b := p.node.ActiveAt(u.Addr()); b != nil && b.Prefix == u {
		return b.Own.counts
	}
	for addr := u.Addr(); u.Contains(addr); addr = addr.Next() {
		c[a.state(addr)]++
	}
	return c
}

// settle gives the Node its blocks where nobody else does.
func (p *NodePool) settle() {
	if p.alone == nil {
		return
	}
	if p.node.addrs.period = *p.alone; p.node.addrs.period <= 0 {
		p.node.addrs.period = -1
	}
	if !p.stale {
		return
	}
	p.stale = false
	if _, err := p.node.SetBlocks(p.clock(), p.Blocks()); err != nil {
		panic(fmt.Sprintf("datastore: units that were added are refused: %v", err)) // they are disjoint and of a good size
	}
	blocks := p.node.Active()
	for _, e := range p.enis {
		for _, b := range blocks[:len(e.units)] {
			b.Own.eni = e
		}
		blocks = blocks[len(e.units):]
	}
}
