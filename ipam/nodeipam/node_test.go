package nodeipam

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/recordtest"
	"github.com/vppdrill/vppdrill/ipam/space"
	"pgregory.net/rapid"
)

// Goal: Node keeps the promises of ipam.NodeAllocator over two families, and a crash anywhere yields an earlier state.
// Method: rapid drives it beside a twin that looks at addresses one by one; the records of every step are replayed.
// Blocks that overlap are contiv.Allocator's affair and tested there.

var nodeBlocks = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/29"), netip.MustParsePrefix("10.0.0.8/29"), netip.MustParsePrefix("10.0.1.0/28"),
	netip.MustParsePrefix("fd00::/125"), netip.MustParsePrefix("fd00::8/125"),
}

// slowNode is Node's twin.
type slowNode struct {
	delay    time.Duration
	active   []netip.Prefix
	draining []netip.Prefix
	cursor   map[netip.Prefix]netip.Addr // of held blocks
	leases   map[ipam.Owner]ipam.Lease
	released map[netip.Addr]time.Time
}

func (s *slowNode) free(now time.Time, p netip.Prefix, a netip.Addr) bool {
	for _, own := range [...]netip.Addr{p.Addr(), p.Addr().Next(), space.Last(p), space.Last(p).Prev()} {
		if a == own {
			return false
		}
	}
	for _, l := range s.leases {
		if l.Addr == a {
			return false
		}
	}
	at, cools := s.released[a]
	return !cools || !now.Before(at.Add(s.delay))
}

func (s *slowNode) allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, error) {
	ipv4 := func(a netip.Addr) bool { return a.Is4() }
	var want4 bool
	l, holds := s.leases[o]
	switch {
	case w.Pool == PoolIPv4 || w.Pool == PoolIPv6:
		want4 = w.Pool == PoolIPv4
	case holds:
		want4 = ipv4(l.Addr)
	case w.Addr.IsValid():
		want4 = ipv4(w.Addr)
	case len(s.active) > 0:
		want4 = ipv4(s.active[0].Addr())
	}
	if holds {
		if ipv4(l.Addr) != want4 || w.Addr.IsValid() && w.Addr != l.Addr {
			return ipam.Lease{}, ipam.ErrTaken
		}
		return l, nil
	}
	if len(s.active) == 0 {
		return ipam.Lease{}, ipam.ErrNoBlock
	}
	fits := func(p netip.Prefix) bool { return ipv4(p.Addr()) == want4 }
	if !slices.ContainsFunc(s.active, fits) {
		if !w.Addr.IsValid() {
			return ipam.Lease{}, ipam.ErrNoBlock
		}
		return ipam.Lease{}, ipam.ErrNotInPool
	}
	for _, p := range s.active {
		if !fits(p) {
			continue
		}
		if w.Addr.IsValid() {
			if p.Contains(w.Addr) {
				return s.exactly(now, o, p, w.Addr)
			}
			continue
		}
		a := s.cursor[p]
		for range space.Count(p) {
			if a = a.Next(); !p.Contains(a) {
				a = p.Addr()
			}
			if s.free(now, p, a) {
				return s.give(now, o, p, a), nil
			}
		}
	}
	if w.Addr.IsValid() {
		return ipam.Lease{}, ipam.ErrNotInPool
	}
	return ipam.Lease{}, ipam.ErrExhausted
}

func (s *slowNode) exactly(now time.Time, o ipam.Owner, p netip.Prefix, a netip.Addr) (ipam.Lease, error) {
	for _, l := range s.leases {
		if l.Addr == a {
			return ipam.Lease{}, ipam.ErrTaken
		}
	}
	if !s.free(now, p, a) {
		if at, ok := s.released[a]; ok && now.Before(at.Add(s.delay)) {
			return ipam.Lease{}, ipam.ErrExhausted
		}
		return ipam.Lease{}, ipam.ErrNotInPool
	}
	return s.give(now, o, p, a), nil
}

func (s *slowNode) give(now time.Time, o ipam.Owner, p netip.Prefix, a netip.Addr) ipam.Lease {
	s.cursor[p] = a
	s.leases[o] = ipam.Lease{Owner: o, Addr: a, Block: p, Gateway: p.Addr().Next(), Since: now}
	return s.leases[o]
}

func (s *slowNode) leased(p netip.Prefix) bool {
	for _, l := range s.leases {
		if l.Block == p {
			return true
		}
	}
	return false
}

func (s *slowNode) release(now time.Time, o ipam.Owner) {
	l, ok := s.leases[o]
	if !ok {
		return
	}
	delete(s.leases, o)
	s.released[l.Addr] = now
	s.forget()
}

