package datastore

import (
	"strings"
	"testing"
)

// Goal: no decision about size can be followed by the opposite one. Method: every small account with every small
// target.

// accounts yields every account of up to that many units, each a /28 in prefix mode.
func accounts(prefixes bool, units int, yield func(Stats)) {
	for n := range units + 1 {
		s := Stats{TotalIPs: n}
		if prefixes {
			s = Stats{TotalIPs: n * DelegatedIPs, TotalPrefixes: n}
		}
		step := 1
		if prefixes {
			step = 5
		}
		for a := 0; a <= s.TotalIPs; a += step {
			for c := 0; c <= s.TotalIPs-a; c += step {
				s.AssignedIPs, s.CooldownIPs = a, c
				if !prefixes {
					yield(s)
					continue
				}
				// The addresses in use may be packed, or spread over as many prefixes as there are.
				for s.FreePrefixes = max(n-a-c, 0); s.FreePrefixes <= n-ceil(a+c); s.FreePrefixes++ {
					yield(s)
				}
			}
		}
	}
}

func sizings(prefixes bool, yield func(Sizing)) {
	for warm := range 8 {
		for minimum := range 8 {
			for few := range 3 {
				z := Sizing{Targets: Targets{WarmIP: warm, MinimumIP: minimum, WarmENI: few, WarmPrefix: few}, ENIsMax: 4, UnitsPerENI: 3, PrefixDelegation: prefixes}
				if prefixes {
					z.WarmIP, z.MinimumIP = warm*7, minimum*7
				}
				yield(z)
			}
		}
	}
}

func TestNeverBothShortAndOver(t *testing.T) {
	for _, prefixes := range [...]bool{false, true} {
		checked := 0
		sizings(prefixes, func(z Sizing) {
			accounts(prefixes, 9, func(s Stats) {
				checked++
				state := z.IPTargetState(s)
				if state.Short > 0 && state.Over > 0 || state.Short < 0 || state.Over < 0 || state.Enabled != z.Addressed() {
					t.Fatalf("%+v %+v: %+v", z, s, state)
				}
				if z.TooLow(s) && z.TooHigh(s) {
					t.Fatalf("%+v %+v is too low and too high", z, s)
				}
			})
		})
		t.Logf("prefixes %v: %d accounts", prefixes, checked)
	}
}

// A node that gives back all that is over, or any unit of it, is not too low. What it gets when it is too low does not
// make it too high.
func TestNoFlapping(t *testing.T) {
	for _, prefixes := range [...]bool{false, true} {
		sizings(prefixes, func(z Sizing) {
			accounts(prefixes, 9, func(s Stats) {
				for n := 1; n <= z.Excess(s); n++ {
					less := without(z, s, n)
					if less.AvailableAddresses() < 0 || z.TooLow(less) {
						t.Fatalf("%+v %+v: %d of %d given back is too low: %+v", z, s, n, z.Excess(s), less)
					}
				}
				rooms := []Room{{ENI: "0", Units: 0}}
				if g, ok := z.Grow(s, rooms, 0); ok {
					if more := without(z, s, -g.Units); z.TooHigh(more) {
						t.Fatalf("%+v %+v: %d more is too high: %+v", z, s, g.Units, more)
					}
				}
			})
		})
	}
}

// without is s less n idle units.
func without(z Sizing, s Stats, n int) Stats {
	s.TotalIPs -= n
	if z.PrefixDelegation {
		s.TotalIPs -= n * (DelegatedIPs - 1)
		s.TotalPrefixes -= n
		s.FreePrefixes -= n
	}
	return s
}

