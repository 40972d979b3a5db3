package explore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/explore"
)

const capsule = `vppdrill capsule 1
version v0.3.0
seed 4711
choices listed
pick 1 12 3 pod
pick 2 1000000 999999 fault (Prob 0.01 Mute)
verdict fail
digest 0abd62a07c270a8d9399490f1ce62865
law one-owner
what 10.1.1.2 is held twice
node node-2
at 5.7s
event 672
line 672 5.6582s node-2 call ip_route_add_del_v2
 
# Breaks one-owner.
name: small
topology:
  podsPerNode: 1
timeline:
  - {when: settled, do: restart-vpp, node: node-2}
`

// text is the capsule above; editors cut the space of its empty line.
func text() string { return strings.Replace(capsule, "\n \n", "\n\n", 1) }

// Goal: a capsule's file means what it says and is written as it is read.
func TestCapsule(t *testing.T) {
	c, err := explore.Parse(text())
	if err != nil {
		t.Fatal(err)
	}
	if got := c.String(); got != text() {
		t.Error(cmp.Diff(text(), got))
	}
	digest, _ := engine.ParseDigest("0abd62a07c270a8d9399490f1ce62865")
	want := explore.Capsule{Version: "v0.3.0", Seed: 4711, Listed: true,
		Picks:   []explore.Pick{{Label: "pod", Number: 1, Of: 12, Value: 3}, {Label: "fault (Prob 0.01 Mute)", Number: 2, Of: 1e6, Value: 999999}},
		Verdict: result.Fail, Digest: digest,
		Failure: result.Failure{Law: "one-owner", What: "10.1.1.2 is held twice", Node: "node-2", AtSeconds: 5.7, Event: 672,
			Line: "672 5.6582s node-2 call ip_route_add_del_v2"},
		Scenario: c.Scenario}
	if diff := cmp.Diff(want, *c, cmp.Comparer(func(a, b *scenarios.Scenario) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if c.Scenario.Name != "small" || c.Scenario.Goal != "Breaks one-owner." {
		t.Errorf("scenario %+v", c.Scenario)
	}
}

// Goal: every mistake is found, at its place. Method: one change to a good capsule each.
func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"no capsule", "vppdrill capsule 1\n", "name: x\n", `capsule:1:1: want "vppdrill capsule 1"`},
		{"no number", "capsule 1", "capsule x", `capsule:1:18: "x" is no format's number`},
		{"missing line", "seed 4711\n", "", `capsule:3:1: want "seed" here, found "choices listed"`},
		{"unknown line", "seed 4711\n", "seed 4711\ncolor red\n", `capsule:4:1: want "verdict" here, found "color red"`},
		{"line twice", "seed 4711\n", "seed 4711\nseed 4711\n", `capsule:4:1: want "verdict" here, found "seed 4711"`},
		{"line too early", "version v0.3.0\nseed 4711\n", "seed 4711\nversion v0.3.0\n", `capsule:2:1: want "version" here`},
		{"seed", "seed 4711", "seed 04711", `capsule:3:6: want a number up to 18446744073709551615, found "04711"`},
		{"choices", "listed", "seeded", `capsule:4:9: want listed, found "seeded"`},
		{"pick without list", "choices listed\n", "", `capsule:4:6: decisions are listed only after "choices listed"`},
		{"pick of itself", "pick 1 12 3", "pick 1 12 12", "capsule:5:6: decision 1 is 12 of 12"},
		{"default pick", "pick 1 12 3", "pick 1 12 0", "capsule:5:6: decision 1 is 0 of 12"},
		{"pick twice", "pick 1 12 3 pod\n", "pick 1 12 3 pod\npick 1 12 4 pod\n", `capsule:6:6: decision 1 of "pod" is listed twice`},
		{"short pick", "pick 1 12 3 pod", "pick 1 12", `capsule:5:6: want a number`},
		{"verdict", "verdict fail", "verdict maybe", `capsule:7:9: want fail or pass, found "maybe"`},
		{"digest", "0abd", "0abD", "capsule:8:8: digest"},
		{"needless quotes", "one-owner\nwhat", "\"one-owner\"\nwhat", `capsule:9:5: "one-owner" is not how a capsule quotes`},
		{"no law", "law one-owner", "law", "capsule:9:4: want printable text"},
		{"time", "at 5.7s", "at 5700ms", `capsule:12:4: want a time such as 12.5s, found "5700ms"`},
		{"event", "event 672", "event -1", "capsule:13:7: want a number"},
		{"no scenario", text()[strings.Index(text(), "\n\n"):], "\n\n", "capsule:16:1: "},
		{"no end of head", text()[strings.Index(text(), "\n\n"):], "\n", `capsule:15:1: the text ends in the capsule's head`},
		{"scenario", "podsPerNode: 1", "podsPerNote: 1", `capsule:19:3: topology: unknown field "podsPerNote"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(text(), test.old) {
				t.Fatal("the case changes nothing")
			}
			_, err := explore.Parse(strings.Replace(text(), test.old, test.new, 1))
			var parse *explore.ParseError
			if !errors.As(err, &parse) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

// Goal: a capsule of another format or program is refused, by an error that callers can tell from others.
func TestVersions(t *testing.T) {
	var version *explore.VersionError
	_, err := explore.Parse(strings.Replace(text(), "capsule 1", "capsule 2", 1))
	if !errors.As(err, &version) || version.What != "format" || version.Capsule != "2" || version.Program != "1" {
		t.Errorf("format: %v", err)
	}
	x := explore.Explorer{Version: "v0.4.0", Run: func(context.Context, *scenarios.Scenario, sim.Options) (result.Result, error) {
		t.Error("a capsule of another version is run")
		return result.Result{}, nil
	}}
	_, err = x.Replay(context.Background(), []byte(text()), 0, sim.Options{})
	if !errors.As(err, &version) || version.Capsule != "v0.3.0" || version.Program != "v0.4.0" {
		t.Errorf("version: %v", err)
	}
	if _, err := x.Replay(context.Background(), []byte("x"), 0, sim.Options{}); !errors.As(err, new(*explore.ParseError)) {
		t.Errorf("no capsule: %v", err)
	}
}

// Goal: whatever a run says, its capsule reads back. Method: random texts, times and decisions.
func TestCapsuleText(t *testing.T) {
	scenario := parse(t, "name: small\n")
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z" \\]*`))
		c := explore.Capsule{
			Version: words.Draw(t, "version"), Seed: rapid.Uint64().Draw(t, "seed"), Verdict: result.Fail, Scenario: scenario,
			Failure: result.Failure{Law: words.Draw(t, "law"), What: words.Draw(t, "what"), Node: words.Draw(t, "node"),
				Line:      words.Draw(t, "line"),
				AtSeconds: time.Duration(rapid.Int64Range(0, int64(30*24*time.Hour)).Draw(t, "at")).Seconds(),
				Event:     rapid.Int64Min(0).Draw(t, "event")},
		}
		copy(c.Digest[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "digest"))
		if c.Listed = rapid.Bool().Draw(t, "listed"); c.Listed {
			for i := range rapid.IntRange(0, 3).Draw(t, "picks") {
				of := rapid.IntRange(2, 1<<40).Draw(t, "of")
				c.Picks = append(c.Picks, explore.Pick{Label: words.Draw(t, "label"), Number: 1 + i, Of: of, Value: rapid.IntRange(1, of-1).Draw(t, "value")})
			}
		}
		again, err := explore.Parse(c.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, c.String())
		}
		if !again.Scenario.Equal(scenario) {
			t.Fatal("another scenario")
		}
		again.Scenario = c.Scenario
		if diff := cmp.Diff(c, *again, cmp.Comparer(func(a, b *scenarios.Scenario) bool { return a == b })); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Goal: reading never panics, and what is read is written as one text only.
func FuzzParse(f *testing.F) {
	f.Add(text())
	f.Add(strings.Replace(text(), "what 10.1.1.2 is held twice", `what "a\nb"`, 1))
	f.Add("vppdrill capsule 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := explore.Parse(text)
		if err != nil {
			return
		}
		once := c.String()
		again, err := explore.Parse(once)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		if twice := again.String(); twice != once {
			t.Fatal(cmp.Diff(once, twice))
		}
	})
}
