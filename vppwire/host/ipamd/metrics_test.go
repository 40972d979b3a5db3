package ipamd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/vppdrill/vppdrill/sim/ec2"
)

// Goal: what the daemon exposes is what Prometheus reads, and says what EC2 has attached and what pods have. Method: Prometheus' own
// parser of its text format, at each of some moments of a node's life, beside the instance and the test's own count.
func TestPrometheusReadsTheBooks(t *testing.T) {
	n := newNode(t, "10.0.0.0/24", ec2.RegionConfig{AttachDelay: 3 * time.Second})
	n.start(2 * time.Minute)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	for pods, change := range []func(){
		func() {},
		func() { n.pod("a") },
		func() { n.pod("b") },
		func() { n.pod("c") },
	} {
		change()
		n.run(5 * time.Minute)
		families, err := parser.TextToMetricFamilies(strings.NewReader(n.shown("/metrics")))
		if err != nil {
			t.Fatal(err)
		}
		value := func(name string) float64 {
			f := families[name]
			if f == nil || len(f.Metric) != 1 {
				t.Fatalf("%s is not one figure", name)
			}
			m := f.Metric[0]
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
		enis := n.host.Attached()
		units, perENI := 0, 0.0
		for _, e := range enis {
			units += len(e.Units)
		}
		for _, m := range families["awscni_assigned_ip_per_eni"].Metric {
			perENI += m.GetGauge().GetValue()
		}
		have := fmt.Sprint(value("awscni_eni_allocated"), value("awscni_total_ip_addresses"), value("awscni_assigned_ip_addresses"), value("awscni_add_ip_req_count"), perENI)
		if want := fmt.Sprint(len(enis), units, pods, pods, pods); have != want {
			t.Errorf("with %d pods Prometheus reads %s, and there is %s", pods, have, want)
		}
		requests := 0.0
		for _, m := range families["awscni_ec2api_req_count"].Metric {
			requests += m.GetCounter().GetValue()
			if name := m.Label[0].GetValue(); m.GetCounter().GetValue() != float64(n.double.Requests(name)) {
				t.Errorf("%v requests of %s, and EC2 got %d", m.GetCounter().GetValue(), name, n.double.Requests(name))
			}
		}
		if requests == 0 {
			t.Error("no request is counted")
		}
	}
}
