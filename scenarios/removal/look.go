package removal

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// VPP is a view that can be asked for one entry of a table.
type VPP interface {
	fact.VPP
	// RouteTo is the table's API route to exactly p.
	RouteTo(table uint32, p netip.Prefix) (fact.Route, bool)
	// AFPacket is the index of the AF_PACKET interface that sits on a host's device.
	AFPacket(device string) (index uint32, ok bool)
}

// Look compares a thing before a call with the same thing after it.
type Look struct {
	VPP   VPP
	Linux fact.Linux

	target Target
	before state
	told   fact.Removal
}

// state is what a thing is, as far as another state of it would be another thing.
type state struct {
	there  bool
	index  uint32
	number uint32
	addr   netip.Addr
	mac    vppwire.MAC
	name   string
	action fact.RouteAction
}

// Before looks at the target; false when there is nothing to take away.
func (l *Look) Before(t Target) bool {
	l.target = t
	if t.What == fact.RemovedTunnel {
		l.target.Index = none
		if i, ok := l.VPP.Tunnel(t.Src, t.Dst, t.VNI); ok {
			l.target.Index = i
		}
	}
	l.before = l.state()
	if !l.before.there {
		return false
	}
	l.describe()
	return true
}

// Whole is the index of the interface that Before's target is, false where that is something else.
func (l *Look) Whole() (index uint32, whole bool) {
	switch {
	case l.target.What == fact.RemovedInterface && l.target.Name != "":
		return l.before.index, true
	case l.target.What == fact.RemovedInterface || l.target.What == fact.RemovedTunnel:
		return l.target.Index, true
	}
	return 0, false
}

// After looks again and returns what is gone, nil for nothing. It is valid until the next Before.
func (l *Look) After(call string) *fact.Removal {
	now := l.state()
	if now == l.before || l.moved() {
		return nil
	}
	l.told.Call, l.told.Replaced = call, now.there
	return &l.told
}

// moved: the host has an address of Linux still, by another link.
func (l *Look) moved() bool {
	t := &l.target
	if t.What != fact.RemovedLinuxAddress {
		return false
	}
	_, still := l.Linux.Local(t.Netns, t.Prefix.Addr())
	return still
}

func (l *Look) state() state {
	t := &l.target
	switch t.What {
	case fact.RemovedRoute:
		r, ok := l.VPP.RouteTo(t.Table, t.Prefix)
		return state{there: ok, index: r.Index, number: r.Lookup, addr: r.Via, action: r.Action}
	case fact.RemovedNeighbor:
		mac, ok := l.VPP.Neighbor(t.Index, t.Addr)
		return state{there: ok, mac: mac}
	case fact.RemovedFIB:
		e, ok := l.VPP.FIB(t.Table, t.MAC)
		return state{there: ok, index: e.Index}
	case fact.RemovedBridge:
		_, ok := l.VPP.Bridge(t.Table)
		return state{there: ok}
	case fact.RemovedTable:
		return state{there: l.hasTable(t.Table)}
	case fact.RemovedMapping:
		return state{there: l.hasMapping(t)}
	case fact.RemovedInterface, fact.RemovedTunnel, fact.RemovedUp, fact.RemovedMAC, fact.RemovedAddress,
		fact.RemovedUnnumbered, fact.RemovedInTable, fact.RemovedMember:
		return l.ofInterface()
	}
	return l.ofLinux()
}

// hasTable is apart: a function with such a loop puts what it returns on the heap, whether it gets there or not.
func (l *Look) hasTable(table uint32) bool {
	for id := range l.VPP.Tables() {
		if id == table {
			return true
		}
	}
	return false
}

func (l *Look) hasMapping(t *Target) bool {
	nat, on := l.VPP.NAT()
	if !on {
		return false
	}
	_, found := slices.BinarySearchFunc(nat.Mappings, fact.NATMapping{Addr: t.Addr, Port: t.Port, Proto: t.Proto}, fact.CompareNATMappings)
	return found
}

