package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// duelDefault is the catalogue's scenario for duels.
const duelDefault = "duel"

// duelSystems fight in this order.
var duelSystems = []scenarios.System{scenarios.Contiv, scenarios.Cilium, scenarios.NodeIPAM, scenarios.Datastore, scenarios.Calico}

func duelCommand(c Config) *cobra.Command {
	f := runFlags{world: "sim", events: "none", jobs: 1, seed: 1}
	var asItWas []string
	cmd := &cobra.Command{
		Use:   "duel [FILE]",
		Short: "Run all five address management systems under the same churn and compare them",
		Long: `Run one scenario with each address management system: the same nodes and pods come and go at the same times. FILE is a
scenario file or the name of a scenario of the catalogue, "duel" when absent. Nothing in it may be left to chance: no churn
section, no faults, no node "any". With --as-it-was a system fights once more with a fault that its upstream once had, by its name
in vppdrill museum --list; such a run goes on behind its first broken law, and does not decide the exit code.

Columns: broken is how often laws were, collisions how often an address, a block or a node ID had two owners; leaked are addresses
that no pod holds at the end and nobody will give back; writes are requests that change what the system keeps its state in;
waited are pods that found no address, and how long the longest
waited; wasted are addresses of nodes' blocks that no pod held, on average; reused is how soon an address came again: the
shortest time, and the fewest leases between.`,
		Example: "  vppdrill duel\n  vppdrill duel --as-it-was nodeipam=existing-not-occupied --as-it-was datastore=checkpoint-buffered\n  vppdrill duel my-scenario.yaml --format json",
		Args:    cli.Args(0, 1, "one scenario at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := duelDefault
			if len(args) > 0 {
				file = args[0]
			}
			return duel(cmd, c, f, file, asItWas)
		},
	}
	cmd.ValidArgsFunction = c.completeScenarios
	cmd.Flags().Uint64Var(&f.seed, "seed", f.seed, "decides what a scenario leaves open, such as where searches start")
	cmd.Flags().StringVar(&f.out, "out", "", "folder for result.json, junit.xml and report.html")
	cmd.Flags().StringArrayVar(&asItWas, "as-it-was", nil, "SYSTEM=FAULT: the system again, as its upstream once was (repeatable)")
	cli.AddFormat(cmd, &f.format)
	return cmd
}

func duel(cmd *cobra.Command, c Config, f runFlags, file string, asItWas []string) error {
	list, err := c.load(false, []string{file})
	if err != nil {
		return err
	}
	churn, err := churnOf(list[0])
	if err != nil {
		return err
	}
	run, err := c.world(cmd.Context(), f.world)
	if err != nil {
		return err
	}
	b := &batch{world: f.world, run: run, laws: c.Laws(), jobs: f.jobs, story: f.out != "", explain: c.Explorer.Explain}
	contestants, err := contestantsOf(c, asItWas)
	if err != nil {
		return err
	}
	for _, x := range contestants {
		s, err := fighter(list[0], x)
		if err != nil {
			return err
		}
		b.tasks = append(b.tasks, task{s, f.seed})
	}
	started := time.Now()
	results, err := b.do(cmd.Context(), cmd.ErrOrStderr(), nil)
	if err != nil {
		return err
	}
	rows := duelRows(contestants, results)
	if f.out != "" {
		session := Session{Version: c.Version, Command: commandLine(cmd), Started: started, WallSeconds: time.Since(started).Seconds(), Results: results, Duel: duelTable(churn, rows)}
		if err := c.Reports.keep(f.out, session); err != nil {
			return cli.BadInput(err)
		}
	}
	if err := tellDuel(cmd.OutOrStdout(), f.format, churn, rows, results); err != nil {
		return err
	}
	for i, r := range results {
		if r.Verdict != scenarios.Pass && (contestants[i].AsItWas == "" || r.Verdict != scenarios.Fail) {
			return cli.Broken(nil)
		}
	}
	return nil
}

// contestant is a system, as it is or with a fault put back.
type contestant struct {
	System  scenarios.System `json:"system"`
	AsItWas string           `json:"asItWas,omitempty"`
}

// String names it, in a scenario's name too.
func (x contestant) String() string {
	if x.AsItWas == "" {
		return string(x.System)
	}
	return string(x.System) + "-" + x.AsItWas
}

// contestantsOf are all systems as they are, each followed by how it was.
func contestantsOf(c Config, asItWas []string) ([]contestant, error) {
	faults := map[scenarios.System][]string{}
	for _, text := range asItWas {
		system, fault, ok := strings.Cut(text, "=")
		if !ok || !slices.Contains(duelSystems, scenarios.System(system)) {
			return nil, cli.Usagef("--as-it-was %q is not SYSTEM=FAULT with one of %s", text, systemWords())
		}
		if _, err := c.exhibits([]string{fault}); err != nil {
			return nil, err
		}
		faults[scenarios.System(system)] = append(faults[scenarios.System(system)], fault)
	}
	var list []contestant
	for _, system := range duelSystems {
		list = append(list, contestant{System: system})
		for _, fault := range faults[system] {
			list = append(list, contestant{system, fault})
		}
	}
	return list, nil
}

