package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/internal/conformance"
)

// Goal: a server that goes midway ends the run with one line that names what was asked and the namespace that is left,
// and breaks no law: what nobody could ask is not the network's fault. Clocks that differ are notes of the result.
// Method: the small cluster, with a node that renews its lease an hour ahead, whose server cuts every connection after
// so many requests: while pods are made, called, and listed.
func TestServerGoneMidway(t *testing.T) {
	for _, requests := range []int64{6, 9, 12, 14} {
		t.Run(fmt.Sprint(requests), func(t *testing.T) {
			t.Parallel()
			c := &tinyCluster{address: func(n int) string { return fmt.Sprintf("10.0.0.%d", 5+n%200) }, reaches: func(string, string) bool { return true }, pods: map[string]map[string]any{}}
			var left atomic.Int64
			left.Store(requests)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case left.Add(-1) < 0:
					panic(http.ErrAbortHandler)
				case strings.HasSuffix(r.URL.Path, "/leases"):
					w.Header().Set("Content-Type", "application/json")
					_ = json.NewEncoder(w).Encode(map[string]any{"kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1", "items": []any{map[string]any{
						"metadata": map[string]any{"name": "n1"}, "spec": map[string]any{"renewTime": time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z")}}}})
				default:
					c.ServeHTTP(w, r)
				}
			}))
			t.Cleanup(server.Close)
			file := filepath.Join(t.TempDir(), "config")
			text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", server.URL)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			client, err := kube.Dial(file, "test", slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			r, err := conformance.Run(t.Context(), conformance.Options{Connection: client, Image: "x", PodsPerNode: 3, Rounds: 2, Wait: time.Second,
				Audit: func(context.Context) (audit.Report, error) { return audit.Report{}, nil }})
			if err == nil || r.Namespace == "" || !strings.Contains(err.Error(), "kubectl delete namespace "+r.Namespace) {
				t.Errorf("the server is gone: %v, namespace %q", err, r.Namespace)
			}
			if len(r.Broken) > 0 {
				t.Errorf("a server that is gone broke laws of the network: %v", r.Broken)
			}
			if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "node n1's clock is 1h0m") || !strings.Contains(notes, "chronyc makestep") {
				t.Errorf("notes: %q", r.Notes)
			}
			t.Log(err)
		})
	}
}
