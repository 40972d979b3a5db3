package host

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vppdrill/vppdrill/ipam"
)

// Figures shows figures when somebody asks, as Prometheus reads them. The function is called from any goroutine; who does not answer, as
// a controller that does not lead, shows nothing.
type Figures func() []ipam.Figure

// Describe implements prometheus.Collector: which figures there are is known when they are asked for.
func (Figures) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (f Figures) Collect(out chan<- prometheus.Metric) {
	for _, x := range f() {
		desc := prometheus.NewDesc(x.Name, x.Help, x.Metric.Labels, nil)
		switch x.Kind {
		case ipam.Histogram:
			buckets := make(map[float64]uint64, len(x.Bounds))
			for i, bound := range x.Bounds {
				buckets[bound] = x.Buckets[i]
			}
			out <- prometheus.MustNewConstHistogram(desc, x.Count, x.Value, buckets, x.Labels...)
		case ipam.Counter:
			out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, x.Value, x.Labels...)
		default:
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, x.Value, x.Labels...)
		}
	}
}

// Registry has what a program without an agent shows.
func Registry(of ...prometheus.Collector) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(of...)
	return r
}

// requestsMetric has the name and labels of client-go's own in Kubernetes' components, without the server's address.
var requestsMetric = ipam.Metric{Name: "rest_client_requests_total", Kind: ipam.Counter,
	Help: "Requests to the API server by status code and method; code 0: no answer. A watch is one.", Labels: []string{"code", "method"}}

// Requests count requests to the API server.
type Requests struct{ *prometheus.CounterVec }

// NewRequests have counted nothing.
func NewRequests() Requests { return Requests{Counters(&requestsMetric)} }

// Asked counts one request.
func (r Requests) Asked(code int, method string) { r.WithLabelValues(strconv.Itoa(code), method).Inc() }

// Counters count what a driver does under a metric's name.
func Counters(m *ipam.Metric) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
}

// Gauges are what a driver is at under a metric's name.
func Gauges(m *ipam.Metric) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: m.Help}, m.Labels)
}

// Histograms are how long something took, or how much, under a metric's name.
func Histograms(m *ipam.Metric) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Bounds}, m.Labels)
	if len(m.Labels) == 0 {
		v.WithLabelValues() // it shows that there was nothing so far
	}
	return v
}
