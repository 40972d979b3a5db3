// Command vppdrill rehearses Kubernetes pod networking on FD.io VPP: see README.md.
//
// It decides which worlds, scenarios, laws and formats this build has and hands them to the commands. It never does a
// command's work. Where a container runtime executes it (CNI_COMMAND is set), it is the CNI plugin instead. Start at config.
// An interrupt is passed to the command under way, which ends in order with code 130.
// To add a world, list it in config; a command, see scenarios/cmd.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	ipamcmd "github.com/vppdrill/vppdrill/ipam/cmd"
	labcmd "github.com/vppdrill/vppdrill/lab/cmd"
	"github.com/vppdrill/vppdrill/reports"
	experimentpage "github.com/vppdrill/vppdrill/reports/experiment"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/cause"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/cmd"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/museum"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	agentcmd "github.com/vppdrill/vppdrill/vppwire/cmd"
	"github.com/vppdrill/vppdrill/vppwire/cni"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/indexedjob"
)

func main() {
	if cni.Asked() { // a container runtime's plugin is a process that lives for milliseconds and knows no command line
		os.Exit(cni.Main())
	}
	tuneMemory()
	os.Exit(run())
}

// tuneMemory lets the garbage collector rest until there is something worth collecting: a run's memory is mostly a cluster
// that lives as long as the run. Where less than that may be used, it works earlier. GOGC and GOMEMLIMIT, where set, decide instead.
func tuneMemory() {
	const (
		percent = 400
		limit   = 5 << 30 // a thousand nodes in a full mesh fit; beyond it the collector works as usual
	)
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		allowed, _ := cmd.MemoryLimit()
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(int64(min(limit, allowed/10*9)))
	}
}

// run is main with an exit code, so that deferred calls happen.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second one ends the program at once
	return cmd.Execute(ctx, config(), os.Args[1:], os.Stdout, os.Stderr)
}

// config puts together what this build has.
func config() cmd.Config {
	c := cmd.Config{
		Version:       cmd.Version(),
		Worlds:        map[string]cmd.RunFunc{"sim": simulate},
		Checks:        map[string]func(context.Context) error{},
		Refuses:       map[string]func(*scenarios.Scenario) []string{},
		Adapts:        map[string]func(*scenarios.Scenario) (*scenarios.Scenario, string){},
		CNI:           inPlugins,
		VM:            cmd.VM{Inside: labcmd.InsideVM, Run: labcmd.AgainInVM},
		Catalog:       catalog.All,
		Laws:          check.All,
		Exercises:     result.Exercises,
		FaultWords:    faultWords,
		AgentSettings: agentSettings,
		AgentSchema:   cmd.AgentSchema{File: agent.SchemaFile, Comment: agent.SchemaComment, Text: agent.Schema},
		Reports:       formats(),
		Museum:        exhibits(),
		Commands: slices.Concat(ipamcmd.Commands(), agentcmd.Commands(saveJudgement),
			labcmd.Commands(labcmd.Build{Version: cmd.Version()}, cmd.ModelCommands()...)),
		Explorer:  exploring(),
		Elsewhere: elsewhere,
	}
	for _, w := range labcmd.Worlds() {
		c.Worlds[w.Name] = func(ctx context.Context, s *scenarios.Scenario, o cmd.RunOptions) (result.Result, error) {
			return w.Run(ctx, s, labRun(o))
		}
		c.Checks[w.Name] = w.Check
		if w.Refuses != nil {
			c.Refuses[w.Name] = w.Refuses
		}
		if w.Adapt != nil {
			c.Adapts[w.Name] = w.Adapt
		}
	}
	return c
}

