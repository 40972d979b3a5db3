package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// exploreFlags are the flags of `vppdrill explore`.
type exploreFlags struct {
	random, exhaustive, points, lives bool

	from   uint64
	seeds  int
	most   int
	length time.Duration

	profile string
	corpus  string
	around  uint64
	seed    uint64
	kinds   []string
	node    string
	cni     cniFlags
	world   string

	jobs   int
	out    string
	format cli.Format
}

// exploreWays are the ways of exploring, with the flags that only some of them know.
var exploreWays = []struct {
	flag  string
	knows []string
}{
	{"random", []string{"from", "seeds", "profile", "corpus", "around", "seed"}},
	{"exhaustive", []string{"most"}},
	{"crash-points", []string{"from", "most", "seed", "kind", "node", "world", "cni", "cni-path"}},
	{"lives", []string{"most", "seed", "kind", "node"}},
	{"", []string{"from", "seeds"}},
}

// combinationsMost is how many runs an exhaustive search or one of crash points does by default: minutes on one core
// for a small cluster.
const combinationsMost = 10_000

func exploreCommand(c Config) *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore FILE [--random | --exhaustive | --crash-points] | --random | --lives",
		Short: "Search for failures: many seeds, random scenarios, every choice, a fault at every point",
		Long: `Search for failures in the simulator, or of CNI plugins on this machine, in one of six ways:

  explore FILE                  runs the scenario with many seeds
  explore --random              draws a random scenario with churn and faults for each seed; --corpus varies and keeps those
                                that reached something new, --around 7 varies the one of seed 7
  explore FILE --random         varies the scenario: other times, more or fewer actions, other faults; expect is not checked
  explore FILE --exhaustive     tries every combination of the choices that one run makes by chance
  explore FILE --crash-points   lets each operation fail in each way: lost, refused, late, repeated, a crash before or after;
                                operations are calls, disk writes, store requests, watch events and effects
                                with --cni: kills CNI plugins before each system call of ADD, DEL, CHECK and GC that others could see
  explore --lives               does the same for small clusters that do everything once, one for each address management
                                system and wiring

It prints the first failure of each law with the command that shows it again; --out also keeps it, shrunk to a capsule. The
last lines say what was covered. A search ends after --seeds or --most runs, after --for, or when nothing is left to try.
Exhaustive searches suit small clusters: two nodes, a few pods, a short timeline.`,
		Example: `  vppdrill explore my-scenario.yaml --seeds 1000 --out out
  vppdrill explore my-scenario.yaml --for 60s --jobs 2
  vppdrill explore --random --profile systems --for 10m --out out
  vppdrill explore --random --corpus corpus --for 1h --out out
  vppdrill explore --random --profile tiny --around 4711 --seeds 1000
  vppdrill explore my-scenario.yaml --random --seeds 1000
  vppdrill explore my-scenario.yaml --crash-points --kind persist,effect --node node-1
  vppdrill explore --lives --kind persist,control --jobs 2
  vppdrill explore my-scenario.yaml --crash-points --world netns --cni 10-mynet.conflist --kind ADD,DEL --for 10m
  vppdrill explore my-scenario.yaml --exhaustive --most 50000`,
		Args: func(cmd *cobra.Command, given []string) error {
			if f.lives {
				return cli.Args(0, 0, "no file with --lives")(cmd, given)
			}
			if f.random {
				return cli.Args(0, 1, "one scenario file at most")(cmd, given)
			}
			return cli.Args(1, 1, "one scenario file")(cmd, given)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var plugins *Plugins
			if f.cni.conf != "" {
				p, err := f.cni.plugins(c)
				if err != nil {
					return err
				}
				plugins = &p
				c.Explorer = p.explorer()
			}
			if err := f.check(cmd, c, len(args) > 0); err != nil {
				return err
			}
			return f.explore(cmd, c, strings.Join(args, ""), plugins)
		},
	}
	cmd.ValidArgsFunction = c.completeScenarios
	flags := cmd.Flags()
	flags.BoolVar(&f.random, "random", false, "draw a random scenario for each seed, or vary the file's")
	flags.BoolVar(&f.exhaustive, "exhaustive", false, "try every combination of the choices of a run")
	flags.BoolVar(&f.points, "crash-points", false, "try every fault at every point of a run")
	flags.BoolVar(&f.lives, "lives", false, "try every fault at every point of a small cluster's life, for each system and wiring")
	flags.Uint64Var(&f.from, "from", 1, "the first seed, or the first of all crash points")
	flags.IntVar(&f.seeds, "seeds", 100, "number of seeds")
	flags.IntVar(&f.most, "most", combinationsMost, "most runs of an exhaustive search, of crash points, or of each life")
	flags.DurationVar(&f.length, "for", 0, "end after this time, or when nothing is left to try")
	flags.StringVar(&f.profile, "profile", "small", "size and kind of random scenarios: "+strings.Join(c.Explorer.Profiles, ", "))
	flags.StringVar(&f.corpus, "corpus", "", "folder of random scenarios that reached something new; read and extended")
	flags.Uint64Var(&f.around, "around", 0, "vary the scenario of this seed")
	flags.Uint64Var(&f.seed, "seed", 1, "the seed of the run that is varied, or whose crash points are tried")
	flags.StringSliceVar(&f.kinds, "kind", nil, "only crash points of these kinds: "+strings.Join(c.Explorer.Kinds, ", "))
	flags.StringVar(&f.node, "node", "", "only crash points of this node")
	flags.StringVar(&f.world, "world", "sim", "where to run: sim, or netns with --cni")
	f.cni.add(flags)
	addJobs(flags, &f.jobs, "runs at the same time; an exhaustive search does one at a time")
	flags.StringVar(&f.out, "out", "", "folder for the capsules and the report of the failures")
	cli.AddFormatTo(flags, &f.format)
	complete(cmd, "profile", c.Explorer.Profiles...)
	complete(cmd, "kind", c.Explorer.Kinds...)
	return cmd
}

