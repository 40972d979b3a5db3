package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// fakeReports writes the least that tells tests what was written.
func fakeReports() Reports {
	return Reports{
		Text:       func(w io.Writer, _ []string, _ TextOptions) TextReport { return fakeText{w} },
		JSON:       func(w io.Writer, s Session) error { return cli.WriteJSON(w, s.Results) },
		EventsFile: "events.jsonl",
		Events:     func(w io.Writer) EventLog { return &fakeLog{w} },
		Folder:     func(dir string) (Folder, error) { return fakeFolder(dir), os.MkdirAll(dir, 0o755) },
	}
}

// fakeFolder writes where it is.
type fakeFolder string

func (f fakeFolder) Stage() string { return string(f) }
func (f fakeFolder) Drop() error   { return nil }
func (f fakeFolder) Keep(s Session) error {
	text, err := json.Marshal(s.Results)
	return errors.Join(err, os.WriteFile(filepath.Join(string(f), "result.json"), text, 0o644))
}

type fakeText struct{ w io.Writer }

func (f fakeText) Add(r result.Result)  { fmt.Fprintln(f.w, r.Verdict, r.Scenario, r.Seed, r.Error) }
func (f fakeText) Open(r result.Result) { fmt.Fprintln(f.w, "open", r.Scenario, r.Seed) }
func (f fakeText) Whole()               {}
func (f fakeText) Close() error         { return nil }

type fakeLog struct{ w io.Writer }

func (f *fakeLog) Begin(scenario, _ string, seed uint64) { fmt.Fprintln(f.w, "run", scenario, seed) }
func (f *fakeLog) Flush() error                          { return nil }
func (f *fakeLog) Event(seq int64, _ time.Duration, line []byte) {
	fmt.Fprintf(f.w, "%d %s\n", seq, line)
}

// config is a program with one world, which run makes, and a catalogue of three.
func config(run RunFunc) Config {
	return Config{
		Version: "test", Worlds: map[string]RunFunc{"sim": run}, Reports: fakeReports(),
		Laws: func() []fact.Law { return []fact.Law{{Name: "one-owner"}} },
		Catalog: func() ([]*scenarios.Scenario, error) {
			var list []*scenarios.Scenario
			for i, name := range []string{"first", "second", "third"} {
				s := scenarios.Default()
				s.Name, s.Seeds = name, i+1
				list = append(list, &s)
			}
			return list, nil
		},
	}
}

func resultOf(s *scenarios.Scenario, o RunOptions, v result.Verdict) result.Result {
	return result.Result{Scenario: s.Name, World: "sim", Seed: o.Seed, Verdict: v, Digest: "d", Replay: o.Replay}
}

func execute(t *testing.T, ctx context.Context, c Config, line ...string) (code int, out, errOut string) {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	var o, e bytes.Buffer
	code = Execute(ctx, c, line, &o, &e)
	return code, o.String(), e.String()
}

// TestRunKeepsOrder goal: verdict lines and event lines come in the order asked for, however runs overlap. Method: the
// earlier a run, the longer it takes.
func TestRunKeepsOrder(t *testing.T) {
	var started atomic.Int64
	c := config(func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		time.Sleep(time.Duration(8-started.Add(1)) * 3 * time.Millisecond)
		o.Events(1, 0, []byte("node-1 starts "+s.Name))
		o.Events(2, 0, []byte("node-1 call something"))
		return resultOf(s, o, result.Pass), nil
	})
	dir := filepath.Join(t.TempDir(), "out")
	code, out, errOut := execute(t, t.Context(), c, "run", "--catalog", "--jobs", "3", "--out", dir)
	if want := "pass first 1 \npass second 1 \npass second 2 \npass third 1 \npass third 2 \npass third 3 \n"; out != want || code != 0 {
		t.Errorf("code %d, printed\n%s%s", code, out, errOut)
	}
	events, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, run := range []string{"first 1", "second 1", "second 2", "third 1", "third 2", "third 3"} {
		name, _, _ := strings.Cut(run, " ")
		want += "run " + run + "\n1 node-1 starts " + name + "\n"
	}
	if string(events) != want {
		t.Errorf("events.jsonl holds\n%s", events)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestExitCodes goal: the exit code tells a broken law from bad input from what cannot run here. Method: a table of what
// the three runs of a catalogue end with.
func TestExitCodes(t *testing.T) {
	cases := map[string]struct {
		end  func(r *result.Result) error
		code int
	}{
		"all hold":            {func(*result.Result) error { return nil }, 0},
		"a law is broken":     {func(r *result.Result) error { r.Verdict = result.Fail; return nil }, 1},
		"cannot be judged":    {func(r *result.Result) error { r.Verdict = result.Error; return nil }, 2},
		"cannot be started":   {func(*result.Result) error { return errors.New("no room\nat all") }, 2},
		"all are unsupported": {nil, 3},
		"unsupported action":  {func(r *result.Result) error { r.Verdict, r.Unsupported = result.Error, []string{"x"}; return nil }, 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := config(func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
				r := resultOf(s, o, result.Pass)
				var err error
				if tc.end == nil {
					r.Verdict, r.Unsupported = result.Error, []string{"x"}
				} else if s.Name == "second" {
					err = tc.end(&r)
				}
				return r, err
			})
			if code, out, errOut := execute(t, t.Context(), c, "run", "--catalog", "--seed", "9"); code != tc.code {
				t.Errorf("code %d, want %d\n%s%s", code, tc.code, out, errOut)
			}
		})
	}
}

