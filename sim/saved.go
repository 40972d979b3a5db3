package sim

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// saved is what a machine's disk says of leases and of the node's ID, as far as that is certain: what a crash of the machine at this
// moment would leave.
type saved struct {
	id   uint32
	held map[ipam.Owner]netip.Addr
	// blocks are those that it does not say to be dropped.
	blocks map[netip.Prefix]bool
	// pods are the ranges of pods that it says were acted on.
	pods []netip.Prefix
	// maybe are leases of writes that failed: nobody knows whether the disk has them.
	maybe map[ipam.Owner]netip.Addr
	// unsure: a write failed, and none that replaces everything has been synced since.
	unsure bool
	// writes are those that have not been synced.
	writes []agent.Persist
}

// newSaved is what a journal says that was read.
func newSaved(records []agent.Record) saved {
	s := saved{held: map[ipam.Owner]netip.Addr{}, maybe: map[ipam.Owner]netip.Addr{}, blocks: map[netip.Prefix]bool{}}
	s.add(records)
	return s
}

// synced takes the oldest write: it is on the disk, or nobody knows.
func (s *saved) synced(seq uint64, failed bool) {
	for len(s.writes) > 0 && s.writes[0].Seq <= seq {
		e := s.writes[0]
		s.writes = s.writes[1:]
		switch {
		case failed:
			s.unsure = true
			s.doubt(e.Records)
			continue
		case e.Replace:
			rest := s.writes
			*s = newSaved(nil)
			s.writes = rest
		}
		s.add(e.Records)
	}
}

func (s *saved) add(records []agent.Record) {
	for i := range records {
		switch r := &records[i]; r.Kind {
		case agent.RecordNode:
			s.id = r.NodeID
		case agent.RecordPools:
			s.pods = append(s.pods, r.Pools.PodSubnet)
		case agent.RecordIPAM:
			switch r.IPAM.Op {
			case ipam.OpLease:
				s.held[r.IPAM.Owner] = r.IPAM.Addr
			case ipam.OpRelease:
				delete(s.held, r.IPAM.Owner)
			case ipam.OpBlock:
				s.blocks[r.IPAM.Prefix] = true
			case ipam.OpDrop:
				delete(s.blocks, r.IPAM.Prefix)
			}
		}
	}
}

func (s *saved) doubt(records []agent.Record) {
	for i := range records {
		if r := &records[i]; r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpLease {
			s.maybe[r.IPAM.Owner] = r.IPAM.Addr
		}
	}
}

// unsaved says what the disk says otherwise than a fact, "" for nothing.
func (s *saved) unsaved(f *scenarios.Fact) string {
	addr, held := s.held[f.Owner]
	switch f.Kind {
	case scenarios.FactAnswered:
		switch {
		case !held:
			return "the disk knows no lease of it"
		case addr != f.Addr:
			return "the disk says " + addr.String()
		}
	case scenarios.FactDeleted:
		if !held {
			addr, held = s.maybe[f.Owner]
		}
		if held {
			return "the disk may still hold its lease of " + addr.String()
		}
	case scenarios.FactNodeID:
		if f.Number != 0 && f.Number != s.id {
			return "the disk does not know it"
		}
	}
	return ""
}
