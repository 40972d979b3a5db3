// Package ipam decides which address a pod gets and which blocks a node holds.
//
// It performs no IO and reads no clock: callers pass the time and persist the returned Records before acting on them.
// It never routes, wires or talks to a store. Start at Allocator; the systems below this folder implement
// NodeAllocator. A crash may lose any suffix of unpersisted Records: applying the persisted ones to a fresh allocator
// yields an earlier state.
//
// A system has a package of its own. The Ledger is the same for all: owners, leases, blocks, records, their replay and
// the errors of records that contradict the state. Its Policy is the system's own: which address is picked, which are
// reserved, and how long a released one cools. Where each block knows its own addresses, BlockLedger has the Policy
// too, and the system brings Addresses.
package ipam

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"strings"
	"time"
)

// Owner is who holds an address: the CNI specification's primary key of an attachment (spec 1.1, section 2,
// "Attachment"). The zero Owner is invalid.
type Owner struct{ Network, ContainerID, IfName string }

// String is "network/containerID/ifName"; ParseOwner reads it back.
func (o Owner) String() string { return o.Network + "/" + o.ContainerID + "/" + o.IfName }

// Valid reports whether all three parts are present and none contains a slash or white space.
func (o Owner) Valid() bool {
	return plain(o.Network) && plain(o.ContainerID) && plain(o.IfName)
}

// plain reports whether a part of an owner is there and has neither slash nor white space.
func plain(part string) bool {
	return visible(part) || part != "" && strings.IndexByte(part, '/') < 0 && strings.IndexByte(part, ' ') < 0 && strings.IndexByte(part, '\t') < 0 &&
		strings.IndexByte(part, '\r') < 0 && strings.IndexByte(part, '\n') < 0
}

// second is what the interface's name ends with in whose an attachment's second address is: no link's name has a colon.
const second = ":2"

// Second is who holds the second address of o's attachment, in a cluster of two families: an Owner holds one address.
func (o Owner) Second() Owner {
	o.IfName += second
	return o
}

// First is the Owner of which o is the Second, and o itself where it is none's.
func (o Owner) First() (first Owner, is bool) {
	o.IfName, is = strings.CutSuffix(o.IfName, second)
	return o, is
}

// ParseOwner reads what Owner.String wrote.
func ParseOwner(text string) (Owner, error) {
	network, rest, _ := strings.Cut(text, "/")
	container, ifName, ok := strings.Cut(rest, "/")
	if !ok || strings.IndexByte(ifName, '/') >= 0 {
		return Owner{}, fmt.Errorf("owner %q: want network/containerID/ifName", text)
	}
	o := Owner{Network: network, ContainerID: container, IfName: ifName}
	if !o.Valid() {
		return Owner{}, fmt.Errorf("owner %q: an empty part or white space", text)
	}
	return o, nil
}

// Want narrows what Allocate may pick. The zero Want takes any address.
type Want struct {
	// Addr asks for exactly this address; the zero Addr asks for any.
	Addr netip.Addr
	// Pool names the pool for systems with several; empty is the default pool.
	Pool string
}

// Pools of a DualStack for Want.Pool.
const (
	PoolIPv4 = "ipv4"
	PoolIPv6 = "ipv6"
)

// PoolOf is the pool of an address's family.
func PoolOf(a netip.Addr) string {
	if a.Unmap().Is4() {
		return PoolIPv4
	}
	return PoolIPv6
}

// Lease says that Owner holds Addr.
type Lease struct {
	Owner Owner
	Addr  netip.Addr
	// Block is the block of the node that Addr was picked from, masked.
	Block netip.Prefix
	// Gateway is the address that a pod on Block uses as its gateway.
	Gateway netip.Addr
	// Since is when the lease was given.
	Since time.Time
}

// Errors that callers branch on; they come wrapped with the pool and its capacity.
var (
	// ErrExhausted: every address that may be given out now is held or cooling. Waiting or growing the pool helps.
	ErrExhausted = errors.New("no address is free")
	// ErrCooling: Want.Addr was released a moment ago. It is an ErrExhausted: waiting helps.
	ErrCooling error = cooling{}
	// ErrTaken: Want.Addr is held by another owner.
	ErrTaken = errors.New("address is taken")
	// ErrNotInPool: Want.Addr is outside every block, reserved, or only in a draining block.
	ErrNotInPool = errors.New("address is not in the pool")
	// ErrUnmet: what the owner asks for by another way than Want is not to be had, though other addresses may be free.
	ErrUnmet = errors.New("it gets no other")
	// ErrNoBlock: the node holds no block yet.
	ErrNoBlock = errors.New("node holds no block")
)

// cooling is the type of ErrCooling.
type cooling struct{}

func (cooling) Error() string { return "address is cooling" }

// Is makes ErrCooling an ErrExhausted.
func (cooling) Is(target error) bool { return target == ErrExhausted }

// Allocator is what a node agent needs from any of the systems.
type Allocator interface {
	// Allocate gives o an address. The same owner gets the same lease again, without Records.
	// On error nothing has changed and there are no Records.
	Allocate(now time.Time, o Owner, w Want) (Lease, []Record, error)
	// Release frees what o holds. An absent owner is success: no Records.
	Release(now time.Time, o Owner) []Record
	// Leases yields every lease in ascending address order.
	Leases() iter.Seq[Lease]
}

// Block is one range that a node holds.
type Block struct {
	Prefix netip.Prefix
	// Gateway is what pods on this block use as gateway.
	Gateway netip.Addr
	// Draining blocks keep their leases and give out no more.
	Draining bool
}

// NodeAllocator is an Allocator whose blocks the agent sets and whose state it persists.
type NodeAllocator interface {
	Allocator
	// SetBlocks makes prefixes the blocks that new picks come from, in this order. A held block that is not among them
	// drains: its leases stay valid, and it disappears with its last lease. A draining block named again is active again.
	// The slice stays the caller's.
	SetBlocks(now time.Time, prefixes []netip.Prefix) ([]Record, error)
	// Blocks lists active blocks in SetBlocks order, then draining ones in ascending order.
	Blocks() []Block
	// Lease returns what o holds.
	Lease(o Owner) (Lease, bool)
	// Capacity tells how many addresses active blocks can hold in all and how many of them could be given out now.
	Capacity(now time.Time) (total, free int)
	// FreeAt is when the next cooling address becomes free, the zero time when none is cooling.
	FreeAt(now time.Time) time.Time
	// Apply replays one persisted Record in its original order. A Record that contradicts the state (an address held by
	// two owners, a lease outside every block) is refused with an error and changes nothing.
	Apply(r Record) error
	// Records is the shortest history that recreates the present state in a fresh allocator (for journal compaction).
	Records() []Record
}

// DualStack is a NodeAllocator whose blocks may be of two families. Want.Pool chooses one; without a block of it there
// is ErrNoBlock.
type DualStack interface {
	NodeAllocator
	// Dual reports whether it gives addresses of both.
	Dual() bool
	// FreeIn is how many addresses of a family's pool, PoolIPv4 or PoolIPv6, active blocks could give out now.
	FreeIn(now time.Time, pool string) int
}
