package ipam

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// RecordOp is what a Record says. The zero RecordOp is invalid.
type RecordOp uint8

const (
	// OpLease: Owner holds Addr of block Prefix since At.
	OpLease RecordOp = iota + 1
	// OpRelease: Owner gave Addr back at At; Prefix is its block.
	OpRelease
	// OpBlock: block Prefix became active at At. Gateway is in Addr.
	OpBlock
	// OpDrain: block Prefix drains since At.
	OpDrain
	// OpDrop: block Prefix is gone.
	OpDrop
	// OpCursor: the next pick on block Prefix starts behind Addr. Written by compaction, so that order survives.
	OpCursor
)

var recordOps = [...]string{OpLease: "lease", OpRelease: "release", OpBlock: "block", OpDrain: "drain", OpDrop: "drop", OpCursor: "cursor"}

// Record is one durable fact of an allocator. Fields that an Op does not use are zero.
type Record struct {
	Op     RecordOp
	Owner  Owner
	Addr   netip.Addr
	Prefix netip.Prefix
	// At has nanosecond resolution and is UTC.
	At time.Time
}

// String is one line of five fields, "-" where a field is unused; ParseRecord reads it back:
//
//	lease k8s/c0ffee/eth0 10.1.1.2 10.1.1.0/24 1700000000000000000
func (r Record) String() string { return string(r.AppendText(nil)) }

// AppendText appends what String returns.
func (r Record) AppendText(b []byte) []byte {
	b = append(b, recordOps[r.Op]...)
	b = append(b, ' ')
	if r.Owner == (Owner{}) {
		b = append(b, '-')
	} else {
		b = append(b, r.Owner.Network...)
		b = append(b, '/')
		b = append(b, r.Owner.ContainerID...)
		b = append(b, '/')
		b = append(b, r.Owner.IfName...)
	}
	b = append(b, ' ')
	if r.Addr.IsValid() {
		b = r.Addr.AppendTo(b)
	} else {
		b = append(b, '-')
	}
	b = append(b, ' ')
	if r.Prefix.IsValid() {
		b = r.Prefix.AppendTo(b)
	} else {
		b = append(b, '-')
	}
	b = append(b, ' ')
	return strconv.AppendInt(b, r.At.UnixNano(), 10)
}

// ParseRecord reads what Record.String wrote.
func ParseRecord(line string) (Record, error) {
	r, why := parseRecord(line)
	if why != nil {
		return Record{}, fmt.Errorf("record %q: %w", line, why)
	}
	return r, nil
}

var errFields = errors.New("want 5 fields")

func parseRecord(line string) (r Record, err error) {
	op, rest, _ := strings.Cut(line, " ")
	owner, rest, _ := strings.Cut(rest, " ")
	addr, rest, _ := strings.Cut(rest, " ")
	prefix, at, ok := strings.Cut(rest, " ")
	if !ok || strings.IndexByte(at, ' ') >= 0 {
		return r, errFields
	}
	if r.Op = recordOp(op); r.Op == 0 {
		return r, fmt.Errorf("unknown operation %q", op)
	}
	if owner != "-" {
		if r.Owner, err = ParseOwner(owner); err != nil {
			return r, err
		}
	}
	if addr != "-" {
		if r.Addr, err = netip.ParseAddr(addr); err != nil {
			return r, err
		}
	}
	if prefix != "-" {
		if r.Prefix, err = netip.ParsePrefix(prefix); err != nil {
			return r, err
		}
		if r.Prefix != r.Prefix.Masked() {
			return r, errors.New("prefix has host bits")
		}
	}
	ns, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return r, fmt.Errorf("time: %w", err)
	}
	r.At = time.Unix(0, ns).UTC()
	return r, nil
}

func recordOp(name string) RecordOp {
	for op, n := range recordOps {
		if n != "" && n == name {
			return RecordOp(op)
		}
	}
	return 0
}
