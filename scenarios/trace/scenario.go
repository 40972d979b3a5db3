package trace

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Options are how a trace becomes a scenario. The zero Options are useful.
type Options struct {
	// Name is the scenario's name; the format's when empty.
	Name string
	// Nodes is how many nodes the cluster has; 0 takes the format's own number.
	Nodes int
	// Repeat makes a sparse trace denser: each pod comes Repeat times, named pod, pod-r2, pod-r3 and so on, of the
	// applications app, app-r2, app-r3. Copies keep the recorded times exactly, so that the trace's bursts stay bursts, and
	// have placement limits of their own, so that what fitted still fits. 0 means 1.
	Repeat int
	// Churn, when set, replaces the pods that come after the start by churn that is learnt of them, for so long: runs longer than the
	// trace, and another at each seed.
	Churn time.Duration
}

// settleOfTraces is how long clusters of traces may take: the quarantine of node IDs and a queue of waiting pods come to rest within it.
const settleOfTraces = 30 * time.Minute

// These keep a mistyped number from filling the memory.
const (
	repeatMax = 1000
	nodesMax  = 5000
	podsMax   = 2_000_000
)

func (o Options) withDefaults(name string, nodes int) Options {
	if o.Name == "" {
		o.Name = name
	}
	if o.Nodes == 0 {
		o.Nodes = nodes
	}
	if o.Repeat == 0 {
		o.Repeat = 1
	}
	return o
}

// rowSet collects pods with different names.
type rowSet struct {
	pods  scenarios.Rows
	names map[string]bool
	// backward counts rows of pods that end before they begin.
	backward int
}

func (s *rowSet) add(t *table, column string, pod scenarios.WorkloadPod) error {
	if s.names == nil {
		s.names = map[string]bool{}
	}
	if s.names[pod.Name] {
		return t.wrong(column, "is in an earlier row already")
	}
	if pod.Delete < pod.Create {
		s.backward++
		return nil
	}
	s.names[pod.Name] = true
	s.pods = append(s.pods, pod)
	return nil
}

// podTimes reads a pod's life. One that is deleted in the moment of its creation is legal: traces hold some.
func podTimes(t *table, pod *scenarios.WorkloadPod, creation, deletion string) (err error) {
	if pod.Create, err = t.seconds(creation, scenarios.BeforeStart); err != nil {
		return err
	}
	pod.Delete, err = t.seconds(deletion, scenarios.AfterEnd)
	return err
}

// scenario makes the scenario around the pods.
func (o Options) scenario(t *table, rows rowSet) (*scenarios.Scenario, error) {
	pods := rows.pods
	switch {
	case o.Repeat < 1 || o.Repeat > repeatMax:
		return nil, fmt.Errorf("repeat %d is not between 1 and %d", o.Repeat, repeatMax)
	case o.Nodes < 1 || o.Nodes > nodesMax:
		return nil, fmt.Errorf("nodes %d is not between 1 and %d", o.Nodes, nodesMax)
	case len(pods) == 0 && rows.backward > 0:
		return nil, &scenarios.InputError{File: t.file, Line: 2, Column: 1, Message: "all pods of the file end before they begin"}
	case len(pods) == 0:
		return nil, &scenarios.InputError{File: t.file, Line: 2, Column: 1, Message: "the file lists no pod"}
	}
	pods, err := repeat(pods, o.Repeat)
	if err != nil {
		return nil, err
	}
	peak, end := measure(pods)
	var notes []string
	how, count := "replayed:", len(pods)
	s := scenarios.Default()
	s.Name = o.Name
	s.Labels = []string{"trace", "slow"}
	s.Topology.Nodes = o.Nodes
	s.Duration = end
	if o.Churn > 0 {
		var note string
		if pods, s.Churn, note = churnOf(pods, end, o.Churn); note != "" {
			notes = append(notes, note)
		}
		s.Duration = o.Churn
		how = "as learnt of"
	}
	if len(pods) > 0 {
		s.Workload = scenarios.Workload{Format: "pods/1", Rows: pods}
	}
	s.Limits.Settle = settleOfTraces
	s.Goal = fmt.Sprintf("The %s trace %s %d pods over %s, at most %d at a time, on %d nodes. Every law holds to the end.",
		o.Name, how, count, scenarios.FormatDuration(end), peak, o.Nodes)
	plan, err := planFor(o.Nodes, peak)
	if err != nil {
		return nil, err
	}
	s.Config.IPAM, s.Topology.MaxPodsPerNode = plan.ipam, plan.podsPerNode
	s.Notes = append(notes, plan.why)
	if n := rows.backward; n > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("Left out: %d of %d pods end before they begin.", n, n+len(rows.pods)))
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &s, nil
}

