package datastore

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// CheckpointMigrationPhase is the phase that NewDataStore sets; see the field of DataStore.
const CheckpointMigrationPhase = 1

// CRI lists the sandboxes of a container runtime.
type CRI interface {
	GetRunningPodSandboxes() ([]SandboxInfo, error)
}

// SandboxInfo is one sandbox as the runtime tells it.
type SandboxInfo struct {
	ID string
	// IP is the zero Addr when the runtime does not know it.
	IP netip.Addr
	// Ready: it runs. HostNetwork: it has no address of its own. Only ready ones with an address hold one here.
	Ready, HostNetwork bool
}

// ReadBackingStore takes over what live pods hold. Call it once, after the ENIs are in and before the first assignment.
//
// Errors: *QuarantineError says that everything else was restored and the store works. After ErrBackingStore,
// ErrUnknownFormat or ErrMigrationPhase, which come wrapped, nothing was restored, and until another ReadBackingStore
// succeeds, the store assigns nothing and writes nothing: an unreadable file is no proof that there are no pods.
//
// Assignments of addresses that are not in the store wait for them as Orphans.
func (ds *DataStore) ReadBackingStore() error {
	d, err := ds.readAll()
	if err != nil {
		ds.unread = err
		return err
	}
	ds.unread = nil
	ds.settle()
	known := len(ds.quarantine)
	ds.preserved = d.Extra
	for _, e := range d.Damaged {
		ds.addQuarantined(Quarantined{IPAMKey: e.IPAMKey, Addr: e.IPv4, Raw: e.Raw, Why: e.Why})
	}
	holders := ds.owners()
	for _, e := range d.Allocations {
		ds.restore(e, holders)
	}
	for _, c := range d.Cooling {
		ds.restoreCooling(c)
	}
	if fresh := slices.Clone(ds.quarantine[known:]); len(fresh) > 0 {
		err = &QuarantineError{Entries: fresh}
	}
	if ds.CheckpointMigrationPhase == 1 {
		err = errors.Join(err, ds.write())
	}
	return err
}

// readAll reads what the phase asks for.
func (ds *DataStore) readAll() (CheckpointData, error) {
	switch ds.CheckpointMigrationPhase {
	case 0:
		return ds.readCRI()
	case 1:
		told, err := ds.readCRI()
		if err != nil {
			return CheckpointData{}, err
		}
		file, err := ds.readFile()
		if err != nil {
			return CheckpointData{}, err
		}
		return ds.merge(told, file), nil
	case 2, 3:
		return ds.readFile()
	}
	return CheckpointData{}, fmt.Errorf("%w: %d", ErrMigrationPhase, ds.CheckpointMigrationPhase)
}

func (ds *DataStore) readFile() (CheckpointData, error) {
	var d CheckpointData
	err := ds.backing.Restore(&d)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return CheckpointData{}, nil // the first boot
	case err != nil:
		return CheckpointData{}, fmt.Errorf("%w: %w", ErrBackingStore, err)
	case d.Version != CheckpointFormatVersion:
		return CheckpointData{}, fmt.Errorf("%w (%s != %s) - rebooting the node, which ends its pods, helps when a downgrade is the reason",
			ErrUnknownFormat, d.Version, CheckpointFormatVersion)
	}
	return d, nil
}

func (ds *DataStore) readCRI() (CheckpointData, error) {
	if ds.CRI == nil {
		return CheckpointData{}, fmt.Errorf("%w: %d without a container runtime", ErrMigrationPhase, ds.CheckpointMigrationPhase)
	}
	sandboxes, err := ds.CRI.GetRunningPodSandboxes()
	if err != nil {
		return CheckpointData{}, fmt.Errorf("%w: container runtime: %w", ErrBackingStore, err)
	}
	var d CheckpointData
	for _, s := range sandboxes {
		if s.Ready && !s.HostNetwork && s.IP.Unmap().Is4() {
			d.Allocations = append(d.Allocations, CheckpointEntry{IPAMKey: backfillKey(s.ID), IPv4: s.IP.Unmap()})
		}
	}
	return d, nil
}

// merge is what phase 1 believes. The runtime knows who lives; the file knows the keys, and what cools. A runtime that
// tells of nobody while the file tells of pods is one that has not come up yet: then the file is believed.
func (ds *DataStore) merge(told, file CheckpointData) CheckpointData {
	if len(told.Allocations) == 0 {
		if n := len(file.Allocations); n > 0 {
			ds.log.Warnf("the container runtime has no sandboxes, %d assignments of the file are kept", n)
		}
		return file
	}
	type place struct {
		container string
		addr      netip.Addr
	}
	full := make(map[place]CheckpointEntry, len(file.Allocations))
	for _, e := range file.Allocations {
		full[place{e.ContainerID, e.IPv4}] = e
	}
	for i, e := range told.Allocations {
		if known, ok := full[place{e.ContainerID, e.IPv4}]; ok {
			told.Allocations[i] = known
		}
	}
	file.Allocations = told.Allocations
	return file
}

// restore assigns one address as the checkpoint says. The first claim of an address or key holds; a later one that
// contradicts it is quarantined.
func (ds *DataStore) restore(c CheckpointEntry, holders map[netip.Addr]ipam.Owner) {
	o := c.owner()
	holder, taken := holders[c.IPv4]
	_, holds := ds.node.Lease(o)
	why := ""
	switch {
	case taken && holder == o:
		return
	case taken:
		why = "the address is another pod's"
	case holds:
		why = "the pod has another address"
	}
	if why != "" {
		ds.addQuarantined(Quarantined{IPAMKey: c.IPAMKey, Addr: c.IPv4, Raw: c.appendJSON(nil), Why: why})
		return
	}
	if ds.eniOf(nil, c.IPv4) == nil {
		ds.log.Warnf("address %s of pod %s is on no ENI, its claim is kept", c.IPv4, c.IPAMKey)
	}
	holders[c.IPv4] = o
	ds.enter(claim{ipam.Lease{Owner: o, Addr: c.IPv4, Since: ds.clock()}, c.Extra})
}

// restoreCooling makes an address cool on. A release in the future is one of a wrong clock and counts from now.
func (ds *DataStore) restoreCooling(c CoolingEntry) {
	a, now := &ds.node.addrs, ds.clock()
	if c.Released.After(now) {
		c.Released = now
	}
	if a.state(c.IPv4) == idle && a.cools(now, c.Released.UnixNano()) {
		_ = a.Cool(c.Released, c.IPv4, netip.PrefixFrom(c.IPv4, c.IPv4.BitLen())) // nobody holds it
	}
}
