package cmd

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/noun"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// tellChecked says of scenarios that are valid what a run would exercise, and which worlds could do it. Nothing is run.
func (c Config) tellChecked(w io.Writer, list []*scenarios.Scenario) error {
	for i, s := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		for _, line := range c.checked(s) {
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c Config) checked(s *scenarios.Scenario) (lines []string) {
	say := func(word, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("       %-9s %s", word, fmt.Sprintf(format, args...)))
	}
	lines = append(lines, "valid  "+s.Name)
	pods := fmt.Sprintf("%d at the start", s.Topology.Nodes*s.Topology.PodsPerNode+len(s.Workload.Rows))
	if n := churned(s); n > 0 {
		pods += fmt.Sprintf(", about %d that come and go", n)
	}
	say("cluster", "%s of %s; pods: %s", noun.Count(s.Topology.Nodes, "node"), s.Config.IPAM.System, pods)
	say("time", "%s, then it is healed and has %s to settle; %s", scenarios.FormatDuration(s.BreakEnd()), scenarios.FormatDuration(s.Limits.Settle), noun.Count(max(1, s.Seeds), "seed"))
	verbs := map[string]int{}
	for _, step := range s.Timeline {
		verbs[step.Action.Verb()]++
	}
	var does []string
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		if n := verbs[verb]; n > 1 {
			verb += fmt.Sprintf(" %d times", n)
		}
		does = append(does, verb)
	}
	if len(does) == 0 {
		does = []string{"nothing: only what churn and faults bring"}
	}
	say("actions", "%s", strings.Join(does, ", "))
	var faults []string
	usual := strictyaml.Members(reflect.ValueOf(scenarios.Default().Faults))
	for i, m := range strictyaml.Members(reflect.ValueOf(s.Faults)) {
		if !reflect.DeepEqual(m.Value.Interface(), usual[i].Value.Interface()) {
			faults = append(faults, m.Name)
		}
	}
	if len(faults) > 0 {
		say("faults", "%s", strings.Join(faults, ", "))
	}
	judged := fmt.Sprintf("all %d", len(c.Laws()))
	if s.Laws != nil {
		judged = "only " + strings.Join(s.Laws, ", ")
	}
	say("laws", "%s", judged)
	say("worlds", "sim: all of it")
	for _, world := range labWorlds {
		refuses := c.Refuses[world]
		if refuses == nil {
			continue
		}
		what := "all of it"
		if no := refuses(s); len(no) > 0 {
			what = "cannot " + strings.Join(no, ", ")
		}
		say("", "%s: %s", world, what)
	}
	say("memory", "about %s in the simulator", gib(needs(s)))
	return lines
}
