package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/experiment"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
)

// experimentFlags are what a command line says instead of a file, or in place of what a file says.
type experimentFlags struct {
	vary, against, change     []string
	measure                   []string
	design, find, within, out string
	where                     string
	seeds, jobs               int
	metrics                   bool
	engine                    string
	on                        Elsewhere
	shard                     string
	format                    cli.Format
}

func experimentCommand(c Config) *cobra.Command {
	f := experimentFlags{engine: engineLocal, on: Elsewhere{Namespace: "default", Shards: 4}}
	cmd := &cobra.Command{
		Use:   "experiment FILE",
		Short: "Vary a scenario over many seeds and compare its figures, with intervals and plots",
		Long: `Run a scenario with varied settings and many seeds. FILE is an experiment (scenario, vary, seeds or until, measure, find,
against), a scenario file, or the name of a scenario of the catalogue. Flags add to what the file says.

LEVELS are a list, "20s,1m,5m", or a range: "24..28", "10..50 step 10", "1..1000 log 4". Figures are the numbers of a run's
summary and quantiles of its series, such as held.p99; --metrics lists them.

  --vary      runs every combination of levels
  --find      bisects for the largest level --within which the condition --where holds; a leading "smallest " reverses it
  --change    compares before and after a planned change: settings, or an action of a timeline in braces
  --against   compares settings; "systems" stands for all five address management systems

The folder of --out receives runs.jsonl, runs.csv, points.csv, experiment.json, experiment.html, and each point's scenario.
A run that runs.jsonl has is not made again, also after kill -9.

--find tries both ends of --within and then halves what is between them, so 1..1000 takes 12 levels at most. A level holds if
--where does in 90 % of runs at 95 % confidence: 40 seeds that all hold show it, two that both fail deny it. With --seeds below
35, which cannot show it, a level holds if all of its runs do.

Means have 95 % intervals: by bootstrap, for shares Wilson's. Differences between settings are tested by a sign-flip test
over pairs of the same seed. A figure of too few seeds is marked.

--engine kubernetes runs the seeds in the pods of an Indexed Job. It needs a namespace in which it may make Jobs and
ConfigMaps and read logs, and an image with this version of the program as /usr/bin/vppdrill. Pods may die on the way;
results are byte for byte those of a local run.`,
		Example: `  vppdrill experiment pods-come-and-go --vary config.ipam.podSubnetOneNodePrefixLen=24..28 --seeds 20
  vppdrill experiment churn-at-the-brim --find topology.podsPerNode --within 1..12 --where 'podsWaited == 0'
  vppdrill experiment duel --against systems --seeds 1 --out out
  vppdrill experiment duel --against 'contiv: config.ipam.system=contiv' --against 'cilium: config.ipam.system=cilium'
  vppdrill experiment cluster.yaml --change config.ipam.podSubnetOneNodePrefixLen=26 --change '{at: 1h, do: drain-node, node: node-2}'
  vppdrill experiment duel.yaml --engine kubernetes --kubeconfig ~/.kube/config --image REF --shards 8`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.metrics || f.shard != "" {
				return cli.Args(0, 0, "no file beside --metrics")(cmd, args)
			}
			return cli.Args(1, 1, "one experiment or scenario")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.seeds < 1 && cmd.Flags().Changed("seeds") {
				return cli.Usagef("--seeds %d is less than 1", f.seeds)
			}
			if f.metrics {
				_, err := io.WriteString(cmd.OutOrStdout(), strings.Join(experiment.Metrics(), "\n")+"\n")
				return err
			}
			if f.shard != "" {
				return runShard(cmd, c, f)
			}
			return runExperiment(cmd, c, f, args[0])
		},
	}
	cmd.ValidArgsFunction = c.completeScenarios
	flags := cmd.Flags()
	flags.StringArrayVar(&f.vary, "vary", nil, "FIELD=LEVELS, a field of the scenario and its values; repeated")
	flags.StringArrayVar(&f.against, "against", nil, "NAME: FIELD=VALUE FIELD=VALUE, NAME: results=DIR, or systems: settings to compare; repeated")
	flags.StringArrayVar(&f.change, "change", nil, "a planned change: FIELD=VALUE FIELD=VALUE, or an action of a timeline in braces; repeated")
	flags.StringSliceVar(&f.measure, "measure", nil, "figures to print, separated by commas")
	flags.StringVar(&f.design, "design", "", "grid, or latin N for a Latin hypercube of N points")
	flags.IntVar(&f.seeds, "seeds", 0, "seeds of each point, from 1 on, default 10; with --find of each level at most, default 100")
	flags.StringVar(&f.find, "find", "", "the field whose largest level is wanted; \"smallest FIELD\" for the smallest")
	flags.StringVar(&f.within, "within", "", "the levels to search")
	flags.StringVar(&f.where, "where", "", "condition of a run, such as 'podsNeverPlaced == 0 and startP99Seconds < 5'")
	flags.StringVar(&f.out, "out", "", "folder of results; out/experiment-NAME when empty")
	addJobs(flags, &f.jobs, "runs at the same time")
	cli.AddFormat(cmd, &f.format)
	flags.BoolVar(&f.metrics, "metrics", false, "list the figures and run nothing")
	addEngineFlags(flags, &f)
	cmd.AddCommand(collideCommand())
	return cmd
}

