package controllers

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: the modelled network gives no two instances a block, none of services' range, and what was deleted again.
// Method: a network of four blocks, of which services have one, filled, emptied and, where the controller brings the
// blocks, told of others' and of its own.
func TestAliases(t *testing.T) {
	p := netip.MustParsePrefix
	if cloudAliases(scenarios.RangeAllocator, p("10.1.0.0/22"), 24, netip.Prefix{}) != nil {
		t.Error("RangeAllocator has a cloud")
	}
	a := cloudAliases(scenarios.CloudAllocator, p("10.1.0.0/22"), 24, p("10.1.1.128/25"))
	for i, want := range []string{"10.1.0.0/24", "10.1.2.0/24", "10.1.3.0/24", "invalid Prefix"} {
		name := string(rune('a' + i))
		if a.create(name); a.of[name].String() != want {
			t.Errorf("%s has %s, want %s", name, a.of[name], want)
		}
	}
	a.delete("b")
	if a.create("e"); a.of["e"] != p("10.1.2.0/24") {
		t.Errorf("e has %s", a.of["e"])
	}
	b := cloudAliases(scenarios.IPAMFromCluster, p("10.1.0.0/22"), 24, netip.Prefix{})
	b.create("a")
	b.create("b")
	if b.of["a"].IsValid() {
		t.Errorf("a has %s, and nobody gave it", b.of["a"])
	}
	for _, c := range []struct {
		instance, block string
		refused         bool
	}{{"a", "10.1.0.0/24", false}, {"a", "10.1.0.0/24", false}, {"b", "10.1.0.0/24", true}, {"b", "10.1.0.128/25", true}, {"c", "10.1.1.0/24", true}, {"b", "10.1.1.0/24", false}} {
		if err := b.add(c.instance, p(c.block)); (err != nil) != c.refused {
			t.Errorf("%s %s: %v", c.instance, c.block, err)
		}
	}
}
