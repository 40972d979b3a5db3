package kindworld

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Where a control plane's etcd answers, in JSON too, and what it asks of clients: kubeadm's own.
const (
	etcdAddress = "127.0.0.1:2379"
	etcdPKI     = "/etc/kubernetes/pki/etcd"
)

// CompactStore implements timeline.ControlPlane: the API server's etcd forgets everything but the present, on disk too.
// Watches that the API server serves go on from its cache.
func (st stage) CompactStore(ctx context.Context) error {
	pid, _, err := st.machines.PID(ctx, st.machines.Control())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := compact(ctx, pid); err != nil {
		return fmt.Errorf("compact etcd: %w", err)
	}
	return nil
}

// compact asks the etcd of the container whose first process this is.
func compact(ctx context.Context, pid int) error {
	proc := "/proc/" + strconv.Itoa(pid)
	file := func(name string) string { return filepath.Join(proc, "root", etcdPKI, name) }
	cert, err := tls.LoadX509KeyPair(file("server.crt"), file("server.key"))
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(file("ca.crt"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return errors.New(file("ca.crt") + " holds no certificate")
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}},
		DialContext: func(ctx context.Context, network, _ string) (conn net.Conn, err error) {
			err = spawn.Inside(proc+"/ns/net", func() (err error) {
				conn, err = (&net.Dialer{}).DialContext(ctx, network, etcdAddress)
				return err
			})
			return conn, err
		}}}
	var now struct {
		Header struct{ Revision string }
	}
	if err := etcdAsk(ctx, client, "range", map[string]any{"key": []byte{0}, "limit": 1}, &now); err != nil {
		return err
	}
	err = etcdAsk(ctx, client, "compaction", map[string]any{"revision": now.Header.Revision, "physical": true}, &struct{}{})
	if err != nil && strings.Contains(err.Error(), "required revision has been compacted") {
		return nil // there was nothing to forget
	}
	return err
}

// etcdAsk makes one request of etcd's JSON gateway.
func etcdAsk(ctx context.Context, client *http.Client, what string, body any, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+etcdAddress+"/v3/kv/"+what, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }() // it has been read
	answer, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", what, r.Status, bytes.TrimSpace(answer))
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, into)
}
