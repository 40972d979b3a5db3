package explore_test

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
	"github.com/vppdrill/vppdrill/sim/museum"
)

// failingRun names a run in place of the museum's: a scenario of the catalogue, a seed and the law that it breaks, as programs
// of package mutation do that have a fault built in.
var failingRun = flag.String("failing", "", "SCENARIO SEED LAW: judge the chain of this run in place of the museum's")

// Goal: no line of a chain is untrue of its run. Method: every exhibit with its fault planted, explained with and without
// the run that lacks the fault; the run once more, its lines, facts and decisions written down, and each claim of each
// line looked up there, by another way than the one that made it.
func TestChainsAreTrue(t *testing.T) {
	if *failingRun != "" {
		chainOfFailing(t, *failingRun)
		return
	}
	for _, e := range museum.All() {
		for _, mode := range []string{beside, alone} {
			s, r, seed := explained(t, e, mode)
			if r.Failure == nil {
				t.Errorf("%s breaks nothing", e.Name)
				continue
			}
			witnessed(t, s, e, seed).judge(t, e.Name+", "+mode, r.Failure)
		}
	}
}

// chainOfFailing judges the chain of one run, that breaks a law by itself.
func chainOfFailing(t *testing.T, run string) {
	words := strings.Fields(run)
	if len(words) != 3 {
		t.Fatalf("-failing %q: want SCENARIO SEED LAW", run)
	}
	s, err := catalog.ByName(words[0])
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(words[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	o := sim.Options{Seed: seed, Laws: check.All()}
	r, err := explore.Explorer{}.Explain(t.Context(), s, o, nil, 0)
	if err != nil || r.Failure == nil || r.Failure.Law != words[2] {
		t.Fatalf("%s breaks %+v, %v", run, r.Failure, err)
	}
	if len(r.Failure.Chain) < 2 {
		t.Errorf("%s has no chain", run)
	}
	witnessOf(t, s, o).judge(t, run, r.Failure)
}

// judge looks each claim of each link up.
func (x *witness) judge(t *testing.T, run string, f *result.Failure) {
	t.Helper()
	for i, l := range f.Chain {
		for _, wrong := range x.wrong(f, i) {
			t.Errorf("%s: link %d, event %d, %q: %s", run, i+1, l.Event, l.Text, wrong)
		}
	}
}

// Goal: a line that is untrue is found. Method: true lines of a chain, each changed in one place.
func TestUntrueIsFound(t *testing.T) {
	e, err := museum.ByName("id-released-on-close")
	if err != nil {
		t.Fatal(err)
	}
	s, r, seed := explained(t, e, alone)
	x := witnessed(t, s, e, seed)
	for i := range r.Failure.Chain {
		l := &r.Failure.Chain[i]
		if l.Kind == "broken" {
			continue
		}
		was := *l
		for name, change := range map[string]func(){
			"instant": func() { l.AtSeconds += 0.5 },
			"event":   func() { l.Event += 3 },
			"node":    func() { l.Node = "node-77" },
			"object":  func() { l.Text += " of node-77 with 10.99.0.1" },
			"leads":   func() { l.Leads = l.Event - 1 },
			"never":   func() { l.Text += "; alpha was not notified before the law breaks" },
			"first":   func() { l.Text = "node-1 is first seen here: " + l.Text },
			"times":   func() { l.Text += ": repeated 40 times from here until the law breaks, on average every 1s" },
		} {
			change()
			if name != "event" && len(x.wrong(r.Failure, i)) == 0 {
				t.Errorf("%s: not found: %+v", name, *l)
			}
			*l = was
		}
	}
}

// Goal: untrue words about a silence are found. Method: true lines of chains that tell where a program falls silent, each
// with one word changed.
func TestUntrueSilenceIsFound(t *testing.T) {
	for name, changes := range map[string][][2]string{
		"patch-never-retried": {{"for node-3", "for node-1"}, {"for node-3", "for node-2"}, {"event 38", "event 37"}, {"event 38", "event 349"}, {"event 38", "event 42"}, {"1m20.9991s", "1m21s"}},
		"one-node-at-a-time":  {{"6.1989s", "6.1s"}, {"took 2", "took 3"}, {"every 10s", "every 9s"}},
		"last-endpoint-stays": {{"node-1's agent makes", "node-2's agent makes"}, {"no call for 10.96.0.10:80", "no call for 10.96.0.10:81"}, {"199.4ms later", "2s later"}},
	} {
		e, err := museum.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		s, r, seed := explained(t, e, alone)
		x := witnessed(t, s, e, seed)
		i := slices.IndexFunc(r.Failure.Chain, func(l result.Link) bool { return strings.Contains(l.Text, " until the law breaks, ") })
		if i < 0 {
			t.Errorf("%s: no silence", name)
			continue
		}
		l := &r.Failure.Chain[i]
		was := *l
		for _, c := range changes {
			if l.Text = strings.Replace(was.Text, c[0], c[1], 1); l.Text == was.Text || len(x.wrong(r.Failure, i)) == 0 {
				t.Errorf("%s: %q for %q is not found in %q", name, c[1], c[0], was.Text)
			}
		}
		*l = was
	}
}

// witness is what a run did, written down.
type witness struct {
	s         *scenarios.Scenario
	lines     []string // of event i+1
	at        []time.Duration
	facts     []noted
	decisions []noted
	names     map[string]string // pods by the head of their containers
}

// noted is a fact or a decision, in the order of the run. event is the last event before it.
type noted struct {
	event int
	who   string
	at    time.Duration
	fact  fact.What
	text  string
}

// witnessed is what an exhibit's run with its fault does.
func witnessed(t *testing.T, s *scenarios.Scenario, e museum.Exhibit, seed uint64) *witness {
	t.Helper()
	law, _ := check.ByName(e.Law)
	return witnessOf(t, s, sim.Options{Seed: seed, Laws: []fact.Law{law}, Plant: e.Plant()})
}

func witnessOf(t *testing.T, s *scenarios.Scenario, o sim.Options) *witness {
	t.Helper()
	x := &witness{s: s, names: map[string]string{}}
	o.Account = x
	if _, err := sim.Run(t.Context(), s, o); err != nil {
		t.Fatal(err)
	}
	return x
}

// Begin implements sim.Account.
func (x *witness) Begin(func() (fact.Snapshot, error)) {}

// Event implements sim.Account.
func (x *witness) Event(_ int64, at time.Duration, _ int64, line []byte) {
	x.lines, x.at = append(x.lines, string(line)), append(x.at, at)
}

// Fact implements sim.Account.
func (x *witness) Fact(f fact.Fact) {
	if o, ok := f.What.(fact.OfSandbox); ok {
		if owner, pod := o.Sandbox(); pod != "" && owner.ContainerID != "" {
			x.names[owner.ContainerID[:min(12, len(owner.ContainerID))]] = pod
		}
	}
	n := noted{event: len(x.lines), who: f.Node, at: f.At, fact: f.What}
	if r, ok := f.What.(fact.Removed); ok { // the world reuses its memory
		n.text = r.Removal.String()
	}
	x.facts = append(x.facts, n)
}

// Decided implements sim.Account.
func (x *witness) Decided(who, text string) {
	x.decisions = append(x.decisions, noted{event: len(x.lines), who: who, text: text})
}

// shown is all that an event shows: its line, its facts, its decisions. Those of a timeline's action come before its
// line.
func (x *witness) shown(event int) string {
	var out strings.Builder
	out.WriteString(x.lines[event-1])
	for _, list := range [][]noted{x.facts, x.decisions} {
		first, _ := slices.BinarySearchFunc(list, event-1, func(n noted, event int) int { return n.event - event })
		for _, f := range list[first:] {
			if f.event > event {
				break
			}
			if f.event == event || f.at > x.at[event-2] {
				fmt.Fprintf(&out, " %s %s %+v", f.who, f.text, f.fact)
			}
		}
	}
	text := out.String()
	for _, id := range containers.FindAllString(text, -1) {
		text += " " + x.names[strings.ReplaceAll(id, "-", "")[:12]]
	}
	return text
}

var (
	objectPattern = regexp.MustCompile(`\b(?:[0-9]+\.){3}[0-9]+(?:/[0-9]+)?|\bnode-[0-9]+\b|\b(?:default|kube-system)/[-a-z0-9]+|\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b`)
	containers    = regexp.MustCompile(`\b[0-9a-f]{12,64}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	eventPattern  = regexp.MustCompile(`\bevent ([0-9]+)`)
	elsewhere     = regexp.MustCompile(`; in the other run .*|; the last answer: .*|without step [0-9]+ of the timeline, .*, nothing breaks|\S+ (?:is|was) not notified|\S+ (?:is notified|reads the store) at event`)
)

// wrong lists what is untrue in one link of a chain.
func (x *witness) wrong(f *result.Failure, i int) (out []string) {
	l := &f.Chain[i]
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if l.Event < 1 || l.Event > int64(len(x.lines)) {
		return []string{"no such event"}
	}
	event := int(l.Event)
	if (l.Kind == "broken") != (i == len(f.Chain)-1) || i > 0 && f.Chain[i-1].Event > l.Event {
		say("out of place")
	}
	if l.Kind != "broken" && (l.Leads <= l.Event && l.Leads != f.Event || !slices.ContainsFunc(f.Chain, func(o result.Link) bool { return o.Event == l.Leads })) {
		say("leads to %d", l.Leads)
	}
	if l.Kind == "broken" {
		return out
	}
	if !x.instant(event, l.AtSeconds) && !strings.Contains(l.Text, "the other run") {
		say("not at %gs: the event is at %s", l.AtSeconds, x.at[event-1])
	}
	if l.Node != "" && !slices.ContainsFunc(x.facts, func(f noted) bool { return f.who == l.Node }) {
		say("no node %s", l.Node)
	}
	shown := x.shown(event)
	if l.Kind != "missing" {
		for _, object := range objectPattern.FindAllString(elsewhere.ReplaceAllString(l.Text, ""), -1) {
			if !strings.Contains(shown, strings.TrimSuffix(object, "/32")) && !x.told(l.Text, object) {
				say("the event does not show %s", object)
			}
		}
	}
	for _, m := range eventPattern.FindAllStringSubmatch(l.Text, -1) {
		if n, _ := strconv.Atoi(m[1]); n < 1 || int64(n) > f.Event {
			say("event %d is not before the law breaks", n)
		}
	}
	for _, c := range claims {
		for _, m := range c.pattern.FindAllStringSubmatch(l.Text, -1) {
			if why := c.untrue(x, f, l, m); why != "" {
				say("%q: %s", m[0], why)
			}
		}
	}
	return out
}

// instant reports whether an event, or a fact of it, is at a time.
func (x *witness) instant(event int, seconds float64) bool {
	if x.at[event-1].Seconds() == seconds {
		return true
	}
	return slices.ContainsFunc(x.facts, func(f noted) bool {
		return (f.event == event || f.event == event-1) && f.at.Seconds() == seconds
	})
}

// told reports whether one of the other events that a text names shows an object.
func (x *witness) told(text, object string) bool {
	return slices.ContainsFunc(eventPattern.FindAllStringSubmatch(text, -1), func(m []string) bool {
		n, _ := strconv.Atoi(m[1])
		return n >= 1 && n <= len(x.lines) && strings.Contains(x.shown(n), object)
	})
}
