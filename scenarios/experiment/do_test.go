package experiment

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

const tiny = "name: tiny\ntopology: {nodes: 3, podsPerNode: 2}\nconfig: {ipam: {podSubnetOneNodePrefixLen: 26}}\nduration: 1m\n"

func scenario(t *testing.T) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("tiny.yaml", []byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// invented is a world of one line: figures follow from the scenario and the seed.
func invented(runs *atomic.Int64) func(context.Context, *scenarios.Scenario, uint64) (result.Result, error) {
	return func(ctx context.Context, s *scenarios.Scenario, seed uint64) (result.Result, error) {
		runs.Add(1)
		r := result.Result{Scenario: s.Name, Seed: seed, Verdict: result.Pass, Digest: "d"}
		r.Summary.PeakPods, r.Summary.WastedAddresses = int64(s.Topology.Nodes*s.Topology.PodsPerNode), float64(s.Topology.Nodes)*10+float64(seed%5)
		r.Summary.PodsNeverPlaced = max(0, r.Summary.PeakPods-20)
		return r, ctx.Err()
	}
}

func file(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse("x.yaml", []byte("name: x\nscenario: tiny.yaml\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// perform does an experiment in a folder and returns its files, the store's left out, and how many runs were done.
func perform(t *testing.T, f *File, dir string, jobs int) (map[string][]byte, int64, error) {
	t.Helper()
	store, err := OpenStore(dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }() // what it kept is read by the next one
	out, err := f.Plan(scenario(t), "v1")
	if err != nil {
		t.Fatal(err)
	}
	var runs atomic.Int64
	if err := f.Do(t.Context(), &Engine{Run: invented(&runs), Jobs: jobs, Store: store}, out); err != nil {
		return nil, runs.Load(), err
	}
	if err := out.Write(dir); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range []string{"experiment.json", "points.csv", "runs.csv"} {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return files, runs.Load(), nil
}

const two = "vary: {topology.nodes: 2..5, topology.podsPerNode: [1, 4]}\nseeds: 9\nmeasure: [peakPods, wastedAddresses, failed]\nagainst: {a: {}, b: {config.ipam.system: nodeipam}}\n"

// Goal: an experiment's files are the same bytes whatever the number of runs at a time and wherever it was killed before, and no run is
// done twice. Method: the store of a finished experiment is cut off at many places, as a killed process leaves it, and gone on with.
func TestStoreGoesOn(t *testing.T) {
	f := file(t, two)
	dir := t.TempDir()
	want, runs, err := perform(t, f, dir, 1)
	if err != nil || runs != 4*2*2*9 {
		t.Fatalf("%d runs, %v", runs, err)
	}
	if _, again, err := perform(t, f, dir, 4); again != 0 || err != nil {
		t.Errorf("%d runs done again, %v", again, err)
	}
	store, err := os.ReadFile(filepath.Join(dir, StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(store); cut += 1 + len(store)/37 {
		other := t.TempDir()
		if err := os.WriteFile(filepath.Join(other, StoreFile), store[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		whole := int64(max(bytes.Count(store[:cut], []byte("\n"))-1, 0))
		got, more, err := perform(t, f, other, 3)
		if err != nil || more != runs-whole {
			t.Fatalf("cut at %d: %d runs, want %d: %v", cut, more, runs-whole, err)
		}
		for name := range want {
			if !bytes.Equal(got[name], want[name]) {
				t.Fatalf("cut at %d: %s differs", cut, name)
			}
		}
	}
}

// Goal: what is no store of this version is refused in one line and left as it is. Method: a table.
func TestStoreRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"store":"vppdrill-experiment/1","version":"v0"}` + "\n": "its runs are of version v0 and this is v1",
		"name,age\n": "is no store of an experiment",
		`{"store":"vppdrill-experiment/1","version":"v1"}` + "\nnonsense\n": "line 2 is damaged",
		"precious": "is no store of an experiment",
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, StoreFile)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStore(dir, "v1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if now, err := os.ReadFile(name); err != nil || string(now) != text {
			t.Errorf("%q became %q, %v", text, now, err)
		}
	}
	dir := t.TempDir()
	first, err := OpenStore(dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(dir, "v1"); err == nil || !strings.Contains(err.Error(), "another process has this store open") {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
}

// Goal: bisection finds where a condition ends and says when it never does. Method: a world in which 20 pods fit.
func TestFind(t *testing.T) {
	for _, c := range [...]struct{ find, level, next, wrong string }{
		{"{largest: topology.nodes, within: 1..200, where: podsNeverPlaced == 0}", "10", "11", ""},
		{"{smallest: topology.nodes, within: 1..200, where: podsNeverPlaced > 0}", "11", "10", ""},
		{"{largest: topology.nodes, within: 1..9, where: podsNeverPlaced == 0}", "", "", "never changes: it holds at 1 and at 9"},
		{"{largest: topology.nodes, within: 50..90, where: podsNeverPlaced == 0}", "", "", "does not hold even at 50"},
	} {
		f := file(t, "find: "+c.find+"\n")
		store, err := OpenStore(t.TempDir(), "v1")
		if err != nil {
			t.Fatal(err)
		}
		out, err := f.Plan(scenario(t), "v1")
		if err != nil {
			t.Fatal(err)
		}
		err = f.Do(t.Context(), &Engine{Run: invented(new(atomic.Int64)), Jobs: 2, Store: store}, out)
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v", c.find, err)
			}
		case err != nil || len(out.Found) != 1 || out.Found[0].Level != c.level || out.Found[0].Next != c.next:
			t.Errorf("%s: %+v, %v", c.find, out.Found, err)
		}
		_ = store.Close() // nothing reads it
	}
}

// Goal: a search keeps to the seeds that were asked for, says before what it takes at most, and leaves what it knows when it is interrupted.
// Method: a world in which 20 pods fit, searched with few seeds, with many, and by one who loses patience; what holds in all but one run of
// a level is no level that holds.
func TestFindLimits(t *testing.T) {
	for _, c := range [...]struct {
		text   string
		most   int // runs of a level
		levels int
	}{
		{"seeds: 2\nfind: {largest: topology.nodes, within: 1..200, where: podsNeverPlaced == 0}", 2, 10},
		{"seeds: 40\nfind: {largest: topology.nodes, within: 1..17, where: podsNeverPlaced == 0}", 40, 6},
		{"seeds: 7\nfind: {smallest: topology.nodes, within: 9..11, where: podsNeverPlaced > 0}", 7, 3},
		{"find: {largest: topology.nodes, within: 10..11, where: podsNeverPlaced == 0}", 100, 2},
	} {
		f, store := file(t, c.text+"\n"), newStore(t)
		tried, _, seeds := f.Limits()
		if tried != c.levels || seeds != c.most {
			t.Errorf("%s: at most %d levels with %d seeds", c.text, tried, seeds)
		}
		out, err := f.Plan(scenario(t), "v1")
		if err != nil {
			t.Fatal(err)
		}
		var runs atomic.Int64
		left, e := []int{}, &Engine{Run: invented(&runs), Jobs: 2, Store: store}
		e.Searching = func(s Search) {
			if s.Level.Runs == 0 {
				left = append(left, s.Left)
			}
		}
		if err := f.Do(t.Context(), e, out); err != nil {
			t.Fatal(err)
		}
		found := out.Found[0]
		if n := len(found.Tried); n > c.levels || left[0] != c.levels-1 || !slices.IsSortedFunc(left, func(a, b int) int { return b - a }) || left[n-1] < 0 {
			t.Errorf("%s: %d levels, and left are %v", c.text, n, left)
		}
		for _, x := range found.Tried {
			if x.Runs > c.most || x.Held == 0 && x.Runs != 2 || x.Holds != (x.Held == x.Runs) {
				t.Errorf("%s: %+v", c.text, x)
			}
		}
	}

	f := file(t, "seeds: 3\nfind: {largest: topology.nodes, within: 1..2, where: wastedAddresses < 13}\n") // seed 3 has 13
	out, err := f.Plan(scenario(t), "v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Do(t.Context(), &Engine{Run: invented(new(atomic.Int64)), Jobs: 2, Store: newStore(t)}, out); err == nil || !strings.Contains(err.Error(), "does not hold even at 1 (in 2 of 3 runs)") {
		t.Error(err)
	}

	f = file(t, "seeds: 2\nfind: {largest: topology.nodes, within: 1..200, where: podsNeverPlaced == 0}\n")
	if out, err = f.Plan(scenario(t), "v1"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	e := &Engine{Run: invented(new(atomic.Int64)), Jobs: 1, Store: newStore(t), Searching: func(s Search) {
		if s.Fails == "100" {
			stop()
		}
	}}
	if err := f.Do(ctx, e, out); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := out.Found; len(got) != 1 || !got[0].Interrupted || got[0].Level != "1" || got[0].Next != "100" || len(got[0].Tried) != 3 || out.Runs != 6 {
		t.Errorf("%+v, %d runs", got, out.Runs)
	}
}

func newStore(t *testing.T) *Store {
	t.Helper()
	store, err := OpenStore(t.TempDir(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() }) // nothing reads it
	return store
}

// Goal: until gives a point the seeds that its figure wants. Method: a figure of five values, and a width that ten runs do not reach.
func TestUntil(t *testing.T) {
	f := file(t, "seeds: 3\nuntil: {metric: wastedAddresses, width: 1%, most: 500}\n")
	_, runs, err := perform(t, f, t.TempDir(), 2)
	if err != nil || runs < 40 || runs > 200 { // sd 1.4 of mean 32: 1.96*1.4/sqrt(n) <= 0.32 from n = 75 on
		t.Errorf("%d runs, %v", runs, err)
	}
}

// Goal: a run that fails to start ends the experiment with its reason. Method: a world that cannot.
func TestRunFails(t *testing.T) {
	f := file(t, "seeds: 3\n")
	store, err := OpenStore(t.TempDir(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }() // nothing reads it
	out, err := f.Plan(scenario(t), "v1")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no world")
	e := &Engine{Jobs: 2, Store: store, Run: func(context.Context, *scenarios.Scenario, uint64) (result.Result, error) {
		return result.Result{}, broken
	}}
	if err := f.Do(t.Context(), e, out); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// Goal: any field can be set, of any scenario, and nothing else changes. Method: a table, with a list's item and a field that the text
// does not have yet; a value that the scenario refuses is its own error.
func TestWith(t *testing.T) {
	s, err := scenarios.Parse("s.yaml", []byte("# why\nname: s\ntimeline:\n  - {at: 10s, do: create-pods, count: 3, node: node-1}\n  - {after: 5s, do: restart-vpp, node: any}\nworkload:\n  format: pods/1\n  rows: |\n    a web 0 10 -\n"))
	if err != nil {
		t.Fatal(err)
	}
	for field, text := range map[string]string{"timeline[0].count": "7", "config.ipam.reuseDelay": "5s", "faults.dropReply": "0.01", "topology.nodes": "4", "config.ipam.system": "cilium"} {
		got, err := With(s, []Value{{field, text}})
		if err != nil {
			t.Errorf("%s: %v", field, err)
			continue
		}
		if got.Equal(s) || len(got.Workload.Rows) != 1 || got.Goal != "why" || !strings.Contains(string(got.Marshal()), text) {
			t.Errorf("%s=%s gives\n%s", field, text, got.Marshal())
		}
	}
	for field, text := range map[string]string{"timeline[5].count": "7", "timeline[0].cuont": "7", "topology.nodes": "0", "config.ipam.podSubnetCIDR": "10.1.0.0/33"} {
		if _, err := With(s, []Value{{field, text}}); err == nil {
			t.Errorf("%s=%s is taken", field, text)
		}
	}
}
