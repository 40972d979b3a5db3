package cilium

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// tinyRanges are full at once in either family.
var tinyRanges = Addressing{CIDR4: netip.MustParsePrefix("10.0.0.8/30"), CIDR6: netip.MustParsePrefix("2001:db8::8/126")}

// model is what an IPAM must be like: owners and timers by address, and prefixes that must not be allocated.
type model struct {
	owner   map[netip.Addr]string
	timer   map[netip.Addr]time.Time
	uuid    map[netip.Addr]string
	blocked []netip.Prefix
	enabled map[Family]bool
}

func (m *model) black(a netip.Addr) bool {
	return slices.ContainsFunc(m.blocked, func(p netip.Prefix) bool { return p.Contains(a) })
}

// usable are the addresses that a search may find.
func (m *model) free(f Family) (list []netip.Addr) {
	if !m.enabled[f] {
		return nil
	}
	p := tinyRanges.CIDR4
	if f == IPv6 {
		p = tinyRanges.CIDR6
	}
	for _, a := range addrs(p) {
		if _, taken := m.owner[a]; !taken && !m.black(a) {
			list = append(list, a)
		}
	}
	return list
}

func (m *model) release(a netip.Addr) {
	delete(m.owner, a)
	delete(m.timer, a)
	delete(m.uuid, a)
}

// Goal: an IPAM allocates only what is free and not blacklisted, all or nothing over both families; timers release
// exactly what they should; nothing is lost or counted twice. Method: rapid drives it over two tiny ranges beside a
// model that looks at every address; after each step Dump must be the model.
func TestIPAMAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{owner: make(map[netip.Addr]string), timer: make(map[netip.Addr]time.Time), uuid: make(map[netip.Addr]string)}
		m.enabled = map[Family]bool{IPv4: rapid.IntRange(0, 3).Draw(t, "v4") > 0, IPv6: rapid.IntRange(0, 3).Draw(t, "v6") > 0}
		now := epoch
		ipam, err := NewIPAM(tinyRanges, Configuration{
			EnableIPv4: m.enabled[IPv4], EnableIPv6: m.enabled[IPv6], Pick: new(scatter), Now: func() time.Time { return now },
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		drawAddr := func(t *rapid.T) netip.Addr {
			a := rapid.SampledFrom([]netip.Addr{tinyRanges.CIDR4.Addr(), tinyRanges.CIDR6.Addr()}).Draw(t, "base")
			for range rapid.IntRange(0, 4).Draw(t, "index") {
				a = a.Next()
			}
			return a
		}
		drawOwner := func(t *rapid.T) string { return fmt.Sprint("pod", rapid.IntRange(0, 3).Draw(t, "owner")) }
		t.Repeat(map[string]func(*rapid.T){
			"exactly": func(t *rapid.T) {
				a, o := drawAddr(t), drawOwner(t)
				f := DeriveFamily(a)
				want := slices.Contains(m.free(f), a)
				if err := ipam.AllocateIP(a, o); (err == nil) != want {
					t.Fatalf("allocate %s: %v, want success %v", a, err, want)
				}
				if want {
					m.release(a)
					m.owner[a] = o
				}
			},
			"next": func(t *rapid.T) {
				family := rapid.SampledFrom([]string{"", "ipv4", "ipv6", "bogus"}).Draw(t, "family")
				o, timeout := drawOwner(t), time.Duration(rapid.IntRange(0, 3).Draw(t, "timeout"))*time.Second
				v4, v6, err := ipam.AllocateNextWithExpiration(family, o, timeout)
				m.next(t, [2]*AllocationResult{v4, v6}, family, err)
				for _, r := range [...]*AllocationResult{v4, v6} {
					if r == nil {
						continue
					}
					m.release(r.IP)
					m.owner[r.IP] = o
					if (r.ExpirationUUID != "") != (timeout > 0) {
						t.Fatalf("timeout %s gave UUID %q", timeout, r.ExpirationUUID)
					}
					if timeout > 0 {
						m.timer[r.IP], m.uuid[r.IP] = now.Add(timeout), r.ExpirationUUID
					}
				}
			},
			"release": func(t *rapid.T) {
				a := drawAddr(t)
				if err := ipam.ReleaseIP(a); (err == nil) != m.enabled[DeriveFamily(a)] {
					t.Fatalf("release %s: %v", a, err)
				}
				if m.enabled[DeriveFamily(a)] {
					m.release(a)
				}
			},
			"release by owner": func(t *rapid.T) {
				o := drawOwner(t)
				any := slices.Contains(slices.Collect(maps.Values(m.owner)), o)
				if err := ipam.ReleaseIPString(o); (err == nil) != any {
					t.Fatalf("release %s: %v, owns something: %v", o, err, any)
				}
				for a, x := range m.owner {
					if x == o {
						m.release(a)
					}
				}
			},
			"bar": func(t *rapid.T) {
				a := drawAddr(t)
				p := netip.PrefixFrom(a, a.BitLen()-rapid.IntRange(0, 2).Draw(t, "bits")).Masked()
				if p.IsSingleIP() {
					ipam.BlacklistIP(a, "test")
				} else {
					ipam.BlacklistIPNet(p, "test")
				}
				m.blocked = append(m.blocked, p)
			},
			"start timer": func(t *rapid.T) {
				a := drawAddr(t)
				uuid, err := ipam.StartExpirationTimer(a, 2*time.Second)
				if _, running := m.timer[a]; (err != nil) != running || (uuid == "") != running {
					t.Fatalf("start timer of %s: %q %v, runs: %v", a, uuid, err, running)
				}
				if err == nil {
					m.timer[a], m.uuid[a] = now.Add(2*time.Second), uuid
				}
			},
			"stop timer": func(t *rapid.T) {
				a, b := drawAddr(t), drawAddr(t)
				uuid, right := m.uuid[b], m.uuid[a] != "" && m.uuid[a] == m.uuid[b]
				if err := ipam.StopExpirationTimer(a, uuid); (err == nil) != right {
					t.Fatalf("stop timer of %s: %v, right: %v", a, err, right)
				}
				if right {
					delete(m.timer, a)
					delete(m.uuid, a)
				}
			},
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second)
				m.advance(t, now, ipam.Advance(now))
			},
			"": func(t *rapid.T) {
				v4, v6, _ := ipam.Dump()
				if len(v4)+len(v6) != len(m.owner) {
					t.Fatalf("dump %v %v, want %v", v4, v6, m.owner)
				}
				for a, o := range m.owner {
					if have, ok := v4[a.String()]; ok && have == o {
						continue
					}
					if have, ok := v6[a.String()]; !ok || have != o {
						t.Fatalf("dump %v %v, want %v", v4, v6, m.owner)
					}
				}
				if at, ok := ipam.NextExpiry(); ok != (len(m.timer) > 0) || ok && slices.ContainsFunc(slices.Collect(maps.Values(m.timer)), at.After) {
					t.Fatalf("next expiry %s %v, want the first of %v", at, ok, m.timer)
				}
			},
		})
	})
}

