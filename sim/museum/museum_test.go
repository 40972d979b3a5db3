package museum

import (
	"context"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// seedsMost is how many seeds a planted fault may need.
const seedsMost = 20

// Goal: each exhibit's scenario holds every law without the planted fault, and with it breaks the exhibit's own, the
// same way each time. Method: all of them, shown once on one processor and once on two; digests and first bad events
// must be equal.
func TestExhibits(t *testing.T) {
	for _, e := range All() {
		t.Run(e.Name, func(t *testing.T) {
			var first Finding
			for _, procs := range []int{1, 2} {
				f := show(t, e, procs)
				if f.Clean.Verdict != result.Pass {
					t.Fatalf("without the planted fault: %s %s %+v", f.Clean.Verdict, f.Clean.Error, f.Clean.Failure)
				}
				if !f.Caught {
					t.Fatalf("%s holds with the planted fault on %d seeds", e.Law, seedsMost)
				}
				if procs == 1 {
					first = f
					continue
				}
				if f.Clean.Digest != first.Clean.Digest || f.Planted.Digest != first.Planted.Digest ||
					f.Planted.Seed != first.Planted.Seed || f.Planted.Failure.Event != first.Planted.Failure.Event {
					t.Errorf("on two processors the runs are others: seed %d event %d, then seed %d event %d",
						first.Planted.Seed, first.Planted.Failure.Event, f.Planted.Seed, f.Planted.Failure.Event)
				}
			}
		})
	}
}

func show(t *testing.T, e Exhibit, procs int) Finding {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	f, err := e.Show(context.Background(), seedsMost)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Goal: the museum is complete: at least 40 exhibits, each with everything that a visitor reads, and exhibits and
// scenarios of the topic are the same names.
func TestComplete(t *testing.T) {
	all := All()
	if len(all) < 40 {
		t.Errorf("%d exhibits", len(all))
	}
	incident := regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+#[0-9]+$`)
	names, incidents := map[string]bool{}, map[string]string{}
	for _, e := range all {
		switch _, known := check.ByName(e.Law); {
		case names[e.Name]:
			t.Errorf("%s: twice", e.Name)
		case !known:
			t.Errorf("%s: no law %q", e.Name, e.Law)
		case e.Plant == nil:
			t.Errorf("%s: nothing is planted", e.Name)
		case !strings.HasSuffix(e.Upstream, ".") || !strings.HasSuffix(e.Fault, "."):
			t.Errorf("%s: %q and %q are no sentences", e.Name, e.Upstream, e.Fault)
		case len(e.Incidents) == 0:
			t.Errorf("%s: no incident", e.Name)
		}
		names[e.Name] = true
		for _, i := range e.Incidents {
			if other := incidents[i]; other != "" || !incident.MatchString(i) {
				t.Errorf("%s: incident %q is none, or %q's already", e.Name, i, other)
			}
			incidents[i] = e.Name
		}
	}
	files, err := filepath.Glob("../../scenarios/catalog/museum/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".yaml")
		if !names[name] {
			t.Errorf("%s: no exhibit", file)
		}
		delete(names, name)
	}
	for name := range names {
		t.Errorf("%s: no scenario in the catalogue's topic museum", name)
	}
	if _, err := ByName("two-controler"); err == nil || !strings.Contains(err.Error(), `"two-controllers"`) {
		t.Errorf("ByName of a misspelled name: %v", err)
	}
}

// Goal: the places where faults are planted change nothing by themselves. Method: for each system, a run with nothing
// planted and one in which every wrapper hands on what it got are the same event for event.
func TestNothingPlanted(t *testing.T) {
	for _, name := range []string{"etcd-lost-ids", "id-released-on-close", "used-and-released", "two-controllers", "refused-return-forgotten"} {
		s, err := catalog.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var digests []string
		for _, plant := range []*sim.Plant{nil, {}, transparent()} {
			r, err := sim.Run(context.Background(), s, sim.Options{Seed: 3, Laws: check.All(), Plant: plant})
			if err != nil || r.Verdict != result.Pass {
				t.Fatalf("%s: %v %s %s", name, err, r.Verdict, r.Error)
			}
			digests = append(digests, r.Digest)
		}
		if len(slices.Compact(digests)) != 1 {
			t.Errorf("%s: %v", name, digests)
		}
	}
}

// Goal: a law that does not see the planted fault is told as such. Method: an exhibit that names the wrong law, and one
// that plants nothing.
func TestMissed(t *testing.T) {
	e, err := ByName("leases-forgotten")
	if err != nil {
		t.Fatal(err)
	}
	e.Law = "grants-disjoint"
	if f := show(t, e, 1); f.Caught {
		t.Errorf("caught by %s", e.Law)
	}
	e.Law, e.Plant = "one-owner", transparent
	if f := show(t, e, 1); f.Caught || f.Clean.Verdict != result.Pass {
		t.Error("caught what was not planted")
	}
	e.Law = "no-such-law"
	if _, err := e.Show(context.Background(), 1); err == nil {
		t.Error("an unknown law is accepted")
	}
}

// Goal: a scenario that asks for a fault as it was has it, whoever runs it, and goes on behind the first broken law
// where it says so. Method: the same fault by the exhibit and by the scenario's field: one digest; then counted; then a
// name that is none, and no museum.
func TestAsItWas(t *testing.T) {
	const name = "existing-not-occupied"
	e, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	law, _ := check.ByName(e.Law)
	planted, err := e.Planted(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := catalog.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	s.Faults.AsItWas = name
	o := sim.Options{Seed: 1, Laws: []fact.Law{law}}
	r, err := Run(t.Context(), s, o)
	if err != nil || r.Digest != planted.Digest || r.Failure == nil || r.Failure.Law != e.Law {
		t.Errorf("%v: digest %s, the exhibit's is %s; failure %+v", err, r.Digest, planted.Digest, r.Failure)
	}
	first := r.Failure
	s.Limits.Violations = 1000
	if r, err = Run(t.Context(), s, o); err != nil || r.Failure == nil || r.Failure.Event != first.Event || r.Collisions() < 1 || r.Events <= first.Event {
		t.Errorf("%v: counted: %+v, %d collisions, %d events", err, r.Failure, r.Collisions(), r.Events)
	}
	if _, err := sim.New(s, o); err == nil {
		t.Error("the fault was left out without a word")
	}
	for _, setting := range scenarios.Settings() {
		if _, err := ByName(setting.Example); setting.Name == "faults.asItWas" && err != nil {
			t.Errorf("its documentation has an example that fails: %v", err)
		}
	}
	s.Faults.AsItWas = "existing-not-ocupied"
	if _, err := Run(t.Context(), s, o); err == nil || !strings.Contains(err.Error(), "faults.asItWas") || !strings.Contains(err.Error(), name) {
		t.Errorf("an exhibit that is none: %v", err)
	}
}
