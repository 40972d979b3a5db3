package contiv

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
	"pgregory.net/rapid"
)

// Goal: Allocator does exactly what its slow twin does, and a crash anywhere yields an earlier state.
// Method: rapid drives both with few owners and small, overlapping blocks, so that every corner is near; the records of
// every step are replayed into fresh allocators.

var (
	universe = []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/28"), netip.MustParsePrefix("10.0.0.0/29"), netip.MustParsePrefix("10.0.0.8/29"),
		netip.MustParsePrefix("10.0.0.0/27"), netip.MustParsePrefix("10.0.1.0/29"), netip.MustParsePrefix("2001:db8::/125"),
	}
	epoch = time.Unix(1700000000, 0).UTC()
)

func owner(n int) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("c%02d", n), IfName: "eth0"}
}

// machine is one run: the allocator, its twin, and the history that a journal would hold.
type machine struct {
	fast    *Allocator
	slow    *slow
	now     time.Time
	history recordtest.History
}

func newMachine(t *rapid.T) *machine {
	cfg := Config{
		External:   rapid.IntRange(0, 5).Draw(t, "external") == 0,
		ReuseDelay: time.Duration(rapid.SampledFrom([]int{0, 3, 10}).Draw(t, "delay")) * time.Second,
	}
	fast, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &machine{fast: fast, slow: newSlow(fast.cfg), now: epoch}
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"allocate": m.allocate,
		"release": func(t *rapid.T) {
			o := owner(rapid.IntRange(0, 15).Draw(t, "owner"))
			m.history.Add(m.fast.Release(m.now, o))
			m.slow.release(m.now, o)
		},
		"blocks": m.setBlocks,
		"time": func(t *rapid.T) {
			m.now = m.now.Add(time.Duration(rapid.IntRange(1, 4).Draw(t, "seconds")) * time.Second)
		},
	}
}

func (m *machine) allocate(t *rapid.T) {
	o := owner(rapid.IntRange(0, 15).Draw(t, "owner"))
	var want netip.Addr
	if m.fast.cfg.External || rapid.IntRange(0, 3).Draw(t, "exactly") == 0 {
		p := rapid.SampledFrom(universe).Draw(t, "near")
		want = p.Addr()
		for range rapid.IntRange(0, 15).Draw(t, "index") {
			want = want.Next()
		}
	}
	have, records, err := m.fast.Allocate(m.now, o, ipam.Want{Addr: want})
	_, held := m.slow.leases[o]
	lease, twin := m.slow.allocate(m.now, o, want)
	if have != lease || !errors.Is(err, twin) || (err == nil) != (twin == nil) {
		t.Fatalf("allocate %s %s: %+v %v, want %+v %v", o, want, have, err, lease, twin)
	}
	if wantRecords := err == nil && !held; len(records) > 0 != wantRecords {
		t.Fatalf("allocate %s: %d records", o, len(records))
	}
	m.history.Add(records)
}

func (m *machine) setBlocks(t *rapid.T) {
	prefixes := rapid.SliceOfN(rapid.SampledFrom(universe), 0, 3).Draw(t, "prefixes")
	records, err := m.fast.SetBlocks(m.now, prefixes)
	if twin := m.slow.setBlocks(prefixes); (err == nil) != (twin == nil) {
		t.Fatalf("set blocks %v: %v, want %v", prefixes, err, twin)
	}
	m.history.Add(records)
}

func (m *machine) compare(t *rapid.T) {
	if have, want := m.fast.Blocks(), m.slow.blocks(); !slices.Equal(have, want) {
		t.Fatalf("blocks %v, want %v", have, want)
	}
	if have, want := slices.Collect(m.fast.Leases()), m.slow.sorted(); !slices.Equal(have, want) {
		t.Fatalf("leases %v, want %v", have, want)
	}
	for o, l := range m.slow.leases {
		if have, ok := m.fast.Lease(o); !ok || have != l {
			t.Fatalf("lease of %s is %v", o, have)
		}
	}
	total, free := m.fast.Capacity(m.now)
	next := m.fast.FreeAt(m.now)
	if wantFree, wantNext := m.slow.freeNow(m.now); free != wantFree || total < free || !next.Equal(wantNext) {
		t.Fatalf("capacity %d, free %d at %s; want free %d at %s", total, free, next, wantFree, wantNext)
	}
	m.history.Moment(m.fast, m.now)
}

func TestAllocatorAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { driven(t) })
}

// driven is a machine behind a random history, compared with its twin after each operation.
func driven(t *rapid.T) *machine {
	m := newMachine(t)
	actions := m.actions()
	actions[""] = m.compare
	t.Repeat(actions)
	return m
}