func runExperiment(cmd *cobra.Command, c Config, f experimentFlags, name string) error {
	file, s, err := f.read(cmd.Context(), c, name)
	if err != nil {
		return err
	}
	out, err := file.Plan(s, c.Version)
	if err != nil {
		return cli.BadInput(err)
	}
	for _, p := range out.Points {
		if _, err := result.SelectLaws(p.Scenario, c.Laws()); err != nil {
			return cli.BadInput(err)
		}
	}
	if err := c.checkEngine(f); err != nil {
		return err
	}
	run, err := c.world(cmd.Context(), "sim")
	if err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		dir = filepath.Join("out", "experiment-"+file.Name)
	}
	store, err := experiment.OpenStore(dir, c.Version)
	if err != nil {
		return cli.BadInput(err)
	}
	tellLimits(cmd.ErrOrStderr(), file, len(out.Points))
	started := time.Now()
	err = perform(cmd, c, file, out, store, run, f)
	if err = errors.Join(err, store.Close()); err != nil {
		if cmd.Context().Err() != nil {
			if len(out.Found) > 0 {
				if err := out.Write(dir); err != nil {
					return cli.BadInput(err)
				}
				tellInterrupted(cmd.ErrOrStderr(), out)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "vppdrill: finished runs are in %s; the same command goes on\n", dir)
			return cli.Exit{Code: cli.ExitInterrupted, Err: err}
		}
		return cli.BadInput(err)
	}
	if err := out.Write(dir); err != nil {
		return cli.BadInput(err)
	}
	if c.Reports.Experiment != nil {
		if err := c.Reports.Experiment(dir, out); err != nil {
			return cli.BadInput(err)
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "vppdrill: %d runs in %s; %s\n", out.Runs, time.Since(started).Round(100*time.Millisecond), filepath.Join(dir, "experiment.html"))
	if f.format == cli.JSON {
		return out.JSON(cmd.OutOrStdout())
	}
	return tellExperiment(cmd.OutOrStdout(), dir, out)
}

// perform runs what the store does not have.
func perform(cmd *cobra.Command, c Config, file *experiment.File, out *experiment.Outcome, store *experiment.Store, run RunFunc, f experimentFlags) error {
	var total, ended atomic.Int64
	p := startProgress(cmd.ErrOrStderr(), 0)
	defer p.stop()
	p.more = func(elapsed time.Duration, done float64) string {
		n := total.Load()
		return fmt.Sprintf(" of %d, %d points", n, len(out.Points)) + pace(max(done, float64(ended.Load())), float64(n), elapsed)
	}
	e := &experiment.Engine{Jobs: f.jobs, Store: store, Version: c.Version, Run: c.measured(p.followed(run)),
		Asked: func(runs, had int) { total.Add(int64(runs - had)) }, Done: func(*scenarios.Scenario, uint64) { ended.Add(1) }}
	if file.Find.Where != "" {
		p.more = follow(e, file, len(out.Points))
	}
	if f.engine == engineKubernetes {
		e.Elsewhere = f.elsewhere(c, file.Name)
	}
	return file.Do(cmd.Context(), e, out)
}

// allSystems is the word of --against for every address management system.
const allSystems = "systems"

