package kube_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Goal: whoever asks with credentials that are refused is told which they are and what renews them, never what they
// are; one that runs logs it once, shows it for as long as it lasts, and logs when it is over. Method: kubeconfigs with
// each kind of credentials, and a server that refuses them or takes them.
func TestRefusedCredentials(t *testing.T) {
	const secret = "s3cr3t"
	for what, c := range map[string]struct{ user, want string }{ // in any order: each by itself
		"token":    {"token: " + secret, "the token in DIR/config: kubectl config set-credentials USER"},
		"file":     {"tokenFile: DIR/token", "kubectl create token ACCOUNT > DIR/token"},
		"password": {"username: u, password: " + secret, "the password in DIR/config, which servers since 1.19 do not take: kubectl"},
		"nothing":  {"", "of which DIR/config has none: kubectl config"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "token"), []byte(secret), 0o600))
			refusedAs(t, strings.ReplaceAll(c.user, "DIR", dir), filepath.Join(dir, "config"), strings.ReplaceAll(c.want, "DIR", dir), secret)
		})
	}
}

// answering is a server that answers with a code, and the kubeconfig in a file by which a user gets there.
func answering(t *testing.T, user, config string) (code *atomic.Int64) {
	code = new(atomic.Int64)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(code.Load()))
		_, _ = w.Write([]byte(`{"items":[]}`)) // whoever is gone needs none
	}))
	t.Cleanup(s.Close)
	must(t, os.WriteFile(config, fmt.Appendf(nil, "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: {%s}}]\n"+
		"contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n", s.URL, user), 0o600))
	return code
}

// needNodes is as good as any.
var needNodes = []kube.Need{{Resource: "nodes", Verbs: []string{"list"}}}

// refusedAs has a server refuse one user's credentials and take them.
func refusedAs(t *testing.T, user, config, want, secret string) {
	code := answering(t, user, config)
	var logged bytes.Buffer
	c, err := kube.Dial(config, "test", slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	must(t, err)
	code.Store(http.StatusUnauthorized)
	err = c.Check(t.Context(), needNodes, "")
	if !errors.Is(err, kube.ErrUnauthorized) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want %q", err, want)
	}
	if logged.Len() > 0 {
		t.Errorf("at the start it is an error and no more:\n%s", &logged)
	}
	ask := func(answer int) error {
		code.Store(int64(answer))
		return c.List(t.Context(), "/api/v1/nodes", func([]byte) error { return nil })
	}
	must(t, ask(http.StatusOK))
	c.TellRefusals()
	for range 3 {
		if err := ask(http.StatusUnauthorized); !errors.Is(err, kube.ErrUnauthorized) || !strings.Contains(err.Error(), "/api/v1/nodes: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if ask(http.StatusInternalServerError) == nil || !strings.Contains(c.Refused(), want) {
		t.Errorf("%q", c.Refused())
	}
	if got := logged.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=ERROR") || !strings.Contains(got, "401 Unauthorized") {
		t.Error(got)
	}
	must(t, ask(http.StatusOK))
	if got := logged.String(); c.Refused() != "" || strings.Count(got, "\n") != 2 || !strings.Contains(got, "takes this program's credentials again") {
		t.Errorf("%q %s", c.Refused(), got)
	}
	if strings.Contains(logged.String()+fmt.Sprint(err), secret) {
		t.Errorf("told: %s %v", &logged, err)
	}
}

// Goal: an account that may not even ask what it may do is told apart from nobody at all, and each is told what mends
// it.
func TestReviewsForbidden(t *testing.T) {
	for user, want := range map[string][]string{
		"":         {"lets nobody in without credentials (403 Forbidden), of which ", ": kubectl config set-credentials"},
		"token: x": {"may not create selfsubjectaccessreviews.authorization.k8s.io, ", ": kubectl create clusterrolebinding "},
	} {
		config := filepath.Join(t.TempDir(), "config")
		answering(t, user, config).Store(http.StatusForbidden)
		c, err := kube.Dial(config, "test", slog.New(slog.DiscardHandler))
		must(t, err)
		err = c.Check(t.Context(), needNodes, "")
		if !errors.Is(err, kube.ErrNotReady) || !strings.Contains(err.Error(), want[0]) || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%q: %v", user, err)
		}
	}
}
