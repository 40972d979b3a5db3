package datastore

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Goal: entryHeap yields its entries in order, whatever was removed from its middle. Method: a sorted list is the twin.
func TestEntryHeapIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := entryHeap{before: byAddress}
		var twin []*entry
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				n := rapid.Uint16().Draw(t, "address")
				e := &entry{addr: netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)})}
				if slices.ContainsFunc(twin, func(x *entry) bool { return x.addr == e.addr }) {
					t.Skip("it is there")
				}
				h.push(e)
				twin = append(twin, e)
			},
			"remove": func(t *rapid.T) {
				if len(twin) == 0 {
					t.Skip("empty")
				}
				i := rapid.IntRange(0, len(twin)-1).Draw(t, "entry")
				h.remove(twin[i])
				twin = slices.Delete(twin, i, i+1)
			},
			"": func(t *rapid.T) {
				if len(h.list) != len(twin) {
					t.Fatalf("%d entries, want %d", len(h.list), len(twin))
				}
				for i, e := range h.list {
					if int(e.at) != i || i > 0 && e.addr.Less(h.list[(i-1)/2].addr) {
						t.Fatalf("entry %s is at %d, says %d, under %s", e.addr, i, e.at, h.list[(i-1)/2].addr)
					}
				}
			},
		})
	})
}

// An address that leaves the store and comes back cools on, to the boundary; a moment later it does not.
func TestCoolingSurvivesLeavingTheStore(t *testing.T) {
	for _, c := range [...]struct {
		after time.Duration
		cools int
	}{{0, 1}, {30 * time.Second, 1}, {30*time.Second + 1, 0}} {
		b := node(t, 1)
		a := b.assign(t, 1)
		b.unassign(t, 1)
		b.must(t, b.ds.DelIPv4AddressFromStore("eni-0", a, false))
		b.wait(c.after)
		b.must(t, b.ds.AddIPv4AddressToStore("eni-0", a))
		if s := b.ds.GetIPStats(); s.CooldownIPs != c.cools {
			t.Errorf("after %s: %+v", c.after, s)
		}
	}
}
