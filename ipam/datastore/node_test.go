package datastore

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/recordtest"
	"github.com/vppdrill/vppdrill/ipam/space"
	"pgregory.net/rapid"
)

// Goal: Node does exactly what its slow twin does, and a crash anywhere yields an earlier state. Method: rapid drives
// both with few owners and small, overlapping blocks; the records of every step are replayed into fresh Nodes.

func owner(n int) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("c%02d", n), IfName: "eth0"}
}

func TestKeyOfOwner(t *testing.T) {
	if k := KeyOf(owner(3)); k.String() != owner(3).String() || !k.Valid() {
		t.Errorf("%s", k)
	}
}

// slowNode looks at addresses one by one; blocks know nothing.
type slowNode struct {
	cfg      NodeConfig
	active   []netip.Prefix
	draining []netip.Prefix
	leases   map[ipam.Owner]ipam.Lease
	released map[netip.Addr]time.Time
}

func (s *slowNode) own(p netip.Prefix) []netip.Addr {
	if s.cfg.Gateway.IsValid() {
		return nil
	}
	return []netip.Addr{p.Addr(), p.Addr().Next(), space.Last(p).Prev(), space.Last(p)}
}

func (s *slowNode) gateway(p netip.Prefix) netip.Addr {
	if s.cfg.Gateway.IsValid() {
		return s.cfg.Gateway
	}
	return p.Addr().Next()
}

func (s *slowNode) reserved(a netip.Addr) bool {
	return slices.ContainsFunc(slices.Concat(s.active, s.draining), func(p netip.Prefix) bool { return slices.Contains(s.own(p), a) })
}

func (s *slowNode) held(a netip.Addr) bool {
	for _, l := range s.leases {
		if l.Addr == a {
			return true
		}
	}
	return false
}

func (s *slowNode) cools(now time.Time, a netip.Addr) bool {
	at, ok := s.released[a]
	return ok && s.cfg.Cooling >= 0 && now.Sub(at) <= s.cfg.Cooling
}

func (s *slowNode) free(now time.Time, a netip.Addr) bool {
	return !s.reserved(a) && !s.held(a) && !s.cools(now, a)
}

func (s *slowNode) allocate(now time.Time, o ipam.Owner, want netip.Addr) (ipam.Lease, error) {
	if l, ok := s.leases[o]; ok {
		if want.IsValid() && want != l.Addr {
			return ipam.Lease{}, ipam.ErrTaken
		}
		return l, nil
	}
	if len(s.active) == 0 {
		return ipam.Lease{}, ipam.ErrNoBlock
	}
	for _, p := range s.order() {
		for a := p.Addr(); p.Contains(a); a = a.Next() {
			switch {
			case want.IsValid() && a != want:
			case s.free(now, a):
				l := ipam.Lease{Owner: o, Addr: a, Block: p, Gateway: s.gateway(p), Since: now}
				s.leases[o] = l
				return l, nil
			case !want.IsValid():
			case slices.Contains(s.own(p), a), !s.held(a) && s.reserved(a):
				return ipam.Lease{}, ipam.ErrNotInPool
			case s.held(a):
				return ipam.Lease{}, ipam.ErrTaken
			default:
				return ipam.Lease{}, ipam.ErrExhausted
			}
		}
	}
	if want.IsValid() {
		return ipam.Lease{}, ipam.ErrNotInPool
	}
	return ipam.Lease{}, ipam.ErrExhausted
}

// order is the active blocks, those first of which a pod has an address.
func (s *slowNode) order() (list []netip.Prefix) {
	for _, begun := range [...]bool{true, false} {
		for _, p := range s.active {
			held := false
			for a := p.Addr(); p.Contains(a); a = a.Next() {
				held = held || s.held(a)
			}
			if held == begun {
				list = append(list, p)
			}
		}
	}
	return list
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
	s.draining = slices.DeleteFunc(s.draining, func(p netip.Prefix) bool { return !s.leased(p) })
}

