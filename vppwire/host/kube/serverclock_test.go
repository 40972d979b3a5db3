package kube_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Goal: a clock that differs from the API server's is told in one line with what sets it right, once while it lasts,
// and to who listens later too; one that may be right is not. Method: a server whose Date is off by what the row says.
func TestServerClock(t *testing.T) {
	var off atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Duration(off.Load())).UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte(`{"items":[]}`)) // whoever is gone needs none
	}))
	t.Cleanup(s.Close)
	c := connected(t, s.URL)
	var told []string
	ask := func(by time.Duration) {
		t.Helper()
		off.Store(int64(by))
		must(t, c.List(t.Context(), "/api/v1/nodes", func([]byte) error { return nil }))
	}
	expect := func(want ...string) {
		t.Helper()
		if len(told) != len(want) {
			t.Fatalf("told %q, want %q", told, want)
		}
		for i, w := range want {
			if !strings.Contains(told[i], w) || !strings.Contains(told[i], "chronyc makestep") || strings.Contains(told[i], "\n") {
				t.Errorf("told %q, want %q and what mends it", told[i], w)
			}
		}
	}
	tell := func(l agent.Log) { told = append(told, l.Reason+" "+l.Message) }
	ask(-time.Hour)
	c.TellClock(tell)
	expect(kube.ReasonClock + " this machine's clock is ")
	if !strings.Contains(told[0], "ahead of the API server's") {
		t.Errorf("told %q", told)
	}
	ask(-time.Hour)
	ask(-time.Hour - time.Minute)
	expect("")
	if now, wrong := c.ServerTime(); wrong == "" || time.Since(now).Round(time.Minute) != time.Hour+time.Minute {
		t.Errorf("the server's time is %s, %q", now, wrong)
	}
	ask(3 * time.Second)
	ask(-3 * time.Second)
	ask(0)
	expect("")
	if now, wrong := c.ServerTime(); wrong != "" || time.Since(now).Abs() > 5*time.Second {
		t.Errorf("the server's time is %s, %q", now, wrong)
	}
	ask(time.Minute)
	expect("", "behind the API server's")
}

// Goal: a lease that comes from the future, or is older than a ready node's can be, says that the node's clock is
// wrong, and nothing else does.
func TestNodeClock(t *testing.T) {
	now := time.Unix(1e9, 0)
	for by, want := range map[time.Duration]string{ // in any order: each by itself
		-time.Minute: "", 0: "", 4 * time.Second: "", time.Hour: "node n's clock is 1h0m0s ahead of", -time.Hour: "node n's clock is 1h0m0s behind"} {
		if got := kube.NodeClock("n", now.Add(by), now); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", by, got, want)
		}
	}
}

// Goal: where certificates are not valid at this machine's time, the line says that its clock may be what is wrong.
// Method: a server whose certificate has expired.
func TestExpiredCertificate(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "server"}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "config")
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	must(t, os.WriteFile(file, fmt.Appendf(nil, "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", s.URL, ca), 0o600))
	c, err := kube.Dial(file, "test", slog.New(slog.DiscardHandler))
	must(t, err)
	err = c.List(t.Context(), "/api/v1/nodes", func([]byte) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "chronyc makestep") || !strings.Contains(err.Error(), "expired") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
