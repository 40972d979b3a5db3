package recordtest

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// TB is what is needed of a *testing.T or a *rapid.T.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// History is what an allocator has recorded, and what its state was on the way. The zero History is empty.
type History struct {
	Records []ipam.Record
	moments []moment
}

// moment is the state behind so many records.
type moment struct {
	records int
	state   []ipam.Record
	now     time.Time
}

// Add is to be called with the records of each operation.
func (h *History) Add(records []ipam.Record) { h.Records = append(h.Records, records...) }

// Moment is to be called between operations: a is as the records so far have it, and it is now.
func (h *History) Moment(a ipam.NodeAllocator, now time.Time) {
	h.moments = append(h.moments, moment{len(h.Records), a.Records(), now})
}

// Try fails unless every prefix of the history is a state that existed. After whole operations that is the very state
// of that moment, from all records and from the few of Records alike. In between (records of one operation are
// persisted together, so this takes a torn journal) the replay succeeds, and the allocator goes on with another block
// without giving an address twice. fresh makes an allocator as it was before the first record; it is now.
func Try(t TB, h *History, fresh func() ipam.NodeAllocator, now time.Time, another netip.Prefix) {
	t.Helper()
	for _, m := range h.moments {
		for _, records := range [...][]ipam.Record{h.Records[:m.records], m.state} {
			a := fresh()
			Replay(t, a, records)
			a.Capacity(m.now) // what has cooled by then is no longer recorded
			if have := a.Records(); !slices.Equal(have, m.state) {
				t.Fatalf("after %d records: state %v, want %v", m.records, have, m.state)
			}
		}
	}
	for length := range h.Records {
		a := fresh()
		Replay(t, a, h.Records[:length])
		if _, err := a.SetBlocks(now, []netip.Prefix{another}); err != nil {
			t.Fatalf("after %d records %s is refused: %v", length, another, err)
		}
		for i := range newOwners {
			// most find nothing free
			_, _, _ = a.Allocate(now, ipam.Owner{Network: "k8s", ContainerID: fmt.Sprint("new-", i), IfName: "eth0"}, ipam.Want{})
		}
		Disjoint(t, a)
	}
}

// newOwners is more than the small blocks of tests have room for.
const newOwners = 20

// Replay applies records, each read back from its text as a journal would.
func Replay(t TB, a ipam.NodeAllocator, records []ipam.Record) {
	t.Helper()
	for _, r := range records {
		back, err := ipam.ParseRecord(r.String())
		if err != nil || back != r {
			t.Fatalf("record %q reads back as %q: %v", r, back, err)
		}
		if err := a.Apply(back); err != nil {
			t.Fatalf("%v, after %v", err, records)
		}
	}
}

// Refused fails when a record that is refused changes the state, or one that is taken gives an address to two owners.
func Refused(t TB, a ipam.NodeAllocator, r ipam.Record) {
	t.Helper()
	before := a.Records()
	if err := a.Apply(r); err != nil && !slices.Equal(a.Records(), before) {
		t.Fatalf("%v, but the state %v became %v", err, before, a.Records())
	}
	Disjoint(t, a)
}

// Disjoint fails when two owners hold one address, or one holds a block's gateway.
func Disjoint(t TB, a ipam.NodeAllocator) {
	t.Helper()
	holder := make(map[netip.Addr]string)
	for _, b := range a.Blocks() {
		holder[b.Gateway] = "the gateway of " + b.Prefix.String()
	}
	for l := range a.Leases() {
		if by, held := holder[l.Addr]; held {
			t.Fatalf("%s is held by %s and %s", l.Addr, by, l.Owner)
		}
		holder[l.Addr] = l.Owner.String()
	}
}
