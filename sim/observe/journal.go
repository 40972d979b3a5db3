package observe

import (
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Wrote notes a write of the journal that is on its way to the disk.
func (n *Node) Wrote(e agent.Persist) { n.unsynced = append(n.unsynced, e) }

// Synced tells what reaches the disk of the journal's writes up to one. Of a failed write nobody knows what the disk has.
func (n *Node) Synced(seq uint64, failed bool) {
	for len(n.unsynced) > 0 && n.unsynced[0].Seq <= seq {
		e := n.unsynced[0]
		n.unsynced = n.unsynced[1:]
		switch {
		case failed:
		case e.Replace:
			n.saved(e.Records)
		default:
			n.more(e.Records)
		}
	}
}

// more tells what records that were added to the journal say of leases and of the node's ID.
func (n *Node) more(records []agent.Record) {
	for i := range records {
		f := fact.Fact{Kind: fact.FactSaved}
		switch r := &records[i]; {
		case r.Kind == agent.RecordNode:
			f.Text, f.Number = fact.SavedNodeID, r.NodeID
		case r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpLease:
			f.Text, f.Owner, f.Addr = fact.SavedLease, r.IPAM.Owner, r.IPAM.Addr
		case r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpRelease:
			f.Text, f.Owner, f.Addr = fact.SavedRelease, r.IPAM.Owner, r.IPAM.Addr
		default:
			continue
		}
		n.view.Fact(f)
	}
}

// saved tells what a whole journal says.
func (n *Node) saved(records []agent.Record) {
	f := fact.Fact{Kind: fact.FactSaved, Text: fact.SavedAll}
	held := map[ipam.Owner]int{}
	for i := range records {
		switch r := &records[i]; {
		case r.Kind == agent.RecordNode:
			f.Number = r.NodeID
		case r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpLease:
			held[r.IPAM.Owner] = len(f.Leases)
			f.Leases = append(f.Leases, ipam.Lease{Owner: r.IPAM.Owner, Addr: r.IPAM.Addr, Block: r.IPAM.Prefix})
		case r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpRelease:
			delete(held, r.IPAM.Owner)
		}
	}
	kept := f.Leases[:0]
	for i, l := range f.Leases {
		if at, holds := held[l.Owner]; holds && at == i {
			kept = append(kept, l)
		}
	}
	f.Leases = kept
	n.view.Fact(f)
}