func (s *slowNode) setBlocks(prefixes []netip.Prefix) error {
	known := slices.Concat(s.active, s.draining)
	for i, p := range prefixes {
		if slices.ContainsFunc(prefixes[:i], p.Overlaps) {
			return errors.New("overlap")
		}
		if own := s.own(p); len(own) > 0 && !slices.Contains(known, p) && (s.held(own[1]) || s.held(own[2])) {
			return ipam.ErrTaken
		}
	}
	s.active, s.draining = slices.Clone(prefixes), nil
	for _, p := range known {
		if !slices.Contains(prefixes, p) && s.leased(p) {
			s.draining = append(s.draining, p)
		}
	}
	slices.SortFunc(s.draining, netip.Prefix.Compare)
	return nil
}

// nodeMachine is one run: the Node, its twin, and the history that a journal would hold.
type nodeMachine struct {
	fast    *Node
	slow    *slowNode
	now     time.Time
	history recordtest.History
}

var blocks = []netip.Prefix{
	prefix("10.0.0.0/28"), prefix("10.0.0.0/29"), prefix("10.0.0.8/29"), prefix("10.0.0.0/27"), prefix("10.0.1.0/29"), prefix("2001:db8::/125"),
}

func newNodeMachine(t *rapid.T) *nodeMachine {
	cfg := NodeConfig{Cooling: time.Duration(rapid.SampledFrom([]int{-1, 3, 10}).Draw(t, "cooling")) * time.Second}
	if rapid.Bool().Draw(t, "gateway") {
		cfg.Gateway = addr("169.254.1.1")
	}
	fast, err := NewNode(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &nodeMachine{fast: fast, now: epoch, slow: &slowNode{cfg: cfg, leases: make(map[ipam.Owner]ipam.Lease), released: make(map[netip.Addr]time.Time)}}
}

func (m *nodeMachine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"": m.compare,
		"allocate": func(t *rapid.T) {
			o := owner(rapid.IntRange(0, 15).Draw(t, "owner"))
			var want netip.Addr
			if rapid.IntRange(0, 3).Draw(t, "exactly") == 0 {
				want = rapid.SampledFrom(blocks).Draw(t, "near").Addr()
				for range rapid.IntRange(0, 15).Draw(t, "index") {
					want = want.Next()
				}
			}
			_, held := m.slow.leases[o]
			have, records, err := m.fast.Allocate(m.now, o, ipam.Want{Addr: want})
			twin, wrong := m.slow.allocate(m.now, o, want)
			if have != twin || !errors.Is(err, wrong) || (err == nil) != (wrong == nil) || (len(records) > 0) != (err == nil && !held) {
				t.Fatalf("allocate %s %s: %+v %v, want %+v %v", o, want, have, err, twin, wrong)
			}
			m.history.Add(records)
		},
		"release": func(t *rapid.T) {
			o := owner(rapid.IntRange(0, 15).Draw(t, "owner"))
			m.history.Add(m.fast.Release(m.now, o))
			m.slow.release(m.now, o)
		},
		"blocks": func(t *rapid.T) {
			list := rapid.SliceOfN(rapid.SampledFrom(blocks), 0, 3).Draw(t, "prefixes")
			records, err := m.fast.SetBlocks(m.now, list)
			if wrong := m.slow.setBlocks(list); (err == nil) != (wrong == nil) {
				t.Fatalf("set blocks %v: %v, want %v", list, err, wrong)
			}
			m.history.Add(records)
		},
		"time": func(t *rapid.T) {
			m.now = m.now.Add(time.Duration(rapid.IntRange(1, 4).Draw(t, "seconds")) * time.Second)
		},
	}
}

