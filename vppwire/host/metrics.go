package host

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vppdrill/vppdrill/ipam"
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
	callTime  *prometheus.HistogramVec
	writes    *prometheus.CounterVec
	writeTime *prometheus.HistogramVec
	requests  *prometheus.HistogramVec
	events    *prometheus.CounterVec
}

// What an agent counts of its driver, whatever system its addresses are of.
var (
	stepsMetric     = ipam.Metric{Name: "vppdrill_agent_events_total", Kind: ipam.Counter, Help: "Events that the agent has taken."}
	vppUpMetric     = ipam.Metric{Name: "vppdrill_agent_vpp_up", Kind: ipam.Gauge, Help: "Whether VPP is connected."}
	callsMetric     = ipam.Metric{Name: "vppdrill_agent_calls_total", Kind: ipam.Counter, Help: "Requests to VPP and Linux by name and outcome.", Labels: []string{"name", "outcome"}}
	callTimeMetric  = ipam.Metric{Name: "vppdrill_agent_call_seconds", Kind: ipam.Histogram, Help: "How long requests to VPP and Linux took.", Bounds: prometheus.ExponentialBuckets(1e-5, 4, 10)}
	writesMetric    = ipam.Metric{Name: "vppdrill_agent_journal_writes_total", Kind: ipam.Counter, Help: "Writes to the journal by outcome.", Labels: []string{"outcome"}}
	writeTimeMetric = ipam.Metric{Name: "vppdrill_agent_journal_write_seconds", Kind: ipam.Histogram, Help: "How long writes to the journal took until they were durable.",
		Bounds: prometheus.ExponentialBuckets(1e-4, 4, 8)}
	cniMetric = ipam.Metric{Name: "vppdrill_agent_cni_seconds", Kind: ipam.Histogram, Help: "How long CNI requests took, by command and code.", Labels: []string{"command", "code"},
		Bounds: prometheus.ExponentialBuckets(1e-3, 2, 14)}
	warningsMetric = ipam.Metric{Name: "vppdrill_agent_warnings_total", Kind: ipam.Counter, Help: "Events about pods and the node, as Kubernetes has them, by reason.", Labels: []string{"reason"}}
)

// What an agent shows of itself when somebody asks, beside what its allocator shows.
var (
	leasesMetric = ipam.Metric{Name: "vppdrill_agent_leases", Kind: ipam.Gauge, Help: "Addresses that are held."}
	blocksMetric = ipam.Metric{Name: "vppdrill_agent_blocks", Kind: ipam.Gauge, Help: "Blocks of addresses that the node holds."}
	idMetric     = ipam.Metric{Name: "vppdrill_agent_node_id", Kind: ipam.Gauge, Help: "The node's ID, 0 for none yet."}
	idleMetric   = ipam.Metric{Name: "vppdrill_agent_idle", Kind: ipam.Gauge, Help: "Whether nothing is left to do."}
)

// AgentMetrics are what each agent shows.
var AgentMetrics = []*ipam.Metric{&stepsMetric, &vppUpMetric, &callsMetric, &callTimeMetric, &writesMetric, &writeTimeMetric, &cniMetric, &warningsMetric,
	&leasesMetric, &blocksMetric, &idMetric, &idleMetric}

func newMetrics(d *Driver) *Metrics {
	m := &Metrics{driver: d,
		steps: Counters(&stepsMetric).WithLabelValues(), vppUp: Gauges(&vppUpMetric).WithLabelValues(), calls: Counters(&callsMetric),
		callTime: Histograms(&callTimeMetric), writes: Counters(&writesMetric), writeTime: Histograms(&writeTimeMetric), requests: Histograms(&cniMetric),
		events: Counters(&warningsMetric),
	}
	m.Registry = Registry(m.events, m.steps, m.vppUp, m.calls, m.callTime, m.writes, m.writeTime, m.requests, Figures(m.state))
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
	m.callTime.WithLabelValues().Observe(took.Seconds())
}

func (m *Metrics) persisted(begun time.Time, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.writes.WithLabelValues(outcome).Inc()
	m.writeTime.WithLabelValues().Observe(time.Since(begun).Seconds())
}

// Requested counts one CNI request that was answered. Commands that do not exist count as one.
func (m *Metrics) Requested(command string, code uint32, took time.Duration) {
	if !slices.Contains(wire.Commands, command) {
		command = "unknown"
	}
	m.requests.WithLabelValues(command, strconv.FormatUint(uint64(code), 10)).Observe(took.Seconds())
}

// agentStateTime is how long a look at the agent may take; the agent's longest step is far below.
const agentStateTime = 5 * time.Second

// state is what the agent, and its allocator, are between two steps. An agent that has stopped shows nothing.
func (m *Metrics) state() (list []ipam.Figure) {
	ctx, cancel := context.WithTimeout(context.Background(), agentStateTime)
	defer cancel()
	shown := make(chan []ipam.Figure, 1) // who asked may be gone
	if err := m.driver.Ask(ctx, func(a *agent.Agent) { shown <- m.figures(a) }); err != nil {
		return nil
	}
	return <-shown
}

// figures are for the goroutine that owns the agent.
func (m *Metrics) figures(a *agent.Agent) []ipam.Figure {
	leases, idle := 0, 0.0
	for range a.Leases() {
		leases++
	}
	if a.Idle() {
		idle = 1
	}
	list := []ipam.Figure{leasesMetric.Is(float64(leases)), blocksMetric.Is(float64(len(a.Blocks()))), idMetric.Is(float64(a.ID())), idleMetric.Is(idle)}
	if of, ok := m.driver.cfg.Allocator.(ipam.Figured); ok {
		list = append(list, of.Figures()...)
	}
	return list
}
