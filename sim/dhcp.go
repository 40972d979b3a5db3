package sim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// This is how VPP's DHCP client works (25.10, src/plugins/dhcp/client.c): it asks once a second, after ten failed
// requests every five seconds, and renews a lease after half of its time.
const (
	// dhcpExchange is from DISCOVER to ACK: four packets on a LAN, and a server that writes the lease down.
	dhcpExchange = 5 * time.Millisecond
	dhcpRetry    = time.Second
	dhcpSlow     = 5 * time.Second
	dhcpPatience = 10
)

// dhcpServer is the network's DHCP server. It identifies machines by MAC. It keeps a machine's address for as long as
// the lease lasts, and longer while no other machine needs it.
type dhcpServer struct {
	w       *World
	stopped bool
	ranges  netip.Prefix
	// reserved are addresses that an administrator wants machines to have.
	reserved map[*machine]netip.Prefix
	given    map[netip.Addr]*dhcpLease
}

type dhcpLease struct {
	to    port
	until time.Duration
}

// port is an interface of a machine's VPP, by its index.
type port struct {
	m  *machine
	at uint32
}

// mainNIC is the index of a VPP's first physical interface, which leads to the interconnect. Further ones come behind.
const mainNIC = 1

// rangeOf is what a port leases from.
func (d *dhcpServer) rangeOf(p port) netip.Prefix {
	if p.at == mainNIC {
		return d.ranges
	}
	return d.w.s.Config.DHCP.OtherRange
}

// lessee is one life of a VPP's DHCP client.
type lessee struct {
	port
	life  int
	gone  bool
	tries int
	// addr is what it has until expires; the zero prefix before.
	addr    netip.Prefix
	expires time.Duration
}

// wish is the address that a port gets now; false where none is free.
func (d *dhcpServer) wish(p port) (netip.Prefix, bool) {
	if r, ok := d.reserved[p.m]; ok && p.at == mainNIC {
		return r, true
	}
	ranges := d.rangeOf(p)
	now, bits := d.w.eng.Now(), ranges.Bits()
	var free, lapsed netip.Addr
	for a := scenarios.FirstLeased(ranges); ranges.Contains(a.Next()); a = a.Next() {
		l := d.given[a]
		switch {
		case d.taken(a, p.m):
		case l != nil && l.to == p:
			return netip.PrefixFrom(a, bits), true
		case l == nil && !free.IsValid():
			free = a
		case l != nil && l.until <= now && !lapsed.IsValid():
			lapsed = a
		}
	}
	if !free.IsValid() {
		free = lapsed
	}
	return netip.PrefixFrom(free, bits), free.IsValid()
}

// taken reports whether an address is kept for another machine than m.
func (d *dhcpServer) taken(a netip.Addr, m *machine) bool {
	if a == d.w.s.Config.DHCP.Router {
		return true
	}
	for other, p := range d.reserved { // in any order: it is a question about any of them
		if other != m && p.Addr() == a {
			return true
		}
	}
	return false
}

// dhcpClient reports a DHCP client that VPP has got or lost.
func (m *machine) dhcpClient(at uint32, wanted bool) {
	if c := m.lessees[at]; c != nil {
		c.gone = true
		delete(m.lessees, at)
	}
	if wanted && m.w.dhcp != nil {
		c := &lessee{port: port{m, at}, life: m.vppLife}
		if m.lessees == nil {
			m.lessees = map[uint32]*lessee{}
		}
		m.lessees[at] = c
		c.after(0, "dhcp discover", c.discover)
	}
}

// after lets the client do something later, unless it is gone by then. A VPP that stands still does it when it goes on.
func (c *lessee) after(d time.Duration, what string, do func()) {
	c.m.w.eng.After(d, &happening{c.m, what, func() {
		switch {
		case c.gone || c.m.vpp == nil || c.m.vppLife != c.life:
		case c.m.vppPaused:
			c.after(dhcpRetry, what, do)
		default:
			do()
		}
	}})
}

// retry is how long the client waits before it asks again.
func (c *lessee) retry() time.Duration {
	if c.tries++; c.tries > dhcpPatience {
		return dhcpSlow
	}
	return dhcpRetry
}

// hears reports whether the server would answer the client.
func (c *lessee) hears() bool { return !c.m.w.dhcp.stopped && c.m.vpp.Up(c.at) }

func (c *lessee) discover() {
	if !c.hears() {
		c.after(c.retry(), "dhcp discover", c.discover)
		return
	}
	c.after(dhcpExchange, "dhcp ack", c.bind)
}