// check refuses bad values before anything is run; file says that one is given.
func (f *exploreFlags) check(cmd *cobra.Command, c Config, file bool) error {
	given := cmd.Flags().Changed
	way, ways := exploreWays[len(exploreWays)-1], 0
	for _, w := range exploreWays {
		if w.flag != "" && given(w.flag) {
			way = w
			ways++
		}
	}
	if ways > 1 {
		return cli.Usagef("explore: --random, --exhaustive, --crash-points and --lives exclude one another")
	}
	for _, w := range exploreWays {
		for _, name := range w.knows {
			if given(name) && !slices.Contains(way.knows, name) {
				return cli.Usagef("explore: --%s does not go with %s", name, wayName(way.flag))
			}
		}
	}
	for _, name := range [...]string{"profile", "corpus", "around"} {
		if given(name) && file {
			return cli.Usagef("explore: --%s does not go with a file", name)
		}
	}
	if given("seed") && f.random && !file {
		return cli.Usagef("explore: --seed does not go with --random without a file: the seeds are those from --from on")
	}
	if given("around") && given("corpus") {
		return cli.Usagef("explore: --around and --corpus exclude each other")
	}
	if given("seeds") && f.length > 0 {
		return cli.Usagef("explore: --seeds and --for exclude each other")
	}
	if f.world != "sim" && f.cni.conf == "" {
		return cli.Usagef("explore: --world %s: only the simulator is searched, and with --cni plugins in world netns", f.world)
	}
	if err := f.cni.check("explore", f.world); err != nil {
		return err
	}
	if f.jobs < 1 || f.seeds < 1 || f.most < 1 || f.from < 1 && f.points || f.length < 0 {
		return cli.Usagef("explore: --jobs, --seeds, --most and --for are above 0, and points count from 1")
	}
	var errs []error
	if f.random {
		errs = append(errs, cli.OneOf("--profile", f.profile, c.Explorer.Profiles...))
	}
	for _, k := range f.kinds {
		errs = append(errs, cli.OneOf("--kind", k, c.Explorer.Kinds...))
	}
	return errors.Join(errs...)
}

