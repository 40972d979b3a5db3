//go:build linux

package cni_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni"
)

// TestCheckLooks goal: CHECK fails where the sandbox is not as prevResult says, whatever the agent believes. Method:
// real namespaces, each with one thing wrong.
func TestCheckLooks(t *testing.T) {
	needRoot(t)
	good := attachment{ifName: "eth0", mac: "02:00:00:00:00:01", addr: "10.1.1.2/32"}
	change := func(f func(*attachment)) attachment { a := good; f(&a); return a }
	for name, test := range map[string]struct {
		made attachment
		msg  string // "" is success
	}{
		"right":         {good, ""},
		"other name":    {change(func(a *attachment) { a.ifName = "eth1" }), "Link not found"},
		"other MAC":     {change(func(a *attachment) { a.mac = "02:00:00:00:00:09" }), "hardware address 02:00:00:00:00:09"},
		"down":          {change(func(a *attachment) { a.down = true }), "is down"},
		"other address": {change(func(a *attachment) { a.addr = "10.1.1.3/32" }), "does not have the address 10.1.1.2/32"},
		"other mask":    {change(func(a *attachment) { a.addr = "10.1.1.2/24" }), "does not have the address 10.1.1.2/32"},
		"no route":      {change(func(a *attachment) { a.bare = true }), "has no route to 0.0.0.0/0 by 10.1.1.1"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			var a fakeAgent
			a.start(t)
			dir := t.TempDir()
			netns := newNetns(t, dir, "pod", test.made.make)
			conf := fmt.Sprintf(`{"cniVersion": "1.1.0", "name": "k8s", "type": "vppdrill", "agentSocket": %q, "netnsDirs": [%q],
				"prevResult": {"cniVersion": "1.1.0", "interfaces": [{"name": "eth0", "mac": "02:00:00:00:00:01", "sandbox": %q}],
				"ips": [{"address": "10.1.1.2/32", "gateway": "10.1.1.1", "interface": 0}], "routes": [{"dst": "0.0.0.0/0", "gw": "10.1.1.1"}]}}`,
				a.socket, dir, netns)
			env := map[string]string{"CNI_COMMAND": "CHECK", "CNI_CONTAINERID": "c1", "CNI_IFNAME": "eth0", "CNI_NETNS": netns}
			var out bytes.Buffer
			code := cni.Run(context.Background(), func(k string) string { return env[k] }, strings.NewReader(conf), &out)
			if test.msg == "" {
				if code != 0 || out.Len() != 0 {
					t.Fatalf("%d %s", code, out.String())
				}
				return
			}
			var told struct {
				Code uint
				Msg  string
			}
			if err := json.Unmarshal(out.Bytes(), &told); err != nil || code != 1 || told.Code != 101 || !strings.Contains(told.Msg, test.msg) {
				t.Fatalf("%d %s", code, out.String())
			}
		})
	}
}

// TestTakenName goal: an interface that somebody else has made is refused, and one that the agent has made is told
// again. Method: a sandbox that has eth0, and an agent that does not know of it, then one that does.
func TestTakenName(t *testing.T) {
	needRoot(t)
	var a fakeAgent
	a.start(t)
	dir := t.TempDir()
	netns := newNetns(t, dir, "pod", attachment{ifName: "eth0", mac: "02:00:00:00:00:01", addr: "10.1.1.2/32"}.make)
	env := map[string]string{"CNI_COMMAND": "ADD", "CNI_CONTAINERID": "c1", "CNI_IFNAME": "eth0", "CNI_NETNS": netns}
	for _, test := range []struct {
		answer agent.Answer
		code   int
		text   string
		heard  string
	}{
		{agent.Answer{Code: agent.CodeUnknownContainer, Message: "not attached"}, 1, `"code":4,"msg":"CNI_IFNAME: eth0 exists already`, "pod-check"},
		{agent.Answer{}, 0, "10.1.1.2/32", "pod-add"},
	} {
		a.answer = test.answer
		var out bytes.Buffer
		conf := fmt.Sprintf(`{"cniVersion": "1.1.0", "name": "k8s", "agentSocket": %q, "netnsDirs": [%q]}`, a.socket, dir)
		code := cni.Run(context.Background(), func(k string) string { return env[k] }, strings.NewReader(conf), &out)
		lines := strings.Split(strings.TrimSpace(a.said()), "\n")
		if code != test.code || !strings.Contains(out.String(), test.text) || !strings.Contains(lines[len(lines)-1], test.heard) {
			t.Errorf("%d %s: the agent heard %q", code, out.String(), lines)
		}
	}
}
