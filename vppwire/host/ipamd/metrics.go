package ipamd

import (
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// Metrics are a daemon's figures by upstream's names (utils/prometheusmetrics of amazon-vpc-cni-k8s 1.19). What upstream counts
// and this daemon does not do, as branch interfaces, has none.
type Metrics struct {
	Registry *prometheus.Registry

	errors     *prometheus.CounterVec
	inProgress *prometheus.GaugeVec
	reconciles *prometheus.CounterVec
	adds       prometheus.Counter
	dels       *prometheus.CounterVec
	exhausted  prometheus.Counter
	latency    *prometheus.SummaryVec
	apiErrors  *prometheus.CounterVec
	requests   *prometheus.CounterVec
	failures   *prometheus.CounterVec
}

// functions is the label of what is counted by what the daemon does.
var functions = []string{"fn"}

// What upstream counts of its driver.
var (
	errorsMetric     = ipam.Metric{Name: "awscni_ipamd_error_count", Kind: ipam.Counter, Help: "The number of errors encountered in ipamd", Labels: functions}
	inProgressMetric = ipam.Metric{Name: "awscni_ipamd_action_inprogress", Kind: ipam.Gauge, Help: "The number of ipamd actions in progress", Labels: functions}
	reconcilesMetric = ipam.Metric{Name: "awscni_reconcile_count", Kind: ipam.Counter,
		Help: "The number of times ipamd reconciles on ENIs and IP/Prefix addresses", Labels: functions}
	addsMetric      = ipam.Metric{Name: "awscni_add_ip_req_count", Kind: ipam.Counter, Help: "The number of add IP address requests"}
	delsMetric      = ipam.Metric{Name: "awscni_del_ip_req_count", Kind: ipam.Counter, Help: "The number of delete IP address requests", Labels: []string{"reason"}}
	exhaustedMetric = ipam.Metric{Name: "awscni_no_available_ip_addresses", Kind: ipam.Counter,
		Help: "The number of pod IP assignments that fail due to no available IP addresses"}
	latencyMetric   = ipam.Metric{Name: "awscni_aws_api_latency_ms", Kind: ipam.Summary, Help: "AWS API call latency in ms", Labels: []string{"api", "error", "status"}}
	apiErrorsMetric = ipam.Metric{Name: "awscni_aws_api_error_count", Kind: ipam.Counter, Help: "The number of times AWS API returns an error", Labels: []string{"api", "error"}}
	requestsMetric  = ipam.Metric{Name: "awscni_ec2api_req_count", Kind: ipam.Counter, Help: "The number of requests made to EC2 APIs by CNI", Labels: functions}
	failuresMetric  = ipam.Metric{Name: "awscni_ec2api_error_count", Kind: ipam.Counter, Help: "The number of failed EC2 APIs requests", Labels: functions}
)

// DriverMetrics are what a daemon counts beside what its store shows, datastore.Metrics.
var DriverMetrics = []*ipam.Metric{&errorsMetric, &inProgressMetric, &reconcilesMetric, &addsMetric, &delsMetric, &exhaustedMetric, &latencyMetric,
	&apiErrorsMetric, &requestsMetric, &failuresMetric}

func newMetrics(look func(func(store)), sizing datastore.Sizing) *Metrics {
	m := &Metrics{
		errors: host.Counters(&errorsMetric), inProgress: host.Gauges(&inProgressMetric), reconciles: host.Counters(&reconcilesMetric),
		adds: host.Counters(&addsMetric).WithLabelValues(), dels: host.Counters(&delsMetric), exhausted: host.Counters(&exhaustedMetric).WithLabelValues(),
		latency:   prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: latencyMetric.Name, Help: latencyMetric.Help}, latencyMetric.Labels),
		apiErrors: host.Counters(&apiErrorsMetric), requests: host.Counters(&requestsMetric), failures: host.Counters(&failuresMetric),
	}
	account := host.Figures(func() (list []ipam.Figure) {
		look(func(s store) { list = s.Figures(sizing) })
		return list
	})
	m.Registry = host.Registry(m.errors, m.inProgress, m.reconciles, m.adds, m.dels, m.exhausted, m.latency, m.apiErrors, m.requests, m.failures, account)
	return m
}

// Metrics are the daemon's.
func (d *Daemon) Metrics() *Metrics { return d.metrics }

// actions are upstream's names of what a call is part of.
var actions = map[datastore.CallOp]string{
	datastore.DescribeENIs: "nodeIPPoolReconcile", datastore.ReadIMDS: "nodeIPPoolReconcile", datastore.SetUpENI: "setupENI",
	datastore.AssignUnits: "increaseIPPool", datastore.CreateENI: "increaseIPPool", datastore.UnassignUnits: "decreaseIPPool", datastore.DeleteENI: "decreaseIPPool",
}

// calling notes that a call is under way.
func (m *Metrics) calling(c datastore.Call) {
	m.inProgress.WithLabelValues(actions[c.Op]).Set(1)
	if c.Op == datastore.DescribeENIs || c.Op == datastore.ReadIMDS {
		m.reconciles.WithLabelValues(actions[c.Op]).Inc()
	}
}

// called notes the answer to a call.
func (m *Metrics) called(c *datastore.Call, err error) {
	if c == nil {
		return
	}
	m.inProgress.WithLabelValues(actions[c.Op]).Set(0)
	if err != nil {
		m.errors.WithLabelValues(actions[c.Op]).Inc()
	}
}

// Requested notes a request to EC2: its name, how long it took, and why it failed.
func (m *Metrics) Requested(name string, took time.Duration, err error) {
	m.requests.WithLabelValues(name).Inc()
	code, status := "", "200"
	if err != nil {
		code = "unknown"
		if coded := interface{ ErrorCode() string }(nil); errors.As(err, &coded) {
			code = coded.ErrorCode()
		}
		status = "unknown"
		if answered := interface{ HTTPStatusCode() int }(nil); errors.As(err, &answered) {
			status = strconv.Itoa(answered.HTTPStatusCode())
		}
		m.failures.WithLabelValues(name).Inc()
		m.apiErrors.WithLabelValues(name, code).Inc()
	}
	failed := "false"
	if err != nil {
		failed = "true"
	}
	m.latency.WithLabelValues(name, failed, status).Observe(float64(took) / float64(time.Millisecond))
}

func (m *Metrics) added(err error) {
	m.adds.Inc()
	switch {
	case errors.Is(err, datastore.ErrNoAvailableIPs):
		m.exhausted.Inc()
	case err != nil:
		m.errors.WithLabelValues("assignPodIPv4Address").Inc()
	}
}

// removed notes that a pod's address was taken back; of a pod without one upstream counts nothing.
func (m *Metrics) removed(err error) {
	switch {
	case errors.Is(err, datastore.ErrUnknownPod):
	case err != nil:
		m.errors.WithLabelValues("unassignPodIPv4Address").Inc()
	default:
		m.dels.WithLabelValues("PodDeleted").Inc()
	}
}
