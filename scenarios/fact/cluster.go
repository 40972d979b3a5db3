package fact

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Assigned says which blocks the node has by whatever decides about them: the API server, EC2. None: it has none, or is
// gone. Of the blocks only prefixes and Draining count: a draining one was taken back by an administrator while it may be in
// use.
type Assigned struct{ Blocks []ipam.Block }

// Range says that controllers are to give nodes blocks of a range from now on, or none any more.
type Range struct {
	Range  netip.Prefix
	Closed bool
}

// Changing says that a life of a controllers' program asks for a change of what they decide about.
type Changing struct {
	Program string
	// Life counts from 1.
	Life uint32
	// Wanted is the change.
	Wanted string
	// Late is how long ago the time was over, by its own clock, until which it led for certain; 0: it leads.
	Late time.Duration
}

// RecordChange says that the record of a node ID in the store was written or deleted. It is told when the store does it,
// whoever asked.
type RecordChange struct {
	ID            uint32
	Before, After NodeRecord
	// Blocks are those that the record says After's node has, Address is where others reach it by it; none where there is no
	// record.
	Blocks  []netip.Prefix
	Address netip.Addr
}

// NodeRecord is what a record says of whose an ID is; the zero NodeRecord is none.
type NodeRecord struct {
	Name, UID string
	// Released: its node was found gone.
	Released bool
}

// Served says that clients anywhere get an endpoint of a service without affinity from now on, by the service's address and
// port.
type Served struct {
	Endpoint netip.AddrPort
	Proto    string
	// Gone: they do not any more, or the service is another one.
	Gone bool
	// Kept: the last service there had affinity.
	Kept bool
}

func (Assigned) what()     {}
func (Range) what()        {}
func (Changing) what()     {}
func (RecordChange) what() {}
func (Served) what()       {}