// elsewhere runs an experiment's shards as a Job.
func elsewhere(ctx context.Context, on cmd.Elsewhere, line func([]byte)) error {
	c, err := kube.Dial(on.Kubeconfig, "vppdrill-experiment", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return c.Explain(indexedjob.Run(ctx, c.Client(), indexedjob.Order{Name: on.Name, Namespace: on.Namespace, Image: on.Image,
		Args: []string{"experiment", "--shard", indexedjob.TaskFile}, Task: on.Task, Shards: on.Shards}, line))
}

// faultWords are the words of injected faults as the commands see them.
func faultWords() (list []scenarios.Entry) {
	for _, w := range fault.Words() {
		list = append(list, scenarios.Entry{Name: w.Word, Type: "injected fault", Doc: w.Doc, Example: "faults: {inject: [" + strconv.Quote(w.Example) + "]}"})
	}
	return list
}

// agentSettings are the keys of an agent's configuration file as the commands see them.
func agentSettings() (list []scenarios.Entry) {
	for _, s := range agent.Settings() {
		list = append(list, scenarios.Entry{Name: s.Name, Type: s.Values, Default: s.Default, Doc: s.Doc})
	}
	return list
}

// exhibits are the museum's as the commands see it.
func exhibits() cmd.Museum {
	return cmd.Museum{
		Exhibits: func() (list []cmd.Exhibit) {
			for _, e := range museum.All() {
				list = append(list, cmd.Exhibit{Name: e.Name, Incidents: e.Incidents, Law: e.Law, Upstream: e.Upstream, Fault: e.Fault})
			}
			return list
		},
		Known: func(name string) error { _, err := museum.ByName(name); return err },
		Show: func(ctx context.Context, name string, seeds int) (cmd.Showing, error) {
			e, err := museum.ByName(name)
			if err != nil {
				return cmd.Showing{}, err
			}
			f, err := e.Show(ctx, seeds)
			return cmd.Showing{Clean: f.Clean, Planted: f.Planted, Caught: f.Caught}, err
		},
	}
}

// exploring is package explore as the commands see it.
func exploring() cmd.Explorer {
	x := explore.Explorer{Version: cmd.Version(), Run: museum.Run}
	e := cmd.Explorer{
		Shrink: func(ctx context.Context, s *scenarios.Scenario, failure result.Result, laws []fact.Law) ([]byte, error) {
			return x.Shrink(ctx, s, nil, failure, laws)
		},
		Explain: func(ctx context.Context, s *scenarios.Scenario, o cmd.RunOptions, failed *result.Failure, last int64) (result.Result, error) {
			return x.Explain(ctx, s, options(o), failed, last)
		},
		Kept: func(archive []byte) (cmd.Kept, error) { return keptOf(x, archive) },
		Points: func(ctx context.Context, s *scenarios.Scenario, seed uint64, laws []fact.Law, kinds []string, node string) ([]cmd.Point, error) {
			return points(ctx, x, s, seed, laws, kinds, node)
		},
		Lives: gen.Lives,
		Exhaust: func(ctx context.Context, s *scenarios.Scenario, laws []fact.Law, most int) (cmd.Exhausted, error) {
			found, err := x.Exhaust(ctx, s, laws, most, nil)
			e := cmd.Exhausted{Runs: found.Runs, Complete: found.Complete}
			for _, b := range found.Broken {
				e.Broken = append(e.Broken, cmd.ExhaustedRun{Run: b.Run, Result: b.Result, Shrink: func(ctx context.Context) ([]byte, error) {
					return x.Shrink(ctx, b.Scenario, b.Picks, b.Result, laws)
				}})
			}
			return e, err
		},
		Survey: func() (cmd.RunFunc, func([]fact.Law) []cmd.Covered) {
			var mu sync.Mutex
			total := explore.Coverage{}
			return func(ctx context.Context, s *scenarios.Scenario, o cmd.RunOptions) (result.Result, error) {
				r, seen, err := x.Survey(ctx, s, options(o))
				mu.Lock()
				defer mu.Unlock()
				total.Add(seen)
				return r, err
			}, func(laws []fact.Law) []cmd.Covered { mu.Lock(); defer mu.Unlock(); return covered(total, laws) }
		},
		Draw: func(profile string, from uint64) cmd.Search { return search{x.Draw(profileOf(profile), from)} },
		Around: func(profile string, around, from uint64) cmd.Search {
			return search{x.Around(profileOf(profile), around, from)}
		},
		Variations: func(s *scenarios.Scenario, seed, from uint64) cmd.Search { return search{x.Variations(s, seed, from)} },
		Steer: func(profile string, from uint64, corpus []cmd.Member) cmd.Search {
			var members []*explore.Member
			for _, m := range corpus {
				members = append(members, &explore.Member{Scenario: m.Scenario, Seed: m.Seed, Kept: m.Kept})
			}
			return search{x.Steer(profileOf(profile), from, members)}
		},
		Reduced: func(ctx context.Context, capsule []byte, laws []fact.Law) (cmd.Member, bool) {
			m, ok := x.Reduced(ctx, capsule, laws)
			if !ok {
				return cmd.Member{}, false
			}
			return cmd.Member{Scenario: m.Scenario, Seed: m.Seed, Kept: m.Kept}, true
		},
		Replay: func(ctx context.Context, capsule []byte, until int64, o cmd.RunOptions) (result.Result, error) {
			r, err := x.Replay(ctx, capsule, until, options(o))
			if v := (*explore.VersionError)(nil); errors.As(err, &v) && v.What == "version" {
				err = fmt.Errorf("%w: %w", cmd.ErrOtherVersion, err)
			}
			return r, err
		},
		Regress: func(ctx context.Context, capsule []byte, o cmd.RunOptions) (result.Result, []string, error) {
			return x.Regress(ctx, capsule, options(o))
		},
		Walk: func(ctx context.Context, capsule []byte, o cmd.RunOptions, visit func(cmd.Moment)) (result.Result, error) {
			return x.Walk(ctx, capsule, options(o), func(m explore.Moment) { visit(cmd.Moment(m)) })
		},
		Branch: func(ctx context.Context, capsule []byte, o cmd.RunOptions, b cmd.Branch) (cmd.Branched, error) {
			return branched(x.Branch(ctx, capsule, options(o), explore.Branch(b)))
		},
	}
	for _, k := range explore.Kinds() {
		e.Kinds = append(e.Kinds, k.String())
	}
	for _, p := range gen.Profiles() {
		e.Profiles = append(e.Profiles, p.Name)
	}
	return e
}

// branched are two futures as the commands see them.
func branched(b explore.Branched, err error) (cmd.Branched, error) {
	out := cmd.Branched{At: b.At, Line: b.Line, Changed: b.Changed}
	for _, c := range b.Choices {
		out.Choices = append(out.Choices, fmt.Sprintf("event %d: %s = %d of %d", c.Event, c.Label, c.Value, c.N))
	}
	for _, f := range [...]struct {
		from explore.Future
		to   *cmd.Future
	}{{b.Before, &out.Before}, {b.After, &out.After}} {
		f.to.Result = f.from.Result
		for _, line := range f.from.Lines {
			f.to.Lines = append(f.to.Lines, cmd.FutureLine(line))
		}
	}
	return out, err
}

// profileOf is a profile of random scenarios by the word that the command has checked.
func profileOf(name string) gen.Profile {
	p, ok := gen.ByName(name)
	if !ok {
		panic("vppdrill: no profile of random scenarios is called " + name)
	}
	return p
}

// search is a search of package explore as the commands see it.
type search struct{ of *explore.Steered }

func (s search) Batch(most int) (runs []cmd.SearchRun) {
	for _, t := range s.of.Batch(most) {
		runs = append(runs, cmd.SearchRun{Scenario: t.Scenario, Seed: t.Seed, Run: func(ctx context.Context, _ *scenarios.Scenario, o cmd.RunOptions) (result.Result, error) {
			return t.Run(ctx, options(o))
		}})
	}
	return runs
}

func (s search) Learn() { s.of.Learn() }

func (s search) Coverage(laws []fact.Law) []cmd.Covered { return covered(s.of.Coverage(), laws) }

// covered is a coverage as the commands see it.
func covered(c explore.Coverage, laws []fact.Law) (groups []cmd.Covered) {
	for _, g := range explore.Groups() {
		groups = append(groups, cmd.Covered{Group: string(g), Reached: c[g], Missing: c.Missing(g, laws)})
	}
	return groups
}

func (s search) Corpus() (members []cmd.Member) {
	for _, m := range s.of.Corpus() {
		members = append(members, cmd.Member{Scenario: m.Scenario, Seed: m.Seed, Kept: m.Kept})
	}
	return members
}

// points are the crash points of several kinds of operations, one kind after the other.
func points(ctx context.Context, x explore.Explorer, s *scenarios.Scenario, seed uint64, laws []fact.Law, kinds []string, node string) ([]cmd.Point, error) {
	var list []cmd.Point
	for _, k := range explore.Kinds() {
		if !slices.Contains(kinds, k.String()) {
			continue
		}
		found, _, err := x.Points(ctx, s, seed, laws, k, node)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			list = append(list, cmd.Point{Kind: k.String(), Name: p.String(), Scenario: func() *scenarios.Scenario { return p.Scenario(s) }})
		}
	}
	return list, nil
}

