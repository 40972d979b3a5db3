package agent

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: what a step's writes change is told once, as their outcome. Method: one story, each line a step.
func TestLeaseChanges(t *testing.T) {
	addr := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 1, 0, byte(n)}) }
	owner := func(name string) ipam.Owner { return ipam.Owner{Network: "k8s", ContainerID: name, IfName: "eth0"} }
	record := func(op ipam.RecordOp, name string, n int) Record {
		return Record{Kind: RecordIPAM, IPAM: ipam.Record{Op: op, Owner: owner(name), Addr: addr(n)}}
	}
	lease := func(name string, n int) Record { return record(ipam.OpLease, name, n) }
	release := func(name string, n int) Record { return record(ipam.OpRelease, name, n) }
	write := func(records ...Record) Effect { return Persist{Records: records} }
	c := NewLeaseChanges(slices.Values([]ipam.Lease{{Owner: owner("a"), Addr: addr(1)}}))
	for _, tc := range []struct {
		name    string
		effects []Effect
		want    string
	}{
		{"nothing is written", []Effect{WakeAt{}}, "[] [] false"},
		{"a record of something else", []Effect{write(Record{Kind: RecordSandbox})}, "[] [] true"},
		{"two leases, in order of addresses", []Effect{write(lease("c", 3), lease("b", 2))}, "[] [b 10.1.0.2 c 10.1.0.3] true"},
		{"again", []Effect{write(lease("b", 2))}, "[] [] true"},
		{"another address", []Effect{write(lease("b", 4))}, "[b 10.1.0.2] [b 10.1.0.4] true"},
		{"came and went", []Effect{write(lease("d", 5)), write(release("d", 5))}, "[] [] true"},
		{"went", []Effect{write(release("c", 3))}, "[c 10.1.0.3] [] true"},
		{"a compacted history releases what it does not name", []Effect{Persist{Replace: true, Records: []Record{lease("b", 4), lease("e", 6)}}},
			"[a 10.1.0.1] [e 10.1.0.6] true"},
		{"also of the same step", []Effect{write(lease("f", 7)), Persist{Replace: true, Records: []Record{lease("b", 4)}}},
			"[e 10.1.0.6] [] true"},
	} {
		gone, come, wrote := c.Step(tc.effects)
		text := func(list []ipam.Record) (out []string) {
			for _, r := range list {
				out = append(out, r.Owner.ContainerID+" "+r.Addr.String())
			}
			return out
		}
		if have := fmt.Sprint(text(gone), " ", text(come), " ", wrote); have != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, have, tc.want)
		}
	}
}
