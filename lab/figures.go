package lab

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// figuresSocket is where a lab shows at /metrics what its control plane was asked, and what the leading controller holds.
const figuresSocket = "metrics.sock"

// What a lab's doubles count.
var (
	apiMetric = ipam.Metric{Name: "vppdrill_lab_api_requests_total", Kind: ipam.Counter, Help: "Requests to the lab's API server by program, method and resource.",
		Labels: []string{"program", "method", "resource"}}
	ec2Metric = ipam.Metric{Name: "vppdrill_lab_ec2_requests_total", Kind: ipam.Counter, Help: "Requests to the lab's EC2 by action, the metadata service's among them.",
		Labels: []string{"action"}}
)

// Metrics are what a lab shows beside what its leading controller does.
var Metrics = []*ipam.Metric{&apiMetric, &ec2Metric}

// showFigures serves them, for as long as the lab lives.
func (w *World) showFigures() error {
	l, err := net.Listen("unix", filepath.Join(w.control.dir, figuresSocket))
	if err != nil {
		return err
	}
	w.figures = &http.Server{Handler: rest.Figures(host.Registry(host.Figures(w.figuresNow))), ReadHeaderTimeout: time.Minute}
	go func() { _ = w.figures.Serve(l) }() // until it is closed
	return nil
}

// hideFigures ends that.
func (w *World) hideFigures() error {
	if w.figures == nil {
		return nil
	}
	return w.figures.Close()
}

// figuresNow are the leader's, and what the doubles were asked.
func (w *World) figuresNow() (list []ipam.Figure) {
	if w.source != nil {
		list = w.source.set.Figures()
		asked := w.source.server.Asked()
		for _, q := range slices.SortedFunc(maps.Keys(asked), func(a, b apiserver.Request) int {
			return cmp.Or(cmp.Compare(a.Program, b.Program), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Resource, b.Resource))
		}) {
			list = append(list, apiMetric.Is(float64(asked[q]), q.Program, q.Method, q.Resource))
		}
	}
	if w.cloud != nil {
		asked := w.cloud.Asked()
		for _, action := range slices.Sorted(maps.Keys(asked)) {
			list = append(list, ec2Metric.Is(float64(asked[action]), action))
		}
	}
	return list
}
