package cmd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// Goal: a watch tells when two pods get one address and when one of them is gone, serves that to Prometheus, asks the
// server for nothing but lists and watches, and ends with code 0 when nothing stands. Method: a small API server.
func TestAuditWatch(t *testing.T) {
	s := apiserver.New()
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Method]++
		mu.Unlock()
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	defer s.EndWatches()
	config := filepath.Join(t.TempDir(), "config")
	must(t, os.WriteFile(config, []byte(fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", server.URL)), 0o600))
	pod := func(name string) apiserver.Object {
		return apiserver.Object{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "d", "name": name}, "spec": map[string]any{"nodeName": "n"},
			"status": map[string]any{"phase": "Running", "podIP": "10.0.0.5"}}
	}
	s.Put("nodes", apiserver.Object{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "n"}, "spec": map[string]any{"podCIDR": "10.0.0.0/24"}})
	s.Put("pods", pod("a"))

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	read, write := io.Pipe()
	root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(auditCommand(nil))
	root.SetOut(write)
	root.SetErr(io.Discard)
	root.SetArgs([]string{"audit", "--kubeconfig", config, "--watch", "--metrics", "127.0.0.1:0"})
	ended := make(chan error, 1)
	go func() {
		ended <- root.ExecuteContext(ctx)
		_ = write.Close()
	}()
	lines := make(chan string)
	go func() {
		defer close(lines)
		buffer, rest := make([]byte, 4096), ""
		for {
			n, err := read.Read(buffer)
			rest += string(buffer[:n])
			for {
				line, more, ok := strings.Cut(rest, "\n")
				if !ok {
					break
				}
				lines <- line
				rest = more
			}
			if err != nil {
				return
			}
		}
	}()
	wait := func(part string) {
		t.Helper()
		for line := range lines {
			if strings.Contains(line, part) {
				return
			}
		}
		t.Fatalf("ended without %q", part)
	}
	wait("watching 1 nodes and 1 pods")
	s.Put("pods", pod("b"))
	wait("came error duplicate-address: 10.0.0.5: pods d/a on n and d/b on n have it")
	s.Remove("pods", "d", "b")
	wait("gone error duplicate-address: 10.0.0.5")
	odd := pod("odd") // a server of another time: it is named nowhere but in what is not judged, and the watch goes on
	odd["status"] = map[string]any{"podIPs": "10.0.0.9"}
	s.Put("pods", odd)
	s.Put("pods", pod("c"))
	wait("came error duplicate-address: 10.0.0.5")
	s.Remove("pods", "d", "c")
	wait("gone error duplicate-address: 10.0.0.5")
	stop()
	for range lines {
	}
	if code, line := cli.Code(<-ended); code != 0 {
		t.Errorf("%d %q", code, line)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked["GET"] == 0 {
		t.Errorf("asked %v", asked)
	}
}

// Goal: flags that belong to a watch are refused without one, and files with one. Method: a table.
func TestAuditWatchFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--for 1s x.json":              "belong to --watch",
		"--watch x.json":               "files do not change",
		"--watch --for -1s":            "is negative",
		"--watch --kubeconfig missing": "missing: no such file",
	} {
		root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(auditCommand(nil))
		root.SetArgs(append([]string{"audit"}, strings.Fields(args)...))
		if code, line := cli.Code(root.ExecuteContext(t.Context())); code != 2 || !strings.Contains(line, want) {
			t.Errorf("%s: %d %q", args, code, line)
		}
	}
}

// Goal: what the manifest lets a watch read is what it reads, and the rules name figures that it serves. Method: both
// read as text.
func TestAuditManifest(t *testing.T) {
	text, err := os.ReadFile("../../fixtures/kubernetes/audit/audit.yaml")
	must(t, err)
	rules := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if _, rest, ok := strings.Cut(line, "apiGroups: ["); ok && strings.Contains(line, "list, watch") {
			group, rest, _ := strings.Cut(rest, "]")
			rules[strings.Trim(group, `"`)] = rest
		}
	}
	for _, path := range slices.Concat(auditNeeded, auditMore) {
		parts := strings.Split(strings.Trim(path, "/"), "/")
		group, resource := "", parts[len(parts)-1]
		if parts[0] == "apis" {
			group = parts[1]
		}
		if !strings.Contains(rules[group], resource) {
			t.Errorf("%s may not be read", path)
		}
	}
	alerts, err := os.ReadFile("../../fixtures/kubernetes/audit/alerts.yaml")
	must(t, err)
	families, err := host.NewAuditMetrics().Registry.Gather()
	must(t, err)
	served := map[string]bool{}
	for _, f := range families {
		served[f.GetName()] = true
	}
	for word := range strings.FieldsFuncSeq(string(alerts), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		if strings.HasPrefix(word, "vppdrill_audit_") && !served[word] {
			t.Errorf("%s is no figure", word)
		}
	}
}
