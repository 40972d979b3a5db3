package lab_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// addressSystems are what a lab's addresses come from, and by what a scenario says so.
var addressSystems = []struct{ name, ipam string }{
	{"contiv", "{podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 25}"},
	{"nodeipam", "{system: nodeipam, podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 25}"},
	{"cluster-pool", "{system: cilium, podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 25, cilium: {mode: cluster-pool}}"},
	{"multi-pool", "{system: cilium, podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 28}"},
	{"crd", "{system: cilium, podSubnetCIDR: 10.1.0.0/16, ranges: [10.1.0.0/22], cilium: {mode: crd}}"},
	{"eni", "{system: cilium, podSubnetCIDR: 10.1.0.0/20, cilium: {mode: eni}, datastore: {instanceType: m5.4xlarge}}"},
	{"datastore", "{system: datastore, podSubnetCIDR: 10.1.0.0/16, datastore: {instanceType: m5.4xlarge}}"},
	{"calico", "{system: calico, podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 26}"},
}

// figured is a lab whose agents and controllers are asked for their figures.
type figured struct {
	*lab.World
	t   *testing.T
	ctx context.Context
	// begun is when each pod's ADD reached its agent, took how long those took that have been answered.
	begun map[ipam.Owner]time.Duration
	took  []time.Duration
}

// newFigured is one of three nodes that has come to rest.
func newFigured(t *testing.T, system string, pods int, scale float64) *figured {
	t.Helper()
	o := options(t)
	o.TimeScale = scale
	w, ctx := raised(t, o, fmt.Sprintf("name: figures\ntopology: {nodes: 3, podsPerNode: %d}\nconfig:\n  ipam: %s\n", pods, system), 10*time.Minute)
	f := &figured{World: w, t: t, ctx: ctx, begun: map[ipam.Owner]time.Duration{}}
	w.Watch(func(x fact.Fact) error {
		switch what := x.What.(type) {
		case fact.Asked:
			if what.Command == fact.AskedAdd {
				f.begun[what.Owner] = x.At
			}
		case fact.Answered:
			if at, ok := f.begun[what.Owner]; ok {
				f.took = append(f.took, time.Duration(float64(x.At-at)/scale))
				delete(f.begun, what.Owner)
			}
		}
		return nil
	})
	f.settle()
	return f
}

func (f *figured) settle() {
	f.t.Helper()
	if err := f.Settle(f.ctx, time.Hour); err != nil {
		f.t.Fatal(err)
	}
}

func (f *figured) do(a scenarios.Action) {
	f.t.Helper()
	if err := f.Do(f.ctx, a); err != nil {
		f.t.Fatal(err)
	}
}

func (f *figured) pass(d time.Duration) {
	f.t.Helper()
	if err := f.Advance(f.ctx, f.Now()+d); err != nil {
		f.t.Fatal(err)
	}
}

// answered waits until so many ADDs have been answered.
func (f *figured) answered(n int) {
	f.t.Helper()
	for len(f.took) < n {
		f.pass(20 * time.Millisecond)
	}
}

// sum is what Prometheus' own parser reads of a metric at a node, or of the control plane for "", in all its figures whose labels have those
// values.
func (f *figured) sum(node, metric string, labels ...string) (sum float64) {
	f.t.Helper()
	text, err := f.Scrape(node)
	if err != nil {
		f.t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		f.t.Fatalf("%s: %v", node, err)
	}
	for _, m := range families[metric].GetMetric() {
		var have []string
		for _, l := range m.Label {
			have = append(have, l.GetValue())
		}
		if !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(have, l) }) {
			sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return sum
}

