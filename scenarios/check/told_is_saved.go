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
	switch f.Kind {
	case fact.FactSaved:
		w.saved(f)
		return nil
	case fact.FactNodeGone:
		if f.Text == fact.NodeLeft {
			delete(w.disks, f.Node)
		}
		return nil
	case fact.FactAnswered, fact.FactDeleted, fact.FactNodeID:
	default:
		return nil
	}
	d := w.disk(f.Node)
	addr, held := d.leases[f.Owner]
	w.checks++
	const look = "look at what waits for the journal"
	switch {
	case f.Kind == fact.FactAnswered && !held:
		return broken(toldIsSavedName, f.At, f.Node, "the ADD of %s is answered with %s, and the disk knows no lease of it: %s", f.Owner, f.Addr, look)
	case f.Kind == fact.FactAnswered && addr != f.Addr:
		return broken(toldIsSavedName, f.At, f.Node, "the ADD of %s is answered with %s, and the disk says %s: %s", f.Owner, f.Addr, addr, look)
	case f.Kind == fact.FactDeleted && held:
		return broken(toldIsSavedName, f.At, f.Node, "the DEL of %s is answered, and the disk still holds its lease of %s: %s", f.Owner, addr, look)
	case f.Kind == fact.FactNodeID && f.Number != 0 && f.Number != d.id:
		return broken(toldIsSavedName, f.At, f.Node, "%s acts on node ID %d, and the disk does not know it: %s", f.Node, f.Number, look)
	}
	return nil
}

func (w *savedWatcher) saved(f *fact.Fact) {
	d := w.disk(f.Node)
	switch f.Text {
	case fact.SavedLease:
		d.leases[f.Owner] = f.Addr
	case fact.SavedRelease:
		delete(d.leases, f.Owner)
	case fact.SavedNodeID:
		d.id = f.Number
	case fact.SavedAll:
		clear(d.leases)
		d.id = f.Number
		for i := range f.Leases {
			d.leases[f.Leases[i].Owner] = f.Leases[i].Addr
		}
	}
}

func (w *savedWatcher) disk(node string) *disk {
	d := w.disks[node]
	if d == nil {
		d = &disk{leases: map[ipam.Owner]netip.Addr{}}
		w.disks[node] = d
	}
	return d
}
