package space

import (
	"cmp"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// Goal: Pool gives the very addresses that its description promises, and conserves them.
// Method: the twin keeps one state per address and walks them one by one.

type slowState struct {
	kind     byte // 'f'ree, 'h'eld, 'c'ooling, 'r'eserved
	released int64
}

type slowPool struct {
	prefix netip.Prefix
	states []slowState
	cursor int
	delay  int64
}

func (p *slowPool) expire(now int64) {
	for i, s := range p.states {
		if s.kind == 'c' && s.released+p.delay <= now {
			p.states[i] = slowState{kind: 'f'}
		}
	}
}

func (p *slowPool) allocate(now int64) (int, bool) {
	p.expire(now)
	for n := range p.states {
		if i := (p.cursor + n) % len(p.states); p.states[i].kind == 'f' {
			p.states[i].kind = 'h'
			p.cursor = i + 1
			return i, true
		}
	}
	return 0, false
}

func (p *slowPool) count(kind byte) (n uint64) {
	for _, s := range p.states {
		if s.kind == kind {
			n++
		}
	}
	return n
}

func TestPoolAgreesWithOneStatePerAddress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]netip.Prefix{
			netip.MustParsePrefix("10.1.1.0/28"), netip.MustParsePrefix("10.1.1.64/26"), netip.MustParsePrefix("10.1.2.0/24"),
			netip.MustParsePrefix("2001:db8::/121"), netip.MustParsePrefix("10.0.0.0/32"),
		}).Draw(t, "prefix")
		slow := &slowPool{prefix: prefix, states: make([]slowState, Count(prefix)), delay: rapid.Int64Range(0, 20).Draw(t, "delay")}
		for i := range slow.states {
			slow.states[i].kind = 'f'
		}
		config := PoolConfig{Prefix: prefix, ReuseDelay: time.Duration(slow.delay)}
		for range rapid.IntRange(0, 3).Draw(t, "reserved") {
			i := rapid.IntRange(0, len(slow.states)-1).Draw(t, "reserve")
			slow.states[i].kind = 'r'
			a, _ := Nth(prefix, uint64(i))
			config.Reserved = append(config.Reserved, a)
		}
		pool, err := NewPool(config)
		if err != nil {
			t.Fatal(err)
		}
		clock := int64(1)
		addr := func() (int, netip.Addr) {
			i := rapid.IntRange(0, len(slow.states)-1).Draw(t, "address")
			a, _ := Nth(prefix, uint64(i))
			return i, a
		}
		allocate := func(t *rapid.T) {
			i, ok := slow.allocate(clock)
			have, found := pool.Allocate(time.Unix(0, clock))
			if ok != found {
				t.Fatalf("found %v, want %v", found, ok)
			}
			if want, _ := Nth(prefix, uint64(i)); ok && have != want {
				t.Fatalf("gave %s, want %s", have, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"allocate": allocate,
			"allocate many": func(t *rapid.T) { // whole words become full
				for range rapid.IntRange(1, 100).Draw(t, "many") {
					allocate(t)
				}
			},
			"take": func(t *rapid.T) {
				slow.expire(clock)
				i, a := addr()
				want := map[byte]error{'h': ErrHeld, 'c': ErrCooling, 'r': ErrReserved}[slow.states[i].kind]
				if err := pool.Take(time.Unix(0, clock), a); !errors.Is(err, want) {
					t.Fatalf("take %s: %v, want %v", a, err, want)
				}
				if want == nil {
					slow.states[i].kind = 'h'
					slow.cursor = i + 1
				}
			},
			"release": func(t *rapid.T) {
				i, a := addr()
				was := slow.states[i].kind == 'h'
				if have := pool.Release(time.Unix(0, clock), a); have != was {
					t.Fatalf("release %s: %v, want %v", a, have, was)
				}
				if was {
					slow.states[i] = slowState{kind: 'c', released: clock}
					if slow.delay == 0 {
						slow.states[i] = slowState{kind: 'f'}
					}
				}
			},
			"restore": func(t *rapid.T) {
				i, a := addr()
				err := pool.Restore(a)
				if kind := slow.states[i].kind; (err == nil) != (kind == 'f' || kind == 'c') {
					t.Fatalf("restore %s (%c): %v", a, kind, err)
				}
				if err == nil {
					slow.states[i] = slowState{kind: 'h'}
				}
			},
			"release outside": func(t *rapid.T) {
				for _, a := range [...]netip.Addr{prefix.Addr().Prev(), Last(prefix).Next(), netip.MustParseAddr("::ffff:0:0"), {}} {
					if pool.Release(time.Unix(0, clock), a) {
						t.Fatalf("released %s, which is not of %s", a, prefix)
					}
				}
			},
			"time": func(t *rapid.T) { clock += rapid.Int64Range(-3, 30).Draw(t, "passes") },
			"": func(t *rapid.T) {
				slow.expire(clock)
				free := pool.Free(time.Unix(0, clock))
				if free != slow.count('f') || pool.Held() != slow.count('h') || uint64(pool.Cooling()) != slow.count('c') ||
					pool.Capacity() != uint64(len(slow.states))-slow.count('r') {
					t.Fatalf("free %d held %d cooling %d capacity %d of %+v", free, pool.Held(), pool.Cooling(), pool.Capacity(), slow.states)
				}
				comparePool(t, pool, slow, clock)
			},
		})
	})
}

func comparePool(t *rapid.T, pool *Pool, slow *slowPool, clock int64) {
	var held []netip.Addr
	var first time.Time
	for i, s := range slow.states {
		a, _ := Nth(slow.prefix, uint64(i))
		if s.kind == 'h' {
			held = append(held, a)
		}
		if at := time.Unix(0, s.released+slow.delay).UTC(); s.kind == 'c' && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if have := slices.Collect(pool.Leased()); !slices.Equal(have, held) {
		t.Fatalf("leased %v, want %v", have, held)
	}
	if have := pool.FreeAt(time.Unix(0, clock)); !have.Equal(first) {
		t.Fatalf("free at %s, want %s", have, first)
	}
}

func TestPoolOfAnIPv6SixtyFour(t *testing.T) {
	p, err := NewPool(PoolConfig{Prefix: netip.MustParsePrefix("2001:db8::/64")})
	if err != nil {
		t.Fatal(err)
	}
	eui := netip.MustParseAddr("2001:db8::f2ff:fe00:1234:5678")
	if err := p.Take(time.Time{}, eui); err != nil || !p.Holds(eui) {
		t.Fatalf("take %s: %v", eui, err)
	}
	if a, ok := p.Allocate(time.Time{}); !ok || a != eui.Next() {
		t.Errorf("the next address is %s %v", a, ok)
	}
}