// fresh makes an allocator without blocks.
func fresh(t *rapid.T, cfg Config) *Allocator {
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestCrashAtEveryRecordYieldsAnEarlierState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := driven(t)
		recordtest.Try(t, &m.history, func() ipam.NodeAllocator { return fresh(t, m.fast.cfg) }, m.now, universe[4])
	})
}

// A record that contradicts the state is refused and changes nothing, whatever it says.
func TestContradictingRecordsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		m.slow.cfg.External = false
		m.fast = fresh(t, m.slow.cfg)
		actions := m.actions()
		actions["apply"] = func(t *rapid.T) {
			a := fresh(t, m.fast.cfg)
			recordtest.Replay(t, a, m.fast.Records())
			p := rapid.SampledFrom(universe).Draw(t, "prefix")
			r := ipam.Record{
				Op:     ipam.RecordOp(rapid.IntRange(0, 7).Draw(t, "op")),
				Owner:  rapid.SampledFrom([]ipam.Owner{{}, owner(1), owner(2), owner(30), {Network: "half"}}).Draw(t, "owner"),
				Addr:   rapid.SampledFrom([]netip.Addr{{}, p.Addr(), p.Addr().Next(), p.Addr().Next().Next()}).Draw(t, "addr"),
				Prefix: rapid.SampledFrom([]netip.Prefix{{}, p, netip.PrefixFrom(p.Addr(), p.Bits()+1)}).Draw(t, "block"),
				At:     m.now,
			}
			a.Capacity(m.now)
			recordtest.Refused(t, a, r)
		}
		t.Repeat(actions)
	})
}

