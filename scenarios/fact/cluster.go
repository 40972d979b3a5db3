package fact

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Assigned lists the node's blocks according to the API server or EC2. None: it has none, or is gone. Only prefixes and
// Draining are set: an administrator took a draining one back while it may be in use.
type Assigned struct{ Blocks []ipam.Block }

// Range says that controllers start or stop to assign blocks of a range.
type Range struct {
	Range  netip.Prefix
	Closed bool
}

// Changing says that a controller process requests a change.
type Changing struct {
	Program string
	// Life counts from 1.
	Life uint32
	// Wanted is the change.
	Wanted string
	// Late is how long ago its lease became uncertain by its own clock; 0: it leads.
	Late time.Duration
}

// RecordChange says that the record of a node ID in the store was written or deleted. The store reports it, for all
// clients.
type RecordChange struct {
	ID            uint32
	Before, After NodeRecord
	// Blocks and Address are those of After's node according to the record, or zero without a record.
	Blocks  []netip.Prefix
	Address netip.Addr
}

// NodeRecord is the owner of an ID according to its record; the zero NodeRecord is none.
type NodeRecord struct {
	Name, UID string
	// Released: an agent found the node gone.
	Released bool
}

// Served says that an address and port of a service without affinity has an endpoint for clients everywhere from now
// on.
type Served struct {
	Endpoint netip.AddrPort
	Proto    string
	// Gone: it no longer has one, or the service is another one.
	Gone bool
	// Kept: the last service there had affinity.
	Kept bool
}

func (Assigned) what()     {}
func (Range) what()        {}
func (Changing) what()     {}
func (RecordChange) what() {}
func (Served) what()       {}