// TestVerdictFirst goal: a failure is told and kept before its causes are known, also where an interrupt ends the looking, and an interrupt is not taken for what the run does. Method:
// the explanation interrupts, and never ends, or ends with half a run.
func TestVerdictFirst(t *testing.T) {
	for _, half := range []bool{false, true} {
		ctx, interrupt := context.WithCancel(t.Context())
		c := config(func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
			r := resultOf(s, o, result.Fail)
			r.Failure = &result.Failure{Law: "one-owner"}
			return r, nil
		})
		c.Explorer.Explain = func(ctx context.Context, s *scenarios.Scenario, o RunOptions, _ *result.Failure, _ int64) (result.Result, error) {
			interrupt()
			<-ctx.Done()
			if half {
				return resultOf(s, o, result.Pass), nil
			}
			return result.Result{}, ctx.Err()
		}
		dir := t.TempDir()
		code, out, _ := execute(t, ctx, c, "run", "first", "--jobs", "1", "--out", dir)
		if code != 130 || !strings.HasPrefix(out, "open first 1\nfail first 1 \n") {
			t.Errorf("code %d, printed\n%s", code, out)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "result.json")); err != nil || !strings.Contains(string(text), "one-owner") || strings.Contains(string(text), `"chain"`) {
			t.Errorf("result.json: %s %v", text, err)
		}
	}
}

// TestInterrupt goal: an interrupt keeps what was finished and the event lines of what was not, says so and ends with 130. Method: the second run interrupts.
func TestInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	c := config(func(ctx context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		o.Events(1, 0, []byte("node-1 starts "+s.Name))
		if s.Name == "second" {
			interrupt()
			return resultOf(s, o, result.Error), ctx.Err()
		}
		return resultOf(s, o, result.Pass), nil
	})
	dir := t.TempDir()
	code, out, errOut := execute(t, ctx, c, "run", "--catalog", "--jobs", "1", "--out", dir)
	if text, err := os.ReadFile(filepath.Join(dir, "events.jsonl")); err != nil || string(text) != "run first 1\n1 node-1 starts first\nrun second 1\n1 node-1 starts second\n"+
		`{"incomplete":"second with seed 1 was interrupted here"}`+"\n"+`{"incomplete":"interrupted after 1 of 6 runs"}`+"\n" {
		t.Errorf("events.jsonl: %s %v", text, err)
	}
	if code != 130 || out != "pass first 1 \nincomplete: interrupted after 1 of 6 runs\n" || errOut != "vppdrill: interrupted\n" {
		t.Errorf("code %d, printed\n%s%s", code, out, errOut)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "result.json")); err != nil || strings.Count(string(text), "verdict") != 1 {
		t.Errorf("result.json: %s %v", text, err)
	}
}

// TestVerify goal: --verify notices a run that is not the same on one and on several processors. Method: a world that
// looks at GOMAXPROCS.
func TestVerify(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	for _, same := range []bool{true, false} {
		c := config(func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
			r := resultOf(s, o, result.Pass)
			if !same && s.Name == "second" {
				r.Digest = fmt.Sprint(runtime.GOMAXPROCS(0))
			}
			return r, nil
		})
		code, out, _ := execute(t, t.Context(), c, "run", "--catalog", "--verify", "--seed", "1")
		if differs := strings.Contains(out, "error second 1 two runs of one seed differ"); differs == same || (code == 0) != same {
			t.Errorf("same=%v: code %d, printed\n%s", same, code, out)
		}
	}
	if now := runtime.GOMAXPROCS(0); now != before {
		t.Errorf("GOMAXPROCS is %d after, was %d", now, before)
	}
}

