package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const toldIsSavedName = "told-is-saved"

// toldIsSaved: the agent writes state to disk before it acknowledges it: the lease of an ADD, the release of a DEL, and
// the node ID that it acts on. The law needs no crash to see a fault: a crash at that moment would undo acknowledged
// state.
//
// A snapshot shows no disk.
func toldIsSaved() fact.Law {
	return fact.Law{
		Name: toldIsSavedName,
		Rule: "The agent writes a lease, a release or a node ID to disk before it acknowledges it or acts on it.",
		Why: "After a crash between acknowledgement and write, another pod gets the pod's address, or another node the " +
			"node's ID.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Disks, fact.Sandboxes, fact.NodeIDs},
		Watch:   func() fact.Watcher { return &savedWatcher{disks: map[string]*disk{}} },
	}
}

// disk is the content of the journal on a node's disk.
type disk struct {
	id     uint32
	leases map[ipam.Owner]netip.Addr
}

type savedWatcher struct {
	disks  map[string]*disk
	checks int64
}

func (w *savedWatcher) Checks() int64 { return w.checks }

func (w *savedWatcher) Observe(f *fact.Fact) error {
	const look = "check what waits for the journal"
	switch x := f.What.(type) {
	case fact.SavedLease:
		w.disk(f.Node).leases[x.Owner] = x.Addr
	case fact.SavedRelease:
		delete(w.disk(f.Node).leases, x.Owner)
	case fact.SavedNodeID:
		w.disk(f.Node).id = x.ID
	case fact.SavedAll:
		d := w.disk(f.Node)
		clear(d.leases)
		d.id = x.ID
		for i := range x.Leases {
			d.leases[x.Leases[i].Owner] = x.Leases[i].Addr
		}
	case fact.NodeGone:
		if x.Left {
			delete(w.disks, f.Node)
		}
	case fact.Answered:
		w.checks++
		switch addr, held := w.disk(f.Node).leases[x.Owner]; {
		case !held:
			return broken(toldIsSavedName, f.At, f.Node, "the ADD of %s is answered with %s, but its lease is not on disk: %s",
				x.Owner, x.Addr, look)
		case addr != x.Addr:
			return broken(toldIsSavedName, f.At, f.Node, "the ADD of %s is answered with %s, but its lease on disk is %s: %s",
				x.Owner, x.Addr, addr, look)
		}
	case fact.Deleted:
		w.checks++
		if addr, held := w.disk(f.Node).leases[x.Owner]; held {
			return broken(toldIsSavedName, f.At, f.Node, "the DEL of %s is answered, but its lease of %s is still on disk: %s",
				x.Owner, addr, look)
		}
	case fact.NodeID:
		w.checks++
		if x.ID != 0 && x.ID != w.disk(f.Node).id {
			return broken(toldIsSavedName, f.At, f.Node, "%s acts on node ID %d, which is not on disk: %s", f.Node, x.ID, look)
		}
	}
	return nil
}

func (w *savedWatcher) disk(node string) *disk {
	d := w.disks[node]
	if d == nil {
		d = &disk{leases: map[ipam.Owner]netip.Addr{}}
		w.disks[node] = d
	}
	return d
}