// fill makes an allocator with one block.
func oneBlock(t testing.TB, cfg Config, prefix string) *Allocator {
	t.Helper()
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.SetBlocks(epoch, []netip.Prefix{netip.MustParsePrefix(prefix)}); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestExhaustionNamesPoolAndCapacity(t *testing.T) {
	a := oneBlock(t, Config{}, "10.1.0.8/29")
	for n := range 4 {
		if _, _, err := a.Allocate(epoch, owner(n), ipam.Want{}); err != nil {
			t.Fatal(err)
		}
	}
	_, records, err := a.Allocate(epoch, owner(9), ipam.Want{})
	if !errors.Is(err, ipam.ErrExhausted) || records != nil || !strings.Contains(err.Error(), "10.1.0.8/29 with 4 addresses") {
		t.Errorf("have %v", err)
	}
}

// A block whose gateway a pod holds would give that pod's address to VPP.
func TestNewBlockMayNotOwnAPodsAddress(t *testing.T) {
	a := oneBlock(t, Config{}, "10.1.0.0/24")
	gateway := netip.MustParseAddr("10.1.0.17")
	if _, _, err := a.Allocate(epoch, owner(1), ipam.Want{Addr: gateway}); err != nil {
		t.Fatal(err)
	}
	before := a.Records()
	if _, err := a.SetBlocks(epoch, []netip.Prefix{netip.MustParsePrefix("10.1.0.16/28")}); !errors.Is(err, ipam.ErrTaken) {
		t.Fatalf("have %v", err)
	}
	if !slices.Equal(a.Records(), before) {
		t.Error("the refused blocks changed the state")
	}
}

// A pod's lease may be older than a block whose broadcast address it holds. It stays valid, through a restart too; once
// released, the address belongs to that block until the block is gone.
func TestLeaseOlderThanTheBlockThatReservesIt(t *testing.T) {
	wide, narrow := netip.MustParsePrefix("10.0.0.0/28"), netip.MustParsePrefix("10.0.0.0/29")
	edge := netip.MustParseAddr("10.0.0.7")
	a := oneBlock(t, Config{}, wide.String())
	mustAllocate(t, a, owner(1), edge)
	mustSetBlocks(t, a, narrow)
	mustAllocate(t, a, owner(2), netip.Addr{})
	mustSetBlocks(t, a, wide)
	a = restarted(t, a)
	if l, ok := a.Lease(owner(1)); !ok || l.Addr != edge {
		t.Fatalf("the restart lost %s: %v", edge, l)
	}
	if _, _, err := a.Allocate(epoch, owner(3), ipam.Want{Addr: edge}); !errors.Is(err, ipam.ErrTaken) {
		t.Errorf("while it is held: %v", err)
	}
	a.Release(epoch, owner(1))
	if _, _, err := a.Allocate(epoch, owner(3), ipam.Want{Addr: edge}); !errors.Is(err, ipam.ErrNotInPool) {
		t.Errorf("while %s drains: %v", narrow, err)
	}
	a.Release(epoch, owner(2))
	mustAllocate(t, a, owner(3), edge)
}

func mustAllocate(t *testing.T, a *Allocator, o ipam.Owner, want netip.Addr) {
	t.Helper()
	if _, _, err := a.Allocate(epoch, o, ipam.Want{Addr: want}); err != nil {
		t.Fatal(err)
	}
}

func mustSetBlocks(t *testing.T, a *Allocator, prefixes ...netip.Prefix) {
	t.Helper()
	if _, err := a.SetBlocks(epoch, prefixes); err != nil {
		t.Fatal(err)
	}
}

// restarted is a new allocator with a's compact history; a second compaction must say the same.
func restarted(t *testing.T, a *Allocator) *Allocator {
	t.Helper()
	fresh, err := New(a.cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range a.Records() {
		if err := fresh.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(fresh.Records(), a.Records()) {
		t.Fatalf("state %v became %v", a.Records(), fresh.Records())
	}
	return fresh
}

func TestReuseDelaySurvivesABlockThatGoesAndComesBack(t *testing.T) {
	home, away := netip.MustParsePrefix("10.1.0.8/29"), netip.MustParsePrefix("10.2.0.8/29")
	a := oneBlock(t, Config{ReuseDelay: time.Minute}, home.String())
	l, _, err := a.Allocate(epoch, owner(1), ipam.Want{})
	if err != nil {
		t.Fatal(err)
	}
	a.Release(epoch.Add(time.Second), owner(1))
	for _, p := range [...]netip.Prefix{away, home} {
		if _, err := a.SetBlocks(epoch.Add(2*time.Second), []netip.Prefix{p}); err != nil {
			t.Fatal(err)
		}
		a = restarted(t, a)
	}
	if _, _, err := a.Allocate(epoch.Add(60*time.Second), owner(2), ipam.Want{Addr: l.Addr}); !errors.Is(err, ipam.ErrExhausted) {
		t.Errorf("after 59 s: %v", err)
	}
	if _, _, err := a.Allocate(epoch.Add(61*time.Second), owner(2), ipam.Want{Addr: l.Addr}); err != nil {
		t.Errorf("after 60 s: %v", err)
	}
}

func TestAllocatorRefusesBadInput(t *testing.T) {
	if _, err := New(Config{ReuseDelay: -1}); err == nil {
		t.Error("a negative delay was accepted")
	}
	a := oneBlock(t, Config{}, "10.1.0.0/24")
	for _, prefixes := range [...][]netip.Prefix{
		{{}}, {netip.MustParsePrefix("10.1.0.0/30")}, {universe[0], universe[0]}, {universe[0], universe[1]},
	} {
		if _, err := a.SetBlocks(epoch, prefixes); err == nil {
			t.Errorf("blocks %v were accepted", prefixes)
		}
	}
	for name, c := range map[string]struct {
		owner ipam.Owner
		want  ipam.Want
	}{
		"zero owner":   {},
		"slash":        {owner: ipam.Owner{Network: "a/b", ContainerID: "c", IfName: "i"}},
		"other pool":   {owner: owner(1), want: ipam.Want{Pool: "blue"}},
		"other block":  {owner: owner(1), want: ipam.Want{Addr: netip.MustParseAddr("10.2.0.5")}},
		"gateway":      {owner: owner(1), want: ipam.Want{Addr: netip.MustParseAddr("10.1.0.1")}},
		"NAT loopback": {owner: owner(1), want: ipam.Want{Addr: netip.MustParseAddr("10.1.0.254")}},
		"broadcast":    {owner: owner(1), want: ipam.Want{Addr: netip.MustParseAddr("10.1.0.255")}},
	} {
		if l, r, err := a.Allocate(epoch, c.owner, c.want); err == nil || r != nil || l != (ipam.Lease{}) {
			t.Errorf("%s: %+v %v %v", name, l, r, err)
		}
	}
	if blocks := a.Blocks(); len(blocks) != 1 || blocks[0].Prefix.String() != "10.1.0.0/24" {
		t.Errorf("blocks are %v", blocks)
	}
}

func TestFourInSixWantIsIPv4(t *testing.T) {
	a := oneBlock(t, Config{}, "10.1.0.0/24")
	l, _, err := a.Allocate(epoch, owner(1), ipam.Want{Addr: netip.MustParseAddr("::ffff:10.1.0.9")})
	if err != nil || l.Addr != netip.MustParseAddr("10.1.0.9") {
		t.Errorf("%v %v", l, err)
	}
}
