package kube_test

import (
	"fmt"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/systemtest"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// scraped are figures as Prometheus' own parser reads them: "name{label,…}" and the value, a histogram's count, in the order of their names.
func scraped(t *testing.T, of ipam.Figured) (list []string) {
	t.Helper()
	answer := httptest.NewRecorder()
	rest.Figures(host.Registry(host.Figures(of.Figures))).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		t.Fatal(answer.Body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	must(t, err)
	for name, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetValue())
			}
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			list = append(list, fmt.Sprintf("%s{%s} %v", name, strings.Join(labels, ","), value))
		}
	}
	slices.Sort(list)
	return list
}

// booked waits until figures are as the books say, of the metrics that want names.
func booked(t *testing.T, of ipam.Figured, want func() []string) {
	t.Helper()
	var have, should []string
	until(t, func() bool {
		should = want()
		slices.Sort(should)
		have = slices.DeleteFunc(scraped(t, of), func(line string) bool {
			name, _, _ := strings.Cut(line, "{")
			return !slices.ContainsFunc(should, func(w string) bool { return strings.HasPrefix(w, name+"{") })
		})
		return slices.Equal(have, should)
	}, func() string {
		return fmt.Sprintf("shown\n%s\nand booked\n%s", strings.Join(have, "\n"), strings.Join(should, "\n"))
	})
}

// unanswered is a node whose own first request, or a pod's, is not answered yet; "" when none is left.
func (p *played) unanswered() string {
	for name, n := range p.State() {
		if len(n.Shown) == 0 && !p.blocked() || n.Pods != p.nodes[name].wanted {
			return fmt.Sprintf("node %s: %s", name, n)
		}
	}
	return ""
}

// Goal: what a leader shows by upstream's names is what the API server's objects say; who does not lead shows nothing. Method: Prometheus'
// own parser at moments of small clusters' lives, beside figures that are worked out of the objects.
func TestFiguresAreTheBooks(t *testing.T) {
	for _, c := range []struct {
		setup systemtest.Setup
		want  func(p *played) []string
	}{
		{systemtest.Setup{System: "cilium", Mode: "cluster-pool", Range: netip.MustParsePrefix("10.1.0.0/26"), Block: 28}, func(p *played) []string {
			n := 0
			for _, x := range p.server.nodes() {
				n += len(x.Spec.PodCIDRs)
			}
			return []string{fmt.Sprintf("vppdrill_operator_blocks{ipv4,default} %d", n)}
		}},
		{systemtest.Setup{System: "cilium", Range: netip.MustParsePrefix("10.1.0.0/26"), Block: 28, PreAllocate: 4}, func(p *played) []string {
			n := 0
			for name := range p.nodes {
				n += len(p.shown(name))
			}
			return []string{fmt.Sprintf("vppdrill_operator_blocks{ipv4,default} %d", n), "cilium_operator_ipam_multipool_total_blocks{ipv4,default} 4"}
		}},
		{systemtest.Setup{System: "cilium", Mode: "crd", Range: netip.MustParsePrefix("10.1.0.0/26"), PreAllocate: 2}, func(p *played) []string {
			list := []string{fmt.Sprintf("cilium_operator_ipam_nodes{total} %d", len(p.nodes)), "cilium_operator_ipam_nodes{in-deficit} 0"}
			for name, n := range p.State() {
				list = append(list, fmt.Sprintf("cilium_operator_ipam_available_ips{%s} %d", name, len(n.Shown)),
					fmt.Sprintf("cilium_operator_ipam_used_ips{%s} %d", name, n.Pods), fmt.Sprintf("cilium_operator_ipam_needed_ips{%s} 0", name))
			}
			return list
		}},
		{systemtest.Setup{System: "calico", Range: netip.MustParsePrefix("10.1.0.0/26"), Block: 29}, func(p *played) []string {
			list, blocks := []string{"ipam_ippool_size{pool} 64"}, map[string]int{}
			for _, o := range p.server.All("ipamblocks") {
				b, err := kube.ReadBlock(o)
				must(t, err)
				blocks[strings.TrimSuffix(b.Affinity, "/"+string(p.server.nodes()[strings.Split(b.Affinity, "/")[0]].UID))]++
			}
			for name, n := range p.State() {
				list = append(list, fmt.Sprintf("ipam_allocations_in_use{pool,%s} %d", name, len(n.Shown)), fmt.Sprintf("ipam_allocations_borrowed{pool,%s} 0", name),
					fmt.Sprintf("ipam_allocations_gc_candidates{pool,%s} 0", name))
				if blocks[name] > 0 {
					list = append(list, fmt.Sprintf("ipam_blocks{pool,%s} %d", name, blocks[name]), fmt.Sprintf("ipam_blocks_per_node{%s} %d", name, blocks[name]))
				}
				if len(n.Shown) > 0 {
					list = append(list, fmt.Sprintf("ipam_allocations_per_node{%s} %d", name, len(n.Shown)))
				}
			}
			return list
		}},
	} {
		t.Run(c.setup.System+c.setup.Mode, func(t *testing.T) {
			p := newPlayed(t, c.setup)
			for _, change := range []func(){
				func() { p.Join("a"); p.Join("b") },
				func() { p.Pods("a", 9); p.Pods("b", 3) },
				func() { p.Pods("a", 2) },
				func() { p.Leave("b") },
				p.Replace,
			} {
				change()
				// A node that goes before its first request is answered leaves an object behind, which only a garbage collector finds.
				until(t, func() bool { return p.unanswered() == "" }, p.unanswered)
				booked(t, p.leader, func() []string { return c.want(p) })
			}
			p.stop()
			if shown := scraped(t, p.leader); len(shown) > 0 {
				t.Errorf("one that does not lead shows %q", shown)
			}
		})
	}
}

// Goal: as above, of the controller manager's controllers. Method: nodes of two families come and go; another range overlaps the service's.
func TestRangesAreTheBooks(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	d, _ := drive(t, kube.Config{Client: client, New: ranges(2, true)})
	for _, change := range []func(){
		func() { s.addNode("a"); s.addNode("b") },
		func() { s.addNode("c") },
		func() { s.deleteNode("a") },
	} {
		change()
		s.served(t)
		booked(t, d, func() (list []string) {
			for _, r := range []string{"10.0.0.0/22", "fd00::/62"} {
				n := 0
				for _, x := range s.nodes() {
					for _, cidr := range x.Spec.PodCIDRs {
						if netip.MustParsePrefix(r).Overlaps(netip.MustParsePrefix(cidr)) {
							n++
						}
					}
				}
				list = append(list, fmt.Sprintf("node_ipam_controller_cirdset_max_cidrs{%s} 4", r), fmt.Sprintf("node_ipam_controller_cidrset_usage_cidrs{%s} %v", r, float64(n)/4))
			}
			return list
		})
	}
	shown := strings.Join(scraped(t, d), "\n")
	for _, line := range []string{"allocations_total{10.0.0.0/22} 3", "releases_total{10.0.0.0/22} 1", "releases_total{fd00::/62} 1"} {
		if !strings.Contains(shown, "node_ipam_controller_cidrset_cidrs_"+line) {
			t.Errorf("%s is not in\n%s", line, shown)
		}
	}
	if !strings.Contains(shown, "node_ipam_controller_cidrset_allocation_tries_per_request{10.0.0.0/22} 3") {
		t.Error(shown)
	}
}
