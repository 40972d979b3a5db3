package probe

import (
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/stn"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// stolen is what VPP told of packets that it passes to the host and of ARP requests that it answers for others.
type stolen struct {
	// rules are the STN plugin's, interfaces by address.
	rules map[netip.Addr]uint32
	// ranges are answered for on interfaces in on that are in the range's table.
	ranges []vppwire.ProxyARP
	on     []uint32
}

// addSTN takes what is about it.
func (t *tables) addSTN(m api.Message) bool {
	switch m := m.(type) {
	case *stn.StnRulesDetails:
		t.stolen.rule(address(m.IPAddress), uint32(m.SwIfIndex))
	case *arp.ProxyArpDetails:
		t.stolen.ranges = append(t.stolen.ranges, vppwire.ProxyARP{Table: m.Proxy.TableID, Low: netip.AddrFrom4(m.Proxy.Low), High: netip.AddrFrom4(m.Proxy.Hi)})
	case *arp.ProxyArpIntfcDetails:
		t.stolen.on = append(t.stolen.on, m.SwIfIndex)
	default:
		return false
	}
	return true
}

func (s *stolen) rule(addr netip.Addr, index uint32) {
	if s.rules == nil {
		s.rules = map[netip.Addr]uint32{}
	}
	s.rules[addr] = index
}

// STN implements fact.VPP.
func (t *tables) STN(addr netip.Addr) (uint32, bool) {
	index, ok := t.stolen.rules[addr]
	return index, ok
}

// ProxiesARP implements fact.VPP.
func (t *tables) ProxiesARP(index uint32, addr netip.Addr) bool {
	i := t.ifaces[index]
	return i != nil && addr.Is4() && slices.Contains(t.stolen.on, index) && slices.ContainsFunc(t.stolen.ranges, func(r vppwire.ProxyARP) bool {
		return r.Table == i.Table4 && !addr.Less(r.Low) && !r.High.Less(addr)
	})
}

// steals is what objects want of it.
func (w *wanted) steals(o vppwire.Object) {
	switch o := o.(type) {
	case vppwire.STN:
		w.on(o.If, func(i *fact.Interface) { w.stolen.rule(o.Addr, i.Index) })
	case vppwire.ProxyARP:
		w.stolen.ranges = append(w.stolen.ranges, o)
	case vppwire.ProxyARPOn:
		w.on(o.If, func(i *fact.Interface) { w.stolen.on = append(w.stolen.on, i.Index) })
	}
}
