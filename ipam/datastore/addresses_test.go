package datastore

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
	"pgregory.net/rapid"
)

// Goal: coolQueue yields releases by time. Method: any times go in, and come out sorted.
func TestCoolQueueIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q coolQueue
		times := rapid.SliceOf(rapid.Int64Range(0, 50)).Draw(t, "times")
		for _, at := range times {
			q.push(cooled{at: at})
		}
		last := int64(0)
		for n := len(times); n > 0; n-- {
			c := q.pop()
			if c.at < last || len(q) != n-1 {
				t.Fatalf("%d comes behind %d, %d are left of %d", c.at, last, len(q), n)
			}
			last = c.at
		}
	})
}

// checkAccounts compares what a Node's active blocks count with what is known of each of their addresses.
func checkAccounts(t *rapid.T, n *Node) {
	for i, b := range n.Active() {
		var want counts
		spare := 0
		for a := b.Prefix.Addr(); b.Prefix.Contains(a); a = a.Next() {
			s := n.addrs.state(a)
			want[s]++
			if n.addrs.blocked[a] > 0 {
				spare++
			}
			if index, _ := space.Index(b.Prefix, a); b.Own.taken.Test(index) != (s != idle) {
				t.Fatalf("%s of %s: taken %v, state %d", a, b.Prefix, b.Own.taken.Test(index), s)
			}
		}
		if b.Own.counts != want || b.Own.spare != spare || b.Own.position != i || n.addrs.open.Test(uint64(i)) != (want[idle] > 0) {
			t.Fatalf("block %s: %+v, want %v and %d spare at %d", b.Prefix, b.Own, want, spare, i)
		}
	}
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
