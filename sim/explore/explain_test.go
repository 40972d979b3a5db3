package explore_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/cause"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
	"github.com/vppdrill/vppdrill/sim/museum"
)

// faulty are ten exhibits of the museum, whose faults others have planted after upstreams' incidents, each with what a
// reader must find in the chain: the step at which the program does what it should not, or does not do what it should.
var faulty = map[string][]string{
	"etcd-lost-ids":            {"the timeline does wipe-store", "alpha's agent acts on node ID 1"},
	"address-reused-at-once":   {`takes 10.1.2.4 back from default/churn-1`, `gives 10.1.2.4 to default/churn-3`},
	"id-released-on-close":     {`record 1 in the store is deleted, which was node-1's`, "record 1 in the store says that the ID is alpha's"},
	"failed-add-leaks":         {"the ADD of default/pod-1 on node-1 fails: journal", "answers the DEL of default/pod-1 with success"},
	"existing-not-occupied":    {"node-1 is assigned 10.1.0.0/24", "node-4 is assigned 10.1.0.0/24"},
	"deleted-node-loop":        {"remove-node node=node-3", "patch-node .* node-3 .*: not found"},
	"leases-forgotten":         {"restart-agent", "gives 10.1.1.2 to default/node-1-pod-0", "gives 10.1.1.2 to default/pod-1"},
	"repeated-del-frees-other": {`takes 10.1.0.225 back from default/pod-6`, `gives 10.1.0.225 to default/pod-9`},
	"slow-add-expires":         {`takes 10.1.0.9 back from default/pod-1`, `gives 10.1.0.9 to default/pod-2`, "answers the ADD of default/pod-1 with 10.1.0.9"},
	"used-and-released":        {`takes 10.1.0.6 back from default/node-1-pod-0`, `allocates from 10.1.0.6/32`},
}

// Goal: a chain of causes leads to the fault, is short, is in order and ends with the law. Method: every exhibit of the
// museum with its fault planted; of ten, the words that name the faulty step. At least nine must be named.
func TestChains(t *testing.T) {
	named := 0
	for _, e := range museum.All() {
		law, _ := check.ByName(e.Law)
		s, err := catalog.ByName(e.Name)
		if err != nil {
			t.Fatal(err)
		}
		var r result.Result
		for seed := uint64(1); seed <= 10 && r.Failure == nil; seed++ {
			r, err = (explore.Explorer{}).Explain(t.Context(), s, sim.Options{Seed: seed, Laws: []fact.Law{law}, Plant: e.Plant()}, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
		}
		if r.Failure == nil {
			t.Errorf("%s breaks nothing", e.Name)
			continue
		}
		chain := r.Failure.Chain
		var text strings.Builder
		for i, l := range chain {
			fmt.Fprintf(&text, "%2d. %6d %s\n", i+1, l.Event, l.Text)
			if i > 0 && l.Event < chain[i-1].Event || l.Leads != 0 && l.Leads < l.Event || (l.Kind == "broken") != (i == len(chain)-1) {
				t.Errorf("%s: link %d is out of place", e.Name, i+1)
			}
		}
		if len(chain) < 2 || len(chain) > cause.Most {
			t.Errorf("%s: %d links\n%s", e.Name, len(chain), text.String())
		}
		want, ok := faulty[e.Name]
		if !ok {
			continue
		}
		found := true
		for _, w := range want {
			if !regexp.MustCompile(w).MatchString(text.String()) {
				found = false
				t.Logf("%s: the chain does not name %q\n%s", e.Name, w, text.String())
			}
		}
		if found {
			named++
		}
	}
	if named < 9 {
		t.Errorf("the faulty step is named in %d of %d", named, len(faulty))
	}
}

// Goal: a run that was kept and that takes very many events to break its law is not repeated as a whole, and its chain
// names where it left the way of the run that passed. Method: an exhibit's fault, and a failure that is said to lie far
// behind what the run does.
func TestChainOfStart(t *testing.T) {
	const far = 10_000_000
	e, err := museum.ByName("leases-forgotten")
	if err != nil {
		t.Fatal(err)
	}
	s, err := catalog.ByName(e.Name)
	if err != nil {
		t.Fatal(err)
	}
	var p cause.Precedents
	if ok, err := (explore.Explorer{}).Keep(t.Context(), s, sim.Options{Seed: 1}, &p, func(take func()) { take() }); !ok || err != nil {
		t.Fatal(ok, err)
	}
	failed := result.Failure{Law: e.Law, What: "an address has two owners", Event: far, AtSeconds: 3600}
	r, err := (explore.Explorer{Kept: &p}).Explain(t.Context(), s, sim.Options{Seed: 1, Plant: e.Plant()}, &failed, 0)
	if err != nil || r.Failure == nil {
		t.Fatal(r.Failure, err)
	}
	var text strings.Builder
	for _, l := range r.Failure.Chain {
		fmt.Fprintf(&text, "%d %s\n", l.Event, l.Text)
	}
	for _, want := range []string{"first difference from the passing run of this scenario and seed", "the run continues like this: ", fmt.Sprintf("\n%d law ", far)} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("want %q in\n%s", want, text.String())
		}
	}
}