// read is the experiment, with what flags say, and its scenario.
func (f experimentFlags) read(ctx context.Context, c Config, name string) (*experiment.File, *scenarios.Scenario, error) {
	file, source := new(experiment.File), name
	*file = experiment.Default()
	data, err := cli.Promptly(ctx, func() ([]byte, error) { return inputfile.Read(name) })
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, nil, cli.BadInput(err)
	case err == nil && isExperiment(string(data)):
		if file, err = experiment.Parse(name, data); err != nil {
			return nil, nil, cli.BadInput(err)
		}
		source = file.Scenario
		if beside := filepath.Join(filepath.Dir(name), source); exists(beside) {
			source = beside
		}
	}
	list, err := c.load(ctx, false, []string{source})
	if err != nil {
		return nil, nil, err
	}
	if file.File == "" {
		file.Name, file.Scenario = list[0].Name, name
	}
	if err := f.apply(file); err != nil {
		return nil, nil, err
	}
	return file, list[0], nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isExperiment reports whether a file says which scenario it is about, as scenarios do not.
func isExperiment(text string) bool {
	return strings.HasPrefix(text, "scenario:") || strings.Contains(text, "\nscenario:")
}

// apply puts flags in place of what the file says.
func (f experimentFlags) apply(file *experiment.File) error {
	given := map[string]bool{}
	for _, text := range f.vary {
		name, levels, ok := strings.Cut(text, "=")
		if !ok {
			return cli.Usagef("--vary %q is not FIELD=LEVELS", text)
		}
		if given[name] {
			return cli.Usagef("--vary %s is given twice: one --vary takes all levels of a field", name)
		}
		given[name] = true
		file.Vary = append(slices.DeleteFunc(file.Vary, func(a experiment.Axis) bool { return a.Field == name }), experiment.Axis{Field: name, Levels: levels})
	}
	for _, text := range f.against {
		if text == allSystems {
			file.Against = append(file.Against, experiment.Systems()...)
			if len(file.Measure) == 0 {
				file.Measure = experiment.SystemMeasure
			}
			continue
		}
		name, rest, ok := strings.Cut(text, ":")
		arm := experiment.Arm{Name: strings.TrimSpace(name)}
		for word := range strings.FieldsSeq(rest) {
			field, value, isSet := strings.Cut(word, "=")
			if ok = ok && isSet; field == "results" {
				arm.Results = value
			} else {
				arm.Values = append(arm.Values, experiment.Value{Field: field, Text: value})
			}
		}
		if !ok || arm.Name == "" {
			return cli.Usagef("--against %q is neither NAME: FIELD=VALUE FIELD=VALUE nor %q%s", text, allSystems, cli.Hint(text, []string{allSystems}))
		}
		file.Against = append(file.Against, arm)
	}
	if err := f.applyChange(file); err != nil {
		return err
	}
	if f.find != "" || f.where != "" || f.within != "" {
		file.Find = experiment.DefaultFind()
		file.Find.Largest, file.Find.Within, file.Find.Where = f.find, f.within, f.where
		if field, ok := strings.CutPrefix(f.find, "smallest "); ok {
			file.Find.Largest, file.Find.Smallest = "", strings.TrimSpace(field)
		}
	}
	if f.seeds != 0 {
		file.Seeds, file.Find.Seeds = f.seeds, f.seeds
	}
	if f.design != "" {
		file.Design = f.design
	}
	if len(f.measure) > 0 {
		file.Measure = f.measure
	}
	switch {
	case file.Seeds < 1:
		return cli.Usagef("--seeds %d is less than 1", file.Seeds)
	case file.Seeds > experiment.SeedsMost:
		return cli.Usagef("--seeds %d is more than %d", file.Seeds, experiment.SeedsMost)
	case f.jobs < 1:
		return cli.Usagef("--jobs %d is less than 1", f.jobs)
	}
	if err := file.Check(); err != nil {
		return cli.BadInput(err)
	}
	return nil
}

// applyChange makes a planned change what is compared.
func (f experimentFlags) applyChange(file *experiment.File) error {
	if len(f.change) == 0 {
		return nil
	}
	if len(file.Against) > 0 {
		return cli.Usagef("--change compares before and after; leave out what else is compared (against)")
	}
	var values []experiment.Value
	for _, text := range f.change {
		if strings.HasPrefix(text, "{") {
			values = append(values, experiment.Value{Field: "timeline[+]", Text: text})
			continue
		}
		for word := range strings.FieldsSeq(text) {
			field, value, ok := strings.Cut(word, "=")
			if !ok {
				return cli.Usagef("--change %q is neither FIELD=VALUE nor an action such as {at: 1m, do: restart-vpp, node: node-1}", text)
			}
			values = append(values, experiment.Value{Field: field, Text: value})
		}
	}
	if len(values) == 0 {
		return cli.Usagef("--change wants FIELD=VALUE, or an action in braces")
	}
	file.Against = experiment.Change(values)
	if len(file.Measure) == 0 {
		file.Measure = experiment.ChangeMeasure
	}
	return nil
}