// repeat returns each pod and its copies, copies right behind the original. Names have room for the suffix: see nameMax.
func repeat(pods scenarios.Rows, times int) (scenarios.Rows, error) {
	switch {
	case times == 1:
		return pods, nil
	case len(pods)*times > podsMax:
		return nil, fmt.Errorf("%d pods repeated %d times are more than %d", len(pods), times, podsMax)
	}
	names := make(map[string]bool, len(pods))
	for _, pod := range pods {
		names[pod.Name] = true
	}
	out := make(scenarios.Rows, 0, len(pods)*times)
	for _, pod := range pods {
		out = append(out, pod)
		for n := 2; n <= times; n++ {
			copied, suffix := pod, "-r"+strconv.Itoa(n)
			copied.Name, copied.App = pod.Name+suffix, pod.App+suffix
			if names[copied.Name] {
				return nil, fmt.Errorf("copy %d of pod %s would be named like pod %s of the trace", n, pod.Name, copied.Name)
			}
			out = append(out, copied)
		}
	}
	return out, nil
}

// measure finds how many pods exist at a time at most, and the last recorded time.
func measure(pods scenarios.Rows) (peak int, end time.Duration) {
	type change struct {
		at    time.Duration
		delta int
	}
	changes := make([]change, 0, 2*len(pods))
	for _, p := range pods {
		changes = append(changes, change{p.Create, 1})
		end = max(end, p.Create)
		if p.Delete != scenarios.AfterEnd {
			changes = append(changes, change{p.Delete, -1})
			end = max(end, p.Delete)
		}
	}
	// At one instant deletions count first, as the pods of a rolling update replace each other.
	slices.SortFunc(changes, func(a, b change) int {
		if a.at != b.at {
			return int(min(max(a.at-b.at, -1), 1))
		}
		return a.delta - b.delta
	})
	count := 0
	for _, c := range changes {
		count += c.delta
		peak = max(peak, count)
	}
	return peak, end
}

// plan is an address plan with its reason.
type plan struct {
	ipam        scenarios.IPAM
	podsPerNode int
	why         string
}

// planFor chooses addresses for so many nodes and so many pods at a time. Contiv's default gives 254 nodes 252 pods each.
// Here a node gets room for three times its fair share of the peak, at least 110 pods (the kubelet's default limit), and
// there are IDs for four times the nodes, because a removed node's ID stays unused for a while.
func planFor(nodes, peak int) (plan, error) {
	pods := max(110, 3*((peak+nodes-1)/nodes))
	podBits := bitsFor(pods + 4) // network, gateway, NAT loopback and broadcast address of each node's block
	idBits := max(8, bitsFor(4*nodes+2))
	if podBits+idBits > 22 {
		return plan{}, fmt.Errorf("%d nodes with room for %d pods each do not fit 10.128.0.0/10", nodes, pods)
	}
	pods4 := "10.0.0.0"
	if podBits+idBits > 20 {
		pods4 = "10.128.0.0" // a wider range from 10.0.0.0 on would lie over the hosts' network: see Scenario.Management
	}
	p := plan{ipam: scenarios.DefaultConfig().IPAM, podsPerNode: pods}
	p.ipam.PodSubnetCIDR = scenarios.CIDR(prefix(pods4, 32-podBits-idBits))
	p.ipam.PodSubnetOneNodePrefixLen = 32 - podBits
	p.ipam.VPPHostSubnetCIDR = scenarios.CIDR(prefix("172.16.0.0", 30-idBits))
	p.ipam.VPPHostSubnetOneNodePrefixLen = 30
	p.ipam.NodeInterconnectCIDR = scenarios.CIDR(prefix("10.64.0.0", 32-idBits))
	p.ipam.VXLANCIDR = scenarios.CIDR(prefix("10.68.0.0", 32-idBits))
	p.why = fmt.Sprintf("Addresses: Contiv's default plan ends at 254 nodes, each with a /24 for 252 pods. This one has %d nodes and "+
		"at most %d pods at a time, so each node gets a /%d (%d pods, three times its fair share or the kubelet's usual 110) "+
		"and the pod subnet is a /%d with node IDs up to %d: four times the nodes, because the ID of a removed node stays "+
		"unused for a while.",
		nodes, peak, 32-podBits, 1<<podBits-4, 32-podBits-idBits, 1<<idBits-2)
	return p, nil
}

// bitsFor is the smallest number of bits that number n things.
func bitsFor(n int) int {
	bits := 0
	for 1<<bits < n {
		bits++
	}
	return bits
}

func prefix(addr string, bits int) netip.Prefix {
	return netip.PrefixFrom(netip.MustParseAddr(addr), bits).Masked()
}
