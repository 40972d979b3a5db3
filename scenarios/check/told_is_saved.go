package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const toldIsSavedName = "told-is-saved"

// toldIsSaved: what the agent acknowledges is on the disk before: the lease of an ADD, the release of a DEL, and the node ID that it acts on. No crash is
// needed to see it: a crash at that moment would undo what somebody counts on.
//
// A snapshot shows no disk.
func toldIsSaved() fact.Law {
	return fact.Law{
		Name:    toldIsSavedName,
		Why:     "A crash at the wrong moment gives a pod's address, or a node's ID, to another one.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Disks, fact.Sandboxes, fact.NodeIDs},
		Watch:   func() fact.Watcher { return &savedWatcher{disks: map[string]*disk{}} },
	}
}

// disk is what the journal on a node's disk says.
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
	const look = "look at what waits for the journal"
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
			return broken(toldIsSavedName, f.At, f.Node, "the ADD of %s is answered with %s, and the disk knows no lease of it: %s", x.Owner, x.Addr, look)
		case addr != x.Addr:
			return broken(toldIsSavedName, f.At, f.Node, "the ADD of %s is answered with %s, and the disk says %s: %s", x.Owner, x.Addr, addr, look)
		}
	case fact.Deleted:
		w.checks++
		if addr, held := w.disk(f.Node).leases[x.Owner]; held {
			return broken(toldIsSavedName, f.At, f.Node, "the DEL of %s is answered, and the disk still holds its lease of %s: %s", x.Owner, addr, look)
		}
	case fact.NodeID:
		w.checks++
		if x.ID != 0 && x.ID != w.disk(f.Node).id {
			return broken(toldIsSavedName, f.At, f.Node, "%s acts on node ID %d, and the disk does not know it: %s", f.Node, x.ID, look)
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
