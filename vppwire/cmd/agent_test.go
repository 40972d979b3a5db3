package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Goal: whoever asks for what cannot be gets one line and its code, and nothing is made. Method: command lines with the
// beginning of what they are told.
func TestRefusals(t *testing.T) {
	dir := shortDir(t)
	good := filepath.Join(dir, "good.yaml")
	bad, named, external, policies := filepath.Join(dir, "bad.yaml"), filepath.Join(dir, "named.yaml"), filepath.Join(dir, "external.yaml"), filepath.Join(dir, "policies.yaml")
	must(t, os.WriteFile(named, []byte("{TCPstackDisabled: true, NodeName: m}"), 0o600))
	must(t, os.WriteFile(external, []byte("{TCPstackDisabled: true, IPAMConfig: {nodeInterconnectCIDR: 192.168.16.0/24, useExternalIPAM: true}}"), 0o600))
	must(t, os.WriteFile(good, []byte("{TCPstackDisabled: true, IPAMConfig: {nodeInterconnectCIDR: 192.168.16.0/24}}"), 0o600))
	must(t, os.WriteFile(policies, []byte("{TCPstackDisabled: true, PodInterconnect: veth, NetworkPolicies: vpp}"), 0o600))
	sockets := filepath.Join(dir, "sockets.yaml")
	must(t, os.WriteFile(sockets, []byte("{TCPstackDisabled: true, GRPCSocket: "+dir+"/run/cni.sock}"), 0o600))
	memifs := filepath.Join(dir, "memifs.yaml")
	must(t, os.WriteFile(memifs, []byte("{TCPstackDisabled: true, MemifFolder: "+dir+"/file}"), 0o600))
	hooked := filepath.Join(dir, "hooked.yaml")
	must(t, os.WriteFile(hooked, []byte("{TCPstackDisabled: true, Hooks: {preRemoval: /nonexistent}}"), 0o600))
	must(t, os.WriteFile(bad, []byte("MTUSise: 1450"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	base := []string{"--node", "n", "--journal", dir + "/state/journal", "--cni-socket", dir + "/run/cni.sock",
		"--vpp-socket", dir + "/api.sock", "--etcd", "http://127.0.0.1:1", "--rest", "", "--vpp-patience", "1ns"}
	before := listing(t, dir)
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"--config", dir + "/none.yaml"}, 2, "agent: --config: open "},
		{[]string{"--config", bad}, 2, "agent: " + bad + `:1:1: unknown field "MTUSise"; did you mean "MTUSize"?`},
		{[]string{"--config", sockets}, 2, "agent: GRPCSocket " + dir + "/run/cni.sock of " + sockets + " is the CNI plugin's: name another file"},
		{[]string{"--config", memifs}, 2, "agent: MemifFolder: " + dir + "/file is neither our folder nor our socket"},
		{[]string{"--config", hooked}, 2, "agent: " + hooked + ": hook preRemoval /nonexistent: no such file or directory"},
		{[]string{"--config", good, "--format", "xml"}, 2, `agent: --format "xml" is none of text, json`},
		{[]string{"--config", good, "--log-level", "loud"}, 2, `agent: --log-level "loud" is none of`},
		{[]string{"--config", good, "--reuse-delay", "-1s"}, 2, "agent: --reuse-delay -1s is negative"},
		{[]string{"--config", good, "--rest", "0.0.0.0:0"}, 2, `agent: --rest: "0.0.0.0:0": there is no authentication`},
		{[]string{"--config", good, "--rest", "9999"}, 2, `agent: --rest: "9999": want ADDRESS:PORT or unix:PATH`},
		{[]string{"--config", good, "--cluster", "k8s"}, 2, `agent: --cluster "k8s" is none of etcd, kubernetes`},
		{[]string{"--config", good, "--ipam", "calicoo"}, 2, `agent: --ipam "calicoo" is none of contiv, nodeipam, cluster-pool, multi-pool, crd, eni, calico, datastore, external; did you mean "calico"?`},
		{[]string{"--config", good, "--ipam", "crd"}, 2, "agent: --ipam crd is for --cluster kubernetes"},
		{[]string{"--config", good, "--ipam", "calico"}, 2, "agent: --ipam calico is for --cluster kubernetes"},
		{[]string{"--config", good, "--pools", "a/b"}, 2, "agent: --pools a/b is for --cluster kubernetes"},
		{[]string{"--config", good, "--node-configs"}, 2, "agent: --node-configs is for --cluster kubernetes"},
		{[]string{"--config", good, "--return-nic"}, 2, "agent: --return-nic gives back what StealInterface took, and " + good + " takes none: leave it out"},
		{[]string{"--config", good, "--cni-portmap"}, 2, "agent: --cni-portmap goes with --cni-bin-dir and --cni-conf-dir"},
		{[]string{"--config", good, "--cni-portmap", "--cni-bin-dir", dir, "--cni-conf-dir", dir}, 3,
			"agent: --cni-portmap: no pod would start without the reference plugin: stat " + dir + "/portmap: no such file or directory: `apt-get install kubernetes-cni`"},
		{[]string{"--config", good, "extra"}, 2, "agent: takes no arguments"},
		{[]string{"--plan", "--rest", "unix:" + dir + "/rest.sock"}, 2, "agent: --cni-socket is for an agent that runs, and --plan asks the one at --rest unix:"},
		{[]string{"--config", good, "--reuse-delay", "1m", "--ipam", "cluster-pool"}, 2, "agent: --reuse-delay 1m0s is not of --ipam cluster-pool: Cilium's agent"},
		{[]string{"--config", good, "--reuse-delay", "1m", "--ipam", "external"}, 2, "agent: --reuse-delay 1m0s is not of --ipam external: the other plugin"},
		{[]string{"--config", good, "--reuse-delay", "1m", "--ipam", "datastore"}, 2, "agent: --reuse-delay 1m0s is not of --ipam datastore: IP_COOLDOWN_PERIOD says"},
		{[]string{"--config", named}, 2, "agent: --node n, and " + named + " says NodeName m: give one of them"},
		{[]string{"--config", named, "--node", "m", "--log-level", "loud"}, 2, `agent: --log-level "loud" is none of`},
		{[]string{"--config", external, "--ipam", "contiv"}, 2, "agent: --ipam contiv cuts blocks by node ID, and the configuration's useExternalIPAM"},
		{[]string{"--config", good, "--cluster", "kubernetes"}, 2, "agent: --etcd is for --cluster etcd"},
	} {
		code, text := execute(t, append(append([]string{}, base...), test.args...))
		if code != test.code || !strings.HasPrefix(text, test.text) || strings.Contains(text, "\n") {
			t.Errorf("%q: %d %q", test.args, code, text)
		}
	}
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"--plan", "--rest", "unix:" + dir + "/rest.sock"}, 3, "agent: no agent shows its plan at unix:"},
		{[]string{"--config", good, "--cluster", "kubernetes", "--pools", "a/b/c"}, 2, `agent: --pools "a/b/c": want NAMESPACE/NAME`},
		{[]string{"--config", good, "--cluster", "kubernetes", "--pools", "/ranges"}, 2, `agent: --pools "/ranges": want NAMESPACE/NAME`},
		{[]string{"--config", good, "--cluster", "kubernetes", "--ipam", "multi-pool", "--reuse-delay", "1m"}, 2, "agent: --reuse-delay 1m0s is not of --ipam multi-pool: Cilium's agent"},
		{[]string{"--config", good, "--cluster", "kubernetes", "--ipam", "nodeipam", "--pre-allocate", "4"}, 2, "agent: --pre-allocate is for --ipam multi-pool, crd, eni"},
		{[]string{"--config", good, "--cluster", "kubernetes", "--ipam", "multi-pool", "--min-allocate", "4"}, 2, "agent: --min-allocate is for --ipam crd, eni"},
		{[]string{"--config", good, "--cluster", "kubernetes", "--ipam", "multi-pool", "--pre-allocate", "-1"}, 2, "agent: --pre-allocate -1: want 0 to 16777216"},
		{[]string{"--config", good, "--cluster", "kubernetes", "--ipam", "crd", "--min-allocate", "4", "--max-allocate", "3"}, 2, "agent: --max-allocate 3 is less than --min-allocate 4"},
		{[]string{"--config", good, "--cluster", "kubernetes", "--ipam", "crd", "--ipam-expiration", "-1s"}, 2, "agent: --ipam-expiration -1s: want 0 or more"},
		{[]string{"--config", policies, "--cluster", "kubernetes"}, 2, "agent: NetworkPolicies: vpp needs Services: vpp on a Kubernetes cluster: kube-proxy hides"},
		{[]string{"--config", good, "--cluster", "kubernetes", "--register"}, 2, "agent: --register is for --cluster etcd"},
	} {
		if code, text := execute(t, test.args); code != test.code || !strings.HasPrefix(text, test.text) || strings.Contains(text, "\n") {
			t.Errorf("%q: %d %q", test.args, code, text)
		}
	}
	if after := listing(t, dir); after != before {
		t.Errorf("made:\n%s", after)
	}
	plugins := t.TempDir()
	must(t, os.WriteFile(filepath.Join(plugins, "portmap"), nil, 0o700))
	newer := filepath.Join(dir, "newer")
	must(t, os.WriteFile(newer, []byte("journal 2\n"), 0o600))
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"--config", good, "--journal", newer}, 2, "agent: journal " + newer + ": a newer version has written it"},
		{[]string{"--config", good, "--cni-portmap", "--cni-bin-dir", plugins, "--cni-conf-dir", dir}, 3, "agent: " + dir + "/api.sock: VPP does not answer"},
		{[]string{"--config", good}, 3, "agent: " + dir + "/api.sock: VPP does not answer: there is no such socket"},
		{[]string{"--config", good, "--netns", "/etc/passwd"}, 3, "agent: /etc/passwd is no network namespace"},
		{[]string{"--config", good, "--cni-socket", dir + "/file"}, 1, "agent: CNI socket " + dir + "/file: there is a file"},
		{[]string{"--config", good, "--etcd-prefix", "x"}, 2, `agent: etcd: prefix "x" does not end with a slash`},
	} {
		code, text := execute(t, append(append([]string{}, base...), test.args...))
		if code != test.code || !strings.HasPrefix(text, test.text) || strings.Contains(text, "\n") {
			t.Errorf("%q: %d %q", test.args, code, text)
		}
	}
}

// execute runs the command and returns its code and what it says.
func execute(t *testing.T, args []string) (int, string) {
	t.Helper()
	c := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
	c.AddCommand(agentCommand())
	c.SetFlagErrorFunc(cli.FlagError)
	c.SetArgs(append([]string{"agent"}, args...))
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.ExecuteContext(context.Background())
	if !cli.Coded(err) {
		t.Fatalf("%q: %v has no code", args, err)
	}
	code, line := cli.Code(err)
	return code, line
}

// listing is every path below a folder.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		fmt.Fprintln(&b, path)
		return err
	}))
	return b.String()
}
