package explore

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// dropRows takes pods out of the workload.
func (k *shrinker) dropRows() {
	cut(k, k.best.Workload.Rows, func(s *scenarios.Scenario, keep []scenarios.WorkloadPod) {
		s.Workload.Rows = keep
		if len(keep) == 0 {
			s.Workload = scenarios.Workload{}
		}
	})
}

// dropChurn replaces churn by pods that stay, by one that leaves, or by less of it.
func (k *shrinker) dropChurn() {
	if !k.best.Churn.On() {
		return
	}
	for _, pods := range [...]int{0, 1, 4} { // of each node, instead
		stay := func(s *scenarios.Scenario) {
			s.Churn, s.Topology.PodsPerNode = scenarios.Churn{}, max(pods, s.Topology.PodsPerNode)
		}
		if k.change(stay) || k.best.Churn.Lifetime > 0 && k.change(func(s *scenarios.Scenario) {
			stay(s)
			leave := scenarios.Step{Trigger: scenarios.AfterPrevious, Action: scenarios.DeletePods{Count: 1}}
			s.Timeline = append(s.Timeline, leave, scenarios.Step{Trigger: scenarios.WhenSettled, Action: scenarios.Settle{}})
		}) {
			return
		}
	}
	k.change(func(s *scenarios.Scenario) { s.Churn.Lifetime = 0 })
	k.change(func(s *scenarios.Scenario) { s.Churn.Count = 0 })
	k.change(func(s *scenarios.Scenario) { s.Churn.From = 0 })
	k.change(func(s *scenarios.Scenario) { s.Churn.Until = 0 })
	k.change(func(s *scenarios.Scenario) { s.Churn.App = "" })
	for k.best.Churn.Every < time.Hour && k.change(func(s *scenarios.Scenario) { s.Churn.Every *= 2 }) {
	}
	k.change(func(s *scenarios.Scenario) { s.Churn.Every = max(s.Churn.Every.Round(time.Second), time.Second) })
	k.change(func(s *scenarios.Scenario) {
		s.Churn.Lifetime = max(s.Churn.Lifetime.Round(time.Second), min(s.Churn.Lifetime, time.Second))
	})
}

// fewerPods takes away pods, and limits that are not the usual ones.
func (k *shrinker) fewerPods() {
	k.least(0, k.best.Topology.PodsPerNode, func(s *scenarios.Scenario, n int) { s.Topology.PodsPerNode = n })
	usual := scenarios.Default()
	k.change(func(s *scenarios.Scenario) { s.Topology.MaxPodsPerNode = usual.Topology.MaxPodsPerNode })
	k.change(func(s *scenarios.Scenario) { s.Topology.HostIPs = usual.Topology.HostIPs })
	k.change(func(s *scenarios.Scenario) { s.Topology.Zones = usual.Topology.Zones })
	k.change(func(s *scenarios.Scenario) { s.Topology.NIC = usual.Topology.NIC })
	k.change(func(s *scenarios.Scenario) { s.Limits = usual.Limits })
}

// usualConfig puts the configuration back to its defaults: all of it, its sections, its fields.
func (k *shrinker) usualConfig() {
	usual := scenarios.DefaultConfig()
	if reflect.DeepEqual(k.best.Config, usual) || k.change(func(s *scenarios.Scenario) { s.Config = usual }) {
		return
	}
	config := func(s *scenarios.Scenario) reflect.Value { return reflect.ValueOf(&s.Config).Elem() }
	for i := range config(k.best).NumField() {
		from := reflect.ValueOf(usual).Field(i)
		if reflect.DeepEqual(config(k.best).Field(i).Interface(), from.Interface()) ||
			k.change(func(s *scenarios.Scenario) { config(s).Field(i).Set(from) }) {
			continue
		}
		if from.Kind() == reflect.Slice {
			k.fewerElements(func(s *scenarios.Scenario) reflect.Value { return config(s).Field(i) })
			continue
		}
		for j, m := range scenarios.Members(from) {
			of := func(s *scenarios.Scenario) reflect.Value { return scenarios.Members(config(s).Field(i))[j].Value }
			if !reflect.DeepEqual(of(k.best).Interface(), m.Value.Interface()) {
				k.change(func(s *scenarios.Scenario) { of(s).Set(m.Value) })
			}
		}
	}
}

// fewerElements takes elements of a list away.
func (k *shrinker) fewerElements(of func(*scenarios.Scenario) reflect.Value) {
	before := of(k.best)
	all := make([]int, before.Len())
	for i := range all {
		all[i] = i
	}
	cut(k, all, func(s *scenarios.Scenario, keep []int) {
		kept := reflect.MakeSlice(before.Type(), 0, len(keep))
		for _, i := range keep {
			kept = reflect.Append(kept, before.Index(i))
		}
		of(s).Set(kept)
	})
}

// dropNodes takes nodes away, with everything that concerns them; the others move up.
func (k *shrinker) dropNodes() {
	if k.best.Topology.Nodes < 2 {
		return
	}
	all := make([]int, k.best.Topology.Nodes)
	for i := range all {
		all[i] = i + 1
	}
	before := k.best
	cut(k, all, func(s *scenarios.Scenario, keep []int) { *s = *keepNodes(before, keep) })
}

// nodePattern finds the nodes of the start in names, pods' names and faults.
var nodePattern = regexp.MustCompile(`\bnode-([1-9][0-9]*)`)

// keepNodes is s with only the given nodes of the start, in ascending order. Nodes that join later move up, too.
func keepNodes(s *scenarios.Scenario, keep []int) *scenarios.Scenario {
	c := copyOf(s)
	c.Topology.Nodes = len(keep)
	rename := func(text string) (string, bool) {
		known := true
		return nodePattern.ReplaceAllStringFunc(text, func(name string) string {
			n, _ := strconv.Atoi(name[len("node-"):])
			switch i := slices.Index(keep, n); {
			case i >= 0:
				n = i + 1
			case n > s.Topology.Nodes:
				n -= s.Topology.Nodes - len(keep)
			default:
				known = false
			}
			return "node-" + strconv.Itoa(n)
		}), known
	}
	renamed := func(list []string) []string {
		var out []string
		for _, text := range list {
			if text, known := rename(text); known {
				out = append(out, text)
			}
		}
		return out
	}
	c.Faults.Nodes, c.Faults.Inject = renamed(s.Faults.Nodes), renamed(s.Faults.Inject)
	c.Timeline = nil
	for _, step := range s.Timeline {
		line, known := rename(step.Action.String())
		if !known {
			continue
		}
		action, err := scenarios.ParseAction(line)
		if err != nil {
			continue
		}
		step.Action = action
		c.Timeline = append(c.Timeline, step)
	}
	return c
}
