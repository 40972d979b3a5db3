package datastore

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
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

// DataStore is a node's ENIs, their addresses and which pod has which, under the names of amazon-vpc-cni-k8s: a
// NodePool, a Node that has the pool's units as its blocks at once, and a checkpoint in place of Records. It is not
// safe for concurrent use.
//
// Assignments go to the lowest idle address of the first ENI, in the order of device numbers and then IDs, that has
// one. Settings are to be made before the first call.
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

	pool
	log     Logger
	backing Checkpointer
	// extra is what the checkpoint says about assignments beyond what this package knows, preserved the same of its top
	// level.
	extra     map[ipam.Owner][]Field
	preserved []Field
	// quarantine has what is damaged, in the order of the checkpoint.
	quarantine []Quarantined
	// dirty: the file may say something else than memory. unread: why the backing store is unknown, nil normally.
	dirty  bool
	unread error
}

// pool are the ENIs of a DataStore.
type pool = NodePool

// podGateway is what AWS' pods use: an address of no subnet, so that every address of a unit is a pod's.
var podGateway = netip.MustParseAddr("169.254.1.1")

// NewDataStore returns an empty store. A nil log is fine. Call ReadBackingStore after the ENIs are in and before the
// first assignment.
func NewDataStore(log Logger, backingStore Checkpointer, now Clock) *DataStore {
	if log == nil {
		log = silence{}
	}
	n, err := NewNode(NodeConfig{Gateway: podGateway})
	if err != nil {
		panic("datastore: " + err.Error()) // this configuration is valid
	}
	ds := &DataStore{
		CheckpointMigrationPhase: CheckpointMigrationPhase,
		Cooling:                  CoolingPeriod,
		pool:                     pool{node: n, clock: now},
		log:                      log,
		backing:                  backingStore,
		extra:                    make(map[ipam.Owner][]Field),
	}
	ds.alone = &ds.Cooling
	return ds
}

type silence struct{}

func (silence) Warnf(string, ...any) {}

// AddIPv4AddressToStore adds one secondary address of an ENI. Errors: ErrUnknownENI (with a text of its own),
// ErrIPAlreadyInStore, ErrInvalidAddress.
//
// An address that went away while a pod had it, or that the checkpoint assigns to a pod, is that pod's from here on.
func (ds *DataStore) AddIPv4AddressToStore(eniID string, ipv4 netip.Addr) error {
	ipv4 = space.NormalAddr(ipv4)
	return ds.AddIPv4CidrToStore(eniID, netip.PrefixFrom(ipv4, ipv4.BitLen()))
}
