package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// Goal: each condition lets through exactly what its documentation says. Method: an injector's text, and the verdicts
// that it gives to a fixed row of operations, one second apart: "." for Pass.
func TestJudge(t *testing.T) {
	ops := []fault.Op{
		{Node: "node-1", Kind: fault.KindDataplane, Name: "tap_create_v3", Key: "tap web-0"},
		{Node: "node-2", Kind: fault.KindStore, Name: "create", Key: "/nodes/2"},
		{Node: "node-1", Kind: fault.KindDataplane, Name: "sw_interface_dump"},
		{Node: "node-2", Kind: fault.KindDataplane, Name: "tap_create_v3", Key: "tap web-1"},
		{Node: "node-1", Kind: fault.KindPersist, Name: "append"},
		{Node: "node-1", Kind: fault.KindDataplane, Name: "tap_delete_v2", Key: "tap web-0"},
	}
	for _, tt := range []struct{ text, want string }{
		{`Pass`, `. . . . . .`},
		{`Mute`, `Mute Mute Mute Mute Mute Mute`},
		{`(Refuse -68)`, `(Refuse -68) (Refuse -68) (Refuse -68) (Refuse -68) (Refuse -68) (Refuse -68)`},
		{`(Request create (Delay 20ms))`, `. (Delay 20ms) . . . .`},
		{`(Request tap_create_v3 Vanish)`, `Vanish . . Vanish . .`},
		{`(Request tap_* Vanish)`, `Vanish . . Vanish . Vanish`},
		{`(Request * Vanish)`, `Vanish Vanish Vanish Vanish Vanish Vanish`},
		{`(Request tap_ Vanish)`, `. . . . . .`},
		{`(Kind dataplane PowerLoss)`, `PowerLoss . PowerLoss PowerLoss . PowerLoss`},
		{`(Kind store Compact)`, `. Compact . . . .`},
		{`(Kind dataplane Duplicate)`, `Duplicate . Duplicate Duplicate . Duplicate`},
		{`(Kind persist CrashBefore)`, `. . . . CrashBefore .`},
		{`(Node node-2 CrashAfter)`, `. CrashAfter . CrashAfter . .`},
		{`(Node node-* Mute)`, `Mute Mute Mute Mute Mute Mute`},
		{`(Key "tap web-0" Mute)`, `Mute . . . . Mute`},
		{`(Key "" Mute)`, `. . Mute . Mute .`},
		{`(Nth 2 Mute)`, `. Mute . . . .`},
		{`(Nth 2 (Request tap_create_v3 Mute))`, `. . . Mute . .`},
		{`(Request tap_create_v3 (Nth 2 Mute))`, `. . . Mute . .`},
		{`(Nth 7 Mute)`, `. . . . . .`},
		{`(First 2 (Kind dataplane Mute))`, `Mute . Mute . . .`},
		{`(After 0 Mute)`, `Mute Mute Mute Mute Mute Mute`},
		{`(After 2 (Kind dataplane Mute))`, `. . . Mute . Mute`},
		{`(After 1 (First 2 Mute))`, `. Mute . . . .`},
		{`(First 2 (After 1 Mute))`, `. Mute Mute . . .`},
		{`(Prob 1 Mute)`, `Mute Mute Mute Mute Mute Mute`},
		{`(Prob 0 Mute)`, `. . . . . .`},
		{`(During 1s 3s Mute)`, `. Mute Mute . . .`},
		{`(During 1s 1s Mute)`, `. . . . . .`},
		{`(Nth 2 (During 2s 10s Mute))`, `. . . Mute . .`},
		{`(Jitter 5ms 5ms)`, `(Delay 5ms) (Delay 5ms) (Delay 5ms) (Delay 5ms) (Delay 5ms) (Delay 5ms)`},
		{`(Jitter 5us 5us)`, `(Delay 5us) (Delay 5us) (Delay 5us) (Delay 5us) (Delay 5us) (Delay 5us)`},
		{`(Any)`, `. . . . . .`},
		{`(Any (Nth 1 Mute) (Nth 2 Vanish))`, `Mute Vanish . . . .`},
		{`(Any (Nth 1 Mute) (First 2 Vanish))`, `Mute Vanish . . . .`},
		{`(Any (Node node-2 Mute) (Kind dataplane Vanish))`, `Vanish Mute Vanish Mute . Vanish`},
		{`Census`, `. . . . . .`},
	} {
		now := time.Duration(0)
		i, err := fault.Parse(tt.text, fault.Env{Chooser: engine.Seeded(1), Now: func() time.Duration { return now }})
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if i.String() != tt.text {
			t.Errorf("%s became %s", tt.text, i)
		}
		var got []string
		for _, op := range ops {
			v := i.Judge(op)
			if v == (fault.Verdict{}) {
				got = append(got, ".")
			} else {
				got = append(got, v.String())
			}
			now += time.Second
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

// Goal: Prob asks only about operations that matter, once each, and its decisions do not move when another injector
// goes. Method: recordings of what is asked.
func TestProbDecisions(t *testing.T) {
	judge := func(text string) (hits string, picks []engine.Pick) {
		r := engine.Recording(engine.Seeded(5))
		i, err := fault.Parse(text, fault.Env{Chooser: r})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 200 {
			name := "create"
			if n%2 == 1 {
				name = "list"
			}
			hits += string(i.Judge(fault.Op{Kind: fault.KindStore, Name: name}).Action.String()[0])
		}
		return hits, r.Picks()
	}
	both, _ := judge(`(Any (Prob 0.5 (Request create Mute)) (Prob 0.3 (Request list Vanish)))`)
	alone, picks := judge(`(Prob 0.3 (Request list Vanish))`)
	if got := strings.ReplaceAll(both, "M", "P"); got != alone {
		t.Errorf("alone %s\nwith another %s", alone, got)
	}
	if len(picks) != 100 || picks[0].Label != "fault (Prob 0.3 (Request list Vanish))" {
		t.Errorf("%d decisions, the first %q", len(picks), picks[0].Label)
	}
	if n := strings.Count(alone, "V"); n < 20 || n > 40 {
		t.Errorf("%d of 100 at 0.3", n)
	}
}

// Goal: a driver can put a crash behind every operation of a run. Method: count a run, then run it once per place.
func TestCensusEnumerates(t *testing.T) {
	run := func(i fault.Injector) (done []string) {
		for _, name := range []string{"Persist", "StoreRequest", "Persist", "Answer"} {
			op := fault.Op{Node: "n1", Kind: fault.KindEffect, Name: name}
			v := i.Judge(op)
			if v.Action == fault.CrashBefore {
				return append(done, "crash")
			}
			done = append(done, name)
			if v.Action == fault.CrashAfter {
				return append(done, "crash")
			}
		}
		return done
	}
	c := fault.NewCensus()
	run(c)
	want := []fault.CensusLine{{fault.KindEffect, "Answer", 1}, {fault.KindEffect, "Persist", 2}, {fault.KindEffect, "StoreRequest", 1}}
	if diff := cmp.Diff(want, c.Lines()); diff != "" {
		t.Errorf("census (-want +got):\n%s", diff)
	}
	if c.Total() != 4 || c.Count(fault.KindEffect, "Persist") != 2 || c.Count(fault.KindStore, "Persist") != 0 {
		t.Errorf("total %d", c.Total())
	}
	var got []string
	for n := 1; n <= c.Total(); n++ {
		got = append(got, strings.Join(run(fault.Nth(n, fault.Always(fault.Verdict{Action: fault.CrashAfter}))), " "))
	}
	wantRuns := []string{"Persist crash", "Persist StoreRequest crash", "Persist StoreRequest Persist crash", "Persist StoreRequest Persist Answer crash"}
	if diff := cmp.Diff(wantRuns, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// Goal: a wrong text is told where and what was meant. Method: a table of wrong texts.
func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{``, `column 1: want an injector, found the end of the text`},
		{`  `, `column 3: want an injector, found the end of the text`},
		{`(Requst x Mute)`, `column 2: unknown injector "Requst"; did you mean "Request"?`},
		{`(Nth 1 mute)`, `column 8: unknown injector "mute"; did you mean "Mute"?`},
		{`Crash`, `column 1: unknown injector "Crash"; did you mean "CrashBefore"?`},
		{`(Nth 0 Mute)`, `column 6: want an integer from 1 to 2147483647, found "0"`},
		{`(Nth one Mute)`, `column 6: want an integer from 1 to 2147483647, found "one"`},
		{`(Refuse 99999999999)`, `column 9: want an integer from -2147483648 to 2147483647, found "99999999999"`},
		{`(Prob 1.5 Mute)`, `column 7: want a probability from 0 to 1, found "1.5"`},
		{`(Prob NaN Mute)`, `column 7: want a probability from 0 to 1, found "NaN"`},
		{`(Delay 5)`, `column 8: want a time such as 20ms or 1m30s, found "5"`},
		{`(Delay -5ms)`, `column 8: want a time such as 20ms or 1m30s, found "-5ms"`},
		{`(During 5s 2s Mute)`, `column 12: 2s is before 5s`},
		{`(Jitter 5s 2s)`, `column 12: 2s is before 5s`},
		{`(Kind dataplan Mute)`, `column 7: want one of dataplane, store, store-watch, api-watch, persist, cni, effect, control, control-watch, control-list, found "dataplan"; did you mean "dataplane"?`},
		{`(Request x Mute`, `column 16: want ) after the end of Request, found the end of the text`},
		{`(Request x Mute Mute)`, `column 17: want ) after the end of Request, found "Mute"`},
		{`Mute)`, `column 5: ")" after the injector's end`},
		{`(Any Mute`, `column 10: want an injector, found the end of the text`},
		{`Refuse`, `column 1: Refuse needs arguments: (Refuse CODE)`},
		{`(Request (Nth) Mute)`, `column 10: want a name, found "("`},
		{`(Request "x Mute)`, `column 10: quoted name without its end`},
		{`()`, `column 2: want an injector's word after (, found ")"`},
		{`(Key ü Mute)`, `column 6: character 'ü' only inside quotes`},
		{strings.Repeat("(Any ", 200), `column 506: more than 100 injectors inside each other`},
	} {
		_, err := fault.Parse(tt.text, fault.Env{})
		if err == nil {
			t.Errorf("%s: no error", tt.text)
			continue
		}
		if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
			t.Errorf("%.40s (-want +got):\n%s", tt.text, diff)
		}
		if p := (*fault.ParseError)(nil); !errors.As(err, &p) || p.Column < 1 || p.Column > len(tt.text)+1 {
			t.Errorf("%.40s: %#v", tt.text, err)
		}
	}
}

// Goal: Parse and String are each other's inverse on what Parse accepts. Method: fuzz.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`(Any (Nth 1 (Request tap_create_v3 Mute)) (Prob 0.001 (Kind store (Delay 20ms))))`,
		`(During 10s 1m0s (Node node-* (First 3 (Key "a b\x00" (Refuse -1)))))`,
		"( After\t0 (Jitter 0s 5ms ) )", `(Mute)`, `(Prob 1e-7 Census)`, `(Prob -0 Pass)`, `(Key a*** Vanish)`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		i, err := fault.Parse(s, fault.Env{})
		if err != nil {
			if p := (*fault.ParseError)(nil); !errors.As(err, &p) || p.Column < 1 || p.Column > len(s)+1 {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		text := i.String()
		back, err := fault.Parse(text, fault.Env{})
		if err != nil {
			t.Fatalf("%q became %q: %v", s, text, err)
		}
		if back.String() != text {
			t.Fatalf("%q became %q, then %q", s, text, back)
		}
	})
}

// Goal: judging allocates nothing. Method: count, for a list with one of everything.
func TestJudgeDoesNotAllocate(t *testing.T) {
	list := []fault.Injector{fault.NewCensus(), parse(t, bigText)}
	op := fault.Op{Node: "node-1", Kind: fault.KindDataplane, Name: "tap_create_v3", Key: "x"}
	fault.Judge(list, op)
	if n := testing.AllocsPerRun(1000, func() { fault.Judge(list, op) }); n != 0 {
		t.Errorf("%v allocations per operation", n)
	}
}

const bigText = `(Any (Kind store (Prob 0.01 Mute)) (Node node-2 (First 5 CrashAfter)) (Request tap_* (Prob 0.5 (After 3 (Delay 5ms)))) (During 1s 2s Vanish))`

func parse(t testing.TB, text string) fault.Injector {
	i, err := fault.Parse(text, fault.Env{Chooser: engine.Seeded(1), Now: func() time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func BenchmarkJudge(b *testing.B) {
	op := fault.Op{Node: "node-1", Kind: fault.KindDataplane, Name: "tap_create_v3", Key: "x"}
	for _, text := range []string{``, `(Prob 0.01 (Kind store Mute))`, bigText} {
		var list []fault.Injector
		if text != "" {
			list = append(list, parse(b, text))
		}
		b.Run(fmt.Sprintf("%.20s", text), func(b *testing.B) {
			yardstick.Beside(b)
			b.ReportAllocs()
			for b.Loop() {
				fault.Judge(list, op)
			}
		})
	}
}
