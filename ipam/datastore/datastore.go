package datastore

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Times of amazon-vpc-cni-k8s v1.7.5 (pkg/ipamd/datastore/data_store.go).
const (
	// CoolingPeriod is how long an address that a pod gave back is not assigned again; at exactly this age it still cools.
	CoolingPeriod = 30 * time.Second
	// ENILifeMin is the age below which RemoveUnusedENIFromStore leaves an ENI alone.
	ENILifeMin = time.Minute
)

// DelegatedBits is the length of the prefixes that EC2 delegates to an ENI; all their addresses are for pods.
const DelegatedBits = 28

// Logger takes what a store has to say beyond its results. Formats are fmt's.
type Logger interface {
	Warnf(format string, args ...any)
}

// Clock tells the present time.
type Clock func() time.Time

// DataStore is a node's ENIs, their addresses and which pod has which. It is not safe for concurrent use.
//
// Assignments go to the lowest idle address of the first ENI, in the order of device numbers and then IDs, that has one.
// Settings are to be made before the first call.
type DataStore struct {
	// CheckpointMigrationPhase says where assignments are read from and written to:
	//
	//	0  read the container runtime, write nothing here (vpc-cni up to 1.6)
	//	1  read the container runtime, write the file (1.7; what NewDataStore sets)
	//	2  read and write the file; keys learned from the runtime are still honored (1.8)
	//	3  read and write the file
	CheckpointMigrationPhase int
	// Cooling is how long an address cools; NewDataStore sets CoolingPeriod. Zero or less: not at all.
	Cooling time.Duration
	// CRI is read in phases 0 and 1.
	CRI CRI

	log     Logger
	now     Clock
	backing Checkpointer

	enis   map[string]*eni
	order  []*eni        // by device, then ID
	open   *space.Bitmap // positions in order of ENIs that have idle addresses
	byAddr map[netip.Addr]*entry
	byKey  map[IPAMKey]*entry
	chill  entryHeap // the cooling entries, oldest release first
	counts
	prefixes, freePrefixes int
	forcedENIs, forcedIPs  int

	claims
	preserved []Field // of the checkpoint's top level
	// dirty: the file may say something else than memory. unread: why the backing store is unknown, nil normally.
	dirty  bool
	unread error
}

// NewDataStore returns an empty store. A nil log is fine. Call ReadBackingStore after the ENIs are in and before the first
// assignment.
func NewDataStore(log Logger, backingStore Checkpointer, now Clock) *DataStore {
	if log == nil {
		log = silence{}
	}
	return &DataStore{
		CheckpointMigrationPhase: CheckpointMigrationPhase,
		Cooling:                  CoolingPeriod,
		log:                      log,
		now:                      now,
		backing:                  backingStore,
		enis:                     make(map[string]*eni),
		byAddr:                   make(map[netip.Addr]*entry),
		byKey:                    make(map[IPAMKey]*entry),
		chill:                    entryHeap{before: byRelease},
		open:                     space.NewBitmap(0),
		claims:                   newClaims(),
	}
}

type silence struct{}

func (silence) Warnf(string, ...any) {}

// AddENI adds an ENI without addresses. Error: ErrDuplicatedENI.
func (ds *DataStore) AddENI(eniID string, deviceNumber int, isPrimary, isTrunk bool) error {
	if _, ok := ds.enis[eniID]; ok {
		return ErrDuplicatedENI
	}
	e := &eni{
		id: eniID, device: deviceNumber, primary: isPrimary, trunk: isTrunk, created: ds.now(),
		idle: entryHeap{before: byAddress},
	}
	ds.enis[eniID] = e
	i, _ := slices.BinarySearchFunc(ds.order, e, compareENI)
	ds.order = slices.Insert(ds.order, i, e)
	ds.number()
	return nil
}

// number tells every ENI its position after the order has changed.
func (ds *DataStore) number() {
	if ds.open.Size() < uint64(len(ds.order)) {
		ds.open = space.NewBitmap(uint64(2 * len(ds.order)))
	}
	ds.open.ClearRange(0, ds.open.Size())
	for i, e := range ds.order {
		e.position = uint64(i)
		ds.mark(e)
	}
}

// mark notes whether an ENI has idle addresses.
func (ds *DataStore) mark(e *eni) {
	if len(e.idle.list) > 0 {
		ds.open.Set(e.position)
	} else {
		ds.open.Clear(e.position)
	}
}

// AddIPv4AddressToStore adds one secondary address of an ENI. Errors: ErrUnknownENI (with a text of its own),
// ErrIPAlreadyInStore, ErrInvalidAddress.
//
// An address that went away while a pod had it, or that the checkpoint assigns to a pod, is that pod's from here on.
func (ds *DataStore) AddIPv4AddressToStore(eniID string, ipv4 netip.Addr) error {
	ipv4 = space.NormalAddr(ipv4)
	if !ipv4.Is4() {
		if _, ok := ds.enis[eniID]; !ok {
			return errAddToUnknownENI
		}
		return ErrInvalidAddress
	}
	return ds.AddIPv4CidrToStore(eniID, netip.PrefixFrom(ipv4, 32))
}

