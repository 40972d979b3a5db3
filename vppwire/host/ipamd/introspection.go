package ipamd

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// IntrospectionAddress is where upstream's ipamd shows itself.
const IntrospectionAddress = "127.0.0.1:61679"

// store is what is shown: a DataStore, or the pool of an agent's allocator.
type store interface {
	GetENIInfos() *datastore.ENIInfos
	AllocatedIPs() []datastore.PodIPInfo
	Figures(of datastore.Sizing) []ipam.Figure
}

// Introspection shows the daemon under upstream's paths, and /metrics, /healthz and /readyz. It changes nothing.
func (d *Daemon) Introspection() http.Handler {
	mux := http.NewServeMux()
	introspect(mux, d.look, d.cfg.Settings)
	mux.Handle("GET /metrics", rest.Figures(d.metrics.Registry))
	mux.Handle("/", rest.Probes(func(context.Context) (string, error) { return "", nil }, d.ready))
	return mux
}

// introspect shows a store under upstream's paths; look runs a function on it where nothing else does.
func introspect(mux *http.ServeMux, look func(func(store)), settings map[string]any) {
	show := func(path string, what func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, what()) })
	}
	paths := []string{"/v1/enis", "/v1/pods", "/v1/networkutils-env-settings", "/v1/ipamd-env-settings"}
	show("/{$}", func() any { return struct{ AvailableCommands []string }{paths} })
	show(paths[0], func() (out any) {
		look(func(s store) { out = s.GetENIInfos() })
		return out
	})
	show(paths[1], func() any {
		list := []datastore.PodIPInfo{}
		look(func(s store) { list = append(list, s.AllocatedIPs()...) })
		return list
	})
	// The host's network is not this daemon's affair, so none of those settings has a meaning here.
	show(paths[2], func() any { return struct{}{} })
	show(paths[3], func() any { return settings })
}

// ready is whether pods are served, for probes.
func (d *Daemon) ready(context.Context) (string, error) {
	if !d.Ready() {
		return "", errors.New("not ready: " + d.Trouble())
	}
	return "", nil
}

// answer writes JSON.
func answer(w http.ResponseWriter, status int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what) // who went away does not miss it
}