func (m *nodeMachine) compare(t *rapid.T) {
	var want []ipam.Block
	for _, p := range m.slow.active {
		want = append(want, ipam.Block{Prefix: p, Gateway: m.slow.gateway(p)})
	}
	for _, p := range m.slow.draining {
		want = append(want, ipam.Block{Prefix: p, Gateway: m.slow.gateway(p), Draining: true})
	}
	if have := m.fast.Blocks(); !slices.Equal(have, want) {
		t.Fatalf("blocks %v, want %v", have, want)
	}
	n := 0
	for l := range m.fast.Leases() {
		n++
		if byOwner, ok := m.fast.Lease(l.Owner); !ok || byOwner != l || m.slow.leases[l.Owner] != l {
			t.Fatalf("lease %+v, want %+v", l, m.slow.leases[l.Owner])
		}
	}
	if n != len(m.slow.leases) {
		t.Fatalf("%d leases, want %d", n, len(m.slow.leases))
	}
	total, free := m.fast.Capacity(m.now)
	checkAccounts(t, m.fast)
	wantTotal, wantFree, next := 0, 0, time.Time{}
	for _, p := range m.slow.active {
		for a := p.Addr(); p.Contains(a); a = a.Next() {
			switch {
			case m.slow.reserved(a):
				continue
			case m.slow.free(m.now, a):
				wantFree++
			case !m.slow.held(a):
				if at := m.slow.released[a].Add(m.slow.cfg.Cooling + 1); next.IsZero() || at.Before(next) {
					next = at
				}
			}
			wantTotal++
		}
	}
	if at := m.fast.FreeAt(m.now); total != wantTotal || free != wantFree || !at.Equal(next) {
		t.Fatalf("capacity %d of %d, free at %s; want %d of %d, %s", free, total, at, wantFree, wantTotal, next)
	}
	m.history.Moment(m.fast, m.now)
}

func TestNodeAgreesWithItsTwinAndItsHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newNodeMachine(t)
		t.Repeat(m.actions())
		recordtest.Try(t, &m.history, func() ipam.NodeAllocator { return m.fresh(t) }, m.now, blocks[4])
	})
}

// fresh makes a node without blocks.
func (m *nodeMachine) fresh(t *rapid.T) *Node {
	n, err := NewNode(m.slow.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A record that contradicts the state is refused and changes nothing.
func TestNodeRefusesContradictingRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newNodeMachine(t)
		actions := m.actions()
		actions["apply"] = func(t *rapid.T) {
			n := m.fresh(t)
			recordtest.Replay(t, n, m.fast.Records())
			p := rapid.SampledFrom(blocks).Draw(t, "prefix")
			r := ipam.Record{
				Op:     ipam.RecordOp(rapid.IntRange(0, 7).Draw(t, "op")),
				Owner:  rapid.SampledFrom([]ipam.Owner{{}, owner(1), owner(2), owner(30), {Network: "half"}}).Draw(t, "owner"),
				Addr:   rapid.SampledFrom([]netip.Addr{{}, p.Addr(), p.Addr().Next(), p.Addr().Next().Next()}).Draw(t, "addr"),
				Prefix: rapid.SampledFrom([]netip.Prefix{{}, p, netip.PrefixFrom(p.Addr(), p.Bits()+1)}).Draw(t, "block"),
				At:     m.now,
			}
			n.Capacity(m.now)
			recordtest.Refused(t, n, r)
		}
		t.Repeat(actions)
	})
}

