package cmd

import (
	"bytes"
	"context"
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
		root.AddCommand(auditCommand())
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
