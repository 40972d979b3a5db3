package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// labWorlds are worlds of real processes. A build without one says that it cannot run here instead of not knowing it.
var labWorlds = []string{"netns", "container", "kind"}

// allWorlds are the words for worlds, in the order of help.
func allWorlds() []string { return append([]string{"sim"}, labWorlds...) }

// runFlags are the flags of `vppdrill run`.
type runFlags struct {
	catalog bool
	world   string
	seed    uint64
	seeded  bool
	out     string
	verify  bool
	text    TextOptions
	events  string
	most    int
	first   bool
	labels  []string
	list    bool
	check   bool
	failed  string
	watch   bool
	format  cli.Format
	jobs    int
	shrink  time.Duration
	passed  string
	cni     cniFlags
	vm      vmFlags
}

func runCommand(c Config) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE… | --catalog | --label LABEL | --failed DIR",
		Short: "Run scenarios and judge them",
		Long: `Run scenarios and print a verdict line for each. FILE is a scenario file, the name of a scenario of the catalogue,
or a pattern of such names. --label takes those of them, or of the catalogue, that have a label; --list alone lists the
catalogue.
Without --seed a scenario runs with as many seeds as it asks for, from 1 on. A failing run prints its causes, the smallest
scenario that fails the same way, and the command that shows it again.`,
		Example: `  vppdrill run --catalog --out out
  vppdrill run my-scenario.yaml --seed 7 --events all --out out
  vppdrill run 'node-*' --label churn --list
  vppdrill run my-scenario.yaml --check
  vppdrill run --failed out --out again
  vppdrill run --catalog --verify
  vppdrill run my-scenario.yaml --passed passed.zip
  vppdrill run node-joins --world netns
  vppdrill run pod-tap-node-l2-host-tap --world netns --in-vm
  vppdrill run my-scenario.yaml --world netns --cni 10-mynet.conflist --cni-path /opt/cni/bin`,
		Args: func(_ *cobra.Command, args []string) error {
			if f.catalog == (len(args) > 0) && (f.catalog || len(f.labels) == 0 && f.failed == "" && !f.list) {
				return cli.Usagef("run wants scenario files or --catalog; see vppdrill run --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.seeded = cmd.Flags().Changed("seed")
			return runScenarios(cmd, c, f, args)
		},
	}
	cmd.ValidArgsFunction = c.completeScenarios
	flags := cmd.Flags()
	flags.BoolVar(&f.catalog, "catalog", false, "run every scenario of the catalogue")
	flags.StringSliceVar(&f.labels, "label", nil, "run only scenarios with this label, or one of several")
	flags.BoolVar(&f.list, "list", false, "print names, labels and goals, and run nothing")
	flags.BoolVar(&f.check, "check", false, "say whether the files are valid, what a run would exercise and which worlds can do it, and run nothing")
	flags.StringVar(&f.failed, "failed", "", "run again what did not pass in the report of this folder, with the same seeds")
	flags.BoolVar(&f.watch, "watch", false, "run again whenever a file changes, until an interrupt")
	flags.StringVar(&f.world, "world", "sim", "where to run: sim, netns, container or kind")
	flags.Uint64Var(&f.seed, "seed", 1, "run this seed only")
	flags.DurationVar(&f.shrink, "shrink", 20*time.Second, "time for making failures smaller; 0: none")
	flags.StringVar(&f.out, "out", "", "folder for result.json, junit.xml, report.html and events.jsonl")
	flags.StringVar(&f.passed, "passed", "", "file of passing runs, by which a later failure of the same scenario and seed is explained")
	flags.BoolVar(&f.verify, "verify", false, "run everything twice, on one and on several processors, and compare")
	flags.StringVar(&f.events, "events", "notable", "event lines to keep in --out: all, notable or none")
	f.cni.add(flags)
	f.vm.add(flags)
	cli.AddFormatTo(flags, &f.format)
	flags.IntVar(&f.most, "max-failures", 0, "start no more runs after so many that fail or cannot be judged; 0: run all")
	flags.BoolVar(&f.first, "fail-fast", false, "the same as --max-failures 1")
	addVerbose(flags, &f.text.Verbose)
	flags.BoolVarP(&f.text.Quiet, "quiet", "q", false, "print only what does not pass, and the line of figures")
	addJobs(flags, &f.jobs, "runs at the same time")
	complete(cmd, "world", allWorlds()...)
	complete(cmd, "events", "all", "notable", "none")
	return cmd
}

// addVerbose adds the flag that names what a report leaves out.
func addVerbose(flags *pflag.FlagSet, into *bool) {
	flags.BoolVarP(into, "verbose", "v", false, "also name laws without occasions, laws not judged, and what no run exercised")
}

// addJobs adds the flag of how many runs there are at a time. Its default's text is the same on all machines.
func addJobs(flags *pflag.FlagSet, into *int, usage string) {
	flags.IntVar(into, "jobs", runtime.GOMAXPROCS(0), usage)
	flags.Lookup("jobs").DefValue = "one per processor"
}