func systemWords() string {
	var words []string
	for _, s := range duelSystems {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// churnOf identifies what happens to every system alike: the whole scenario but its addresses. What is left to chance would
// not be alike.
func churnOf(s *scenarios.Scenario) (string, error) {
	if s.Churn.On() || s.Faults.Any() {
		return "", cli.Usagef("duel: %s leaves churn or faults to chance; write them into its timeline or workload", s.Name)
	}
	for _, step := range s.Timeline {
		if line := step.Action.String(); strings.Contains(line, "=any") {
			return "", cli.Usagef("duel: %s leaves a node to chance: %s", s.Name, line)
		}
	}
	bare := *s
	bare.Config.IPAM = scenarios.DefaultConfig().IPAM
	sum := sha256.Sum256(bare.Marshal())
	return hex.EncodeToString(sum[:6]), nil
}

// violationsCounted bounds what is counted of a contestant as it was: one that cannot settle breaks a law with every look.
const violationsCounted = 1_000_000

// fighter is the scenario with one contestant.
func fighter(s *scenarios.Scenario, x contestant) (*scenarios.Scenario, error) {
	own := *s
	own.Name = s.Name + "-" + x.String()
	own.Config.IPAM.System = x.System
	if x.System == scenarios.Datastore {
		own.Config.IPAM.PodSubnetOneNodePrefixLen = 0 // EC2 knows one length
	}
	if x.AsItWas != "" {
		own.Faults.AsItWas, own.Limits.Violations = x.AsItWas, violationsCounted
	}
	if err := own.Validate(); err != nil {
		return nil, cli.BadInput(fmt.Errorf("duel: with %s: %w", x, err))
	}
	return &own, nil
}

// duelRow is one contestant's line.
type duelRow struct {
	contestant
	Verdict     string  `json:"verdict"`
	Violations  int64   `json:"violations"`
	Collisions  int64   `json:"collisions"`
	Leaked      int64   `json:"leakedAddresses"`
	Writes      int64   `json:"apiWrites"`
	Waited      int64   `json:"podsWaited"`
	LongestWait float64 `json:"longestWaitSeconds"`
	NeverPlaced int64   `json:"podsNeverPlaced"`
	Wasted      float64 `json:"wastedAddresses"`
	Reused      int64   `json:"reused"`
	ReuseAfter  float64 `json:"shortestReuseSeconds"`
	ReuseLeases int64   `json:"shortestReuseLeases"`
	Adds        int64   `json:"adds"`
	Digest      string  `json:"digest"`
}

func duelRows(contestants []contestant, results []scenarios.Result) []duelRow {
	rows := make([]duelRow, len(results))
	for i, r := range results {
		s := r.Summary
		rows[i] = duelRow{contestant: contestants[i], Verdict: string(r.Verdict), Violations: r.Violations(), Collisions: r.Collisions(), Leaked: s.LeakedAddresses, Writes: s.APIWrites,
			Waited: s.PodsWaited, LongestWait: s.LongestWaitSeconds, NeverPlaced: s.PodsNeverPlaced, Wasted: s.WastedAddresses,
			Reused: s.Reused, ReuseAfter: s.ShortestReuseSeconds, ReuseLeases: s.ShortestReuseLeases, Adds: s.Adds, Digest: r.Digest}
	}
	return rows
}

// duelTable is the rows as people read them.
func duelTable(churn string, rows []duelRow) *Table {
	t := &Table{Title: "churn " + churn + ", the same for all",
		Columns: []string{"system", "verdict", "pods", "broken", "collisions", "leaked", "writes", "waited", "longest", "never", "wasted", "reused", "after", "leases"}}
	for _, r := range rows {
		after, leases := "-", "-"
		if r.ReuseLeases >= 0 {
			after, leases = fmt.Sprintf("%.1fs", r.ReuseAfter), fmt.Sprint(r.ReuseLeases)
		}
		t.Rows = append(t.Rows, []string{r.String(), r.Verdict, fmt.Sprint(r.Adds), fmt.Sprint(r.Violations), fmt.Sprint(r.Collisions), fmt.Sprint(r.Leaked), fmt.Sprint(r.Writes),
			fmt.Sprint(r.Waited), fmt.Sprintf("%.1fs", r.LongestWait), fmt.Sprint(r.NeverPlaced), fmt.Sprintf("%.0f", r.Wasted), fmt.Sprint(r.Reused), after, leases})
	}
	return t
}

func tellDuel(w io.Writer, format cli.Format, churn string, rows []duelRow, results []scenarios.Result) error {
	if format == cli.JSON {
		return json.NewEncoder(w).Encode(struct {
			Churn   string    `json:"churn"`
			Systems []duelRow `json:"systems"`
		}{churn, rows})
	}
	table := duelTable(churn, rows)
	fmt.Fprintf(w, "%s\n\n", table.Title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{table.Columns}, table.Rows...) {
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
	}
	for i, r := range results {
		if f := r.Failure; f != nil {
			defer fmt.Fprintf(w, "%s: %s: %s\n", rows[i].contestant, f.Law, f.What)
		} else if r.Error != "" {
			defer fmt.Fprintf(w, "%s: %s\n", rows[i].contestant, r.Error)
		}
	}
	return t.Flush()
}
