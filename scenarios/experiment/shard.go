package experiment

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Task is runs to be done elsewhere, by several processes of one version.
type Task struct {
	Version string `json:"version"`
	Shards  int    `json:"shards"`
	// Scenarios are texts by key.
	Scenarios map[string]string `json:"scenarios"`
	Runs      []TaskRun         `json:"runs"`
}

// TaskRun is one of them.
type TaskRun struct {
	Key  string `json:"key"`
	Seed uint64 `json:"seed"`
}

// taskOf makes a task of jobs.
func taskOf(version string, jobs []job) *Task {
	t := &Task{Version: version, Scenarios: map[string]string{}}
	for _, j := range jobs {
		if t.Scenarios[j.key] == "" {
			t.Scenarios[j.key] = string(j.s.Marshal())
		}
		t.Runs = append(t.Runs, TaskRun{j.key, j.seed})
	}
	return t
}

// Bytes is the task as ReadTask reads it, the same for the same task.
func (t *Task) Bytes() ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(z).Encode(t), z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// ReadTask reads what Bytes has written, for a program of this version.
func ReadTask(r io.Reader, version string) (*Task, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("is no task of an experiment: %w", err)
	}
	t := &Task{}
	if err := json.NewDecoder(z).Decode(t); err != nil {
		return nil, fmt.Errorf("is no task of an experiment: %w", err)
	}
	if t.Version != version {
		return nil, fmt.Errorf("the task is of version %s and this is %s: give an image of the same version", t.Version, version)
	}
	if t.Shards < 1 {
		return nil, fmt.Errorf("a task for %d shards", t.Shards)
	}
	return t, nil
}

// Do does one shard of a task, every Shards-th of its runs from index on, with e's Run and Jobs, and keeps each run.
func (t *Task) Do(ctx context.Context, e *Engine, index int, keep func(*Run) error) error {
	if index < 0 || index >= t.Shards {
		return fmt.Errorf("shard %d of %d", index, t.Shards)
	}
	parsed := map[string]*scenarios.Scenario{}
	for key, text := range t.Scenarios { //vppdrill:unordered each by itself
		s, err := scenarios.Parse("task", []byte(text))
		if err != nil {
			return err
		}
		if KeyOf(s) != key {
			return fmt.Errorf("scenario %s is another one than %s", KeyOf(s), key)
		}
		parsed[key] = s
	}
	var jobs []job
	for i := index; i < len(t.Runs); i += t.Shards {
		s := parsed[t.Runs[i].Key]
		if s == nil {
			return fmt.Errorf("the task has no scenario %s", t.Runs[i].Key)
		}
		jobs = append(jobs, job{s, t.Runs[i].Key, t.Runs[i].Seed})
	}
	var mu sync.Mutex
	return e.each(ctx, len(jobs), func(i int) error {
		r, err := e.one(ctx, jobs[i])
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		return keep(r)
	})
}