// checked refuses bad values before anything is written.
func (f runFlags) checked() error {
	if f.watch && (f.out != "" || f.list || f.check || f.catalog) {
		return cli.Usagef("run: --watch runs files again as they change, and excludes --out, --list, --check and --catalog")
	}
	if f.passed != "" && f.world != "sim" {
		return cli.Usagef("--passed %s: only runs in world sim repeat so exactly that they can be compared", f.passed)
	}
	if err := f.cni.check("run", f.world); err != nil {
		return err
	}
	if err := f.vm.check(f); err != nil {
		return err
	}
	if f.shrink < 0 {
		return cli.Usagef("--shrink %s: a time, or 0 for none", f.shrink)
	}
	if f.text.Quiet && f.text.Verbose {
		return cli.Usagef("run: --quiet and --verbose exclude each other")
	}
	if f.most < 0 || f.first && f.most > 1 {
		return cli.Usagef("--max-failures %d: %s", f.most, map[bool]string{true: "--fail-fast allows one", false: "0 for all, or a number"}[f.first])
	}
	if f.jobs < 1 {
		return cli.Usagef("--jobs %d: at least 1 run at a time", f.jobs)
	}
	return errors.Join(cli.OneOf("--events", f.events, "all", "notable", "none"), cli.OneOf("--world", f.world, allWorlds()...))
}

// world finds a world's RunFunc, where it can run on this machine.
func (c Config) world(ctx context.Context, name string) (RunFunc, error) {
	run := c.Worlds[name]
	if run != nil && name == "sim" { // a lab ends in order, as it leaves machines behind
		run = promptRun(run)
	}
	if run == nil {
		return nil, cli.CannotRun(fmt.Errorf("world %s cannot run here: this build does not have it", name))
	}
	if check := c.Checks[name]; check != nil {
		if err := check(ctx); err != nil {
			return nil, cli.CannotRun(fmt.Errorf("world %s cannot run here: %w", name, err))
		}
	}
	return run, nil
}

func runScenarios(cmd *cobra.Command, c Config, f runFlags, files []string) (err error) {
	if err := f.checked(); err != nil {
		return err
	}
	if f.watch {
		f.watch = false
		return watched(cmd.Context(), cmd.ErrOrStderr(), files, func() error { return runScenarios(cmd, c, f, files) })
	}
	var failed []ranBefore
	if f.failed != "" {
		if failed, err = readFailed(f.failed); err != nil {
			return err
		}
		if len(failed) == 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "no run of %s failed\n", f.failed)
			return nil
		}
		if len(files) == 0 && !f.catalog && len(f.labels) == 0 {
			files = failedFiles(failed)
		}
	}
	list, err := c.choose(cmd.Context(), f, files)
	if err != nil {
		return err
	}
	switch {
	case f.list:
		return tellScenarios(cmd.OutOrStdout(), list)
	case f.check:
		return c.tellChecked(cmd.OutOrStdout(), list)
	case f.vm.in && !c.VM.inside():
		return c.VM.run(cmd, f.out)
	}
	var run RunFunc
	if f.cni.conf != "" {
		var plugins Plugins
		plugins, err = f.cni.plugins(c)
		run = plugins.Run
	} else {
		run, err = c.world(cmd.Context(), f.world)
	}
	if err != nil {
		return err
	}
	kept, err := c.openKept(f.passed)
	if err != nil {
		return err
	}
	b := &batch{world: f.world, with: f.cni.words() + f.vm.words(), run: run, laws: c.Laws(), jobs: f.jobs, most: f.most}
	if f.first {
		b.most = 1
	}
	for _, s := range list {
		b.tasks = append(b.tasks, f.tasks(s)...)
	}
	if f.failed != "" {
		if b.tasks = onlyFailed(b.tasks, failed); len(b.tasks) == 0 {
			return cli.Usagef("run: --failed %s: none of these scenarios and seeds failed there", f.failed)
		}
	}
	b.story = f.out != ""
	if f.world == "sim" {
		b.explain = c.Explorer.Explain
	}
	if kept != nil {
		b.explain, b.kept = kept.Explain, kept
	}
	if f.verify {
		b.run, b.jobs = verified(run), 1 // the number of processors is the process's, so runs cannot share it
	}
	started := time.Now()
	var folder Folder
	if f.out != "" {
		if folder, err = c.Reports.Folder(f.out); err != nil {
			return cli.BadInput(err)
		}
		defer func() { err = errors.Join(err, folder.Drop()) }()
	}
	if folder != nil && f.events != "none" {
		if b.events, err = openEvents(c.Reports, folder.Stage(), f.events == "all"); err != nil {
			return cli.BadInput(err)
		}
	}
	var text TextReport
	if f.format == cli.Text {
		text = c.Reports.Text(cmd.OutOrStdout(), b.names(), f.text)
	}
	results, runErr := b.do(cmd.Context(), cmd.ErrOrStderr(), text)
	if kept != nil {
		if err := kept.save(); err != nil {
			return err
		}
	}
	session := Session{Version: c.Version, Command: commandLine(cmd), Started: started, WallSeconds: time.Since(started).Seconds(), Results: results}
	if cmd.Context().Err() != nil {
		session.Incomplete = fmt.Sprintf("interrupted after %d of %d runs", len(results), len(b.tasks))
	} else if b.enough {
		session.Incomplete = fmt.Sprintf("stopped after %s, %d of %d runs", map[bool]string{true: "the first failure", false: fmt.Sprintf("%d failures", b.most)}[b.most == 1], len(results), len(b.tasks))
	}
	var small []smallest
	if f.world == "sim" && runErr == nil {
		small, _ = cli.Promptly(cmd.Context(), func() ([]smallest, error) {
			return c.shrinkFailures(cmd.Context(), cmd.ErrOrStderr(), b.tasks, results, f.shrink), nil
		})
	}
	if folder != nil {
		for _, s := range small {
			if err := s.write(folder.Stage()); err != nil {
				return cli.BadInput(err)
			}
		}
	}
	if err := finish(cmd.OutOrStdout(), c.Reports, folder, session, text, b.events); err != nil {
		return cli.BadInput(err)
	}
	for _, s := range small {
		if text != nil {
			s.tell(cmd.OutOrStdout(), f.out)
		}
	}
	if runErr != nil {
		return runErr
	}
	if err := verdictOf(results); err != nil {
		return err
	}
	if f.verify && text != nil {
		fmt.Fprintf(cmd.OutOrStdout(), "verified: %d %s equal, each on one processor and on several\n", len(results), map[bool]string{true: "run", false: "runs"}[len(results) == 1])
	}
	if f.catalog && !f.seeded && f.world == "sim" {
		return c.unexercised(results)
	}
	return nil
}

