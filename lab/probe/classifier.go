package probe

import (
	"bytes"
	"cmp"
	"iter"
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/classify"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
)

// classifier is one classifier table. Only one that looks at the Ethernet and the IPv4 source is understood; another is taken to
// admit nobody.
type classifier struct {
	understood bool
	misses     bool // what has no session passes
	sources    []scenarios.Source
}

// Where a frame holds its source and that of its packet, in bytes from its start.
const (
	fromAt, srcAt = 6, 26
	maskLength    = 32
)

var sourceMask = append(append(append(make([]byte, fromAt), bytes.Repeat([]byte{0xff}, 6)...), make([]byte, srcAt-fromAt-6)...), 0xff, 0xff, 0xff, 0xff, 0, 0)

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
			t.guards[i.Index] = id
		}
	case *classify.ClassifyTableInfoReply:
		c := at(m.TableID)
		c.understood = m.SkipNVectors == 0 && m.NextTableIndex == ^uint32(0) && bytes.Equal(m.Mask, sourceMask)
		c.misses = m.MissNextIndex != 0
	case *classify.ClassifySessionDetails:
		if len(m.Match) >= maskLength && m.HitNextIndex&passes == passes {
			c := at(m.TableID)
			c.sources = append(c.sources, scenarios.Source{Addr: netip.AddrFrom4([4]byte(m.Match[srcAt:])), MAC: vppwire.MAC(m.Match[fromAt:])})
		}
	default:
		return false
	}
	return true
}

func (t *tables) sortSources() {
	for _, c := range t.classifiers { //vppdrill:unordered each table by itself
		slices.SortFunc(c.sources, func(a, b scenarios.Source) int {
			return cmp.Or(a.Addr.Compare(b.Addr), bytes.Compare(a.MAC[:], b.MAC[:]))
		})
	}
}

// Admits implements scenarios.VPP.
func (t *tables) Admits(index uint32, mac vppwire.MAC, addr netip.Addr) bool {
	id, guarded := t.guards[index]
	if !guarded {
		return true
	}
	c := t.classifiers[id]
	return c != nil && c.understood && (c.misses || slices.Contains(c.sources, scenarios.Source{Addr: addr, MAC: mac}))
}

// Sources implements scenarios.VPP.
func (t *tables) Sources(index uint32) iter.Seq[scenarios.Source] {
	if c := t.classifiers[t.guards[index]]; c != nil && c.understood {
		if _, guarded := t.guards[index]; guarded {
			return slices.Values(c.sources)
		}
	}
	return slices.Values([]scenarios.Source(nil))
}
