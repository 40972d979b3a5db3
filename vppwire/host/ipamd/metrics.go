package ipamd

import (
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Metrics are a daemon's figures by upstream's names (utils/prometheusmetrics of amazon-vpc-cni-k8s). What upstream counts
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

func newMetrics(look func(func(store)), sizing datastore.Sizing) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "awscni_" + name, Help: help}, labels)
	}
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		errors:   counter("ipamd_error_count", "Errors of the daemon, by what it did.", "fn"),
		inProgress: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "awscni_ipamd_action_inprogress",
			Help: "What the daemon is doing."}, []string{"fn"}),
		reconciles: counter("reconcile_count", "How often interfaces and addresses were compared with what is attached.", "fn"),
		adds:       prometheus.NewCounter(prometheus.CounterOpts{Name: "awscni_add_ip_req_count", Help: "Requests for an address."}),
		dels:       counter("del_ip_req_count", "Addresses that were taken back, by reason.", "reason"),
		exhausted: prometheus.NewCounter(prometheus.CounterOpts{Name: "awscni_no_available_ip_addresses",
			Help: "Requests that found no address available."}),
		latency: prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: "awscni_aws_api_latency_ms",
			Help: "How long requests to AWS took, in milliseconds."}, []string{"api", "error", "status"}),
		apiErrors: counter("aws_api_error_count", "Requests to AWS that failed, by code.", "api", "error"),
		requests:  counter("ec2api_req_count", "Requests to EC2.", "fn"),
		failures:  counter("ec2api_error_count", "Requests to EC2 that failed.", "fn"),
	}
	m.Registry.MustRegister(m.errors, m.inProgress, m.reconciles, m.adds, m.dels, m.exhausted, m.latency, m.apiErrors, m.requests, m.failures, pool{look, sizing})
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

// pool shows the store's account and its limits at the moment of asking.
type pool struct {
	look   func(func(store))
	sizing datastore.Sizing
}

var (
	enisDesc       = describe("eni_allocated", "Attached interfaces.")
	enisMaxDesc    = describe("eni_max", "Interfaces that can be attached.")
	ipMaxDesc      = describe("ip_max", "Addresses for pods that the instance can have.")
	totalDesc      = describe("total_ip_addresses", "Addresses for pods.")
	assignedDesc   = describe("assigned_ip_addresses", "Addresses of pods.")
	prefixesDesc   = describe("total_ipv4_prefixes", "Delegated prefixes.")
	forcedENIsDesc = describe("force_removed_enis", "Interfaces that went away while pods had addresses of them.")
	forcedIPsDesc  = describe("force_removed_ips", "Addresses that went away while pods had them.")
	perENIDesc     = describe("assigned_ip_per_eni", "Addresses of pods, by interface.", "eni")
	perCIDRDesc    = describe("assigned_ip_per_cidr", "Addresses of pods, by delegated prefix.", "cidr")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("awscni_"+name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (pool) Describe(out chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{enisDesc, enisMaxDesc, ipMaxDesc, totalDesc, assignedDesc, prefixesDesc, forcedENIsDesc, forcedIPsDesc, perENIDesc, perCIDRDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (p pool) Collect(out chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, n int, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), labels...)
	}
	p.look(func(ds store) {
		s := ds.GetIPStats()
		gauge(enisDesc, ds.GetENIs())
		gauge(enisMaxDesc, p.sizing.ENIsMax)
		gauge(ipMaxDesc, p.sizing.ENIsMax*p.sizing.IPsPerENI())
		gauge(totalDesc, s.TotalIPs)
		gauge(assignedDesc, s.AssignedIPs)
		gauge(prefixesDesc, s.TotalPrefixes)
		out <- prometheus.MustNewConstMetric(forcedENIsDesc, prometheus.CounterValue, float64(s.ForceRemovedENIs))
		out <- prometheus.MustNewConstMetric(forcedIPsDesc, prometheus.CounterValue, float64(s.ForceRemovedIPs))
		assigned := ds.AllocatedIPs()
		for _, id := range ds.ENIIDs() {
			n := 0
			for _, u := range ds.Units(id) {
				held := 0
				for _, a := range assigned {
					if u.Contains(a.IP) {
						held++
					}
				}
				if n += held; !u.IsSingleIP() {
					gauge(perCIDRDesc, held, u.String())
				}
			}
			gauge(perENIDesc, n, id)
		}
	})
}
