package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Nine blocks are all given out, the pool grows by a tenth, and more nodes come: nobody gets a live block, with a
// restart in between and without.
func TestExtensionReissuesNothing(t *testing.T) {
	make9 := func(more ...string) *ClusterPool {
		c := ClusterPoolConfig{MaskSize4: 24}
		for _, text := range append([]string{"10.0.0.0/21", "10.1.0.0/24"}, more...) {
			c.IPv4 = append(c.IPv4, netip.MustParsePrefix(text))
		}
		p, err := NewClusterPool(c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, restart := range [...]bool{false, true} {
		p := make9()
		p.FinishRestore()
		seen := make(map[netip.Prefix]bool)
		assign := func(node string) bool {
			cidrs, _, err := p.Assign(epoch, node)
			if err != nil {
				if !errors.Is(err, ErrNoCIDR) {
					t.Fatal(err)
				}
				return false
			}
			if len(cidrs) != 1 || seen[cidrs[0]] {
				t.Fatalf("%s got %v again", node, cidrs)
			}
			seen[cidrs[0]] = true
			return true
		}
		for i := range 9 {
			if !assign(fmt.Sprint("n", i)) {
				t.Fatalf("node %d got nothing", i)
			}
		}
		if assign("n9") {
			t.Fatal("a tenth node got something")
		}
		if restart {
			entries := p.Records()
			p = make9("10.2.0.0/23")
			for _, e := range entries {
				if err := p.Apply(e); err != nil {
					t.Fatal(err)
				}
			}
			p.FinishRestore()
		} else if err := p.Extend(netip.MustParsePrefix("10.2.0.0/23")); err != nil {
			t.Fatal(err)
		}
		if !assign("n9") || !assign("n10") || assign("n11") {
			t.Error("the new range does not hold two blocks")
		}
	}
}

// The compact ledger recreates holds, cooling blocks and version; it reads back from its text.
func TestLedgerRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := ClusterPoolConfig{
			IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/26")}, MaskSize4: 28,
			IPv6: []netip.Prefix{netip.MustParsePrefix("fd00::/122")}, MaskSize6: 124, ReuseDelay: 5 * time.Second,
		}
		fresh := func(entries []Claim) *ClusterPool {
			p, err := NewClusterPool(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				back, err := ParseClaim(e.String())
				if err != nil || back != e {
					t.Fatalf("%q reads back as %q: %v", e, back, err)
				}
				if err := p.Apply(back); err != nil {
					t.Fatal(err)
				}
			}
			p.FinishRestore()
			return p
		}
		p, now := fresh(nil), epoch
		var history []Claim
		t.Repeat(map[string]func(*rapid.T){
			"assign": func(t *rapid.T) {
				_, entries, err := p.Assign(now, fmt.Sprint("n", rapid.IntRange(0, 5).Draw(t, "node")))
				if err != nil && (len(entries) > 0 || !errors.Is(err, ErrNoCIDR)) {
					t.Fatal(entries, err)
				}
				history = append(history, entries...)
			},
			"unassign": func(t *rapid.T) {
				history = append(history, p.Unassign(now, fmt.Sprint("n", rapid.IntRange(0, 5).Draw(t, "node")))...)
			},
			"time": func(*rapid.T) { now = now.Add(time.Second) },
			"": func(t *rapid.T) {
				for _, q := range [...]*ClusterPool{fresh(history), fresh(p.Records())} {
					if p.Version() != 0 && len(p.Records()) > 0 && q.Version() != p.Version() {
						t.Fatalf("version %d became %d", p.Version(), q.Version())
					}
					for i := range 6 {
						node := fmt.Sprint("n", i)
						if !slices.Equal(q.Held(node), p.Held(node)) {
							t.Fatalf("%s holds %v, want %v", node, q.Held(node), p.Held(node))
						}
					}
					if have, want := q.FreeAt(now), p.FreeAt(now); !have.Equal(want) {
						t.Fatalf("free at %s, want %s", have, want)
					}
				}
			},
		})
	})
}

// An entry out of order, or one that contradicts what came before, is refused and changes nothing.
func TestLedgerRefusals(t *testing.T) {
	p, err := NewClusterPool(ClusterPoolConfig{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/22")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line string
		ok   bool
	}{
		{"0 claim ipv4 a 10.0.0.0/24 0", false},
		{"7 claim ipv4 a 10.0.0.0/24 0", true}, // a compacted ledger
		{"7 claim ipv4 b 10.0.1.0/24 0", false},
		{"9 claim ipv4 b 10.0.1.0/24 0", false},
		{"8 claim ipv4 b 10.0.0.0/24 0", false},
		{"8 claim ipv4 b 10.0.0.128/25 0", false},
		{"8 claim ipv6 b 10.0.1.0/24 0", false},
		{"8 claim blue b 10.0.1.0/24 0", false},
		{"8 return ipv4 b 10.0.0.0/24 0", false},
		{"8 return ipv4 a 10.0.1.0/24 0", true}, // the store has lost the claim
		{"9 claim ipv4 a 10.0.0.0/24 0", true},  // a confirmation
		{"10 return ipv4 a 10.0.0.0/24 0", true},
		{"11 return ipv4 a 10.0.0.0/24 0", true},
	} {
		e, err := ParseClaim(c.line)
		if err != nil {
			t.Fatal(err)
		}
		before, version := fmt.Sprint(p.Records()), p.Version()
		if err := p.Apply(e); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.line, err)
		}
		if !c.ok && (fmt.Sprint(p.Records()) != before || p.Version() != version) {
			t.Errorf("%s changed the pool", c.line)
		}
	}
}

// A node object with a foreign, a taken or a nonsense CIDR is told and stops nobody else.
func TestAdoptQuarantines(t *testing.T) {
	p, err := NewClusterPool(ClusterPoolConfig{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/22")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		node    string
		cidrs   []string
		entries int
		wrong   error
	}{
		{"a", []string{"10.0.1.0/24"}, 1, nil},
		{"a", []string{"10.0.1.0/24"}, 0, nil},
		{"b", []string{"10.0.1.0/24", "10.0.2.0/24"}, 1, ErrCIDRTaken},
		{"c", []string{"10.0.0.0/23"}, 0, ErrCIDRTaken},
		{"d", []string{"10.0.2.128/25"}, 0, ErrCIDRTaken},
		{"e", []string{"192.168.0.0/24"}, 1, nil},
		{"f", []string{"192.168.0.0/24"}, 0, ErrCIDRTaken},
	} {
		var cidrs []netip.Prefix
		for _, text := range c.cidrs {
			cidrs = append(cidrs, netip.MustParsePrefix(text))
		}
		entries, err := p.Adopt(epoch, c.node, cidrs)
		if len(entries) != c.entries || !errors.Is(err, c.wrong) || (err == nil) != (c.wrong == nil) {
			t.Errorf("%s shows %v: %v %v", c.node, c.cidrs, entries, err)
		}
	}
	if _, err := p.Adopt(epoch, "g", []netip.Prefix{{}}); err == nil {
		t.Error("the zero Prefix was adopted")
	}
	p.FinishRestore()
	for _, want := range []string{"10.0.0.0/24", "10.0.3.0/24"} {
		if cidrs, _, err := p.Assign(epoch, "new-"+want); err != nil || cidrs[0].String() != want {
			t.Errorf("have %v %v, want %s", cidrs, err, want)
		}
	}
}