// TestExplore goal: of each kind of failure the lowest seed is told, with how often it happened. Method: a world that
// fails by the seed's arithmetic, explored by several workers.
func TestExplore(t *testing.T) {
	c := config(func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		r := resultOf(s, o, result.Pass)
		if o.Seed%10 == 7 {
			r.Verdict, r.Failure = result.Fail, &result.Failure{Law: "one-owner"}
		}
		if o.Seed%25 == 3 {
			r.Verdict, r.Failure = result.Fail, &result.Failure{Law: "reachable"}
		}
		return r, nil
	})
	c.Explorer.Shrink = func(_ context.Context, _ *scenarios.Scenario, r result.Result, _ []fact.Law) ([]byte, error) {
		return fmt.Appendf(nil, "%s %d", r.Failure.Law, r.Seed), nil
	}
	dir := t.TempDir()
	code, out, errOut := execute(t, t.Context(), c, "explore", "first", "--seeds", "100", "--jobs", "4", "--out", dir)
	if code != 1 || !strings.HasPrefix(out, "fail first 3 \nfail first 7 \n100 seeds in ") || !strings.Contains(out, "; reachable in 4; one-owner in 10\n") {
		t.Errorf("code %d, printed\n%s%s", code, out, errOut)
	}
	for law, want := range map[string]string{"one-owner": "one-owner 7", "reachable": "reachable 3"} {
		if got, err := os.ReadFile(filepath.Join(dir, law+".capsule")); err != nil || string(got) != want {
			t.Errorf("capsule %s holds %q (%v)", law, got, err)
		}
	}
	if code, out, _ := execute(t, t.Context(), c, "explore", "first", "--from", "20", "--for", "20ms"); code == 2 || !strings.Contains(out, "seeds/s") {
		t.Errorf("by time: code %d, printed\n%s", code, out)
	}
}

// TestNotable goal: lines that tell how are left out, lines that tell what stay. Method: a table.
func TestNotable(t *testing.T) {
	for line, want := range map[string]bool{"node-1 call x": false, "node-1 wake": false, "node-1 caller": true, "link a>b list": false, "heal": true, "node-1 restart-vpp": true} {
		if notable([]byte(line)) != want {
			t.Errorf("%q: notable is %v", line, !want)
		}
	}
}

// TestReplayCommands goal: the replay command is one that a shell runs as meant. Method: awkward file names.
func TestReplayCommands(t *testing.T) {
	for name, want := range map[string]string{"a/b-c.yaml": "a/b-c.yaml", "it's here.yaml": `'it'\''s here.yaml'`, "": "''", "$(x)": "'$(x)'"} {
		if got := quote(name); got != want {
			t.Errorf("quote(%q) = %s, want %s", name, got, want)
		}
	}
}

// TestMaxFailures goal: a command that may have so many failures ends with them, reports the runs up to the last of them
// and no others, and says what is missing. Method: six runs that fail, several at a time.
func TestMaxFailures(t *testing.T) {
	c := config(func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		return resultOf(s, o, map[bool]result.Verdict{true: result.Pass, false: result.Fail}[s.Name == "first"]), nil
	})
	for flags, want := range map[string]string{
		"--max-failures 2":  "pass first 1 \nfail second 1 \nfail second 2 \nincomplete: stopped after 2 failures, 3 of 6 runs\n",
		"--fail-fast":       "pass first 1 \nfail second 1 \nincomplete: stopped after the first failure, 2 of 6 runs\n",
		"--max-failures 5":  "pass first 1 \nfail second 1 \nfail second 2 \nfail third 1 \nfail third 2 \nfail third 3 \n",
		"--max-failures 99": "pass first 1 \nfail second 1 \nfail second 2 \nfail third 1 \nfail third 2 \nfail third 3 \n",
	} {
		dir := filepath.Join(t.TempDir(), "out")
		code, out, errOut := execute(t, t.Context(), c, append([]string{"run", "--catalog", "--jobs", "3", "--out", dir}, strings.Fields(flags)...)...)
		if out != want || code != 1 {
			t.Errorf("%s: code %d, printed\n%s%s", flags, code, out, errOut)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", flags, left)
		}
	}
	for _, flags := range []string{"--max-failures -1", "--fail-fast --max-failures 3", "-q -v"} {
		if code, _, errOut := execute(t, t.Context(), c, append([]string{"run", "--catalog"}, strings.Fields(flags)...)...); code != 2 {
			t.Errorf("%s: code %d, %s", flags, code, errOut)
		}
	}
}
