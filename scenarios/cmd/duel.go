package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
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
	cmd := &cobra.Command{
		Use:   "duel [FILE]",
		Short: "Run all five address management systems under the same churn and compare them",
		Long: `Run one scenario with each address management system: the same nodes and pods come and go at the same times. FILE is a
scenario file or the name of a scenario of the catalogue, "duel" when absent. Nothing in it may be left to chance: no churn
section, no faults, no node "any".

Columns: collisions are broken laws; leaked are addresses that no pod holds at the end and nobody will give back; writes are
requests that change what the system keeps its state in; waited are pods that found no address, and how long the longest
waited; wasted are addresses of nodes' blocks that no pod held, on average; reused is how soon an address came again: the
shortest time, and the fewest leases between.`,
		Example: "  vppdrill duel\n  vppdrill duel my-scenario.yaml --format json",
		Args:    cli.Args(0, 1, "one scenario at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := duelDefault
			if len(args) > 0 {
				file = args[0]
			}
			return duel(cmd, c, f, file)
		},
	}
	cmd.ValidArgsFunction = c.completeScenarios
	cmd.Flags().Uint64Var(&f.seed, "seed", f.seed, "decides what a scenario leaves open, such as where searches start")
	cmd.Flags().StringVar(&f.out, "out", "", "folder for result.json, junit.xml and report.html")
	cli.AddFormat(cmd, &f.format)
	return cmd
}

func duel(cmd *cobra.Command, c Config, f runFlags, file string) error {
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
	for _, system := range duelSystems {
		s, err := fighter(list[0], system)
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
	rows := duelRows(results)
	if f.out != "" {
		session := Session{Version: c.Version, Command: commandLine(cmd), Started: started, WallSeconds: time.Since(started).Seconds(), Results: results, Duel: duelTable(churn, rows)}
		if err := c.Reports.keep(f.out, session); err != nil {
			return cli.BadInput(err)
		}
	}
	if err := tellDuel(cmd.OutOrStdout(), f.format, churn, rows, results); err != nil {
		return err
	}
	for _, r := range results {
		if r.Verdict != scenarios.Pass {
			return cli.Broken(nil)
		}
	}
	return nil
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

// fighter is the scenario with one system.
func fighter(s *scenarios.Scenario, system scenarios.System) (*scenarios.Scenario, error) {
	own := *s
	own.Name = s.Name + "-" + string(system)
	own.Config.IPAM.System = system
	if system == scenarios.Datastore {
		own.Config.IPAM.PodSubnetOneNodePrefixLen = 0 // EC2 knows one length
	}
	if err := own.Validate(); err != nil {
		return nil, cli.BadInput(fmt.Errorf("duel: with %s: %w", system, err))
	}
	return &own, nil
}

// duelRow is one system's line.
type duelRow struct {
	System      scenarios.System `json:"system"`
	Verdict     string           `json:"verdict"`
	Collisions  int64            `json:"collisions"`
	Leaked      int64            `json:"leakedAddresses"`
	Writes      int64            `json:"apiWrites"`
	Waited      int64            `json:"podsWaited"`
	LongestWait float64          `json:"longestWaitSeconds"`
	NeverPlaced int64            `json:"podsNeverPlaced"`
	Wasted      float64          `json:"wastedAddresses"`
	Reused      int64            `json:"reused"`
	ReuseAfter  float64          `json:"shortestReuseSeconds"`
	ReuseLeases int64            `json:"shortestReuseLeases"`
	Adds        int64            `json:"adds"`
	Digest      string           `json:"digest"`
}

func duelRows(results []scenarios.Result) []duelRow {
	rows := make([]duelRow, len(results))
	for i, r := range results {
		s := r.Summary
		rows[i] = duelRow{System: duelSystems[i], Verdict: string(r.Verdict), Leaked: s.LeakedAddresses, Writes: s.APIWrites,
			Waited: s.PodsWaited, LongestWait: s.LongestWaitSeconds, NeverPlaced: s.PodsNeverPlaced, Wasted: s.WastedAddresses,
			Reused: s.Reused, ReuseAfter: s.ShortestReuseSeconds, ReuseLeases: s.ShortestReuseLeases, Adds: s.Adds, Digest: r.Digest}
		for _, l := range r.Laws {
			rows[i].Collisions += l.Violations
		}
	}
	return rows
}

// duelTable is the rows as people read them.
func duelTable(churn string, rows []duelRow) *Table {
	t := &Table{Title: "churn " + churn + ", the same for all",
		Columns: []string{"system", "verdict", "pods", "collisions", "leaked", "writes", "waited", "longest", "never", "wasted", "reused", "after", "leases"}}
	for _, r := range rows {
		after, leases := "-", "-"
		if r.ReuseLeases >= 0 {
			after, leases = fmt.Sprintf("%.1fs", r.ReuseAfter), fmt.Sprint(r.ReuseLeases)
		}
		t.Rows = append(t.Rows, []string{string(r.System), r.Verdict, fmt.Sprint(r.Adds), fmt.Sprint(r.Collisions), fmt.Sprint(r.Leaked), fmt.Sprint(r.Writes),
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
			defer fmt.Fprintf(w, "%s: %s: %s\n", rows[i].System, f.Law, f.What)
		} else if r.Error != "" {
			defer fmt.Fprintf(w, "%s: %s\n", rows[i].System, r.Error)
		}
	}
	return t.Flush()
}