// options are a command's wishes in the simulator's terms.
func options(o cmd.RunOptions) sim.Options {
	return sim.Options{Seed: o.Seed, Laws: o.Laws, Events: o.Events, OnMark: o.OnMark, AtEnd: o.AtEnd, Replay: o.Replay, Series: o.Series, Story: o.Story, APITraces: o.APITraces}
}

// kept are runs that passed: those that a file had at the start explain, and those that it is to have from now on.
type kept struct {
	explorer explore.Explorer
	mu       sync.Mutex
	next     *cause.Precedents
}

func keptOf(x explore.Explorer, archive []byte) (*kept, error) {
	if len(archive) == 0 {
		return &kept{explorer: x, next: &cause.Precedents{}}, nil
	}
	k := &kept{explorer: x}
	var err error
	if k.explorer.Kept, err = cause.Open(archive); err == nil {
		k.next, err = cause.Open(archive) // one is read while the other is written
	}
	return k, err
}

// Explain implements cmd.Kept.
func (k *kept) Explain(ctx context.Context, s *scenarios.Scenario, o cmd.RunOptions, failed *result.Failure, last int64) (result.Result, error) {
	return k.explorer.Explain(ctx, s, options(o), failed, last)
}

// Keep implements cmd.Kept.
func (k *kept) Keep(ctx context.Context, s *scenarios.Scenario, o cmd.RunOptions) error {
	_, err := k.explorer.Keep(ctx, s, options(o), k.next, func(take func()) {
		k.mu.Lock()
		defer k.mu.Unlock()
		take()
	})
	return err
}

