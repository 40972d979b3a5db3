package cmd

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Goal: an audit of files tells findings with code 1, nothing with 0, and bad input in one line with 2. Method: files
// as kubectl prints them, and a server that is not there.
func TestAuditFiles(t *testing.T) {
	dir := t.TempDir()
	put, good, more := kubectlFiles(t, dir)
	bad, empty := put("bad.json", "[]"), put("empty.json", "")
	odd := put("odd.json", `{"kind":"GadgetList","apiVersion":"example.org/v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}{"kind":"Widget","metadata":{"name":"a"}}`)
	nowhere := put("nowhere.yaml", "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n")
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{good}, 0, "1 nodes, 1 pods with addresses of their own"},
		{[]string{good, more}, 1, "error duplicate-address: 10.0.0.5: pods d/a on n and d/b on n have it"},
		{[]string{good, more, "--format", "json"}, 1, `"law": "duplicate-address"`},
		{[]string{good, odd}, 0, "not read: 2 Gadget.example.org, 1 Widget\n"},
		{[]string{good, odd, "--format", "json"}, 0, `"Gadget.example.org": 2`},
		{[]string{good, good}, 0, "1 nodes, 1 pods with addresses of their own"},
		{[]string{good}, 0, "nothing to judge for: wrong-record, booked-twice, services-overlap, nodes-overlap, leaked-address, stranded-range, runs-out\n"},
		{[]string{bad}, 2, "want Kubernetes objects as JSON"},
		{[]string{empty}, 2, "no Kubernetes objects in it"},
		{[]string{dir + "/none"}, 2, "no such file"},
		{nil, 2, "audit wants either"},
		{[]string{"--kubeconfig", good, good}, 2, "audit wants either"},
		{[]string{"--kubeconfig", nowhere}, 3, "connection refused: kubectl --kubeconfig " + nowhere + " get --raw /readyz shows how the API server fares"},
	} {
		root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(auditCommand(nil))
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(append([]string{"audit"}, test.args...))
		code, line := cli.Code(root.ExecuteContext(context.Background()))
		if code != test.code || !strings.Contains(out.String()+line, test.text) || strings.Contains(line, "\n") {
			t.Errorf("%q: %d %q %q", test.args, code, out.String(), line)
		}
	}
}

// Goal: a live cluster is read whole with what its server has, a list that the account may not read is named, one that
// the server cannot give is as well, and what is gone a moment later is no finding. Method: a server with a cluster of
// Calico whose block calls a pod's address free, for the first look alone or for good.
func TestAuditCluster(t *testing.T) {
	for _, passing := range []bool{true, false} {
		looks, asked := 0, map[string]int{}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked[r.URL.Path]++
			list := func(version, kind, items string) {
				_, _ = fmt.Fprintf(w, `{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":"7"},"items":[%s]}`, kind, version, items)
			}
			allocation := "null"
			switch r.URL.Path {
			case "/api/v1/nodes":
				looks++
				list("v1", "Node", `{"metadata":{"name":"n"},"status":{"addresses":[{"type":"InternalIP","address":"192.168.0.1"}]}}`)
			case "/api/v1/pods":
				list("v1", "Pod", `{"metadata":{"namespace":"d","name":"a"},"spec":{"nodeName":"n"},"status":{"podIP":"10.0.0.1"}},
					{"metadata":{"namespace":"d","name":"b"},"spec":{"nodeName":"n"},"status":{"podIP":"10.0.0.2"}}`)
			case "/api/v1/services":
				list("v1", "Service", "")
			case "/apis/crd.projectcalico.org/v1/ipamblocks":
				if passing && looks > 1 {
					allocation = "1"
				}
				list("crd.projectcalico.org/v1", "IPAMBlock", `{"metadata":{"name":"b"},"spec":{"cidr":"10.0.0.0/30","affinity":"host:n","allocations":[null,`+allocation+`,0,null],
					"attributes":[{"handle_id":"h","secondary":{"namespace":"d","pod":"b","node":"n"}},{"handle_id":"i","secondary":{"namespace":"d","pod":"a","node":"n"}}]}}`)
			case "/apis/apps/v1/daemonsets":
				w.WriteHeader(http.StatusForbidden)
			case "/apis/projectcalico.org/v3/ippools": // an aggregated server that is down
				w.WriteHeader(http.StatusServiceUnavailable)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		}))
		path := filepath.Join(t.TempDir(), "config")
		must(t, os.WriteFile(path, []byte("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: '"+s.URL+"'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"), 0o600))
		root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(auditCommand(nil))
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs([]string{"audit", "--kubeconfig", path})
		code, line := cli.Code(root.ExecuteContext(t.Context()))
		s.Close()
		finding := "error wrong-record: 10.0.0.1: pod d/a on n has it, and it lies in Calico block 10.0.0.0/30, which calls it free: the next pod gets it\n"
		if found := strings.Contains(out.String(), finding); found == passing || code != map[bool]int{true: 0, false: 1}[passing] || line != "" {
			t.Errorf("passing %t: %d %q %s", passing, code, line, out.String())
		}
		for _, want := range []string{"not judged: /apis/apps/v1/daemonsets: the account may not read it\n", "not judged: /apis/projectcalico.org/v3/ippools: "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in %s", want, out.String())
			}
		}
		for _, path := range slices.Concat(auditNeeded, auditMore) {
			if asked[path] != 2 && !strings.Contains(path, "v3/ippools") { // that is tried again
				t.Errorf("%s was asked for %d times", path, asked[path])
			}
		}
	}
}
