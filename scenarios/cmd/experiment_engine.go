package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/experiment"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// The words of --engine.
const (
	engineLocal      = "local"
	engineKubernetes = "kubernetes"
)

// Elsewhere is where an experiment's shards run.
type Elsewhere struct {
	Kubeconfig, Namespace, Image string
	Shards                       int
	// Name is the Job's, Task what its pods read from TaskFile.
	Name string
	Task []byte
}

// shardIndex is the variable in which a pod of an Indexed Job has its number.
const shardIndex = "JOB_COMPLETION_INDEX"

func addEngineFlags(flags *pflag.FlagSet, f *experimentFlags) {
	flags.StringVar(&f.engine, "engine", f.engine, "where runs are done: local, or kubernetes, in the pods of an Indexed Job")
	flags.StringVar(&f.on.Kubeconfig, "kubeconfig", "", "for --engine kubernetes: the way to the cluster; in-cluster when empty")
	flags.StringVar(&f.on.Namespace, "namespace", f.on.Namespace, "for --engine kubernetes: where the Job is")
	flags.StringVar(&f.on.Image, "image", "", "for --engine kubernetes: an image with this version as /usr/bin/vppdrill")
	flags.IntVar(&f.on.Shards, "shards", f.on.Shards, "for --engine kubernetes: pods that share the runs")
	flags.StringVar(&f.shard, "shard", "", "do the shard that "+shardIndex+" names of a task's file, and print its runs")
	_ = flags.MarkHidden("shard") // only a wrong name fails
}

// checkEngine refuses what the engine lacks.
func (c Config) checkEngine(f experimentFlags) error {
	switch {
	case f.engine == engineLocal && (f.on.Kubeconfig != "" || f.on.Image != ""):
		return cli.Usagef("--kubeconfig and --image want --engine kubernetes")
	case f.engine == engineLocal:
		return nil
	case f.engine != engineKubernetes:
		return cli.Usagef("--engine %q: want local or kubernetes", f.engine)
	case c.Elsewhere == nil:
		return cli.CannotRun(fmt.Errorf("this build has no engine kubernetes"))
	case f.on.Image == "":
		return cli.Usagef("--engine kubernetes wants --image, with this version of the program as /usr/bin/vppdrill")
	case f.on.Shards < 1:
		return cli.Usagef("--shards %d is less than 1", f.on.Shards)
	}
	return nil
}

// measured is a run as experiments keep it.
func (c Config) measured(run RunFunc) func(context.Context, *scenarios.Scenario, uint64) (result.Result, error) {
	laws := c.Laws()
	return func(ctx context.Context, s *scenarios.Scenario, seed uint64) (result.Result, error) {
		return run(ctx, s, RunOptions{Seed: seed, Laws: laws, Series: true})
	}
}

// elsewhere has a task done by the pods of a Job, each of which prints its runs, one line each.
func (f experimentFlags) elsewhere(c Config, name string) func(context.Context, *experiment.Task, func(*experiment.Run) error) error {
	return func(ctx context.Context, t *experiment.Task, keep func(*experiment.Run) error) error {
		on := f.on
		on.Name, t.Shards = "vppdrill-"+name, min(on.Shards, len(t.Runs))
		on.Shards = t.Shards
		var err error
		if on.Task, err = t.Bytes(); err != nil {
			return err
		}
		var told error // the first line that is none
		err = c.Elsewhere(ctx, on, func(line []byte) {
			r := &experiment.Run{}
			if bad := json.Unmarshal(line, r); bad != nil || r.Key == "" {
				if told == nil {
					told = fmt.Errorf("a pod says: %s", bytes.TrimSpace(line[:min(len(line), 300)]))
				}
				return
			}
			if bad := keep(r); bad != nil && told == nil {
				told = bad
			}
		})
		if told != nil {
			return told
		}
		return err
	}
}

// runShard is what a pod does.
func runShard(cmd *cobra.Command, c Config, f experimentFlags) error {
	index, err := strconv.Atoi(os.Getenv(shardIndex))
	if err != nil {
		return cli.Usagef("--shard wants %s, the number of the shard", shardIndex)
	}
	file, err := os.Open(f.shard)
	if err != nil {
		return cli.BadInput(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	t, err := experiment.ReadTask(file, c.Version)
	if err != nil {
		return cli.BadInput(fmt.Errorf("%s: %w", f.shard, err))
	}
	run, err := c.world(cmd.Context(), "sim")
	if err != nil {
		return err
	}
	e := &experiment.Engine{Jobs: f.jobs, Run: c.measured(run)}
	out := json.NewEncoder(cmd.OutOrStdout())
	return t.Do(cmd.Context(), e, index, func(r *experiment.Run) error { return out.Encode(r) })
}
