package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// clusterToken is what a kubeconfig of these tests lets in by.
const clusterToken = "s3cr3t-t0ken"

// cluster is an API server that serves and allows all but what is named, a resource, a field of NodeIDRecords or a
// right, and knows nothing else; behind it is its kubeconfig.
func cluster(t *testing.T, missing, denied string) (kubeconfig string) {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("Authorization") != "Bearer "+clusterToken:
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
			var review struct {
				APIVersion string         `json:"apiVersion"`
				Kind       string         `json:"kind"`
				Spec       map[string]any `json:"spec"`
				Status     map[string]any `json:"status"`
			}
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				t.Error(err)
			}
			asked := review.Spec["resourceAttributes"].(map[string]any)
			review.Status = map[string]any{"allowed": fmt.Sprint(asked["verb"], " ", asked["resource"]) != denied}
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(review) // who is gone has no use for it
		case strings.HasPrefix(r.URL.Path, "/openapi/v3/"):
			field := "record"
			if missing == "record" {
				field = "entry"
			}
			fmt.Fprintf(w, `{"components": {"schemas": {"r": {"x-kubernetes-group-version-kind": [{"group": "vppdrill.github.io", "version": "v1alpha1", "kind": "NodeIDRecord"}],
				"properties": {"spec": {"properties": {"key": {}, %q: {}}}}}}}}`, field)
		case missing != "" && strings.HasSuffix(r.URL.Path, "/"+missing):
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Get("watch") != "":
			w.(http.Flusher).Flush()
			<-r.Context().Done() // nothing changes
		default:
			fmt.Fprintln(w, `{"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "1"}, "items": []}`)
		}
	}))
	t.Cleanup(s.Close)
	kubeconfig = filepath.Join(t.TempDir(), "config")
	must(t, os.WriteFile(kubeconfig, []byte(fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\n"+
		"users: [{name: u, user: {token: %s}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n", s.URL, clusterToken)), 0o600))
	return kubeconfig
}

// Goal: a cluster whose custom resources are of an older version, or drop what is written, or whose roles lack one
// verb, is told in one line with the command that mends it and exit code 3 by agents and by controllers, and no token
// is told with it, however much is logged. Method: a server that lacks one thing at a time.
func TestClusterNotReady(t *testing.T) {
	dir := shortDir(t)
	config := filepath.Join(dir, "contiv.yaml")
	must(t, os.WriteFile(config, []byte("{TCPstackDisabled: true, IPAMConfig: {nodeInterconnectCIDR: 192.168.16.0/24, useExternalIPAM: true}}"), 0o600))
	base := []string{"agent", "--config", config, "--node", "n", "--journal", dir + "/journal", "--cni-socket", dir + "/cni.sock", "--vpp-socket", dir + "/api.sock",
		"--rest", "", "--vpp-patience", "1ns", "--cluster", "kubernetes"}
	agent := func(more ...string) []string { return append(base[:len(base):len(base)], more...) }
	for _, c := range []struct {
		args            []string
		missing, denied string
		want            string
	}{
		{agent(), "nodeidrecords", "", "it serves no nodeidrecords in version v1alpha1 of vppdrill.github.io: kubectl apply -k fixtures/kubernetes/base"},
		{agent(), "record", "", "a custom resource's definition is of another release: nodeidrecords.vppdrill.github.io drops spec.record, which this one writes: kubectl apply --server-side --force-conflicts -f"},
		{[]string{"controller", "--type", "cluster-pool", "--cluster-cidr", "10.0.0.0/16"}, "record", "", "nodeidrecords.vppdrill.github.io drops spec.record"},
		{agent(), "", "watch nodes", "this program's account may not watch nodes: kubectl apply -k fixtures/kubernetes/base"},
		{agent("--ipam", "multi-pool"), "poolnodes", "", "it serves no poolnodes in version v1alpha1"},
		{agent("--ipam", "crd"), "ciliumnodes", "", "it serves no ciliumnodes in version v2 of cilium.io: kubectl apply -f fixtures/kubernetes/crd/ciliumnode.yaml"},
		{agent("--ipam", "crd"), "", "update ciliumnodes", "may not update ciliumnodes.cilium.io: kubectl apply -k"},
		{[]string{"controller", "--type", "crd", "--cluster-cidr", "10.0.0.0/20"}, "", "update configmaps", "may not update configmaps/vppdrill-addresses in namespace kube-system: kubectl apply -k"},
		{agent("--ipam", "calico"), "ipamblocks", "", "it serves no ipamblocks in version v1 of crd.projectcalico.org: kubectl apply -f fixtures/kubernetes/calico/definitions.yaml"},
		{agent("--ipam", "calico"), "", "create ipamblocks", "may not create ipamblocks.crd.projectcalico.org: kubectl apply -k"},
		{[]string{"controller", "--type", "calico"}, "", "delete ipamblocks", "may not delete ipamblocks.crd.projectcalico.org: kubectl apply -k"},
		{agent("--node-configs"), "", "list nodeconfigs", "may not list nodeconfigs.nodeconfig.contiv.vpp: kubectl apply -k"},
		{[]string{"controller", "--cluster-cidr", "10.0.0.0/16"}, "", "patch nodes", "may not patch nodes: kubectl apply -k"},
		{[]string{"controller", "--type", "cluster-pool", "--cluster-cidr", "10.0.0.0/16"}, "", "update nodeidrecords", "may not update nodeidrecords.vppdrill.github.io: kubectl apply -k"},
		{[]string{"controller", "--type", "multi-pool", "--cluster-cidr", "10.0.0.0/16"}, "poolnodes", "", "it serves no poolnodes in version v1alpha1"},
		{[]string{"controller", "--type", "multi-pool", "--cluster-cidr", "10.0.0.0/16"}, "", "create leases", "may not create leases.coordination.k8s.io in namespace kube-system: kubectl apply -k"},
	} {
		said, err := command(t, append(c.args, "--kubeconfig", cluster(t, c.missing, c.denied), "--log-level", "debug")...)
		code, line := cli.Code(err)
		if code != cli.ExitCannotRun || !strings.Contains(line, c.want) || strings.Contains(line, "\n") {
			t.Errorf("%q without %s%s: %d %q", c.args, c.missing, c.denied, code, line)
		}
		if strings.Contains(said+line, clusterToken) {
			t.Errorf("the token is told:\n%s%s", said, line)
		}
	}
}

// command runs one of this package's, and returns what it writes.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // one that finds nothing missing runs on
	defer cancel()
	return commandUntil(ctx, args...)
}

// commandUntil is the same until ctx ends.
func commandUntil(ctx context.Context, args ...string) (string, error) {
	root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(nil)...)
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetArgs(args)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(ctx)
	return out.String(), err
}
