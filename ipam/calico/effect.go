package calico

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Effect is something that a Host or a Tender asks its driver to do: one of the types below. Each prints as one
// canonical line.
type Effect interface {
	AppendText(b []byte) []byte
	effect()
}

type (
	// WriteBlock writes one block; Wrote comes back, with ipam.Unknown when the driver gives up. One is under way at a
	// time.
	WriteBlock struct {
		Op  Op
		For Purpose
		// Block is the block as it should be. The write must not be applied unless the store has this UID and Version of it;
		// for Create, unless there is none.
		Block Stored
		// By is the host that writes for itself, "" for the cluster's controllers.
		By string
		// Was is the block before, the zero Block for Create: affinities and handles go by the difference.
		Was Block
		// Unless are incarnations of nodes: the write must not be applied while one of them has its Node object.
		Unless []string
	}
	// TellAgent gives the host's agent its blocks, in the order in which they are to be used.
	TellAgent struct{ Blocks []netip.Prefix }
	// LetGo lets the plugin of a PodComing ask the agent: its address is there, or none is to be had.
	LetGo struct{ ID uint64 }
	// WakeAt asks for Woke at that time; a later WakeAt replaces an earlier one.
	WakeAt struct{ At time.Time }
	// Note is for the log.
	Note struct{ Text string }
)

func (WriteBlock) effect() {}
func (TellAgent) effect()  {}
func (LetGo) effect()      {}
func (WakeAt) effect()     {}
func (Note) effect()       {}

// Op is how a block is written.
type Op uint8

// The ways to write a block.
const (
	Create Op = iota + 1
	Update
	Delete
)

var ops = [...]string{Create: "create", Update: "update", Delete: "delete"}

func (o Op) String() string { return ops[o] }

// Purpose is why a block is written.
type Purpose uint8

// Purposes of writes.
const (
	// Assign takes addresses for the host, Release gives some back.
	Assign Purpose = iota + 1
	Release
	// Tend cleans up behind hosts that are gone and blocks that are empty.
	Tend
)

var purposes = [...]string{Assign: "assign", Release: "release", Tend: "tend"}

func (p Purpose) String() string { return purposes[p] }

// write is the effect that puts next in the place of old, which is nil where there is none.
func write(why Purpose, old *Stored, next Block) WriteBlock {
	w := WriteBlock{Op: Create, For: why, Block: Stored{Block: next}}
	if old != nil {
		w.Op, w.Block.UID, w.Block.Version, w.Was = Update, old.UID, old.Version, old.Block
		if next.Affinity == "" && next.Empty() {
			w.Op = Delete
		}
	}
	return w
}

// AppendText implements Effect.
func (e WriteBlock) AppendText(b []byte) []byte {
	b = append(b, e.Op.String()+" "+e.Block.CIDR.String()...)
	if e.Op != Create {
		b = append(b, " uid="+e.Block.UID+" version="...)
		b = strconv.AppendInt(b, e.Block.Version, 10)
	}
	if e.Op != Delete {
		b = append(append(b, ' '), e.Block.Block.String()...)
	}
	b = append(b, " for="+e.For.String()...)
	if len(e.Unless) > 0 {
		b = append(b, " unless="+strings.Join(e.Unless, ",")...)
	}
	return b
}

// AppendText implements Effect.
func (e TellAgent) AppendText(b []byte) []byte {
	b = append(b, "tell"...)
	for _, p := range e.Blocks {
		b = p.AppendTo(append(b, ' '))
	}
	return b
}

// AppendText implements Effect.
func (e LetGo) AppendText(b []byte) []byte {
	return strconv.AppendUint(append(b, "let-go #"...), e.ID, 10)
}

// AppendText implements Effect.
func (e WakeAt) AppendText(b []byte) []byte {
	return e.At.UTC().AppendFormat(append(b, "wake "...), time.RFC3339Nano)
}

// AppendText implements Effect.
func (e Note) AppendText(b []byte) []byte { return append(append(b, "note "...), e.Text...) }