// unexercised refuses a catalogue whose runs all pass and that never came by something that it must come by.
func (c Config) unexercised(results []result.Result) error {
	if c.Exercises == nil {
		return nil
	}
	var never []string
	for _, e := range result.NotExercised(c.Exercises(), results) {
		never = append(never, fmt.Sprintf("%s (unproved: %s)", e.Name, e.Why))
	}
	if len(never) > 0 {
		return cli.Broken(fmt.Errorf("no scenario of the catalogue exercised %s", strings.Join(never, ", ")))
	}
	return nil
}

// tasks are the runs that one scenario asks for.
func (f runFlags) tasks(s *scenarios.Scenario) []task {
	if f.seeded {
		return []task{{s, f.seed}}
	}
	var out []task
	for seed := range max(s.Seeds, 1) {
		out = append(out, task{s, uint64(seed) + 1})
	}
	return out
}

// finish writes everything that comes after the last verdict line.
func finish(out io.Writer, r Reports, folder Folder, s Session, text TextReport, events *eventFile) error {
	var errs []error
	if text != nil {
		if s.Incomplete == "" {
			text.Whole()
		} else {
			fmt.Fprintln(out, "incomplete: "+s.Incomplete)
		}
		errs = append(errs, text.Close())
	} else {
		errs = append(errs, r.JSON(out, s))
	}
	if events != nil {
		if s.Incomplete != "" {
			errs = append(errs, events.incomplete(s.Incomplete))
		}
		errs = append(errs, events.close())
	}
	if err := errors.Join(errs...); err != nil || folder == nil {
		return err
	}
	return folder.Keep(s)
}

// verdictOf turns results into an exit code: a broken law before a run that could not be judged.
func verdictOf(results []result.Result) error {
	code := cli.ExitHeld
	for _, r := range results {
		switch {
		case r.Verdict == result.Fail:
			return cli.Broken(nil)
		case r.Verdict == result.Error && len(r.Unsupported) > 0:
			if code == cli.ExitHeld {
				code = cli.ExitCannotRun
			}
		case r.Verdict != result.Pass && r.Verdict != result.Stopped:
			code = cli.ExitUsage
		}
	}
	if code != cli.ExitHeld {
		return cli.Exit{Code: code}
	}
	return nil
}

// replayOf is the command that shows one run again: by file where there is one, else by its name in the catalogue.
func replayOf(s *scenarios.Scenario, world string, seed uint64) string {
	what := s.Name
	if s.File != "" {
		if _, err := os.Stat(s.File); err == nil {
			what = s.File
		}
	}
	words := []string{"vppdrill run", quote(what)}
	if world != "sim" {
		words = append(words, "--world", world)
	}
	return strings.Join(append(words, "--seed", strconv.FormatUint(seed, 10)), " ")
}

// quote makes a shell word of a file's name.
func quote(word string) string {
	if word != "" && strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./+:@", r))
	}) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// commandLine is the command as it was typed, for the report.
func commandLine(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())
	words = append(words, cmd.Flags().Args()...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name)
			return
		}
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		words = append(words, "--"+f.Name, quote(value))
	})
	return strings.Join(words, " ")
}
