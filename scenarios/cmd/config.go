package cmd

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/experiment"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Config is what main puts together: worlds that run scenarios, and formats that tell of them.
type Config struct {
	// Version is the program's version, as `vppdrill version` prints it.
	Version string
	// Worlds are where scenarios can happen, by name.
	Worlds map[string]RunFunc
	// Checks say in one line why a world cannot run on this machine, before anything is written; a world without one
	// runs everywhere.
	Checks map[string]func(ctx context.Context) error
	// Adapts says what a world makes of a scenario on this machine, with a note of what it had to change, empty for
	// nothing.
	Adapts map[string]func(*scenarios.Scenario) (adapted *scenarios.Scenario, note string)
	// Refuses name what of a scenario a world cannot do, each with the reason; a world without one does everything.
	Refuses map[string]func(*scenarios.Scenario) []string
	// CNI makes a world of a chain of CNI plugins; nil in a build without it.
	CNI func(conf, path string) (Plugins, error)
	// VM is how a command of world netns gets another kernel; its functions are nil in a build without it.
	VM VM
	// Catalog returns the scenarios that come with the program, in order of file names.
	Catalog func() ([]*scenarios.Scenario, error)
	// Laws are all laws; a scenario selects among them.
	Laws func() []fact.Law
	// Exercises are what the catalogue as a whole must come by; nil: nothing.
	Exercises func() []result.Exercise
	// FaultWords are the words of the language of injected faults; nil: none are listed.
	FaultWords func() []scenarios.Entry
	// AgentSettings are the keys of an agent's configuration file; nil: none are known.
	AgentSettings func() []scenarios.Entry
	// AgentSchema is the JSON schema of that file.
	AgentSchema AgentSchema
	// Reports writes and reads what is left of a run.
	Reports Reports
	// Elsewhere does an experiment's task on a Kubernetes cluster and hands on each line that its pods print; nil where
	// this build cannot.
	Elsewhere func(ctx context.Context, on Elsewhere, line func(text []byte)) error
	// Explorer finds and shrinks failures and replays them; its functions may be nil in a build without it.
	Explorer Explorer
	// Museum shows upstreams' faults; its functions may be nil in a build without it.
	Museum Museum
	// Commands are those of other packages: address plans, labs, the node agent.
	Commands []*cobra.Command
}

// Plugins are a world in which a chain of CNI plugins connects pods.
type Plugins struct {
	Run RunFunc
	// Points lists the places of a scenario's run at which plugins can be killed.
	Points func(ctx context.Context, s *scenarios.Scenario, seed uint64, kinds []string, node string) ([]Point, error)
	// Kinds are the commands that have such places.
	Kinds []string
	// Smallest leaves out of a scenario what a failure does not need.
	Smallest func(ctx context.Context, s *scenarios.Scenario, seed uint64, failure *result.Failure) *scenarios.Scenario
}

// RunFunc runs one scenario in one world. An error means that the scenario could not be started there; what happens
// while it runs is in the Result.
type RunFunc func(ctx context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error)

// RunOptions are what a run may choose beside its scenario.
type RunOptions struct {
	Seed uint64
	Laws []fact.Law
	// Events, where set, sees every event's line, which is valid only during the call.
	Events func(seq int64, at time.Duration, line []byte)
	// OnMark, where set, gets each mark of the timeline when it starts.
	OnMark func(result.Mark)
	// AtEnd, where set, sees the cluster as the run left it; it is valid only during the call.
	AtEnd func(fact.Snapshot)
	// Series: the result has a series, where the world can tell one.
	Series bool
	// Story: the result has a story, for a page.
	Story bool
	// Replay is the command that shows this run again.
	Replay string
	// APITraces, where set, gets a function that writes what a node's VPP was asked, in worlds that know it.
	APITraces func(of func(node string) ([]byte, error))
}

// Explorer is what explore and replay need beside plain runs.
type Explorer struct {
	// Shrink makes the smallest capsule it can of a failure: bytes that Replay takes back.
	Shrink func(ctx context.Context, s *scenarios.Scenario, failure result.Result, laws []fact.Law) ([]byte, error)
	// Explain runs a scenario again for the chain of causes of its failure and, where last is a number, for its story's
	// events up to that one. failed is the failure, nil where there is none: where it took very many events, what comes
	// back is that failure with its chain.
	Explain func(ctx context.Context, s *scenarios.Scenario, o RunOptions, failed *result.Failure, last int64) (result.Result, error)
	// Kept reads runs that passed from what Kept.Write wrote; empty: there are none yet.
	Kept func(archive []byte) (Kept, error)
	// Kinds are the kinds of operations that have crash points.
	Kinds []string
	// Points lists the crash points of these kinds in the run of s with a seed, of one node or, for "", of all. The run
	// must pass without a fault.
	Points func(ctx context.Context, s *scenarios.Scenario, seed uint64, laws []fact.Law, kinds []string, node string) ([]Point, error)
	// Lives are small clusters that do everything once, one for each address management system and way of wiring. Their
	// names are known wherever a scenario of the catalogue is.
	Lives func() []*scenarios.Scenario
	// Exhaust runs every combination of the choices of s, most of them at most. What was found comes with every error.
	Exhaust func(ctx context.Context, s *scenarios.Scenario, laws []fact.Law, most int) (Exhausted, error)
	// Survey returns a RunFunc that counts what its runs come by, and what they came by so far.
	Survey func() (run RunFunc, coverage func(laws []fact.Law) []Covered)
	// Profiles are the words for kinds of random scenarios.
	Profiles []string
	// Draw starts a search of random scenarios, one for each seed from the first on.
	Draw func(profile string, from uint64) Search
	// Around starts one of variations of the scenario that a seed draws.
	Around func(profile string, around, from uint64) Search
	// Variations starts one of variations of a written scenario; half of them run with seed.
	Variations func(s *scenarios.Scenario, seed, from uint64) Search
	// Steer starts one that varies what came by something new; the members of a corpus are run first.
	Steer func(profile string, from uint64, corpus []Member) Search
	// Reduced makes a member of a capsule; false where only the capsule itself shows the failure.
	Reduced func(ctx context.Context, capsule []byte, laws []fact.Law) (Member, bool)
	// Replay runs a capsule again, up to and with event until when that is above 0. Its error is ErrOtherVersion for a
	// capsule of another version.
	Replay func(ctx context.Context, capsule []byte, until int64, o RunOptions) (result.Result, error)
	// Regress runs a capsule of any version as this program's own run; the notes say what could not be repeated.
	Regress func(ctx context.Context, capsule []byte, o RunOptions) (r result.Result, notes []string, err error)
	// Walk runs a capsule and shows each event before it happens.
	Walk func(ctx context.Context, capsule []byte, o RunOptions, visit func(Moment)) (result.Result, error)
	// Branch runs a capsule unchanged and changed.
	Branch func(ctx context.Context, capsule []byte, o RunOptions, b Branch) (Branched, error)
}

