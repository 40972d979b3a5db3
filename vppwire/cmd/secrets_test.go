package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Goal: whatever is wrong with a kubeconfig, what lets in by it is not told, however much is logged, and nobody goes on
// without it. Method: a secret in each place of files that cannot be used, for each command that takes one.
func TestBrokenKubeconfigsKeepTheirSecrets(t *testing.T) {
	const whole = "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\nusers: [{name: u, user: {%s}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n"
	dir := t.TempDir()
	for what, text := range map[string]string{
		"a token alone":                            clusterToken,
		"a token in a list":                        fmt.Sprintf(whole, "https://127.0.0.1:1", "token: ["+clusterToken+"]"),
		"a user that is a word":                    "apiVersion: v1\nkind: Config\nusers: [{name: u, user: " + clusterToken + "}]\n",
		"YAML that ends early":                     "apiVersion: v1\nkind: Config\nusers: [{name: u, user: {token: " + clusterToken,
		"a key that is no key":                     fmt.Sprintf(whole, "https://127.0.0.1:1", "client-key-data: "+clusterToken+", client-certificate-data: "+clusterToken),
		"a password in a bad URL":                  fmt.Sprintf(whole, "https://u:"+clusterToken+"@[::1", "token: x"),
		"a password in a URL where nobody listens": fmt.Sprintf(whole, "https://u:"+clusterToken+"@127.0.0.1:1", "token: x"),
	} {
		file := filepath.Join(dir, strings.ReplaceAll(what, " ", "-"))
		must(t, os.WriteFile(file, []byte(text), 0o600))
		for _, args := range [][]string{
			{"controller", "--cluster-cidr", "10.0.0.0/16", "--log-level", "debug"}, {"audit"}, {"conformance", "--image", "x", "--out", filepath.Join(dir, "out")},
		} {
			if args[0] == "controller" && strings.HasSuffix(what, "listens") {
				continue // it waits for a server
			}
			said, err := command(t, append(args, "--kubeconfig", file)...)
			code, line := cli.Code(err)
			if code == 0 || line == "" || strings.Contains(line, "\n") {
				t.Errorf("%s of %s: %d %q", args[0], what, code, line)
			}
			if strings.Contains(said+line, clusterToken) {
				t.Errorf("%s of %s tells it:\n%s%s", args[0], what, said, line)
			}
		}
	}
}