// bind gives the client its address.
func (c *lessee) bind() {
	d := c.m.w.dhcp
	addr, ok := d.wish(c.port)
	if !ok || !c.hears() {
		c.after(c.retry(), "dhcp discover", c.discover)
		return
	}
	c.tries, c.addr, c.m.ableAt = 0, addr, d.w.eng.Now()
	l := vppmodel.Lease{Addr: addr}
	if c.at == mainNIC {
		l.Router = d.w.s.Config.DHCP.Router
	}
	c.lease(l)
	c.extend()
}

// extend makes the lease last from now on, and has it renewed.
func (c *lessee) extend() {
	d, lasts := c.m.w.dhcp, c.m.w.s.Config.DHCP.Lease
	c.tries, c.expires = 0, d.w.eng.Now()+lasts
	d.given[c.addr.Addr()] = &dhcpLease{c.port, c.expires}
	c.after(lasts/2, "dhcp renew", c.renew)
}

// renew asks for the same address again. A server that wants the machine to have another one refuses, and the client
// starts again.
func (c *lessee) renew() {
	d := c.m.w.dhcp
	if c.hears() {
		if addr, ok := d.wish(c.port); ok && addr == c.addr {
			c.extend()
			return
		}
		c.lose()
		return
	}
	wait := c.retry()
	if left := c.expires - d.w.eng.Now(); left <= 0 {
		c.lose()
		return
	} else if wait > left {
		wait = left
	}
	c.after(wait, "dhcp renew", c.renew)
}

func (c *lessee) lose() {
	c.addr = netip.Prefix{}
	c.lease(vppmodel.Lease{})
	c.tries = 0
	c.discover()
}

func (c *lessee) lease(l vppmodel.Lease) {
	c.m.w.stirs++
	if err := c.m.vpp.BindLease(c.at, l); err != nil {
		panic("sim: a DHCP client that is there cannot be served: " + err.Error())
	}
}

// unleased says what a machine's leases wait for, empty where the server has nothing to give or to change.
func (m *machine) unleased() string {
	d := m.w.dhcp
	if d == nil || d.stopped || m.vpp == nil {
		return ""
	}
	if m.w.s.Config.Leases(m.name) {
		if why := m.awaits(mainNIC); why != "" {
			return why
		}
		if m.proc != nil && !m.proc.paused && m.leased().IsValid() && m.overlooks() {
			return "the agent has not noticed its DHCP lease"
		}
	}
	for _, o := range m.w.s.OtherNICs(m.name) {
		if o.UseDHCP {
			if why := m.awaits(m.indexOf(o.Name)); why != "" {
				return why
			}
		}
	}
	return ""
}

// overlooks reports whether the agent has an ID and does not know the main interface's lease: the first one, before its
// node stands, or another.
func (m *machine) overlooks() bool {
	a := m.proc.agent
	if a.Node().ID != 0 {
		return a.Node().Address != m.leased()
	}
	return a.ID() != 0 && !m.knowsLease()
}

// knowsLease reports whether the agent has been notified of the main interface's present lease.
func (m *machine) knowsLease() bool {
	known, _ := m.proc.agent.LeaseOf(string(m.w.s.Topology.NIC))
	return known == m.leased()
}

// awaits says what the lease of one interface waits for.
func (m *machine) awaits(at uint32) string {
	addr, ok := m.w.dhcp.wish(port{m, at})
	switch c := m.lessees[at]; {
	case !ok:
		return ""
	case c == nil:
		return "VPP asks for no DHCP lease yet"
	case c.addr != addr:
		return "the DHCP server has another address for it"
	}
	return ""
}

// indexOf is the index of a physical interface.
func (m *machine) indexOf(nic string) uint32 { return uint32(slices.Index(m.w.nics(), nic)) + mainNIC }

// leased is the address that the DHCP server has given a machine's main interface, the zero prefix where none.
func (m *machine) leased() netip.Prefix { return m.leasedAt(mainNIC) }

func (m *machine) leasedAt(at uint32) netip.Prefix {
	if c := m.lessees[at]; c != nil && m.vpp != nil {
		return c.addr
	}
	return netip.Prefix{}
}

// otherNICs are what the machine's VPP has beside its main interface, as it should be.
func (m *machine) otherNICs() (list []fact.OtherNIC) {
	for _, o := range m.w.s.OtherNICs(m.name) {
		nic := fact.OtherNIC{Name: o.Name, Addr: o.IP}
		if o.UseDHCP {
			nic.Addr = m.leasedAt(m.indexOf(o.Name))
		}
		list = append(list, nic)
	}
	return list
}
