package controllers

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// Goal: a ledger's entry that says nothing new is told, one that confirms a claim before anything shows it is not. Method: one entry behind a few others.
func TestEntered(t *testing.T) {
	cidr := netip.MustParsePrefix("10.1.0.0/28")
	entry := func(op cilium.ClaimOp, node string) cilium.Claim {
		return cilium.Claim{Op: op, Pool: "default/ipv4", Node: node, CIDR: cidr}
	}
	a, b := entry(cilium.OpClaim, "a/1"), entry(cilium.OpReturn, "a/1")
	for name, c := range map[string]struct {
		before []cilium.Claim
		c      cilium.Claim
		seen   bool
		tells  bool
	}{
		"a first claim":                {nil, a, false, false},
		"a claim confirmed":            {[]cilium.Claim{a}, a, false, false},
		"a claim that is shown":        {[]cilium.Claim{a}, a, true, true},
		"a claim of what another held": {[]cilium.Claim{entry(cilium.OpClaim, "b/1")}, a, true, false},
		"a return":                     {[]cilium.Claim{a}, b, true, false},
		"a second return":              {[]cilium.Claim{a, b}, b, false, true},
		"a claim of nobody's":          {nil, entry(cilium.OpClaim, "a"), false, true},
		"a return of another's":        {[]cilium.Claim{entry(cilium.OpClaim, "b/1")}, b, false, true},
	} {
		e := entered{}
		for _, x := range c.before {
			e.add(x)
		}
		if why := e.needless(c.c, c.seen); (why != "") != c.tells {
			t.Errorf("%s: %q", name, why)
		}
	}
}