// AddIPv4CidrToStore adds a delegated prefix of at most 2^12 addresses, or one address as a /32. Errors are those of
// AddIPv4AddressToStore; when one address of the prefix is known, nothing is added.
func (ds *DataStore) AddIPv4CidrToStore(eniID string, cidr netip.Prefix) error {
	e, ok := ds.enis[eniID]
	if !ok {
		return errAddToUnknownENI
	}
	cidr = space.Normal(cidr)
	if !cidr.IsValid() || !cidr.Addr().Is4() || space.HostBits(cidr) > 12 {
		return ErrInvalidAddress
	}
	u := &unit{prefix: cidr, eni: e, entries: make([]*entry, 0, space.Count(cidr))}
	for a := cidr.Addr(); cidr.Contains(a); a = a.Next() {
		if _, ok := ds.byAddr[a]; ok {
			return ErrIPAlreadyInStore
		}
		u.entries = append(u.entries, &entry{addr: a, unit: u})
	}
	i, _ := slices.BinarySearchFunc(e.units, u, compareUnit)
	e.units = slices.Insert(e.units, i, u)
	ds.addUnit(u)
	return nil
}

func compareUnit(a, b *unit) int {
	return cmp.Or(a.prefix.Addr().Compare(b.prefix.Addr()), cmp.Compare(a.prefix.Bits(), b.prefix.Bits()))
}

func (ds *DataStore) addUnit(u *unit) {
	if len(u.entries) > 1 {
		ds.prefixes++
		ds.freePrefixes++ // every address starts idle
	}
	u.counts[idle] += len(u.entries)
	u.eni.counts[idle] += len(u.entries)
	ds.counts[idle] += len(u.entries)
	for _, e := range u.entries {
		ds.byAddr[e.addr] = e
		u.eni.idle.push(e)
	}
	ds.mark(u.eni)
	for _, e := range u.entries {
		ds.settle(e)
	}
}

// settle gives a new address what was said about it before it came.
func (ds *DataStore) settle(e *entry) {
	if o, ok := ds.takeOrphanOf(e.addr); ok {
		e.extra = o.extra
		ds.give(e, o.key)
		return
	}
	if at, ok := ds.takeEmber(e.addr); ok {
		e.released = at
	}
	ds.rest(e)
}

// give assigns an address of any other state.
func (ds *DataStore) give(e *entry, key IPAMKey) {
	e.key = key
	ds.byKey[key] = e
	ds.move(e, assigned)
}

// take ends an assignment; the caller decides what the address does next.
func (ds *DataStore) take(e *entry) {
	delete(ds.byKey, e.key)
	e.key, e.extra = IPAMKey{}, nil
}

// rest puts an address that nobody has where it belongs.
func (ds *DataStore) rest(e *entry) {
	switch {
	case ds.isQuarantined(e.addr):
		ds.move(e, aside)
	case !e.released.IsZero() && ds.cools(e.released):
		ds.move(e, cooling)
	default:
		ds.move(e, idle)
	}
}

// cools reports whether what was released then is not to be assigned yet.
func (ds *DataStore) cools(released time.Time) bool {
	return ds.Cooling > 0 && ds.now().Sub(released) <= ds.Cooling
}

// thaw makes idle what has cooled long enough.
func (ds *DataStore) thaw() {
	if len(ds.chill.list) == 0 {
		return
	}
	limit := ds.now().Add(-ds.Cooling)
	for len(ds.chill.list) > 0 && ds.chill.list[0].released.Before(limit) {
		ds.move(ds.chill.list[0], idle)
	}
}

// move changes an address's state, with every account of it.
func (ds *DataStore) move(e *entry, to state) {
	if e.state == to {
		return
	}
	ds.leaveHeap(e)
	ds.count(e, -1)
	e.state = to
	ds.count(e, 1)
	switch to {
	case idle:
		e.unit.eni.idle.push(e)
		ds.mark(e.unit.eni)
	case cooling:
		ds.chill.push(e)
	}
}

func (ds *DataStore) leaveHeap(e *entry) {
	switch e.state {
	case idle:
		e.unit.eni.idle.remove(e)
		ds.mark(e.unit.eni)
	case cooling:
		ds.chill.remove(e)
	}
}

// count adds by to the account of e's state; free prefixes follow.
func (ds *DataStore) count(e *entry, by int) {
	u := e.unit
	before := u.whole()
	u.counts[e.state] += by
	u.eni.counts[e.state] += by
	ds.counts[e.state] += by
	if len(u.entries) > 1 && before != u.whole() {
		if before {
			ds.freePrefixes--
		} else {
			ds.freePrefixes++
		}
	}
}