// forget drops draining blocks without leases.
func (s *slowNode) forget() {
	s.draining = slices.DeleteFunc(s.draining, func(p netip.Prefix) bool {
		if !s.leased(p) {
			delete(s.cursor, p)
			return true
		}
		return false
	})
}

func (s *slowNode) setBlocks(prefixes []netip.Prefix) bool {
	for i, p := range prefixes {
		if slices.Contains(prefixes[:i], p) {
			return false
		}
	}
	held := slices.Concat(s.active, s.draining)
	s.active, s.draining = slices.Clone(prefixes), nil
	for _, p := range held {
		if !slices.Contains(prefixes, p) {
			s.draining = append(s.draining, p)
		}
	}
	s.forget()
	slices.SortFunc(s.draining, netip.Prefix.Compare)
	for _, p := range prefixes {
		if _, ok := s.cursor[p]; !ok {
			s.cursor[p] = p.Addr().Next()
		}
	}
	return true
}

func (s *slowNode) blocks() (list []ipam.Block) {
	for _, p := range s.active {
		list = append(list, ipam.Block{Prefix: p, Gateway: p.Addr().Next()})
	}
	for _, p := range s.draining {
		list = append(list, ipam.Block{Prefix: p, Gateway: p.Addr().Next(), Draining: true})
	}
	return list
}

func (s *slowNode) freeNow(now time.Time) (n int) {
	for _, p := range s.active {
		for a := p.Addr(); p.Contains(a); a = a.Next() {
			if s.free(now, p, a) {
				n++
			}
		}
	}
	return n
}

// nodeRun is one run of both.
type nodeRun struct {
	fast    *Node
	slow    *slowNode
	now     time.Time
	history []ipam.Record
	lengths []int
	states  [][]ipam.Record
}

func (m *nodeRun) check(t *rapid.T) {
	if have, want := m.fast.Blocks(), m.slow.blocks(); !slices.Equal(have, want) {
		t.Fatalf("blocks %v, want %v", have, want)
	}
	var leases []ipam.Lease
	for _, l := range m.slow.leases {
		leases = append(leases, l)
		if have, ok := m.fast.Lease(l.Owner); !ok || have != l {
			t.Fatalf("lease %v, want %v", have, l)
		}
	}
	slices.SortFunc(leases, func(a, b ipam.Lease) int { return a.Addr.Compare(b.Addr) })
	if have := slices.Collect(m.fast.Leases()); !slices.Equal(have, leases) {
		t.Fatalf("leases %v, want %v", have, leases)
	}
	total, free := m.fast.Capacity(m.now)
	if free != m.slow.freeNow(m.now) || total < free {
		t.Fatalf("%d of %d free, want %d", free, total, m.slow.freeNow(m.now))
	}
	if at := m.fast.FreeAt(m.now); !at.IsZero() && !at.After(m.now) {
		t.Fatalf("free at %s, and it is %s", at, m.now)
	}
	m.lengths, m.states = append(m.lengths, len(m.history)), append(m.states, m.fast.Records())
}

func (m *nodeRun) replay(t *rapid.T, records []ipam.Record) *Node {
	n, err := NewNode(m.fast.cfg)
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Replay(t, n, records)
	return n
}

func sameNode(a, b *Node) bool {
	return slices.Equal(a.Blocks(), b.Blocks()) && slices.Equal(slices.Collect(a.Leases()), slices.Collect(b.Leases()))
}

func TestNodeAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := time.Duration(rapid.SampledFrom([]int{0, 5}).Draw(t, "delay")) * time.Second
		fast, err := NewNode(NodeConfig{ReuseDelay: delay})
		if err != nil {
			t.Fatal(err)
		}
		m := &nodeRun{fast: fast, now: storyEpoch, slow: &slowNode{
			delay: delay, cursor: make(map[netip.Prefix]netip.Addr), leases: make(map[ipam.Owner]ipam.Lease), released: make(map[netip.Addr]time.Time),
		}}
		owner := func(t *rapid.T) ipam.Owner {
			return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("c%d", rapid.IntRange(0, 12).Draw(t, "owner")), IfName: "eth0"}
		}
		t.Repeat(map[string]func(*rapid.T){
			"allocate": func(t *rapid.T) {
				o, w := owner(t), ipam.Want{Pool: rapid.SampledFrom([]string{"", "", "default", PoolIPv4, PoolIPv6}).Draw(t, "pool")}
				if rapid.IntRange(0, 3).Draw(t, "exactly") == 0 {
					w.Addr = rapid.SampledFrom(nodeBlocks).Draw(t, "near").Addr()
					for range rapid.IntRange(0, 9).Draw(t, "index") {
						w.Addr = w.Addr.Next()
					}
				}
				_, known := m.slow.leases[o]
				l, records, err := m.fast.Allocate(m.now, o, w)
				want, twin := m.slow.allocate(m.now, o, w)
				if l != want || !errors.Is(err, twin) || len(records) > 0 != (err == nil && !known) {
					t.Fatalf("allocate %s %+v: %v %v, want %v %v", o, w, l, err, want, twin)
				}
				m.history = append(m.history, records...)
			},
			"release": func(t *rapid.T) {
				o := owner(t)
				m.history = append(m.history, m.fast.Release(m.now, o)...)
				m.slow.release(m.now, o)
			},
			"blocks": func(t *rapid.T) {
				prefixes := rapid.SliceOfN(rapid.SampledFrom(nodeBlocks), 0, 4).Draw(t, "prefixes")
				records, err := m.fast.SetBlocks(m.now, prefixes)
				if ok := m.slow.setBlocks(prefixes); ok != (err == nil) {
					t.Fatalf("set blocks %v: %v", prefixes, err)
				}
				m.history = append(m.history, records...)
			},
			"time": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(1, 4).Draw(t, "seconds")) * time.Second)
			},
			"": m.check,
		})
		// The whole history, and the compact one, recreate the state; a part of it the state of then.
		if !sameNode(m.replay(t, m.history), m.fast) || !sameNode(m.replay(t, m.fast.Records()), m.fast) {
			t.Fatalf("the history recreates another state: %v", m.history)
		}
		at := rapid.IntRange(0, len(m.lengths)-1).Draw(t, "crash")
		if !sameNode(m.replay(t, m.history[:m.lengths[at]]), m.replay(t, m.states[at])) {
			t.Fatalf("after a crash at record %d the state is none of before", m.lengths[at])
		}
		// Order goes on as it would have.
		o := ipam.Owner{Network: "k8s", ContainerID: "next", IfName: "eth0"}
		want, _, wrong := m.fast.Allocate(m.now, o, ipam.Want{})
		for _, records := range [...][]ipam.Record{m.history, m.states[len(m.states)-1]} {
			if l, _, err := m.replay(t, records).Allocate(m.now, o, ipam.Want{}); l != want || (err == nil) != (wrong == nil) {
				t.Fatalf("after a replay the next lease is %v %v, want %v %v", l, err, want, wrong)
			}
		}
	})
}

func TestNodeRefusesContradictions(t *testing.T) {
	n, err := NewNode(NodeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	o := ipam.Owner{Network: "k8s", ContainerID: "c", IfName: "eth0"}
	if _, _, err := n.Allocate(storyEpoch, o, ipam.Want{}); !errors.Is(err, ipam.ErrNoBlock) {
		t.Errorf("without blocks: %v", err)
	}
	both := []netip.Prefix{netip.MustParsePrefix("fd00::/120"), netip.MustParsePrefix("10.0.0.0/24")}
	if _, err := n.SetBlocks(storyEpoch, both); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.Allocate(storyEpoch, o, ipam.Want{Pool: "blue"}); !errors.Is(err, ipam.ErrNotInPool) {
		t.Errorf("pool blue: %v", err)
	}
	// Neither family may change when one refuses.
	for _, bad := range [][]netip.Prefix{
		{netip.MustParsePrefix("10.1.0.0/24"), netip.MustParsePrefix("fd00::/127")},
		{netip.MustParsePrefix("10.1.0.0/31"), netip.MustParsePrefix("fd01::/120")},
		{{}},
	} {
		before := n.Records()
		if _, err := n.SetBlocks(storyEpoch, bad); err == nil || !slices.Equal(n.Records(), before) {
			t.Errorf("blocks %v: %v, now %v", bad, err, n.Blocks())
		}
	}
	lease, _, err := n.Allocate(storyEpoch, o, ipam.Want{})
	if err != nil || lease.Addr != netip.MustParseAddr("fd00::2") {
		t.Fatalf("lease %v, %v", lease, err)
	}
	for _, r := range []ipam.Record{
		{Op: ipam.OpLease, Owner: o, Addr: netip.MustParseAddr("10.0.0.2"), Prefix: both[1], At: storyEpoch},
		{Op: ipam.OpLease, Owner: ipam.Owner{Network: "k8s", ContainerID: "d", IfName: "eth0"}, Addr: lease.Addr, Prefix: lease.Block, At: storyEpoch},
		{Op: ipam.OpDrop, At: storyEpoch},
	} {
		before := n.Records()
		if err := n.Apply(r); err == nil || !slices.Equal(n.Records(), before) {
			t.Errorf("applied %s", r)
		}
	}
	if _, err := NewNode(NodeConfig{ReuseDelay: -1}); err == nil {
		t.Error("a negative reuse delay")
	}
}