func TestNodeRefusesBadInput(t *testing.T) {
	wired, err := NewNode(NodeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := wired.Allocate(epoch, owner(1), ipam.Want{}); !errors.Is(err, ipam.ErrNoBlock) {
		t.Error(err)
	}
	for _, list := range [...][]netip.Prefix{{{}}, {prefix("10.0.0.0/30")}, {prefix("::/0")}, {blocks[0], blocks[1]}, {blocks[0], blocks[0]}} {
		if _, err := wired.SetBlocks(epoch, list); err == nil {
			t.Errorf("blocks %v were accepted", list)
		}
	}
	own, _ := NewNode(NodeConfig{Gateway: addr("169.254.1.1")})
	if _, err := own.SetBlocks(epoch, []netip.Prefix{prefix("169.254.0.0/16")}); err == nil {
		t.Error("a block with the gateway in it was accepted")
	}
	if _, _, err := own.Allocate(epoch, owner(1), ipam.Want{Pool: "blue"}); !errors.Is(err, ipam.ErrNotInPool) {
		t.Error(err)
	}
	if _, _, err := own.Allocate(epoch, ipam.Owner{}, ipam.Want{}); err == nil {
		t.Error("nobody was given an address")
	}
}

// A delegated prefix has 16 addresses for pods, its first and last among them; single addresses are blocks, too.
func TestNodeGivesWholePrefixes(t *testing.T) {
	n, _ := NewNode(NodeConfig{Gateway: addr("169.254.1.1")})
	if _, err := n.SetBlocks(epoch, []netip.Prefix{prefix("10.0.0.16/28"), prefix("10.0.0.5/32")}); err != nil {
		t.Fatal(err)
	}
	for i := range 17 {
		l, _, err := n.Allocate(epoch, owner(i), ipam.Want{})
		if err != nil || i == 0 && l.Addr != addr("10.0.0.16") || i == 16 && l.Addr != addr("10.0.0.5") || l.Gateway != addr("169.254.1.1") {
			t.Fatalf("%d: %+v %v", i, l, err)
		}
	}
	_, _, err := n.Allocate(epoch, owner(17), ipam.Want{})
	if !errors.Is(err, ipam.ErrExhausted) || !strings.Contains(err.Error(), "17 addresses") {
		t.Error(err)
	}
	n.Release(epoch, owner(3))
	if at := n.FreeAt(epoch); !at.Equal(epoch.Add(30*time.Second + 1)) {
		t.Error(at)
	}
	if _, _, err := n.Allocate(epoch.Add(30*time.Second), owner(17), ipam.Want{}); !errors.Is(err, ipam.ErrExhausted) {
		t.Errorf("at the boundary: %v", err)
	}
	if _, _, err := n.Allocate(epoch.Add(30*time.Second+1), owner(17), ipam.Want{Pool: "default"}); err != nil {
		t.Error(err)
	}
}

// What a journal cannot say, one line each, on a node with an active and a draining block of its own gateways.
func TestApplyTable(t *testing.T) {
	for _, line := range [...]string{
		"lease k8s/x/eth0 10.0.0.17 10.0.0.16/28 1", // the gateway
		"lease k8s/x/eth0 10.0.0.16 10.0.0.16/28 1", // the network address
		"lease k8s/x/eth0 10.0.0.33 10.0.0.16/28 1", // outside
		"lease k8s/x/eth0 10.0.0.18 10.0.0.16/28 1", // held
		"lease k8s/c01/eth0 10.0.0.20 10.0.0.16/28 1",
		"lease - 10.0.0.20 10.0.0.16/28 1",
		"lease k8s/x/eth0 10.9.0.2 10.9.0.0/28 1", // no such block
		"release k8s/c01/eth0 10.0.0.19 10.0.0.16/28 1",
		"release - 10.0.0.18 10.0.0.16/28 1",
		"release - 10.0.0.50 10.0.0.16/28 1",
		"block - 10.0.0.1 10.0.0.0/27 1",   // overlaps the active block, starts before it
		"block - 10.0.0.25 10.0.0.24/29 1", // overlaps it, starts in it
		"block - 10.3.0.9 10.3.0.0/28 1",   // another gateway
		"drop - - 10.0.0.16/28 1",
		"drain - - 10.1.0.0/28 1",
		"cursor - 10.5.0.1 10.0.0.16/28 1",
	} {
		n, _ := NewNode(NodeConfig{})
		for _, before := range [...]string{
			"block - 10.1.0.1 10.1.0.0/28 0", "lease k8s/c09/eth0 10.1.0.2 10.1.0.0/28 0", "drain - - 10.1.0.0/28 0",
			"block - 10.0.0.17 10.0.0.16/28 0", "lease k8s/c01/eth0 10.0.0.18 10.0.0.16/28 0", "cursor - 10.0.0.18 10.0.0.16/28 0",
		} {
			r, err := ipam.ParseRecord(before)
			if err = errors.Join(err, n.Apply(r)); err != nil {
				t.Fatal(err)
			}
		}
		state := n.Records()
		r, err := ipam.ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Apply(r); err == nil || !slices.Equal(n.Records(), state) {
			t.Errorf("%s: %v, state %v", line, err, n.Records())
		}
	}
}