func wayName(flag string) string {
	if flag == "" {
		return "a sweep of seeds"
	}
	return "--" + flag
}

// explore does what the flags ask for and reports it.
func (f *exploreFlags) explore(cmd *cobra.Command, c Config, file string, plugins *Plugins) (err error) {
	var run RunFunc
	if plugins != nil {
		run = plugins.Run
	} else if run, err = c.world(cmd.Context(), "sim"); err != nil {
		return err
	}
	w := &sweep{run: run, plugins: plugins, laws: c.Laws(), first: map[string]found{}, capsules: map[string][]byte{}, explored: Explored{Broken: map[string]int{}}}
	var s *scenarios.Scenario
	if file != "" {
		list, err := c.load(cmd.Context(), false, []string{file})
		if err != nil {
			return err
		}
		s = list[0]
	}
	if f.out != "" {
		if w.folder, err = c.Reports.Folder(f.out); err != nil {
			return cli.BadInput(err)
		}
		defer func() { err = errors.Join(err, w.folder.Drop()) }()
	}
	ctx, cancel := cmd.Context(), func() {}
	if f.length > 0 {
		ctx, cancel = context.WithTimeout(ctx, f.length)
	}
	defer cancel()
	coverage := func([]fact.Law) []Covered { return nil }
	if c.Explorer.Survey != nil && !f.random {
		run, coverage = c.Explorer.Survey()
		w.run = promptRun(run)
	}
	started := time.Now()
	switch x := c.Explorer; {
	case f.exhaustive && x.Exhaust != nil:
		err = f.everyChoice(ctx, cmd, c, w, s, file)
	case f.points && x.Points != nil:
		err = f.everyPoint(ctx, cmd, c, w, s, file)
	case f.lives && x.Points != nil && x.Lives != nil:
		err = f.everyLife(ctx, cmd, c, w)
	case f.random && x.Draw != nil && x.Around != nil && x.Variations != nil && x.Steer != nil:
		err = f.search(ctx, cmd, c, w, s, file)
	case !f.random && !f.points && !f.exhaustive && !f.lives:
		f.seedsOf(ctx, cmd, w, "seeds", func(seed uint64) trial {
			return trial{s: s, seed: seed, replay: replayOf(s, "sim", seed)}
		})
	default:
		return cli.CannotRun(errors.New("explore: this build cannot search so"))
	}
	if interrupted := cmd.Context().Err(); err != nil && interrupted == nil && ctx.Err() == nil {
		return cli.BadInput(fmt.Errorf("explore: %w", err))
	}
	if list := coverage(w.laws); w.explored.Coverage == nil && w.explored.Runs > 0 && !f.exhaustive {
		w.explored.Coverage = list
	}
	if err := w.tell(cmd, c, f, started); err != nil {
		return err
	}
	if f.corpus != "" {
		if err := w.keepFound(cmd, c, f); err != nil {
			return cli.BadInput(err)
		}
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	return verdictOf(w.failures())
}

// seedsOf takes one seed after the other.
func (f *exploreFlags) seedsOf(ctx context.Context, cmd *cobra.Command, w *sweep, way string, of func(seed uint64) trial) {
	total := f.seeds
	if f.length > 0 {
		total = 0
	}
	w.explored.Way, w.explored.FirstSeed = way, f.from
	w.do(ctx, cmd, f.jobs, total, func(i uint64) (trial, bool) {
		if f.length == 0 && i >= uint64(f.seeds) {
			return trial{}, false
		}
		return of(f.from + i), true
	})
	w.explored.Complete = true // seeds never come to an end
}

// everyPoint tries every crash point of the scenario's run.
func (f *exploreFlags) everyPoint(ctx context.Context, cmd *cobra.Command, c Config, w *sweep, s *scenarios.Scenario, file string) error {
	w.explored.Way, w.explored.FirstSeed, w.explored.Points, w.explored.Tried = "crash-points", f.seed, map[string]int{}, map[string]int{}
	all, err := f.pointsOf(ctx, cmd, c, w, s, file)
	w.explored.Complete = w.explored.Runs == all
	return err
}

// everyLife tries every crash point of every life.
func (f *exploreFlags) everyLife(ctx context.Context, cmd *cobra.Command, c Config, w *sweep) error {
	w.explored.Way, w.explored.FirstSeed, w.explored.Points, w.explored.Tried = "lives", f.seed, map[string]int{}, map[string]int{}
	f.from = 1
	sum := 0
	for _, s := range c.Explorer.Lives() {
		hit, runs := w.explored.Hit, w.explored.Runs
		all, err := f.pointsOf(ctx, cmd, c, w, s, s.Name)
		if err != nil || ctx.Err() != nil {
			return err
		}
		sum += all
		if f.format == cli.Text {
			fmt.Fprintf(cmd.OutOrStdout(), "%-32s %d of %d points tried, %d hit\n", s.Name, w.explored.Runs-runs, all, w.explored.Hit-hit)
		}
	}
	w.explored.Complete = w.explored.Runs == sum
	return nil
}

// pointsOf tries the crash points of one scenario's run and returns how many there are.
func (f *exploreFlags) pointsOf(ctx context.Context, cmd *cobra.Command, c Config, w *sweep, s *scenarios.Scenario, file string) (int, error) {
	kinds, only := f.kinds, ""
	if len(kinds) == 0 {
		kinds = c.Explorer.Kinds
	} else {
		only = " --kind " + strings.Join(kinds, ",")
	}
	if f.node != "" {
		only += " --node " + quote(f.node)
	}
	if f.cni.conf != "" {
		only += " --world netns" + f.cni.words()
	}
	points, err := cli.Promptly(ctx, func() ([]Point, error) { return c.Explorer.Points(ctx, s, f.seed, w.laws, kinds, f.node) })
	if err != nil {
		return 0, err
	}
	all, skipped := len(points), min(f.from-1, uint64(len(points)))
	for _, p := range points {
		w.explored.Points[p.Kind]++
	}
	points = points[skipped:]
	points = points[:min(len(points), f.most)]
	w.do(ctx, cmd, f.jobs, len(points), func(i uint64) (trial, bool) {
		if i >= uint64(len(points)) {
			return trial{}, false
		}
		p := points[i]
		return trial{s: p.Scenario(), seed: f.seed, kind: p.Kind, where: p.Name,
			replay: fmt.Sprintf("vppdrill explore %s --crash-points --seed %d%s --from %d --most 1", quote(file), f.seed, only, f.from+i)}, true
	})
	return all, nil
}

// everyChoice runs every combination of the choices of a run.
func (f *exploreFlags) everyChoice(ctx context.Context, cmd *cobra.Command, c Config, w *sweep, s *scenarios.Scenario, file string) error {
	p := startProgress(cmd.ErrOrStderr(), 0)
	r := p.begin(s)
	e, err := cli.Promptly(ctx, func() (Exhausted, error) { return c.Explorer.Exhaust(ctx, s, w.laws, f.most) })
	p.end(r)
	p.stop()
	w.explored.Way, w.explored.Complete = "exhaustive", e.Complete
	for i, b := range e.Broken {
		b.Result.Replay = fmt.Sprintf("vppdrill explore %s --exhaustive --most %d", quote(file), b.Run)
		w.note(uint64(i), trial{s: s, where: fmt.Sprintf("run %d", b.Run), shrink: b.Shrink}, b.Result)
	}
	w.explored.Runs, w.explored.Digest = e.Runs, ""
	return err
}
