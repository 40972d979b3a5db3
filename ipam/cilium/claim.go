package cilium

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// ClaimOp is what a Claim says. The zero ClaimOp is invalid.
type ClaimOp uint8

const (
	// OpClaim: Node holds CIDR of Pool; again for one that it holds already, which confirms that the writer is the leader.
	OpClaim ClaimOp = iota + 1
	// OpReturn: Node gave CIDR back.
	OpReturn
)

var claimOps = [...]string{OpClaim: "claim", OpReturn: "return"}

// Claim is one entry of the ledger in which the cluster's blocks are given out. The ledger lives in a store that
// appends entry Version only after entry Version-1; whoever fails to append has been deposed and starts anew from the
// ledger. A node's resource is written after the ledger. So no two leaders ever show one block to two nodes.
type Claim struct {
	// Version counts from 1 without gaps.
	Version uint64
	Op      ClaimOp
	// Pool and Node contain no white space. Node is one incarnation: a node that comes again under its name is another
	// one.
	Pool, Node string
	CIDR       netip.Prefix
	// At has nanosecond resolution and is UTC.
	At time.Time
}

// String is one line of six fields; ParseClaim reads it back:
//
//	7 claim default/ipv4 node-3 10.0.4.0/24 1700000000000000000
func (c Claim) String() string {
	op := "?"
	if int(c.Op) < len(claimOps) && c.Op > 0 {
		op = claimOps[c.Op]
	}
	return fmt.Sprintf("%d %s %s %s %s %d", c.Version, op, c.Pool, c.Node, c.CIDR, c.At.UnixNano())
}

// ParseClaim reads what Claim.String wrote.
func ParseClaim(line string) (Claim, error) {
	f := strings.Split(line, " ")
	if len(f) != 6 {
		return Claim{}, fmt.Errorf("claim %q: want 6 fields, have %d", line, len(f))
	}
	var c Claim
	var err error
	if c.Version, err = strconv.ParseUint(f[0], 10, 64); err != nil {
		return Claim{}, fmt.Errorf("claim %q: version: %w", line, err)
	}
	for op, name := range claimOps {
		if name != "" && name == f[1] {
			c.Op = ClaimOp(op)
		}
	}
	c.Pool, c.Node = f[2], f[3]
	if c.Op == 0 || !word(c.Pool) || !word(c.Node) {
		return Claim{}, fmt.Errorf("claim %q: unknown operation, or no pool or node", line)
	}
	if c.CIDR, err = netip.ParsePrefix(f[4]); err != nil {
		return Claim{}, fmt.Errorf("claim %q: %w", line, err)
	}
	if c.CIDR != space.Normal(c.CIDR) {
		return Claim{}, fmt.Errorf("claim %q: CIDR is not in normal form", line)
	}
	ns, err := strconv.ParseInt(f[5], 10, 64)
	if err != nil {
		return Claim{}, fmt.Errorf("claim %q: time: %w", line, err)
	}
	c.At = time.Unix(0, ns).UTC()
	return c, nil
}

// word reports whether s can stand in a ledger's line.
func word(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\r\n") }
