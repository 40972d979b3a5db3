package datastore

import (
	"net/netip"
	"slices"
	"time"
)

// CheckpointFormatVersion is the version stamp of stored checkpoints.
const CheckpointFormatVersion = "vpc-cni-ipam/1"

// CheckpointData is a stored checkpoint. As JSON it is
//
//	{"version":"vpc-cni-ipam/1","allocations":[{"networkName":"n","containerID":"c","ifName":"eth0","ipv4":"10.0.0.1"}],
//	 "cooling":[{"ipv4":"10.0.0.2","released":1700000000000000000}],"quarantined":[{"ipv4":"10.0.0.3"}]}
//
// where the second line's fields are this package's own, optional, and unknown to upstream, which ignores them. Fields
// that are unknown here are kept, in the document and in allocations.
type CheckpointData struct {
	Version     string
	Allocations []CheckpointEntry
	// Cooling has the addresses that were given back lately.
	Cooling []CoolingEntry
	// Damaged has the entries that could not be read, and those that were set aside in an earlier life.
	Damaged []DamagedEntry
	// Extra has the document's other fields in their order.
	Extra []Field
}

// CheckpointEntry is one assignment.
type CheckpointEntry struct {
	IPAMKey
	IPv4 netip.Addr
	// Extra has the entry's other fields in their order, as allocationTimestamp and metadata of later upstream releases.
	Extra []Field
}

// CoolingEntry says when an address was given back, to the nanosecond, UTC.
type CoolingEntry struct {
	IPv4     netip.Addr
	Released time.Time
}

// DamagedEntry is an entry that makes no sense. Key and address are what could be read of it, else zero.
type DamagedEntry struct {
	IPAMKey IPAMKey
	IPv4    netip.Addr
	Raw     []byte // compact JSON
	Why     string
}

// Field is one member of a JSON object; Value is compact JSON.
type Field struct {
	Name  string
	Value []byte
}

// snapshot is what a Checkpointer receives: the document is made only when it is marshaled, so that a checkpointer that
// discards it costs nothing. It is valid until the call returns.
type snapshot struct{ ds *DataStore }

// MarshalJSON implements json.Marshaler.
func (s snapshot) MarshalJSON() ([]byte, error) {
	d := s.CheckpointData()
	const entryBytes = 160 // with a container ID of 64 digits
	return d.AppendJSON(make([]byte, 0, entryBytes*(1+len(d.Allocations)+len(d.Cooling)))), nil
}

// CheckpointData makes the document, allocations and cooling addresses in address order.
func (s snapshot) CheckpointData() CheckpointData {
	ds := s.ds
	d := CheckpointData{Version: CheckpointFormatVersion, Allocations: make([]CheckpointEntry, 0, ds.node.Len()), Extra: ds.preserved}
	for l := range ds.node.Leases() {
		d.Allocations = append(d.Allocations, CheckpointEntry{IPAMKey: KeyOf(l.Owner), IPv4: l.Addr, Extra: ds.extra[l.Owner]})
	}
	for _, c := range ds.node.addrs.Cooling(ds.clock()) {
		if ds.node.addrs.state(c.Addr) == cooling {
			d.Cooling = append(d.Cooling, CoolingEntry{IPv4: c.Addr, Released: c.At})
		}
	}
	slices.SortFunc(d.Cooling, func(a, b CoolingEntry) int { return a.IPv4.Compare(b.IPv4) })
	for _, q := range ds.quarantine {
		d.Damaged = append(d.Damaged, DamagedEntry{IPAMKey: q.IPAMKey, IPv4: q.Addr, Raw: q.Raw, Why: q.Why})
	}
	return d
}

// write makes the checkpoint say what memory says. After an error the file may say either.
func (ds *DataStore) write() error {
	if ds.unread != nil {
		return ds.unread
	}
	if ds.CheckpointMigrationPhase == 0 {
		return nil
	}
	err := ds.backing.Checkpoint(snapshot{ds})
	ds.dirty = err != nil
	return err
}

// Flush writes the checkpoint if the last write failed, nil when there is nothing to do.
func (ds *DataStore) Flush() error {
	if !ds.dirty {
		return nil
	}
	return ds.write()
}
