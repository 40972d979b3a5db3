package cmd

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Goal: an agent whose node has no address free has the cluster told so, whatever its addresses come from. Method: what
// a refused ADD is to the driver, and an API server that takes events.
func TestFullNodeIsTold(t *testing.T) {
	told := make(chan string, 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var sent map[string]any
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusCreated)
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
			sent["status"] = map[string]any{"allowed": true}
		case strings.HasSuffix(r.URL.Path, "/events"):
			about := sent["involvedObject"].(map[string]any)
			told <- fmt.Sprint(about["kind"], " ", about["name"], " ", sent["type"], " ", sent["reason"], ": ", sent["message"])
		default:
			sent = map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{}}
		}
		_ = json.NewEncoder(w).Encode(sent) // who is gone has no use for it
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "config")
	must(t, os.WriteFile(file, fmt.Appendf(nil, "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", s.URL), 0o600))
	for _, system := range []string{ipamContiv, ipamNodeIPAM, ipamClusterPool, ipamExternal} {
		o := options{log: slog.New(slog.DiscardHandler)}
		o.node, o.cluster = "n1", clusterFlags{kind: clusterKubernetes, kubeconfig: file, ipam: system, marks: cilium.Watermarks{PreAllocate: preAllocate}}
		alloc, err := o.cluster.allocator(0)
		must(t, err)
		f, err := joinKubernetes(t.Context(), o, alloc, nil)
		must(t, err)
		f.stepped(time.Now(), nil, []agent.Effect{agent.Answer{Code: agent.CodeTryAgain, Message: "no address is free", Exhausted: true}})
		select {
		case got := <-told:
			if !strings.HasPrefix(got, "Node n1 Warning "+kube.ReasonNoAddress+": pods on this node are refused: no address is free; ") {
				t.Errorf("%s: %s", system, got)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s: nobody is told", system)
		}
		must(t, f.stop())
	}
}
