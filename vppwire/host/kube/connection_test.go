package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// connected is a connection to a server by a kubeconfig.
func connected(t *testing.T, url string) *kube.Connection {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", url)
	must(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := kube.Dial(file, "test", slog.New(slog.DiscardHandler))
	must(t, err)
	return c
}

// Goal: what an account may not do, and what the cluster does not serve, is told before anything begins, by its name
// and with what mends it; a server that does not answer is waited for by others.
func TestCheck(t *testing.T) {
	s := newServer(t)
	c := connected(t, s.http.URL)
	needs := kube.AgentNeeds(kube.AgentUse{PoolsNamespace: "kube-system", PoolsName: "ranges", Services: true, PoolNode: true, NodeConfigs: true})
	must(t, c.Check(t.Context(), needs, ""))
	for _, denied := range []string{"watch nodes", "delete nodeidrecords", "watch configmaps", "patch events"} {
		s.mu.Lock()
		s.denied = []string{denied}
		s.mu.Unlock()
		err := c.Check(t.Context(), needs, "")
		if !errors.Is(err, kube.ErrNotReady) || !strings.Contains(err.Error(), "may not "+denied) || !strings.Contains(err.Error(), "kubectl apply -k ") {
			t.Errorf("without %q: %v", denied, err)
		}
	}
	s.mu.Lock()
	s.denied, s.missing = nil, []string{kube.RecordResource}
	s.mu.Unlock()
	if err := c.Check(t.Context(), needs, ""); !errors.Is(err, kube.ErrNotReady) || !strings.Contains(err.Error(), "it serves no nodeidrecords in version v1alpha1") {
		t.Errorf("without the custom resource: %v", err)
	}
	s.mu.Lock()
	s.missing = []string{kube.NodeConfigResource}
	s.mu.Unlock()
	if err := c.Check(t.Context(), needs, ""); !errors.Is(err, kube.ErrNotReady) || !strings.Contains(err.Error(), "it serves no nodeconfigs in version v1 of nodeconfig.contiv.vpp") {
		t.Errorf("without contiv's: %v", err)
	}
	s.http.Close()
	must(t, c.Check(t.Context(), needs, ""))
	if _, err := kube.Dial("", "test", nil); !errors.Is(err, kube.ErrNoCluster) {
		t.Errorf("outside of a pod: %v", err)
	}
}

// Goal: a right that is taken away while a program runs is told with what mends it; one that comes back in time is not,
// and neither is what nobody refused. Method: a server that refuses, and says of rights what it is told.
func TestKeepRights(t *testing.T) {
	s := newServer(t)
	c := connected(t, s.http.URL)
	needs := kube.ControllerNeeds("kube-system")
	may := func(denied ...string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.denied = denied
	}
	s.answer = func(*http.Request) int { return http.StatusForbidden }
	ended := make(chan error, 1)
	go func() { ended <- c.KeepRights(t.Context(), needs, time.Millisecond) }()
	refused := func() {
		t.Helper()
		if _, err := c.Client().CoreV1().Nodes().Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
	}
	refused()
	time.Sleep(100 * time.Millisecond) // it asks, and nothing is missing
	may("patch nodes")
	time.Sleep(100 * time.Millisecond) // nothing was refused since
	select {
	case err := <-ended:
		t.Fatal(err)
	default:
	}
	refused()
	if err := <-ended; !errors.Is(err, kube.ErrNotReady) || !strings.HasSuffix(err.Error(), "may not patch nodes: kubectl apply -k fixtures/kubernetes/base") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, c.KeepRights(ctx, needs, time.Hour))
}

// Goal: what the agent logs with a reason becomes an event about its pod, or about its node.
func TestAgentEvents(t *testing.T) {
	s := newServer(t)
	tell := connected(t, s.http.URL).Events(t.Context(), "node-1")
	tell(agent.Log{Level: 4, Reason: "NoFreeAddress", Message: "none", Namespace: "default", PodName: "web-0"})
	tell(agent.Log{Level: 8, Reason: "VPPDoesNotAnswer", Message: "hangs"})
	want := []string{"Pod default/web-0 Warning NoFreeAddress none", "Node /node-1 Warning VPPDoesNotAnswer hangs"}
	deadline := time.Now().Add(30 * time.Second)
	for {
		got := s.eventLines()
		if len(got) == len(want) {
			for _, w := range want {
				if !strings.Contains(strings.Join(got, "\n"), w) {
					t.Fatalf("%q, want %q", got, want)
				}
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q, want %q", got, want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// eventLines are the events that the server was told.
func (s *server) eventLines() (lines []string) {
	for _, o := range s.All("events") {
		var ev v1.Event
		if err := json.Unmarshal(encode(o), &ev); err != nil {
			panic(err)
		}
		about := ev.InvolvedObject
		lines = append(lines, fmt.Sprintf("%s %s/%s %s %s %s", about.Kind, about.Namespace, about.Name, ev.Type, ev.Reason, ev.Message))
	}
	return lines
}
