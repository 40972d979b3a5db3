package calico

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// State is how far a BlockAffinity is, as its object says.
type State string

// States of BlockAffinities.
const (
	Pending         State = "pending"
	Confirmed       State = "confirmed"
	PendingDeletion State = "pendingDeletion"
	// None: there is to be none.
	None State = ""
)

// Request is one request of a block's write: a PutAffinity, a PutHandle or the WriteBlock itself.
type Request interface{ request() }

type (
	// PutAffinity brings the BlockAffinity of a node and a block to a state. One that is Confirmed stays so where it is to be Pending; where it
	// is to be PendingDeletion or None, one that is not there is as it should be.
	PutAffinity struct {
		CIDR  netip.Prefix
		Node  string
		State State
	}
	// PutHandle has an IPAMHandle count so many addresses of a block; with none of any block it goes.
	PutHandle struct {
		Handle string
		CIDR   netip.Prefix
		Count  int
	}
)

func (PutAffinity) request() {}
func (PutHandle) request()   {}
func (WriteBlock) request()  {}

// Order is a block's write in Calico's order, as a pure state machine: a claim stands as a pending BlockAffinity before its block is made, and
// is confirmed behind that; one that is given up is marked before the block loses it, and goes behind that; a handle counts an address
// before its block has it, and until its block has it no more. A crash between any two leaves what both Calico and this put right: affinities
// too many, pending ones, and handles that count too many, never an address that is nobody's.
type Order struct {
	write WriteBlock
	// before, then the block, then after.
	before, after []Request
	// undo is what stands in the place of after where the block was not written for certain.
	undo  []Request
	block bool // it was asked for
	wrote Wrote
}

// NewOrder is the order of a write.
func NewOrder(w WriteBlock) *Order {
	o := &Order{write: w}
	was, is := w.Was, w.Block.Block
	if w.Op == Delete {
		is = Block{CIDR: w.Block.CIDR}
	}
	from, to := NodeOf(was.Affinity), NodeOf(is.Affinity)
	if from != "" && from != to {
		o.before = append(o.before, PutAffinity{w.Block.CIDR, from, PendingDeletion})
		o.after = append(o.after, PutAffinity{w.Block.CIDR, from, None})
	}
	if to != "" && (from != to || w.For == Assign && to == NodeOf(w.By)) { // each time anew: a claim of before may not be confirmed
		o.before = append(o.before, PutAffinity{w.Block.CIDR, to, Pending})
		o.after = append(o.after, PutAffinity{w.Block.CIDR, to, Confirmed})
		if from != to {
			o.undo = append(o.undo, PutAffinity{w.Block.CIDR, to, None})
		}
	}
	had, has := was.Counts(), is.Counts()
	for _, h := range slices.Sorted(maps.Keys(has)) {
		if has[h] > had[h] {
			o.before = append(o.before, PutHandle{h, w.Block.CIDR, has[h]})
			o.undo = append(o.undo, PutHandle{h, w.Block.CIDR, had[h]})
		}
	}
	for _, h := range slices.Sorted(maps.Keys(had)) {
		if has[h] < had[h] {
			o.after = append(o.after, PutHandle{h, w.Block.CIDR, has[h]})
		}
	}
	return o
}

// Next is the next request; false when the write is over, and Wrote says how.
func (o *Order) Next() (Request, bool) {
	switch {
	case len(o.before) > 0:
		return o.before[0], true
	case !o.block:
		return o.write, true
	case len(o.after) > 0:
		return o.after[0], true
	}
	return nil, false
}

// Answer takes what became of the request that Next said last. What comes before a block and fails ends the write, as the block does; what
// comes behind it is as much as can be done, and the next write of the block or its node's controller finds it.
func (o *Order) Answer(w Wrote) {
	switch {
	case len(o.before) > 0:
		if o.before = o.before[1:]; w.Outcome != ipam.Done {
			o.before, o.block, o.after = nil, true, o.undo
			o.wrote = Wrote{Outcome: w.Outcome}
		}
	case !o.block:
		o.block, o.wrote = true, w
		switch w.Outcome {
		case ipam.Done:
		case ipam.Unknown: // it may have been written: nothing is taken back
			o.after = nil
		default:
			o.after = o.undo
		}
	default:
		o.after = o.after[1:]
	}
}

// Wrote is what became of the block.
func (o *Order) Wrote() Wrote { return o.wrote }