// next checks one allocation against what was free before it.
func (m *model) next(t *rapid.T, pair [2]*AllocationResult, family string, err error) {
	short := false
	for _, f := range families {
		wanted := m.enabled[f] && (family == "" || family == string(f))
		free := m.free(f)
		short = short || wanted && len(free) == 0
		r := pair[f.at()]
		if r != nil && (!wanted || !slices.Contains(free, r.IP)) {
			t.Fatalf("%q gave %s, free are %v", family, r.IP, free)
		}
		if err == nil && wanted != (r != nil) {
			t.Fatalf("%q gave %v for %s", family, r, f)
		}
	}
	if short != errors.Is(err, ErrFull) || err != nil && (pair[0] != nil || pair[1] != nil) {
		t.Fatalf("%q gave %v %v, full: %v", family, pair, err, short)
	}
}

// advance checks that exactly the timers that are due fired, in order.
func (m *model) advance(t *rapid.T, now time.Time, done []Expiry) {
	last := time.Time{}
	for _, e := range done {
		at, running := m.timer[e.IP]
		if !running || at.After(now) || at.Before(last) || e.UUID != m.uuid[e.IP] || e.Owner != m.owner[e.IP] {
			t.Fatalf("at %s %+v fired, timers are %v", now, e, m.timer)
		}
		last = at
		delete(m.timer, e.IP)
		if e.Err != nil {
			// A timer of a disabled family's address has nothing to release; it goes on trying.
			if m.enabled[DeriveFamily(e.IP)] {
				t.Fatalf("%+v", e)
			}
			m.timer[e.IP] = now.Add(2 * time.Second)
			continue
		}
		m.release(e.IP)
	}
	for a, at := range m.timer {
		if !at.After(now) {
			t.Fatalf("the timer of %s did not fire", a)
		}
	}
}
