package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// served are the metrics of programs that go on running, by program; as is whose names, kinds, labels and help they are.
var served = []struct {
	by, as  string
	metrics []*ipam.Metric
}{
	{"`vppdrill agent`, of every system", "ours", host.AgentMetrics},
	{"`vppdrill agent --ipam cluster-pool`, `multi-pool`, `crd` and `eni`", "cilium-agent's, of Cilium 1.18", cilium.AgentMetrics},
	{"`vppdrill agent --ipam datastore`, and `vppdrill ipamd`", "ipamd's, of amazon-vpc-cni-k8s 1.19", slices.Concat(datastore.Metrics, ipamd.DriverMetrics)},
	{"`vppdrill controller`, of every type", "client-go's", kube.Metrics},
	{"`vppdrill controller --type RangeAllocator`, `IPAMFromCluster` and `IPAMFromCloud`", "kube-controller-manager's, of Kubernetes 1.34, misspelling included", nodeipam.Metrics},
	{"`vppdrill controller --type cluster-pool`, `multi-pool`, `crd` and `eni`", "cilium-operator's; vppdrill_operator_blocks is ours", cilium.OperatorMetrics},
	{"`vppdrill controller --type calico`", "calico-kube-controllers', of Calico 3.30", calico.Metrics},
	{"`vppdrill audit --watch`", "ours; rest_client_requests_total is client-go's, and controllers and agents of `--cluster kubernetes` show it, too", host.WatchMetrics},
	{aLab, "ours", lab.Metrics},
}

// aLab is what no dashboard asks.
const aLab = "`vppdrill lab up` and `run --world netns` and `container`"

// daemonMetrics is a page about them.
func daemonMetrics(b *strings.Builder) {
	for _, s := range served {
		fmt.Fprintf(b, "## %s\n\nThe names are %s.\n\n| metric | kind | labels | means |\n|---|---|---|---|\n", s.by, s.as)
		for _, m := range s.metrics {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", m.Name, m.Kind, strings.Join(m.Labels, ", "), cell(m.Help))
		}
		b.WriteString("\n")
	}
}

// series are the names that a metric's figures have in Prometheus.
func series(m *ipam.Metric) []string {
	switch m.Kind {
	case ipam.Histogram:
		return []string{m.Name + "_bucket", m.Name + "_sum", m.Name + "_count"}
	case ipam.Summary:
		return []string{m.Name, m.Name + "_sum", m.Name + "_count"}
	}
	return []string{m.Name}
}

// notSeries is what a query has beside names of series: labels and durations, what it groups by, functions and numbers.
var notSeries = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|\b(by|without) \([^)]*\)|\b[a-z_]+(?:\()|\b(sum|by)\b|\b[0-9.]+\b|[-+*/(), ]+`)

// Goal: each query of the dashboard asks for what some program serves, and every program is asked for something. Method: the names that are
// left of its queries without functions, labels and numbers.
func TestDashboardAsksForWhatIsServed(t *testing.T) {
	text, err := os.ReadFile("fixtures/kubernetes/monitoring/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			for name := range strings.FieldsSeq(notSeries.ReplaceAllString(q.Expr, " ")) {
				asked[name] = true
				if !slices.ContainsFunc(served, func(s struct {
					by, as  string
					metrics []*ipam.Metric
				}) bool {
					return slices.ContainsFunc(s.metrics, func(m *ipam.Metric) bool { return slices.Contains(series(m), name) })
				}) {
					t.Errorf("panel %q: %s: nobody serves %s", p.Title, q.Expr, name)
				}
			}
		}
	}
	for _, s := range served {
		if s.by != aLab && !slices.ContainsFunc(s.metrics, func(m *ipam.Metric) bool {
			return slices.ContainsFunc(series(m), func(name string) bool { return asked[name] })
		}) {
			t.Errorf("the dashboard asks %s for nothing", s.by)
		}
	}
}

// Goal: the metrics whose names are ours are as Prometheus' own linter wants them. Method: promlint, which promtool check metrics is, on their
// text.
func TestOurMetricsAreLinted(t *testing.T) {
	var text strings.Builder
	n := 0
	for _, s := range served {
		for _, m := range s.metrics {
			if !strings.HasPrefix(m.Name, "vppdrill_") {
				continue
			}
			n++
			fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", m.Name, m.Help, m.Name, m.Kind)
			var labels []string
			for _, l := range m.Labels {
				labels = append(labels, l+`="x"`)
			}
			if m.Kind == ipam.Histogram {
				for _, suffix := range []string{"_sum", "_count"} {
					fmt.Fprintf(&text, "%s%s{%s} 0\n", m.Name, suffix, strings.Join(labels, ","))
				}
				continue
			}
			fmt.Fprintf(&text, "%s{%s} 0\n", m.Name, strings.Join(labels, ","))
		}
	}
	problems, err := promlint.New(strings.NewReader(text.String())).Lint()
	if err != nil || len(problems) > 0 || n < 15 {
		t.Errorf("%d metrics: %v %v", n, problems, err)
	}
}
