//go:build linux

package cni_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni"
)

// TestIPAMPlugin goal: an IPAM plugin chooses the address before the agent is asked, hears of everything afterwards,
// and gets its address back exactly when the agent has said that it holds nothing. Method: a plugin that is a script
// and keeps a list of what it hears, and an agent that agrees, refuses, or does not answer.
func TestIPAMPlugin(t *testing.T) {
	dir := t.TempDir()
	heard := filepath.Join(dir, "heard")
	script := fmt.Sprintf(`#!/bin/sh
cat > /dev/null
echo $CNI_COMMAND >> %q
case $CNI_COMMAND in
ADD) if [ -e %q ]; then echo '{"cniVersion":"1.1.0","code":100,"msg":"no address","details":"is left"}'; exit 1; fi
     echo '{"cniVersion":"1.1.0","ips":[{"address":"10.7.0.9/24"}],"dns":{"domain":"example.org"}}';;
esac
`, heard, filepath.Join(dir, "full"))
	if err := os.WriteFile(filepath.Join(dir, "chooser"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var a fakeAgent
	a.start(t)
	run := func(command, more string) (string, string, string) {
		env := map[string]string{"CNI_COMMAND": command, "CNI_CONTAINERID": "c1", "CNI_IFNAME": "pod0", "CNI_NETNS_OVERRIDE": "1", "CNI_PATH": dir,
			"CNI_NETNS": fmt.Sprintf("/proc/%d/ns/net", os.Getpid())}
		for k, v := range env {
			t.Setenv(k, v) // for the script
		}
		conf := fmt.Sprintf(`{"cniVersion": "1.1.0", "name": "k8s", "agentSocket": %q, "agentWait": "0s", "timeout": "1s", "ipam": {"type": "chooser"}%s}`, a.socket, more)
		var out bytes.Buffer
		cni.Run(context.Background(), os.Getenv, strings.NewReader(conf), &out)
		list, _ := os.ReadFile(heard)
		_ = os.Remove(heard) // there is none where nothing was heard
		return out.String(), a.said(), strings.Join(strings.Fields(string(list)), " ")
	}
	expect := func(what, command, more, inOut, inSaid, ipam string) {
		t.Helper()
		out, said, list := run(command, more)
		if !strings.Contains(out, inOut) || inOut == "" && out != "" || !strings.Contains(said, inSaid) || inSaid == "" && said != "" || list != ipam {
			t.Errorf("%s: printed %s\nthe agent heard %s\nthe IPAM plugin heard %q", what, out, said, list)
		}
	}
	expect("ADD", "ADD", "", `"address": "10.7.0.9/32"`, "addr=10.7.0.9", "ADD")
	expect("DNS", "ADD", "", `"domain": "example.org"`, "pod-add", "ADD")
	expect("DEL", "DEL", "", "", "pod-del", "DEL")
	expect("STATUS", "STATUS", "", "", "pod-status", "STATUS")
	expect("GC", "GC", `, "cni.dev/valid-attachments": []`, "", "pod-gc", "GC")
	a.answer = agent.Answer{Code: agent.CodeInvalidConfig, Message: "not in the pool"}
	expect("the agent refuses ADD", "ADD", "", "not in the pool", "pod-add", "ADD DEL")
	expect("the agent refuses DEL", "DEL", "", "not in the pool", "pod-del", "")
	a.answer, a.silent = agent.Answer{}, true
	expect("nobody knows of ADD", "ADD", "", "in time", "pod-add", "ADD")
	a.silent = false
	if err := os.WriteFile(filepath.Join(dir, "full"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect("nothing is free", "ADD", "", `"code":100,"msg":"ipam: no address","details":"is left"`, "", "ADD DEL")
	expect("no such plugin", "ADD", `, "ipam": {"type": "nobody"}`, `"code":7`, "", "")
}