// pods are how many of a node's have an address, in all of them for "".
func (f *figured) pods(node string) (n float64) {
	f.t.Helper()
	s, err := f.Snapshot(f.ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, x := range s.Nodes {
		for _, p := range x.Pods {
			if p.Addr.IsValid() && (node == "" || x.Name == node) {
				n++
			}
		}
	}
	return n
}

// Goal: what agents and controllers on real VPPs show to Prometheus is what the kubelets, the API server and EC2 say. Method: a lab of each
// system at rest, and after pods came and went; its figures are read by Prometheus' own parser.
func TestFiguresAreTheBooks(t *testing.T) {
	for _, s := range addressSystems {
		t.Run(s.name, func(t *testing.T) {
			f := newFigured(t, s.ipam, 3, 10)
			for _, change := range []func(){
				func() {},
				func() { f.do(scenarios.CreatePods{Count: 4, Node: "node-1"}) },
				func() { f.do(scenarios.DeletePods{Count: 2, Node: "node-2"}) },
			} {
				change()
				f.settle()
				for _, node := range []string{"node-1", "node-2", "node-3"} {
					held, want := "vppdrill_agent_leases", f.pods(node)
					f.is(node, held, want)
					switch s.name {
					case "cluster-pool", "multi-pool", "crd", "eni":
						f.is(node, "cilium_ip_addresses", want)
						if came, went := f.sum(node, "cilium_ipam_events_total", "allocate"), f.sum(node, "cilium_ipam_events_total", "release"); came-went != want {
							t.Errorf("%s: %v came and %v went, and it has %v", node, came, went, want)
						}
						if room := f.sum(node, "cilium_ipam_capacity"); room < want {
							t.Errorf("%s has %v addresses and room for %v", node, want, room)
						}
					case "datastore":
						f.is(node, "awscni_assigned_ip_addresses", want)
					}
				}
				all := f.pods("")
				switch s.name {
				case "nodeipam":
					if n := f.sum("", "node_ipam_controller_cidrset_usage_cidrs") * f.sum("", "node_ipam_controller_cirdset_max_cidrs"); n != 3 {
						t.Errorf("%v blocks of nodes, want 3", n)
					}
				case "cluster-pool":
					f.is("", "vppdrill_operator_blocks", 3)
				case "multi-pool":
					blocks := 0.0
					for _, node := range []string{"node-1", "node-2", "node-3"} {
						blocks += f.sum(node, "vppdrill_agent_blocks")
					}
					f.is("", "vppdrill_operator_blocks", blocks)
				case "crd", "eni":
					f.is("", "cilium_operator_ipam_used_ips", all)
				case "datastore":
					asked := 0.0
					for _, node := range []string{"node-1", "node-2", "node-3"} {
						asked += f.sum(node, "awscni_ec2api_req_count", "AssignPrivateIpAddresses")
					}
					if n := f.Asked("AssignPrivateIpAddresses"); asked != float64(n) {
						t.Errorf("agents asked for addresses %v times, and EC2 was asked %d times", asked, n)
					}
				case "calico":
					f.is("", "ipam_allocations_in_use", all)
					f.is("", "ipam_blocks", float64(f.Blocks()))
					f.is("", "ipam_ippool_size", 1<<16)
				}
			}
		})
	}
}

// is waits until a figure is what it should be, as who counts may hear of a change later.
func (f *figured) is(node, metric string, want float64) {
	f.t.Helper()
	have := f.sum(node, metric)
	for end := time.Now().Add(10 * time.Second); have != want && time.Now().Before(end); have = f.sum(node, metric) {
		time.Sleep(50 * time.Millisecond)
	}
	if have != want {
		f.t.Errorf("%s shows %s %v, and it is %v", node, metric, have, want)
	}
}

// asked are requests to the lab's API server, without those for leases, and to its EC2, without those to the metadata service.
func (f *figured) asked() (api, ec2 float64) {
	api = f.sum("", "vppdrill_lab_api_requests_total") - f.sum("", "vppdrill_lab_api_requests_total", "leases")
	return api, f.sum("", "vppdrill_lab_ec2_requests_total") - f.sum("", "vppdrill_lab_ec2_requests_total", "metadata")
}

// TestSystemsCost goal: what an ADD takes with each system on real VPPs, and what a pod and an idle node cost its API server and its EC2.
// Method: three nodes get 60 pods each at once; then a pod goes and one comes on each node, 20 times; then nothing happens for a minute. An
// ADD is timed from the kubelet's request to the agent's answer. It prints a table and asserts nothing about it; VPPDRILL_BENCH=1 runs it.
func TestSystemsCost(t *testing.T) {
	if os.Getenv("VPPDRILL_BENCH") == "" {
		t.Skip("measures for minutes: VPPDRILL_BENCH=1 runs it")
	}
	const pods, turns, idle = 60, 20, time.Minute
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 1, ' ', tabwriter.AlignRight|tabwriter.Debug)
	fmt.Fprintln(w, "system\tADD p50, 180 at once\tADD p99\tADD p50, one at a time\tADD p99\tAPI requests a pod\tin churn\ta node and idle hour\tEC2 requests a pod\tin churn\ta node and idle hour\t")
	for _, s := range addressSystems {
		t.Run(s.name, func(t *testing.T) {
			f := newFigured(t, s.ipam, 0, 1)
			api0, ec20 := f.asked()
			f.do(scenarios.CreatePods{Count: pods, Node: scenarios.AllNodes})
			f.answered(3 * pods)
			f.settle()
			atOnce := f.took
			f.took = nil
			api1, ec21 := f.asked()
			for range turns {
				for _, node := range []scenarios.NodeRef{"node-1", "node-2", "node-3"} {
					f.do(scenarios.DeletePods{Count: 1, Node: node})
					f.pass(300 * time.Millisecond)
					n := len(f.took)
					f.do(scenarios.CreatePods{Count: 1, Node: node})
					f.answered(n + 1)
				}
			}
			f.settle()
			api2, ec22 := f.asked()
			f.pass(idle)
			api3, ec23 := f.asked()
			hours := idle.Hours() * 3
			fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%v\t%.1f\t%.1f\t%.0f\t%.2f\t%.2f\t%.0f\t\n", s.name, part(atOnce, 50), part(atOnce, 99), part(f.took, 50), part(f.took, 99),
				(api1-api0)/3/pods, (api2-api1)/3/turns, (api3-api2)/hours, (ec21-ec20)/3/pods, (ec22-ec21)/3/turns, (ec23-ec22)/hours)
			t.Logf("%d and %d ADDs", len(atOnce), len(f.took))
		})
	}
	_ = w.Flush() // into memory
	t.Logf("\n%s", table.String())
}

// part is the pct-th of a hundred, to a tenth of a millisecond.
func part(d []time.Duration, pct int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[min(len(d)-1, len(d)*pct/100)].Round(100 * time.Microsecond)
}
