package ipam

import "fmt"

// MetricKind says how a metric's figures may change.
type MetricKind string

// Kinds of metrics, as Prometheus has them.
const (
	Gauge     MetricKind = "gauge"
	Counter   MetricKind = "counter"
	Histogram MetricKind = "histogram"
	Summary   MetricKind = "summary"
)

// Metric is what a family of figures is called and means. Those of a system have the name, the kind, the labels and the
// help that its upstream gives them, misspellings among them: dashboards ask for those.
type Metric struct {
	Name string
	Kind MetricKind
	Help string
	// Labels are the names of the labels, in the order of Figure.Labels.
	Labels []string
	// Bounds are the upper bounds of a histogram's buckets, ascending, without infinity.
	Bounds []float64
}

// Figure is a value of a Metric at the moment of asking. It is worked out from what a machine holds.
type Figure struct {
	*Metric
	// Labels are the values of the metric's labels.
	Labels []string
	// Value is a histogram's sum.
	Value float64
	// Buckets counts a histogram's observations up to each of Bounds, those of smaller bounds among them; Count are all.
	Buckets []uint64
	Count   uint64
}

// Is is a figure with a value for each of the metric's labels.
func (m *Metric) Is(value float64, labels ...string) Figure {
	if len(labels) != len(m.Labels) {
		panic(fmt.Sprintf("ipam: %s has labels %q, not %q", m.Name, m.Labels, labels))
	}
	return Figure{Metric: m, Labels: labels, Value: value}
}

// Figured shows how it is by figures, those of one metric behind each other. It is asked between two of its steps.
type Figured interface {
	Figures() []Figure
}
