package mutation

import (
	"slices"
	"testing"
)

// Goal: units are all seeds of all profiles, each once, and none is asked twice. Method: the first thousand.
func TestUnits(t *testing.T) {
	next := map[string]uint64{}
	for _, p := range profiles {
		next[p.name] = 1
	}
	for n := range uint64(1000) {
		u := unitOf(n)
		if u.from != next[u.profile] || u.seeds < 1 {
			t.Fatalf("unit %d is %+v, want from %d", n, u, next[u.profile])
		}
		next[u.profile] += uint64(u.seeds)
	}
	if surveyMost%surveyBlock != 0 || reachUnits > surveyMost {
		t.Error("blocks do not fit")
	}
}

// Goal: a fault is tried with those units alone that ask its switch, and what they break without it is not its doing.
// Method: three units, and a failure with and without.
func TestSurveyed(t *testing.T) {
	u := surveyed{Asked: []byte{0, 1, 0}, Broken: []failure{{"a", "settles"}}}
	var asked []bool
	for n := range 4 {
		asked = append(asked, u.asks(n))
	}
	if !slices.Equal(asked, []bool{false, true, false, false}) {
		t.Error(asked)
	}
	if !u.usual(failure{"a", "settles"}) || u.usual(failure{"a", "reachable"}) || u.usual(failure{"b", "settles"}) {
		t.Error("other failures are usual")
	}
}

// Goal: what a run did is told apart from how long it took. Method: a verdict line twice, on another machine, and of
// another run.
func TestVerdictOf(t *testing.T) {
	of := func(wall, digest string) verdict {
		return verdictOf([]string{"pass", "watches-lost", "sim", "seed", "1", "2,344", "events", "1m10s", "virtual", wall, "wall", digest})
	}
	if of("6ms", "6fd3") != of("9ms", "6fd3") || of("6ms", "6fd3") == of("6ms", "6fd4") || of("6ms", "6fd3").run() != "watches-lost 1" {
		t.Error(of("6ms", "6fd3"))
	}
}
