package rest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
)

// Probe is what a program says of itself when it is well, in lines for people, empty for nothing; or why it is not.
type Probe func(ctx context.Context) (string, error)

// ServeHTTP implements http.Handler: 200 with what is said, "ok" in the place of nothing, or 503 with why.
func (p Probe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	said, err := p(ctx)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, cmp.Or(said, "ok")) // who went away does not miss it
}

// Probes serves a program that has nothing to show but whether it lives and whether it works, where Kubernetes' own
// programs do.
func Probes(alive, ready Probe) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", alive)
	mux.Handle("GET /readyz", ready)
	return mux
}
