package datastore

import (
	"fmt"
	"strings"
	"testing"
)

// Goal: no decision about size can be followed by the opposite one. Method: every small account with every small target.

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

// A node that gives back all that is over, or any unit of it, is not too low. What it gets when it is too low does not make it too high.
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
	s.TotalIPs -= n * z.ipsPerUnit()
	if z.PrefixDelegation {
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

// The table of upstream's documentation: which targets give how many ENIs and addresses for how many pods.
func TestExplainReproducesTheDocumentedTable(t *testing.T) {
	small, large := Sizing{ENIsMax: 3, UnitsPerENI: 3}, Sizing{ENIsMax: 15, UnitsPerENI: 49}
	for _, c := range [...]struct {
		z      Sizing
		t      Targets
		pods   int
		per    string
		assign int
	}{
		{small, Targets{WarmENI: 1}, 0, "[3]", 0},
		{small, Targets{WarmENI: 1}, 5, "[3 3 3]", 5},
		{small, Targets{WarmENI: 1}, 9, "[3 3 3]", 9},
		{small, Targets{WarmIP: 1, MinimumIP: 1}, 0, "[1]", 0},
		{small, Targets{WarmIP: 1, MinimumIP: 1}, 5, "[3 3]", 5},
		{small, Targets{WarmIP: 1, MinimumIP: 1}, 9, "[3 3 3]", 9},
		{small, Targets{WarmIP: 2, MinimumIP: 5}, 0, "[3 2]", 0},
		{small, Targets{WarmIP: 2, MinimumIP: 5}, 5, "[3 3 1]", 5},
		{small, Targets{WarmIP: 2, MinimumIP: 5}, 9, "[3 3 3]", 9},
		{small, Targets{WarmIP: 2, MinimumIP: 5}, 12, "[3 3 3]", 9},
		{large, Targets{WarmENI: 1}, 0, "[49]", 0},
		{large, Targets{WarmENI: 1}, 3, "[49 49]", 3},
		{large, Targets{WarmENI: 1}, 95, "[49 49 49]", 95},
		{large, Targets{WarmIP: 5, MinimumIP: 10}, 0, "[10]", 0},
		{large, Targets{WarmIP: 5, MinimumIP: 10}, 7, "[12]", 7},
		{large, Targets{WarmIP: 5, MinimumIP: 10}, 15, "[20]", 15},
		{large, Targets{WarmIP: 5, MinimumIP: 10}, 45, "[49 1]", 45},
		{large, Targets{}, 0, "[49]", 0},
	} {
		c.z.Targets = c.t
		if e := Explain(c.z, c.pods); fmt.Sprint(e.PerENI) != c.per || e.Assigned != c.assign {
			t.Errorf("%+v, %d pods: %v", c.t, c.pods, e)
		}
	}
	large.Targets, large.PrefixDelegation = DefaultTargets(), true
	if e := Explain(large, 17); fmt.Sprint(e.PerENI) != "[48]" || len(e.Steps) != 3 {
		t.Errorf("prefixes: %v", e)
	}
}

func ExampleExplain() {
	fmt.Print(Explain(Sizing{Targets: Targets{WarmIP: 2, MinimumIP: 5}, ENIsMax: 3, UnitsPerENI: 3}, 5))
	// Output:
	// 5 pods: 3 ENIs, 7 addresses [3 3 1], 2 available, 0 pods wait
	//   1. 3 addresses on eni-0: 0 of 0 addresses are available, WARM_IP_TARGET is 2 and MINIMUM_IP_TARGET 5
	//   2. 2 addresses on a new ENI: 0 of 3 addresses are available, WARM_IP_TARGET is 2 and MINIMUM_IP_TARGET 5
	//   3. 1 addresses on eni-1: 0 of 5 addresses are available, WARM_IP_TARGET is 2 and MINIMUM_IP_TARGET 5
	//   4. 1 addresses on a new ENI: 1 of 6 addresses are available, WARM_IP_TARGET is 2 and MINIMUM_IP_TARGET 5
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
	for text, want := range map[string]int{"": 4, "MAX_ENI=0": 4, "MAX_ENI=3": 3, "MAX_ENI=9": 4, "MAX_ENI=no": 4} {
		if have := ParseMaxENI(env(text), 4); have != want {
			t.Errorf("%q: %d", text, have)
		}
	}
}