// ErrOtherVersion says that another version made a capsule: its events would be others.
var ErrOtherVersion = errors.New("another version made it")

// Search is a search of random scenarios under way.
type Search interface {
	// Batch returns the next runs, most of them at most, which may be done at the same time. Learn counts those that
	// were done.
	Batch(most int) []SearchRun
	Learn()
	// Coverage is what the runs came by, in the order of reports.
	Coverage(laws []fact.Law) []Covered
	// Corpus are the members that are worth keeping.
	Corpus() []Member
}

// SearchRun is one run of a Search.
type SearchRun struct {
	Scenario *scenarios.Scenario
	Seed     uint64
	Run      RunFunc
}

// Member is a scenario of a corpus with its seed. Kept: it stays whatever else covers the same.
type Member struct {
	Scenario *scenarios.Scenario
	Seed     uint64
	Kept     bool
}

// Covered is one group of what runs came by: how many runs by which, and what none came by, where that can be said.
type Covered struct {
	Group   string
	Reached map[string]int
	Missing []string
}

// Point is one place of a run where a fault can happen.
type Point struct {
	// Kind is the kind of operation, Name says which one and what happens to it.
	Kind, Name string
	// Scenario makes the one that was asked about, with the fault.
	Scenario func() *scenarios.Scenario
}

// Exhausted is what an exhaustive search came to.
type Exhausted struct {
	Runs     int
	Complete bool
	Broken   []ExhaustedRun
}

// ExhaustedRun is a combination of choices that did not pass.
type ExhaustedRun struct {
	// Run counts from 1.
	Run    int
	Result result.Result
	// Shrink makes its capsule.
	Shrink func(ctx context.Context) ([]byte, error)
}

// Session is everything that one command's run leaves behind, as reports are made of it.
type Session struct {
	Version     string
	Command     string
	Started     time.Time
	WallSeconds float64
	Results     []result.Result
	// Incomplete says what is missing and why, "" for nothing: an interrupt ended the command early.
	Incomplete string
	// Explored is set by explore.
	Explored *Explored
}

// Reports are the formats of finished runs.
type Reports struct {
	// Text starts verdict lines for scenarios of these names.
	Text func(w io.Writer, names []string, o TextOptions) TextReport
	// JSON writes result.json's content.
	JSON func(w io.Writer, s Session) error
	// Folder starts a report's folder; what is there stays until the new one is kept.
	Folder func(dir string) (Folder, error)
	// Again writes the report's files again from the result.json in a folder and returns its runs.
	Again func(dir string) ([]result.Result, error)
	// Experiment writes an experiment's page into its folder; nil in a build without plots.
	Experiment func(dir string, o *experiment.Outcome) error
	// Events starts a log of event lines.
	Events func(w io.Writer) EventLog
	// EventsFile is that log's name in the folder.
	EventsFile string
}

// Folder is a report's folder in the making.
type Folder interface {
	// Stage is where event lines and capsules are put.
	Stage() string
	// Keep writes the report and lets all of it take the folder's place at once. Drop leaves what was there; after Keep
	// it does nothing.
	Keep(s Session) error
	Drop() error
}

// keep writes a whole report's folder.
func (r Reports) keep(dir string, s Session) error {
	f, err := r.Folder(dir)
	if err != nil {
		return err
	}
	return f.Keep(s)
}

// TextOptions say how much a text report holds. A verbose one names laws without occasions, too; a quiet one leaves out
// runs that passed.
type TextOptions struct{ Verbose, Quiet bool }

// TextReport prints runs as verdict lines.
type TextReport interface {
	Add(result.Result)
	// Open prints the verdict of a run whose causes are not found yet; Add prints the rest.
	Open(result.Result)
	// Whole says that the runs are complete: a verbose report then names what none of them exercised.
	Whole()
	Close() error
}

// EventLog keeps event lines. Flush returns its first error.
type EventLog interface {
	Begin(scenario, world string, seed uint64)
	Event(seq int64, at time.Duration, line []byte)
	Flush() error
}

// AgentSchema is the JSON schema of an agent's configuration file. The zero AgentSchema is none.
type AgentSchema struct {
	// File is the name of the schema's file beside configuration files, Comment the line of those that names it to editors.
	File, Comment string
	Text          func() []byte
}
