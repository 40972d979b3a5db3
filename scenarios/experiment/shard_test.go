package experiment

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// sharded is an Elsewhere of shards in this process: their tasks go through bytes, and lose says which runs nobody hears of.
func sharded(t *testing.T, shards int, lose func(*Run) bool) func(context.Context, *Task, func(*Run) error) error {
	return func(ctx context.Context, task *Task, keep func(*Run) error) error {
		task.Shards = shards
		data, err := task.Bytes()
		if err != nil {
			return err
		}
		for i := range shards {
			read, err := ReadTask(bytes.NewReader(data), "v1")
			if err != nil {
				return err
			}
			e := &Engine{Jobs: 1, Run: drawn}
			err = read.Do(ctx, e, i, func(r *Run) error {
				if lose(r) {
					return nil
				}
				return errors.Join(keep(r), keep(r)) // a pod that is replaced tells again
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// drawn is a run whose figures follow from its scenario and seed.
func drawn(_ context.Context, s *scenarios.Scenario, seed uint64) (result.Result, error) {
	r := result.Result{Scenario: s.Name, Verdict: result.Pass, Seed: seed, Digest: "d"}
	r.Summary.Adds = int64(s.Topology.Nodes)*100 + int64(seed)
	return r, nil
}

// Goal: what shards elsewhere do is what the local engine does, byte for byte, also where runs are lost and told twice. Method: one experiment by both,
// with 1, 4 and more shards than runs; every file of results but the store, whose order is that of finishing, is compared.
func TestShardsEqualLocal(t *testing.T) {
	s, err := scenarios.Parse("s.yaml", []byte("# A goal.\nname: s\n"))
	if err != nil {
		t.Fatal(err)
	}
	results := func(elsewhere func(context.Context, *Task, func(*Run) error) error) string {
		f := Default()
		f.Vary, f.Seeds, f.Measure = Axes{{Field: "topology.nodes", Levels: "2..4"}}, 9, []string{"adds"}
		out, err := f.Plan(s, "v1")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		store, err := OpenStore(dir, "v1")
		if err != nil {
			t.Fatal(err)
		}
		e := &Engine{Jobs: 2, Store: store, Run: drawn, Elsewhere: elsewhere, Version: "v1"}
		if err := errors.Join(f.Do(t.Context(), e, out), store.Close(), out.Write(dir)); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, name := range []string{"experiment.json", "points.csv", "runs.csv"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all.Write(data)
		}
		return all.String()
	}
	local := results(nil)
	if !strings.Contains(local, "209") {
		t.Fatalf("the local engine has no run of seed 9:\n%s", local)
	}
	for _, shards := range []int{1, 4, 50} {
		lost := 0
		lose := func(*Run) bool { lost++; return lost%5 == 0 }
		if there := results(sharded(t, shards, lose)); there != local {
			t.Errorf("%d shards:\n%s\nlocal:\n%s", shards, there, local)
		}
	}
	f := Default()
	out, err := f.Plan(s, "v1")
	if err != nil {
		t.Fatal(err)
	}
	store, err := OpenStore(t.TempDir(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Store: store, Version: "v1", Elsewhere: sharded(t, 2, func(*Run) bool { return true })}
	if err := f.Do(t.Context(), e, out); err == nil || !strings.Contains(err.Error(), "nothing came of 10 runs") {
		t.Errorf("shards that say nothing: %v", err)
	}
}

// Goal: a task that is none, is of another version or not what it says is refused. Method: a table.
func TestTaskRefused(t *testing.T) {
	good := &Task{Version: "v1", Shards: 2, Scenarios: map[string]string{"k": "# G.\nname: s\n"}, Runs: []TaskRun{{"k", 1}}}
	data, err := good.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTask(bytes.NewReader(data[:len(data)/2]), "v1"); err == nil {
		t.Error("half a task is read")
	}
	if _, err := ReadTask(bytes.NewReader(data), "v2"); err == nil || !strings.Contains(err.Error(), "give an image of the same version") {
		t.Error(err)
	}
	read, err := ReadTask(bytes.NewReader(data), "v1")
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Run: drawn}
	if err := read.Do(t.Context(), e, 0, nil); err == nil || !strings.Contains(err.Error(), "is another one than k") {
		t.Error(err)
	}
	if err := read.Do(t.Context(), e, 2, nil); err == nil || err.Error() != "shard 2 of 2" {
		t.Error(err)
	}
}
