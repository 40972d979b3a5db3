package cilium

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/recordtest"
	"pgregory.net/rapid"
)

// machine is one run: the node, its twin, and the history that a journal would hold.
type machine struct {
	fast    *Node
	slow    *slowNode
	now     time.Time
	history recordtest.History
}

func newMachine(t *rapid.T) *machine {
	seed := scatter(rapid.Uint64().Draw(t, "seed"))
	one, two := seed, seed
	cfg := NodeConfig{
		Pick:        &one,
		Expiration:  time.Duration(rapid.SampledFrom([]int{0, 3, 10}).Draw(t, "expiration")) * time.Second,
		FirstRouter: rapid.Bool().Draw(t, "first"),
	}
	if rapid.Bool().Draw(t, "keep") {
		cfg.Keep = keepPenultimate
	}
	fast, err := NewNode(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Pick = &two
	return &machine{fast: fast, slow: newSlowNode(cfg), now: epoch}
}

func drawOwner(t *rapid.T) ipam.Owner { return owner(rapid.IntRange(0, 15).Draw(t, "owner")) }

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"allocate": m.allocate,
		"release": func(t *rapid.T) {
			o := drawOwner(t)
			m.history.Add(m.fast.Release(m.now, o))
			m.slow.release(o)
		},
		"confirm": func(t *rapid.T) {
			o := drawOwner(t)
			if _, held := m.slow.leases[o]; m.fast.Confirm(o) != held {
				t.Fatalf("confirm %s is not %v", o, held)
			}
			m.slow.confirm(o)
		},
		"blocks": func(t *rapid.T) {
			prefixes := rapid.SliceOfN(rapid.SampledFrom(universe), 0, 3).Draw(t, "prefixes")
			records, err := m.fast.SetBlocks(m.now, prefixes)
			if twin := m.slow.setBlocks(prefixes); (err == nil) != (twin == nil) {
				t.Fatalf("set blocks %v: %v, want %v", prefixes, err, twin)
			}
			m.history.Add(records)
		},
		"time": func(t *rapid.T) {
			m.now = m.now.Add(time.Duration(rapid.IntRange(1, 4).Draw(t, "seconds")) * time.Second)
			m.history.Add(m.fast.Expire(m.now))
			m.slow.expire(m.now)
		},
	}
}

func (m *machine) allocate(t *rapid.T) {
	o := drawOwner(t)
	var want netip.Addr
	if rapid.IntRange(0, 3).Draw(t, "exactly") == 0 {
		want = rapid.SampledFrom(universe).Draw(t, "near").Addr()
		for range rapid.IntRange(0, 15).Draw(t, "index") {
			want = want.Next()
		}
	}
	_, held := m.slow.leases[o]
	have, records, err := m.fast.Allocate(m.now, o, ipam.Want{Addr: want})
	lease, twin := m.slow.allocate(m.now, o, want)
	if have != lease || !errors.Is(err, twin) || (err == nil) != (twin == nil) {
		t.Fatalf("allocate %s %s: %+v %v, want %+v %v", o, want, have, err, lease, twin)
	}
	if wantRecords := err == nil && !held; len(records) > 0 != wantRecords {
		t.Fatalf("allocate %s: %d records", o, len(records))
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
	if wantTotal, wantFree := m.slow.capacity(); total != wantTotal || free != wantFree || !m.fast.FreeAt(m.now).IsZero() {
		t.Fatalf("capacity %d, free %d; want %d, %d", total, free, wantTotal, wantFree)
	}
	m.history.Moment(m.fast, m.now)
}