// Write implements cmd.Kept.
func (k *kept) Write(w io.Writer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.next.Write(w)
}

// simulate runs a scenario in virtual time.
func simulate(ctx context.Context, s *scenarios.Scenario, o cmd.RunOptions) (result.Result, error) {
	return museum.Run(ctx, s, options(o))
}

// inPlugins runs scenarios on a chain of CNI plugins.
func inPlugins(conf, path string) (cmd.Plugins, error) {
	p, err := labcmd.LoadCNI(conf, path)
	if err != nil {
		return cmd.Plugins{}, err
	}
	judged := func(seed uint64) labcmd.RunOptions {
		return labcmd.RunOptions{Options: result.Options{Seed: seed}, Laws: check.All()}
	}
	return cmd.Plugins{
		Run: func(ctx context.Context, s *scenarios.Scenario, o cmd.RunOptions) (result.Result, error) {
			return p.Run(ctx, s, labRun(o))
		},
		Kinds: p.Kinds,
		Smallest: func(ctx context.Context, s *scenarios.Scenario, seed uint64, failure *result.Failure) *scenarios.Scenario {
			return p.Smallest(ctx, s, judged(seed), failure)
		},
		Points: func(ctx context.Context, s *scenarios.Scenario, seed uint64, kinds []string, node string) ([]cmd.Point, error) {
			found, err := p.Points(ctx, s, judged(seed), kinds, node)
			var list []cmd.Point
			for _, x := range found {
				list = append(list, cmd.Point{Kind: x.Kind, Name: x.Name, Scenario: func() *scenarios.Scenario { return x.Scenario(s) }})
			}
			return list, err
		},
	}, nil
}

