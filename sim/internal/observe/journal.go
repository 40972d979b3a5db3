package observe

import (
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Wrote notes a write of the journal that is on its way to the disk.
func (n *Node) Wrote(e agent.Persist) { n.unsynced = append(n.unsynced, e) }

// Synced reports what reaches the disk of the journal's writes up to one. After a failed write the disk's content is
// unknown.
func (n *Node) Synced(seq uint64, failed bool) {
	for len(n.unsynced) > 0 && n.unsynced[0].Seq <= seq {
		e := n.unsynced[0]
		n.unsynced = slices.Delete(n.unsynced, 0, 1) // its records with it: a slice of the rest would keep them
		switch {
		case failed:
		case e.Replace:
			n.saved(e.Records)
		default:
			n.more(e.Records)
		}
	}
}

// more reports what records that were added to the journal say of leases and of the node's ID.
func (n *Node) more(records []agent.Record) {
	for i := range records {
		switch r := &records[i]; {
		case r.Kind == agent.RecordNode:
			n.view.Fact(fact.Fact{What: fact.SavedNodeID{ID: r.NodeID}})
		case r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpLease:
			n.view.Fact(fact.Fact{What: fact.SavedLease{Owner: r.IPAM.Owner, Addr: r.IPAM.Addr}})
		case r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpRelease:
			n.view.Fact(fact.Fact{What: fact.SavedRelease{Owner: r.IPAM.Owner, Addr: r.IPAM.Addr}})
		}
	}
}

// saved reports what a whole journal says.
func (n *Node) saved(records []agent.Record) {
	var id uint32
	var leases []ipam.Lease
	held := map[ipam.Owner]int{}
	for i := range records {
		switch r := &records[i]; {
		case r.Kind == agent.RecordNode:
			id = r.NodeID
		case r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpLease:
			held[r.IPAM.Owner] = len(leases)
			leases = append(leases, ipam.Lease{Owner: r.IPAM.Owner, Addr: r.IPAM.Addr, Block: r.IPAM.Prefix})
		case r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpRelease:
			delete(held, r.IPAM.Owner)
		}
	}
	kept := leases[:0]
	for i, l := range leases {
		if at, holds := held[l.Owner]; holds && at == i {
			kept = append(kept, l)
		}
	}
	n.view.Fact(fact.Fact{What: fact.SavedAll{Leases: kept, ID: id}})
}