// The obvious definitions, word by word, for the cases without prefixes.
func TestSizingAgreesWithItsDefinition(t *testing.T) {
	sizings(false, func(z Sizing) {
		accounts(false, 9, func(s Stats) {
			usable := s.TotalIPs - s.AssignedIPs - s.CooldownIPs
			short, over := 0, 0
			if z.WarmIP > 0 || z.MinimumIP > 0 {
				for usable+short < z.WarmIP || s.TotalIPs+short < z.MinimumIP {
					short++
				}
				for over < usable && usable-over-1 >= z.WarmIP && s.TotalIPs-over-1 >= z.MinimumIP {
					over++
				}
			}
			if have := z.IPTargetState(s); have.Short != short || have.Over != over {
				t.Fatalf("%+v %+v: %+v, want short %d over %d", z, s, have, short, over)
			}
		})
	})
}

// A node full of cooling addresses gets more at once: 19 pods of 23 addresses restarted four of them.
func TestCoolingAddressesAreNotAvailable(t *testing.T) {
	z := Sizing{Targets: Targets{WarmIP: 2, MinimumIP: 23}, ENIsMax: 3, UnitsPerENI: 14}
	s := Stats{TotalIPs: 23, AssignedIPs: 19, CooldownIPs: 4}
	if g, ok := z.Grow(s, []Room{{ENI: "a", Units: 14}, {ENI: "b", Units: 9}}, 0); !ok || g != (Growth{ENI: "b", Units: 2}) {
		t.Errorf("%+v %v", g, ok)
	}
}

func TestGrowRespectsLimits(t *testing.T) {
	full, empty := Room{ENI: "full", Units: 3}, Room{ENI: "empty"}
	for name, c := range map[string]struct {
		z      Sizing
		rooms  []Room
		others int
		want   Growth
		ok     bool
	}{
		"room on an ENI":            {Sizing{ENIsMax: 3}, []Room{full, empty}, 0, Growth{"empty", 3}, true},
		"another ENI":               {Sizing{ENIsMax: 3}, []Room{full, full}, 0, Growth{"", 3}, true},
		"all ENIs":                  {Sizing{ENIsMax: 2}, []Room{full, full}, 0, Growth{}, false},
		"an unmanaged ENI counts":   {Sizing{ENIsMax: 3}, []Room{full, full}, 1, Growth{}, false},
		"a slot for the trunk":      {Sizing{ENIsMax: 3, TrunkSlot: true}, []Room{full, full}, 0, Growth{}, false},
		"the trunk is there":        {Sizing{ENIsMax: 3, TrunkSlot: true}, []Room{full, {Trunk: true}}, 0, Growth{"", 3}, true},
		"a trunk gets no addresses": {Sizing{ENIsMax: 2}, []Room{full, {Trunk: true}}, 0, Growth{}, false},
		"nor a skipped primary":     {Sizing{ENIsMax: 2, SkipPrimary: true}, []Room{{Primary: true}}, 0, Growth{"", 3}, true},
	} {
		c.z.UnitsPerENI, c.z.WarmENI = 3, 1
		if g, ok := c.z.Grow(Stats{}, c.rooms, c.others); g != c.want || ok != c.ok {
			t.Errorf("%s: %+v %v", name, g, ok)
		}
	}
}

func TestParseTargets(t *testing.T) {
	env := func(text string) func(string) string {
		return func(name string) string {
			for _, pair := range strings.Fields(text) {
				if v, ok := strings.CutPrefix(pair, name+"="); ok {
					return v
				}
			}
			return ""
		}
	}
	for text, want := range map[string]Targets{
		"":                   {WarmENI: 1, WarmPrefix: 1},
		"WARM_ENI_TARGET=0":  {WarmENI: 0, WarmPrefix: 1},
		"WARM_ENI_TARGET=-2": {WarmENI: 1, WarmPrefix: 1},
		"WARM_IP_TARGET=4 MINIMUM_IP_TARGET=x WARM_PREFIX_TARGET=3": {WarmIP: 4, WarmENI: 1, WarmPrefix: 3},
	} {
		if have := ParseTargets(env(text)); have != want {
			t.Errorf("%q: %+v", text, have)
		}
	}
}