// Goal: a failing run of a scenario that nobody brings along is held against the one that passed some time before and
// was kept in a file. Method: an exhibit of the museum under another name, run without its fault, kept, written, read,
// and run with it; a run that fails is not kept.
func TestKept(t *testing.T) {
	e, err := museum.ByName("leases-forgotten")
	if err != nil {
		t.Fatal(err)
	}
	s, err := catalog.ByName(e.Name)
	if err != nil {
		t.Fatal(err)
	}
	other := *s
	other.Name = "my-own"
	o := sim.Options{Seed: 1, Laws: check.All()}
	var p cause.Precedents
	now := func(take func()) { take() }
	if ok, err := (explore.Explorer{}).Keep(t.Context(), &other, o, &p, now); !ok || err != nil {
		t.Fatal(ok, err)
	}
	var archive bytes.Buffer
	if err := p.Write(&archive); err != nil {
		t.Fatal(err)
	}
	read, err := cause.Open(archive.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	planted := o
	planted.Plant = e.Plant()
	if ok, err := (explore.Explorer{}).Keep(t.Context(), &other, planted, read, now); ok || err != nil {
		t.Errorf("a run that fails is kept: %v %v", ok, err)
	}
	r, err := (explore.Explorer{Kept: read}).Explain(t.Context(), &other, planted, nil, 0)
	if err != nil || r.Failure == nil {
		t.Fatal(r.Failure, err)
	}
	if !slices.ContainsFunc(r.Failure.Chain, func(l result.Link) bool {
		return strings.Contains(l.Text, "first difference from the passing run of this scenario and seed")
	}) {
		t.Errorf("%+v", r.Failure.Chain)
	}
	if _, err := cause.Open([]byte("no archive")); err == nil {
		t.Error("what is no archive is read")
	}
}

// Goal: a failure is compared with the nearest run that breaks nothing. Method: exhibits of the museum whose fault is
// the program's own, one of which a step of the timeline decides; and a law that no agent ends, which chance alone
// breaks. Each chain says so.
func TestNeighbour(t *testing.T) {
	told := func(r result.Result, words string) bool {
		return r.Failure != nil && slices.ContainsFunc(r.Failure.Chain, func(l result.Link) bool { return strings.Contains(l.Text, words) })
	}
	e := museum.All()[slices.IndexFunc(museum.All(), func(e museum.Exhibit) bool { return e.Name == "neighbor-of-a-former-pod" })]
	law, _ := check.ByName(e.Law)
	s, err := catalog.ByName(e.Name)
	if err != nil {
		t.Fatal(err)
	}
	planted := func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
		o.Plant = e.Plant()
		return sim.Run(ctx, s, o)
	}
	r, err := (explore.Explorer{Run: planted}).Explain(t.Context(), s, sim.Options{Seed: 1, Laws: []fact.Law{law}}, nil, 0)
	if err != nil || !told(r, "without step ") {
		t.Errorf("%+v, %v", r.Failure, err)
	}
	chance := scenarios.Default()
	chance.Name, chance.Duration, chance.Topology.PodsPerNode, chance.Faults.CrashAfterPersist = "agents-die-by-chance", 10*time.Second, 3, 0.2
	alive := fact.Law{Name: "agents-live", Why: "An agent that ends answers nobody.", When: fact.Always, Watch: func() fact.Watcher { return &agentsLive{} }}
	r, err = (explore.Explorer{}).Explain(t.Context(), &chance, sim.Options{Seed: 1, Laws: []fact.Law{alive}}, nil, 0)
	if err != nil || !told(r, "in which chance decides nothing from here on") {
		t.Errorf("%+v, %v", r.Failure, err)
	}
}

// agentsLive is broken by the first agent that ends.
type agentsLive struct{ facts int64 }

func (l *agentsLive) Observe(f *fact.Fact) error {
	l.facts++
	if _, ok := f.What.(fact.AgentDown); ok {
		return &fact.Violation{Law: "agents-live", At: f.At, Node: f.Node, What: "the agent ended"}
	}
	return nil
}

func (l *agentsLive) Checks() int64 { return l.facts }
