package host

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
	took     prometheus.Histogram
	asked    *prometheus.CounterVec
}

// NewAuditMetrics are those before the first look.
func NewAuditMetrics() *AuditMetrics {
	m := &AuditMetrics{
		Registry: prometheus.NewRegistry(),
		standing: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "vppdrill_audit_findings", Help: "Findings that stand."}, []string{"law", "severity"}),
		came:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vppdrill_audit_findings_total", Help: "Findings that came."}, []string{"law", "severity"}),
		objects:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "vppdrill_audit_objects", Help: "Objects that the last look was at."}),
		unknown:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "vppdrill_audit_not_judged", Help: "Reasons for which something could not be judged."}),
		last:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "vppdrill_audit_last_look_timestamp_seconds", Help: "When the last look ended."}),
		took:     prometheus.NewHistogram(prometheus.HistogramOpts{Name: "vppdrill_audit_look_seconds", Help: "How long a look took.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 8)}),
	}
	// The name and labels of client-go's own metric in Kubernetes' components, without the server's address.
	m.asked = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rest_client_requests_total",
		Help: "Requests to the API server by status code and method; code 0: no answer. A watch is one."}, []string{"code", "method"})
	m.Registry.MustRegister(m.standing, m.came, m.objects, m.unknown, m.last, m.took, m.asked)
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

// Asked counts a request to the API server.
func (m *AuditMetrics) Asked(code int, method string) {
	m.asked.WithLabelValues(strconv.Itoa(code), method).Inc()
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
	m.took.Observe(took.Seconds())
	m.last.SetToCurrentTime()
}
