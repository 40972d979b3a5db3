package cmd

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// stranger is the kubeconfig of a cluster that does not take its token.
func stranger(t *testing.T) string {
	file := cluster(t, "", "")
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, bytes.ReplaceAll(text, []byte(clusterToken), []byte(clusterToken+"-of-yesterday")), 0o600))
	return file
}

// Goal: each command whose credentials are refused, or that may not do what it is for, ends with one line that says
// what mends it and exit code 3, having made nothing. Method: a server that does not take the token, and one that takes
// it and forbids one thing.
func TestKeptOut(t *testing.T) {
	dir := shortDir(t)
	config := filepath.Join(dir, "contiv.yaml")
	must(t, os.WriteFile(config, []byte("{TCPstackDisabled: true, IPAMConfig: {nodeInterconnectCIDR: 192.168.16.0/24, useExternalIPAM: true}}"), 0o600))
	out := filepath.Join(dir, "out")
	const renew = "401 Unauthorized), the token in "
	for _, c := range []struct{ args, denied, want string }{
		{"agent --config " + config + " --node n --journal " + dir + "/journal --cni-socket " + dir + "/cni.sock --vpp-socket " + dir + "/api.sock --rest= --cluster kubernetes --node-configs", "", renew},
		{"controller --cluster-cidr 10.0.0.0/16", "", renew},
		{"controller --type multi-pool --cluster-cidr 10.0.0.0/16", "", renew},
		{"audit", "", renew},
		{"conformance --image x --out " + out, "", renew},
		{"conformance --image x --out " + out, "create namespaces", "may not create namespaces: kubectl create clusterrolebinding "},
		{"conformance --image x --drain --out " + out, "patch nodes", "may not patch nodes: kubectl create clusterrolebinding "},
		{"conformance --image x --roll kube-system/cni --out " + out, "patch daemonsets", "may not patch daemonsets.apps/cni in namespace kube-system: kubectl create clusterrolebinding "},
	} {
		t.Run(c.args[:5]+c.denied, func(t *testing.T) {
			t.Parallel()
			file := stranger(t)
			if c.denied != "" {
				file = cluster(t, "", c.denied)
			}
			said, err := command(t, append(strings.Fields(c.args), "--kubeconfig", file)...)
			code, line := cli.Code(err)
			if code != cli.ExitCannotRun || !strings.Contains(line, c.want) || !strings.Contains(line, ": kubectl ") || strings.Contains(line, "\n") {
				t.Errorf("%d %q, want %q", code, line, c.want)
			}
			if strings.Contains(said+line, clusterToken) {
				t.Errorf("the token is told:\n%s%s", said, line)
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("there is %s", out)
			}
		})
	}
}

// Goal: who may not read a cluster's nodes is told how somebody who may hands them over. Method: a server that forbids
// everything.
func TestAuditForbidden(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "config")
	must(t, os.WriteFile(file, fmt.Appendf(nil, "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", s.URL), 0o600))
	_, err := command(t, "audit", "--kubeconfig", file)
	if code, line := cli.Code(err); code != cli.ExitCannotRun || !strings.Contains(line, "/api/v1/nodes: the account may not read it: with enough rights run kubectl get nodes,pods,services -A -o json > cluster.json, then vppdrill audit cluster.json") {
		t.Errorf("%d %q", code, line)
	}
}

// Goal: a token that expires while a controller runs ends nothing: the log says so once, with what renews it, and again
// when another one counts. Method: a server that takes a token that a file has, then one that comes later. The client
// reads the file again after a minute, so the server changes its mind.
func TestTokenExpires(t *testing.T) {
	var refuses atomic.Bool
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case refuses.Load():
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
			w.WriteHeader(http.StatusCreated)
			// who is gone has no use for it
			_, _ = w.Write([]byte(`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","status":{"allowed":true}}`))
		default:
			w.WriteHeader(http.StatusNotFound) // no lease: it goes on trying
		}
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/token", []byte(clusterToken), 0o600))
	must(t, os.WriteFile(dir+"/config", fmt.Appendf(nil, "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\n"+
		"users: [{name: u, user: {tokenFile: %s/token}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n", s.URL, dir), 0o600))
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	var log logged
	ended := make(chan error, 1)
	go func() {
		root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(Commands(nil)...)
		root.SetArgs([]string{"controller", "--cluster-cidr", "10.0.0.0/16", "--kubeconfig", dir + "/config", "--rest", "", "--log-level", "debug"})
		root.SetOut(&log)
		root.SetErr(&log)
		ended <- root.ExecuteContext(ctx)
	}()
	log.await(ctx, t, "msg=controller")
	refuses.Store(true)
	log.await(ctx, t, "asking goes on, and what stands goes on working")
	log.await(ctx, t, "kubectl create token ACCOUNT > "+dir+"/token")
	refuses.Store(false)
	log.await(ctx, t, "takes this program's credentials again")
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if text := log.String(); strings.Contains(text, clusterToken) || strings.Count(text, "asking goes on") != 1 {
		t.Error(text)
	}
}

// logged is a command's log while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String implements fmt.Stringer.
func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) await(ctx context.Context, t *testing.T, what string) {
	t.Helper()
	for !strings.Contains(l.String(), what) {
		select {
		case <-ctx.Done():
			t.Fatalf("no %q in\n%s", what, l)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
