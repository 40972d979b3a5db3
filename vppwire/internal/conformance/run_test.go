package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"log/slog"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/internal/conformance"
)

// tinyCluster is as much of an API server, its kubelets and its network as a run sees, with faults.
type tinyCluster struct {
	mu      sync.Mutex
	pods    map[string]map[string]any
	numbers int
	deleted []string // namespaces
	// address is what the nth pod gets; reaches says whether a call gets there; stays keeps pods.
	address func(n int) string
	reaches func(from, to string) bool
	stays   bool
	// rolls counts what was asked of the DaemonSet since it was restarted, 0 for not restarted; cutOff: pods reach nobody
	// meanwhile.
	rolls  int
	cutOff bool
	// off: the node is cordoned; cordons counts how often it was. lingers keeps evicted pods.
	off     bool
	cordons int
	lingers bool
	// blocked is the reason for which the last pod of three does not run, empty where it does; heals: it runs from the
	// second look on. quiet: its program runs and is not ready, and its log is that, 403 for none.
	blocked, quiet string
	heals          bool
	// keptOut is what the server answers to calls of pods, 0 for what they say; once it has, it answers that to
	// everything.
	keptOut, now int
}

func (c *tinyCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	answer := func(o any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o)
	}
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	if strings.HasSuffix(path, "/proxy/dial") && c.keptOut != 0 {
		c.now = c.keptOut
	}
	switch {
	case c.now != 0:
		w.WriteHeader(c.now)
	case path == "/apis/apps/v1/namespaces/kube-system/daemonsets/cni":
		if r.Method == http.MethodPatch {
			c.rolls = 1
		} else if c.rolls++; c.rolls > 4 {
			c.rolls = 0
		}
		updated := 0
		if c.rolls == 0 {
			updated = 1
		}
		answer(map[string]any{"kind": "DaemonSet", "apiVersion": "apps/v1", "metadata": map[string]any{"name": "cni", "generation": 7},
			"status": map[string]any{"observedGeneration": 7, "desiredNumberScheduled": 1, "updatedNumberScheduled": updated, "numberUnavailable": 1 - updated}})
	case path == "/nodes/n1" && r.Method == http.MethodPatch:
		if c.off = strings.Contains(string(body), "true"); c.off {
			c.cordons++
		}
		answer(map[string]any{"kind": "Node", "apiVersion": "v1", "metadata": map[string]any{"name": "n1"}})
	case strings.HasSuffix(path, "/eviction"):
		if !c.off {
			http.Error(w, "not cordoned", http.StatusBadRequest)
			return
		}
		if !c.lingers {
			delete(c.pods, strings.Split(path, "/")[4])
		}
		answer(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	case strings.HasPrefix(path, "/namespaces/run-1/pods/") && r.Method == http.MethodGet && !strings.Contains(path, "/proxy") && !strings.HasSuffix(path, "/log"):
		p := c.pods[strings.TrimPrefix(path, "/namespaces/run-1/pods/")]
		if p == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound"})
			return
		}
		answer(p)
	case path == "/nodes":
		answer(map[string]any{"kind": "NodeList", "apiVersion": "v1", "items": []any{
			map[string]any{"metadata": map[string]any{"name": "n1"}, "spec": map[string]any{"podCIDR": "10.0.0.0/24"}, "status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}},
			map[string]any{"metadata": map[string]any{"name": "off"}, "status": map[string]any{}}}})
	case path == "/namespaces" && r.Method == http.MethodPost:
		answer(map[string]any{"kind": "Namespace", "apiVersion": "v1", "metadata": map[string]any{"name": "run-1"}})
	case path == "/namespaces/run-1" && r.Method == http.MethodDelete:
		c.deleted = append(c.deleted, "run-1")
		answer(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	case strings.HasPrefix(path, "/namespaces/run-1/services"):
		answer(map[string]any{"kind": "Service", "apiVersion": "v1", "metadata": map[string]any{"name": "all"}, "spec": map[string]any{"clusterIP": "10.96.0.7"}})
	case strings.HasPrefix(path, "/namespaces/run-1/serviceaccounts"):
		answer(map[string]any{"kind": "ServiceAccount", "apiVersion": "v1", "metadata": map[string]any{"name": "default"}})
	case strings.HasSuffix(path, "/proxy/dial"):
		from := strings.Split(strings.TrimPrefix(path, "/namespaces/run-1/pods/"), ":")[0]
		to := r.URL.Query().Get("host")
		name := "any"
		for n, p := range c.pods {
			if p["status"].(map[string]any)["podIP"] == to {
				name = n
			}
		}
		if !c.reaches(from, to) || c.cutOff && c.rolls > 0 {
			answer(map[string]any{"errors": []string{"timeout"}})
			return
		}
		answer(map[string]any{"responses": []string{name}})
	case strings.HasSuffix(path, "/pods") && r.Method == http.MethodPost:
		p := map[string]any{}
		_ = json.Unmarshal(body, &p)
		p["metadata"].(map[string]any)["namespace"] = "run-1"
		p["status"] = map[string]any{"phase": "Running", "podIP": c.address(c.numbers), "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
		if c.numbers++; c.blocked != "" && c.numbers%3 == 0 {
			p["status"] = map[string]any{"phase": "Pending", "containerStatuses": []any{map[string]any{"name": "c", "state": map[string]any{"waiting": map[string]any{"reason": c.blocked, "message": "says the kubelet"}}}}}
		}
		if c.quiet != "" && c.numbers%3 == 0 {
			p["status"] = map[string]any{"phase": "Running", "podIP": c.address(c.numbers), "containerStatuses": []any{map[string]any{"name": "c", "state": map[string]any{"running": map[string]any{}}}}}
		}
		c.pods[p["metadata"].(map[string]any)["name"].(string)] = p
		answer(p)
	case strings.HasSuffix(path, "/log"):
		if c.quiet == "403" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, c.quiet)
	case strings.HasSuffix(path, "/pods") && r.Method == http.MethodDelete:
		if !c.stays {
			c.pods = map[string]map[string]any{}
		}
		answer(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	case strings.HasSuffix(path, "/pods"):
		items := []any{}
		for _, p := range c.pods { // in any order
			items = append(items, p)
		}
		answer(map[string]any{"kind": "PodList", "apiVersion": "v1", "items": items})
		if c.heals {
			for _, p := range c.pods { // in any order
				p["status"] = map[string]any{"phase": "Running", "podIP": c.address(len(c.pods) + slices.Index(slices.Sorted(maps.Keys(c.pods)), p["metadata"].(map[string]any)["name"].(string))),
					"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
			}
		}
	default:
		http.NotFound(w, r)
	}
}

// judged is a conformance run on a cluster that can be judged.
func judged(t *testing.T, c *tinyCluster) conformance.Result {
	t.Helper()
	r, err := runOn(t, c)
	if err != nil {
		t.Fatal(err)
	}
	if c.off || c.cordons != 2 {
		t.Errorf("cordoned %d times, in the end %t", c.cordons, c.off)
	}
	if !slices.Equal(c.deleted, []string{"run-1"}) {
		t.Errorf("the namespace was removed %d times", len(c.deleted))
	}
	return r
}

// runOn runs a conformance run on a cluster.
func runOn(t *testing.T, c *tinyCluster) (conformance.Result, error) {
	t.Helper()
	c.pods = map[string]map[string]any{}
	server := httptest.NewServer(c)
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
	return conformance.Run(t.Context(), conformance.Options{Connection: client, Image: "x", PodsPerNode: 3, Rounds: 2, Wait: time.Second, Roll: "kube-system/cni", Drain: true,
		Audit: func(ctx context.Context) (audit.Report, error) {
			var o audit.Objects
			for _, path := range []string{"/api/v1/nodes", "/api/v1/pods"} {
				if err := client.List(ctx, path, func(page []byte) error { return o.Parse(path, page) }); err != nil {
					return audit.Report{}, err
				}
			}
			return audit.Judge(&o), nil
		}})
}

// Goal: a token that expires, or a right that is taken away, while pods call each other is no fault of the network: the
// run ends without a verdict, says why and what it could not remove. Method: a server that refuses from the first call
// on.
func TestKeptOutMidway(t *testing.T) {
	for code, want := range map[int]string{http.StatusUnauthorized: "refuses this program's credentials (401 Unauthorized), of which", http.StatusForbidden: "calls 10.0.0."} {
		c := &tinyCluster{address: func(n int) string { return fmt.Sprintf("10.0.0.%d", 5+n) }, reaches: func(string, string) bool { return true }, keptOut: code}
		r, err := runOn(t, c)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "kubectl delete namespace run-1") || len(r.Broken) > 0 {
			t.Errorf("%d: %v, broken %+v", code, err, r.Broken)
		}
	}
}

// Goal: a pod that has no network breaks the law about it, with what its kubelet says; one that has its network and not
// its image ends the run without a verdict and with what mends it, and its namespace is removed. Method: a kubelet that
// says the one and the other.
func TestPodsThatDoNotStart(t *testing.T) {
	for reason, image := range map[string]bool{"ContainerCreating": false, "ImagePullBackOff": true, "InvalidImageName": true, "CrashLoopBackOff": true} {
		c := &tinyCluster{address: func(n int) string { return fmt.Sprintf("10.0.0.%d", 5+n) }, reaches: func(string, string) bool { return true }, blocked: reason}
		r, err := runOn(t, c)
		if image {
			if !errors.Is(err, conformance.ErrImage) || !strings.Contains(err.Error(), "pod r1-2-n1 on n1: "+reason+": says the kubelet: name by --image one") || strings.Contains(err.Error(), "\n") || len(r.Broken) > 0 {
				t.Errorf("%s: %v, broken %+v", reason, err, r.Broken)
			}
		} else if err != nil || len(r.Broken) == 0 || r.Broken[0] != (conformance.Violation{Law: conformance.LawStart, Round: 1, Text: "pod r1-2-n1 on n1 is not ready within 1s: " + reason + ": says the kubelet"}) {
			t.Errorf("%s: %v, broken %+v", reason, err, r.Broken)
		}
		if !slices.Equal(c.deleted, []string{"run-1"}) {
			t.Errorf("%s: the namespace was removed %d times", reason, len(c.deleted))
		}
	}
}

// Goal: an image ends the run as soon as it is certain that it is the reason: at once for a name that no registry
// knows, not for a pull that works when it is tried again; and a program that runs without listening is the image's fault, while
// one that listens and is not reached is the network's. Method: pods that run from the second look on, and logs.
func TestImageEndsRun(t *testing.T) {
	for _, test := range []struct {
		blocked, quiet string
		heals          bool
		image          string // what the error says, empty: none
		broken         string
	}{
		{"InvalidImageName", "", true, "InvalidImageName: says the kubelet", ""},
		{"ErrImageNeverPull", "", true, "ErrImageNeverPull: says the kubelet", ""},
		{"ErrImagePull", "", true, "", ""},
		{"CrashLoopBackOff", "", true, "", ""},
		{"CrashLoopBackOff", "", false, "CrashLoopBackOff: says the kubelet", ""},
		{"Completed", "", false, "Completed: says the kubelet", ""},
		{"", "hello\n", false, "its log does not say that it serves as agnhost's does", ""},
		{"", "2026/11/28 07:00:00 Started HTTP server on port 8080\n", false, "", conformance.LawStart},
		{"", "403", false, "", conformance.LawStart},
	} {
		c := &tinyCluster{address: func(n int) string { return fmt.Sprintf("10.0.0.%d", 5+n%200) }, reaches: func(string, string) bool { return true },
			blocked: test.blocked, quiet: test.quiet, heals: test.heals}
		r, err := runOn(t, c)
		if test.image != "" {
			if !errors.Is(err, conformance.ErrImage) || !strings.Contains(err.Error(), test.image) || len(r.Broken) > 0 {
				t.Errorf("%+v: %v, broken %+v", test, err, r.Broken)
			}
			continue
		}
		if err != nil || (len(r.Broken) > 0) != (test.broken != "") || test.broken != "" && r.Broken[0].Law != test.broken {
			t.Errorf("%+v: %v, broken %+v", test, err, r.Broken)
		}
	}
}

// Goal: a cluster that works breaks no law; each fault breaks the law that is about it and no other, and the run's
// namespace is always removed. Method: a small cluster over HTTP, with one fault after the other.
func TestRun(t *testing.T) {
	good := func(n int) string { return fmt.Sprintf("10.0.0.%d", 5+n%200) }
	all := func(string, string) bool { return true }
	for _, test := range []struct {
		what string
		c    *tinyCluster
		want string
	}{
		{"nothing", &tinyCluster{address: good, reaches: all}, ""},
		{"one address for two", &tinyCluster{address: func(n int) string { return good(max(n, 1)) }, reaches: all}, audit.LawDuplicate},
		{"an address of nowhere", &tinyCluster{address: func(n int) string { return strings.Replace(good(n), "10.0.0.7", "10.9.0.7", 1) }, reaches: all}, audit.LawOutside},
		{"a pod nobody reaches", &tinyCluster{address: good, reaches: func(_, to string) bool { return to != "10.0.0.6" }}, conformance.LawPods},
		{"no services", &tinyCluster{address: good, reaches: func(_, to string) bool { return to != "10.96.0.7" }}, conformance.LawService},
		{"agents that take the network with them", &tinyCluster{address: good, reaches: all, cutOff: true}, conformance.LawRoll},
		{"pods that eviction leaves", &tinyCluster{address: good, reaches: all, lingers: true}, conformance.LawDrain},
		{"a node that is deaf when it is back", &tinyCluster{address: good, reaches: func(_, to string) bool { return to != "10.0.0.9" }}, conformance.LawDrain},
		{"pods that stay", &tinyCluster{address: good, reaches: all, stays: true}, conformance.LawGone},
	} {
		t.Run(test.what, func(t *testing.T) {
			r := judged(t, test.c)
			var laws []string
			for _, v := range r.Broken {
				if !slices.Contains(laws, v.Law) && !(test.what == "one address for two" && (v.Law == conformance.LawPods || v.Law == conformance.LawRoll)) {
					laws = append(laws, v.Law) // who shares an address may answer for the other
				}
			}
			if strings.Join(laws, " ") != test.want {
				t.Errorf("broken: %+v, want %q", r.Broken, test.want)
			}
			rolls := 6
			if test.what == "one address for two" {
				rolls = 5 // who answered wrongly before is not called
			}
			if r.Nodes != 1 || r.Rounds != 2 || r.Occasions[conformance.LawPods] < 12 || r.Occasions[conformance.LawService] < 6 || r.Occasions[conformance.LawRoll] < rolls || r.Occasions[conformance.LawDrain] < 12 {
				t.Errorf("%+v", r)
			}
		})
	}
}