func (l *Look) ofInterface() state {
	t := &l.target
	if t.Name != "" { // an AF_PACKET interface is deleted by its device
		index, ok := l.VPP.AFPacket(t.Name)
		return state{there: ok, index: index}
	}
	i, ok := l.VPP.Interface(t.Index)
	if !ok {
		return state{}
	}
	switch t.What {
	case fact.RemovedUp:
		return state{there: i.Up}
	case fact.RemovedMAC:
		return state{there: i.Up, mac: i.MAC}
	case fact.RemovedAddress:
		return state{there: slices.Contains(i.Addrs, t.Prefix)}
	case fact.RemovedUnnumbered:
		return state{there: i.HasUnnumbered, index: i.Unnumbered}
	case fact.RemovedInTable:
		table := i.Table4
		if t.IP6 {
			table = i.Table6
		}
		return state{there: table != 0, number: table}
	case fact.RemovedMember:
		return state{there: i.Bridge != 0, number: i.Bridge}
	}
	return state{there: true}
}

func (l *Look) ofLinux() state {
	t := &l.target
	switch t.What {
	case fact.RemovedLinuxRoute:
		r, ok := l.Linux.Route(t.Netns, t.Prefix.Addr())
		return state{there: ok && r.Dst == t.Prefix, name: r.Link, addr: r.Via}
	case fact.RemovedLinuxNeighbor:
		mac, ok := l.Linux.Neighbor(t.Netns, t.Name, t.Addr)
		return state{there: ok, mac: mac}
	}
	link, ok := l.Linux.Link(t.Netns, t.Name)
	switch t.What {
	case fact.RemovedLinkUp:
		return state{there: ok && link.Up}
	case fact.RemovedLinkMAC:
		return state{there: ok && link.Up, mac: link.MAC}
	case fact.RemovedLinuxAddress:
		return state{there: ok && slices.Contains(link.Addrs, t.Prefix)}
	}
	return state{there: ok}
}

// describe notes what will be told if the thing goes: afterwards nobody can be asked for it.
func (l *Look) describe() {
	t := &l.target
	l.told = fact.Removal{What: t.What, Name: t.Name, Table: t.Table, Prefix: t.Prefix, Addr: t.Addr, Port: t.Port, Proto: t.Proto, Netns: t.Netns, Addrs: l.told.Addrs[:0]}
	index := t.Index
	switch t.What {
	case fact.RemovedRoute, fact.RemovedFIB:
		index = l.before.index
	case fact.RemovedLink:
		l.told.Netns = l.beyond(t.Netns, t.Name)
		return
	}
	if t.What == fact.RemovedFIB {
		l.told.MAC = t.MAC
	} else {
		l.told.MAC = l.before.mac
	}
	if t.What == fact.RemovedInterface && t.Name != "" {
		index = l.before.index
	}
	if index == none || l.VPP == nil {
		return
	}
	i, ok := l.VPP.Interface(index)
	if !ok {
		return
	}
	l.told.Name = i.Name
	if i.Type == fact.TypeVXLAN && !l.told.Addr.IsValid() {
		l.told.Addr = i.Dst
	}
	switch i.Type {
	case fact.TypeTap, fact.TypeMemif:
		l.told.Netns = i.HostNetns
	case fact.TypeAFPacket:
		l.told.Netns = l.beyond(i.HostNetns, i.Host)
	}
	if t.What == fact.RemovedInterface || t.What == fact.RemovedUp {
		l.told.Addrs = append(l.told.Addrs, i.Addrs...)
	}
}

// beyond is the namespace of a link's other end, or its own where that is not known.
func (l *Look) beyond(netns, name string) string {
	if link, ok := l.Linux.Link(netns, name); ok && link.PeerNetns != "" {
		return link.PeerNetns
	}
	return netns
}
