package host

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// Metrics are a driver's counters. Registry has them, and what the agent shows of itself, for /metrics.
type Metrics struct {
	Registry *prometheus.Registry

	driver    *Driver
	steps     prometheus.Counter
	vppUp     prometheus.Gauge
	calls     *prometheus.CounterVec
	callTime  prometheus.Histogram
	writes    *prometheus.CounterVec
	writeTime prometheus.Histogram
	requests  *prometheus.HistogramVec
	events    *prometheus.CounterVec
}

func newMetrics(d *Driver) *Metrics {
	const space = "vppdrill_agent_"
	m := &Metrics{
		Registry: prometheus.NewRegistry(), driver: d,
		steps: prometheus.NewCounter(prometheus.CounterOpts{Name: space + "events_total", Help: "Events that the agent has taken."}),
		vppUp: prometheus.NewGauge(prometheus.GaugeOpts{Name: space + "vpp_up", Help: "Whether VPP is connected."}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: space + "calls_total",
			Help: "Requests to VPP and Linux by name and outcome."}, []string{"name", "outcome"}),
		callTime: prometheus.NewHistogram(prometheus.HistogramOpts{Name: space + "call_seconds",
			Help: "How long requests to VPP and Linux took.", Buckets: prometheus.ExponentialBuckets(1e-5, 4, 10)}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: space + "journal_writes_total",
			Help: "Writes to the journal by outcome."}, []string{"outcome"}),
		writeTime: prometheus.NewHistogram(prometheus.HistogramOpts{Name: space + "journal_write_seconds",
			Help: "How long writes to the journal took until they were durable.", Buckets: prometheus.ExponentialBuckets(1e-4, 4, 8)}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: space + "cni_seconds",
			Help: "How long CNI requests took, by command and code.", Buckets: prometheus.ExponentialBuckets(1e-3, 2, 14)}, []string{"command", "code"}),
	}
	m.events = prometheus.NewCounterVec(prometheus.CounterOpts{Name: space + "warnings_total",
		Help: "Events about pods and the node, as Kubernetes has them, by reason."}, []string{"reason"})
	m.Registry.MustRegister(m.events, m.steps, m.vppUp, m.calls, m.callTime, m.writes, m.writeTime, m.requests, (*agentState)(m))
	return m
}

// called counts one call.
func (m *Metrics) called(c vppwire.Call, r vppwire.Result, took time.Duration) {
	outcome := "ok"
	switch {
	case r.Lost:
		outcome = "lost"
	case r.Err != nil:
		outcome = "refused"
	}
	m.calls.WithLabelValues(c.Name(), outcome).Inc()
	m.callTime.Observe(took.Seconds())
}

func (m *Metrics) persisted(begun time.Time, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.writes.WithLabelValues(outcome).Inc()
	m.writeTime.Observe(time.Since(begun).Seconds())
}

// Requested counts one CNI request that was answered. Commands that do not exist count as one.
func (m *Metrics) Requested(command string, code uint32, took time.Duration) {
	if !slices.Contains(wire.Commands, command) {
		command = "unknown"
	}
	m.requests.WithLabelValues(command, strconv.FormatUint(uint64(code), 10)).Observe(took.Seconds())
}

// agentState shows what the agent knows when somebody asks.
type agentState Metrics

var (
	leasesDesc = prometheus.NewDesc("vppdrill_agent_leases", "Addresses that are held.", nil, nil)
	blocksDesc = prometheus.NewDesc("vppdrill_agent_blocks", "Blocks of addresses that the node holds.", nil, nil)
	idDesc     = prometheus.NewDesc("vppdrill_agent_node_id", "The node's ID, 0 for none yet.", nil, nil)
	idleDesc   = prometheus.NewDesc("vppdrill_agent_idle", "Whether nothing is left to do.", nil, nil)
)

// Describe implements prometheus.Collector.
func (b *agentState) Describe(out chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{leasesDesc, blocksDesc, idDesc, idleDesc} {
		out <- d
	}
}

// agentStateTime is how long a look at the agent may take; the agent's longest step is far below.
const agentStateTime = 5 * time.Second

// Collect implements prometheus.Collector. An agent that has stopped shows nothing.
func (b *agentState) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), agentStateTime)
	defer cancel()
	var leases, blocks, id, idle float64
	err := b.driver.Ask(ctx, func(a *agent.Agent) {
		for range a.Leases() {
			leases++
		}
		blocks, id = float64(len(a.Blocks())), float64(a.ID())
		if a.Idle() {
			idle = 1
		}
	})
	if err != nil {
		return
	}
	for desc, value := range map[*prometheus.Desc]float64{leasesDesc: leases, blocksDesc: blocks, idDesc: id, idleDesc: idle} {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
}
