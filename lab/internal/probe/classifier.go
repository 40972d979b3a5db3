package probe

import (
	"bytes"
	"cmp"
	"iter"
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/classify"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// classifier is one classifier table. Only one that looks at the Ethernet source and that of the IPv4 or the IPv6
// packet is understood; another is taken to admit nobody.
type classifier struct {
	understood bool
	ip6        bool
	misses     bool // what has no session passes
	sources    []fact.Source
}

// Where a frame holds its source and that of its packet, in bytes from its start.
const (
	fromAt, srcAt4, srcAt6 = 6, 26, 22
	mask4, mask6           = 32, 48
)

// sourceMask has ones where a frame of so many bytes has the two sources.
func sourceMask(length, srcAt, addrLen int) []byte {
	b := make([]byte, length)
	copy(b[fromAt:], bytes.Repeat([]byte{0xff}, 6))
	copy(b[srcAt:], bytes.Repeat([]byte{0xff}, addrLen))
	return b
}

var sourceMask4, sourceMask6 = sourceMask(mask4, srcAt4, 4), sourceMask(mask6, srcAt6, 16)

// guard tells a table's place before an interface.
type guard struct {
	index uint32
	ip6   bool
}

// passes is VPP's next index of a packet that goes on, in the 16 bits that a session has for it.
const passes = 0xffff

// addClassifier takes what is about classifier tables.
func (t *tables) addClassifier(m api.Message) bool {
	at := func(id uint32) *classifier {
		if t.classifiers[id] == nil {
			t.classifiers[id] = &classifier{}
		}
		return t.classifiers[id]
	}
	switch m := m.(type) {
	case *classify.ClassifyTableByInterfaceReply:
		id := m.IP4TableID
		i := t.ifaces[uint32(m.SwIfIndex)]
		if i != nil && i.Bridge != 0 { // bridge domains have been told of by now
			id = m.L2TableID
		}
		if i != nil && id != ^uint32(0) {
			i.Guarded = true
			t.guards[guard{i.Index, false}] = id
		}
		if i != nil && i.Bridge == 0 && m.IP6TableID != ^uint32(0) {
			i.Guarded6 = true
			t.guards[guard{i.Index, true}] = m.IP6TableID
		}
	case *classify.ClassifyTableInfoReply:
		c := at(m.TableID)
		c.ip6 = bytes.Equal(m.Mask, sourceMask6)
		c.understood = m.SkipNVectors == 0 && m.NextTableIndex == ^uint32(0) && (c.ip6 || bytes.Equal(m.Mask, sourceMask4))
		c.misses = m.MissNextIndex != 0
	case *classify.ClassifySessionDetails:
		if m.HitNextIndex&passes != passes {
			break
		}
		c := at(m.TableID)
		switch len(m.Match) {
		case mask4:
			c.sources = append(c.sources, fact.Source{Addr: netip.AddrFrom4([4]byte(m.Match[srcAt4:])), MAC: vppwire.MAC(m.Match[fromAt:])})
		case mask6:
			c.sources = append(c.sources, fact.Source{Addr: netip.AddrFrom16([16]byte(m.Match[srcAt6:])), MAC: vppwire.MAC(m.Match[fromAt:])})
		}
	default:
		return false
	}
	return true
}

func (t *tables) sortSources() {
	for _, c := range t.classifiers { //vppdrill:unordered each table by itself
		slices.SortFunc(c.sources, func(a, b fact.Source) int {
			return cmp.Or(a.Addr.Compare(b.Addr), bytes.Compare(a.MAC[:], b.MAC[:]))
		})
	}
}

// Admits implements fact.VPP.
func (t *tables) Admits(index uint32, mac vppwire.MAC, addr netip.Addr) bool {
	id, guarded := t.guards[guard{index, addr.Is6()}]
	if !guarded {
		return true
	}
	c := t.classifiers[id]
	return c != nil && c.understood && c.ip6 == addr.Is6() && (c.misses || slices.Contains(c.sources, fact.Source{Addr: addr, MAC: mac}))
}

// Sources implements fact.VPP.
func (t *tables) Sources(index uint32) iter.Seq[fact.Source] {
	var list []fact.Source
	for _, ip6 := range [...]bool{false, true} {
		if id, guarded := t.guards[guard{index, ip6}]; guarded {
			if c := t.classifiers[id]; c != nil && c.understood && c.ip6 == ip6 {
				list = append(list, c.sources...)
			}
		}
	}
	return slices.Values(list)
}
