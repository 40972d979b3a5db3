package ipamd

import (
	"encoding/json"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// IntrospectionAddress is where upstream's ipamd shows itself.
const IntrospectionAddress = "127.0.0.1:61679"

// Introspection shows the daemon under upstream's paths, and /metrics, /healthz and /readyz. It changes nothing.
func (d *Daemon) Introspection() http.Handler {
	mux := http.NewServeMux()
	show := func(path string, what func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, what()) })
	}
	paths := []string{"/v1/enis", "/v1/pods", "/v1/networkutils-env-settings", "/v1/ipamd-env-settings"}
	show("/{$}", func() any { return struct{ AvailableCommands []string }{paths} })
	show(paths[0], func() (out any) {
		d.look(func(ds *datastore.DataStore) { out = ds.GetENIInfos() })
		return out
	})
	show(paths[1], func() any {
		list := []datastore.PodIPInfo{}
		d.look(func(ds *datastore.DataStore) { list = append(list, ds.AllocatedIPs()...) })
		return list
	})
	// The host's network is not this daemon's affair, so none of those settings has a meaning here.
	show(paths[2], func() any { return struct{}{} })
	show(paths[3], func() any { return d.cfg.Settings })
	mux.Handle("GET /metrics", promhttp.HandlerFor(d.metrics.Registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !d.Ready() {
			http.Error(w, "not ready: "+d.Trouble(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n")) // who went away does not miss it
	})
	return mux
}

// answer writes JSON.
func answer(w http.ResponseWriter, status int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what) // who went away does not miss it
}