// labRun is a command's wishes in the labs' terms.
func labRun(o cmd.RunOptions) labcmd.RunOptions {
	return labcmd.RunOptions{Options: result.Options{Seed: o.Seed, OnMark: o.OnMark, AtEnd: o.AtEnd, Replay: o.Replay, Story: o.Story}, Laws: o.Laws, Events: o.Events}
}

// formats are package reports as the commands see it.
func formats() cmd.Reports {
	return cmd.Reports{
		Text: func(w io.Writer, names []string, o cmd.TextOptions) cmd.TextReport {
			return reports.NewText(w, names, reports.TextOptions(o))
		},
		JSON: func(w io.Writer, s cmd.Session) error { return reports.WriteJSON(w, reportOf(s)) },
		Folder: func(dir string) (cmd.Folder, error) {
			f, err := reports.OpenFolder(dir)
			if err != nil {
				return nil, err
			}
			return folder{f}, nil
		},
		Again: func(dir string) ([]result.Result, error) {
			r, err := reports.Read(dir)
			if err != nil {
				return nil, err
			}
			return r.Scenarios, reports.WriteAgain(dir, r)
		},
		Events:     func(w io.Writer) cmd.EventLog { return reports.NewEventLog(w) },
		EventsFile: reports.EventsFile,
		Experiment: experimentpage.Write,
	}
}

// folder is a report's folder as the commands see it.
type folder struct{ *reports.Folder }

func (f folder) Keep(s cmd.Session) error { return f.Folder.Keep(reportOf(s)) }

// exploredOf says an exploration in the report's words.
func exploredOf(e *cmd.Explored) *reports.Explored {
	if e == nil {
		return nil
	}
	out := &reports.Explored{Way: e.Way, FirstSeed: e.FirstSeed, Runs: e.Runs, Complete: e.Complete, Points: e.Points, Tried: e.Tried, Hit: e.Hit, Broken: e.Broken, Digest: e.Digest}
	for _, g := range e.Coverage {
		out.Coverage = append(out.Coverage, reports.Covered(g))
	}
	return out
}

// saveJudgement writes what was found out about a running cluster as a report of one run.
func saveJudgement(dir string, j agentcmd.Judgement) error {
	r := result.Result{Scenario: j.Name, Goal: j.Goal, World: "cluster", Seed: j.Seed, Verdict: result.Pass, WallSeconds: j.Took.Seconds(), Nodes: j.Nodes,
		Laws: []result.LawResult{}, Timeline: []result.Mark{}, Replay: strings.Join(os.Args, " ")}
	for _, n := range j.Notes {
		r.Timeline = append(r.Timeline, result.Mark{Kind: "note", Text: n})
	}
	for _, l := range j.Laws {
		law := result.LawResult{Name: l.Name, Why: l.Why, Status: result.HeldStatus, Checks: int64(l.Occasions), Occasions: int64(l.Occasions), Violations: int64(len(l.Broken))}
		switch {
		case len(l.Broken) > 0:
			law.Status, r.Verdict = result.BrokenStatus, result.Fail
			if r.Failure == nil {
				r.Failure = &result.Failure{Law: l.Name, What: l.Broken[0], Tail: l.Broken}
				r.Error = l.Name + ": " + l.Broken[0]
			}
		case l.Occasions == 0:
			law.Status = result.NotJudgedStatus
		}
		r.Laws = append(r.Laws, law)
	}
	f, err := reports.OpenFolder(dir)
	if err != nil {
		return err
	}
	return f.Keep(reportOf(cmd.Session{Version: cmd.Version(), Command: r.Replay, Started: j.Started, WallSeconds: r.WallSeconds, Results: []result.Result{r}}))
}

// reportOf adds to a session where it happened.
func reportOf(s cmd.Session) reports.Report {
	e := reports.Environment{Command: s.Command, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), Race: cmd.Race, WallSeconds: s.WallSeconds}
	if !s.Started.IsZero() {
		e.Started = s.Started.UTC().Format(time.RFC3339)
	}
	return reports.Report{Version: s.Version, Environment: e, Scenarios: s.Results, Incomplete: s.Incomplete, Explored: exploredOf(s.Explored)}
}
