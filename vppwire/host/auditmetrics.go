package host

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/audit"
)

// AuditMetrics are what an audit that keeps looking shows of itself.
type AuditMetrics struct {
	Registry *prometheus.Registry

	standing *prometheus.GaugeVec
	came     *prometheus.CounterVec
	objects  prometheus.Gauge
	unknown  prometheus.Gauge
	last     prometheus.Gauge
	took     *prometheus.HistogramVec
	Requests
}

// bySeverity are the labels of findings.
var bySeverity = []string{"law", "severity"}

// What an audit shows.
var (
	standingMetric = ipam.Metric{Name: "vppdrill_audit_findings", Kind: ipam.Gauge, Help: "Findings that stand.", Labels: bySeverity}
	cameMetric     = ipam.Metric{Name: "vppdrill_audit_findings_total", Kind: ipam.Counter, Help: "Findings that came.", Labels: bySeverity}
	objectsMetric  = ipam.Metric{Name: "vppdrill_audit_objects", Kind: ipam.Gauge, Help: "Objects that the last look was at."}
	unknownMetric  = ipam.Metric{Name: "vppdrill_audit_not_judged", Kind: ipam.Gauge, Help: "Reasons for which something could not be judged."}
	lastMetric     = ipam.Metric{Name: "vppdrill_audit_last_look_timestamp_seconds", Kind: ipam.Gauge, Help: "When the last look ended."}
	lookMetric     = ipam.Metric{Name: "vppdrill_audit_look_seconds", Kind: ipam.Histogram, Help: "How long a look took.", Bounds: prometheus.ExponentialBuckets(0.001, 4, 8)}
)

// WatchMetrics are what an audit that keeps looking shows.
var WatchMetrics = []*ipam.Metric{&standingMetric, &cameMetric, &objectsMetric, &unknownMetric, &lastMetric, &lookMetric, &requestsMetric}

// NewAuditMetrics are those before the first look.
func NewAuditMetrics() *AuditMetrics {
	m := &AuditMetrics{
		standing: Gauges(&standingMetric), came: Counters(&cameMetric), objects: Gauges(&objectsMetric).WithLabelValues(), unknown: Gauges(&unknownMetric).WithLabelValues(),
		last: Gauges(&lastMetric).WithLabelValues(), took: Histograms(&lookMetric), Requests: NewRequests(),
	}
	m.Registry = Registry(m.standing, m.came, m.objects, m.unknown, m.last, m.took, m.Requests)
	for _, law := range audit.Laws() {
		for _, s := range []audit.Severity{audit.Error, audit.Warning} {
			m.standing.WithLabelValues(law, string(s)).Set(0)
			m.came.WithLabelValues(law, string(s))
		}
	}
	return m
}

// Changed counts a finding that came.
func (m *AuditMetrics) Changed(c audit.Change) {
	if c.Came {
		m.came.WithLabelValues(c.Law, string(c.Severity)).Inc()
	}
}

// Looked takes a look at so many objects, and the findings that stand after it.
func (m *AuditMetrics) Looked(r audit.Report, standing []audit.Finding, objects int, took time.Duration) {
	m.standing.Reset()
	for _, law := range audit.Laws() {
		for _, s := range []audit.Severity{audit.Error, audit.Warning} {
			m.standing.WithLabelValues(law, string(s)).Set(0)
		}
	}
	for _, x := range standing {
		m.standing.WithLabelValues(x.Law, string(x.Severity)).Inc()
	}
	m.objects.Set(float64(objects))
	m.unknown.Set(float64(len(r.Unknown)))
	m.took.WithLabelValues().Observe(took.Seconds())
	m.last.SetToCurrentTime()
}