// tellPair prints a change, figure by figure.
func tellPair(w io.Writer, out *experiment.Outcome, p experiment.Pair) (few bool, err error) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "figure\t%s\t%s\tdifference\tinterval\tp\n", p.Before.Label(), p.After.Label())
	for _, m := range out.Measure {
		before, after, d, ok := p.Line(m)
		if !ok {
			fmt.Fprintf(t, "%s\t-\t-\n", m)
			continue
		}
		mark := ""
		if few = few || d.Few; d.Few {
			mark = "?"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t", m, experiment.FigureText(before.Mean), experiment.FigureText(after.Mean))
		if d.Mean == 0 && d.Low == d.High {
			fmt.Fprintf(t, "0%s\n", mark)
			continue
		}
		fmt.Fprintf(t, "%+.4g%s\t[%.4g, %.4g]\t%.2g\n", d.Mean, mark, d.Low, d.High, d.P)
	}
	return few, t.Flush()
}

// tellExperiment prints a table of points, or of what was found.
func tellExperiment(w io.Writer, dir string, out *experiment.Outcome) error {
	few, failed := false, 0
	if out.Find != "" {
		return tellFound(w, out)
	}
	if pair, ok := out.Pair(); ok {
		var err error
		if few, err = tellPair(w, out, pair); err != nil {
			return err
		}
	} else {
		var err error
		if few, err = tellPoints(w, out); err != nil {
			return err
		}
		tellDifferences(w, out)
	}
	for _, p := range out.Points {
		if p.Scenario.Faults.AsItWas == "" { // of those it is the figure, and no surprise
			failed += len(p.Failed)
		}
	}
	if few {
		fmt.Fprintln(w, "? too few seeds for an interval of 95 %: give 8 at least")
	}
	if failed > 0 {
		p := out.Points[slices.IndexFunc(out.Points, func(p *experiment.Point) bool { return len(p.Failed) > 0 && p.Scenario.Faults.AsItWas == "" })]
		fmt.Fprintf(w, "%d of %d runs did not pass, the first: %s\n  vppdrill run %s --seed %d\n", failed, out.Runs, cli.FirstLine(p.Failed[0].Error), filepath.Join(dir, p.File()), p.Failed[0].Seed)
		return cli.Broken(nil)
	}
	return nil
}

// tellPoints prints a line for each point.
func tellPoints(w io.Writer, out *experiment.Outcome) (few bool, err error) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "point\tsettings\tseeds")
	for _, m := range out.Measure {
		fmt.Fprint(t, "\t"+m)
	}
	fmt.Fprintln(t)
	for _, p := range out.Points {
		fmt.Fprintf(t, "%d\t%s\t%d", p.Number, p.Label(), len(p.Runs))
		for _, e := range p.Estimates {
			mark := ""
			if few = few || e.Few; e.Few {
				mark = "?"
			}
			switch {
			case e.Runs == 0:
				fmt.Fprint(t, "\t-")
			case e.Low == e.High:
				fmt.Fprintf(t, "\t%s%s", experiment.FigureText(e.Mean), mark)
			default:
				fmt.Fprintf(t, "\t%s [%s, %s]%s", experiment.FigureText(e.Mean), experiment.FigureText(e.Low), experiment.FigureText(e.High), mark)
			}
		}
		fmt.Fprintln(t)
	}
	return few, t.Flush()
}

// tellDifferences prints what differs between arms beyond chance.
func tellDifferences(w io.Writer, out *experiment.Outcome) {
	if len(out.Arms) == 0 {
		return
	}
	fmt.Fprintf(w, "\nagainst %s, at the same seeds, where the interval excludes 0:\n", out.Arms[0])
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range out.Points {
		for _, d := range p.Differences {
			if d.Pairs < 2 || d.Low <= 0 && d.High >= 0 {
				continue
			}
			fmt.Fprintf(t, "  %s\t%s\t%+.4g\t[%.4g, %.4g]\tp=%.2g\t%d pairs\n", p.Label(), d.Metric, d.Mean, d.Low, d.High, d.P, d.Pairs)
		}
	}
	_ = t.Flush() // the table's writer is the command's, whose errors the caller sees next
}
