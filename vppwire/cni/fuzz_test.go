//go:build linux

package cni

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// FuzzStdin goal: no configuration makes the plugin panic, and what it accepts it can answer. Method: read everything
// that a command reads, chain a result behind prevResult, tell it in every version and read it back.
func FuzzStdin(f *testing.F) {
	for _, conf := range []string{
		`{"cniVersion":"1.1.0","name":"k8s","type":"vppdrill","timeout":"5s","agentWait":"1s","netnsDirs":["/run/netns"]}`,
		`{"cniVersion":"0.4.0","name":"k8s","prevResult":{"interfaces":[{"name":"eth0","sandbox":"/n"}],"ips":[{"version":"4","address":"10.0.0.1/8","gateway":"10.0.0.2","interface":0}],"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.2"}],"dns":{"nameservers":["1.1.1.1"]}}}`,
		`{"cniVersion":"0.3.1","name":"k8s","prevResult":{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.1/8","routes":[{"dst":"0.0.0.0/0"}]}}}`,
		`{"cniVersion":"1.0.0","name":"k8s","prevResult":{"cniVersion":"1.0.0","ips":[{"address":"fd00::1/64","interface":7}],"routes":[null]}}`,
		`{"cniVersion":"1.1.0","name":"k8s","cni.dev/valid-attachments":[{"containerID":"a","ifname":"eth0"}],"runtimeConfig":{"mac":"x"}}`,
	} {
		f.Add([]byte(conf))
	}
	made := &wire.Result{Interfaces: []wire.Interface{{Name: "eth0", Sandbox: "/n"}},
		IPs:    []wire.IP{{Address: netip.MustParsePrefix("10.1.1.2/32"), Gateway: netip.MustParseAddr("10.1.1.1")}},
		Routes: []wire.Route{{Dst: netip.MustParsePrefix("0.0.0.0/0"), GW: netip.MustParseAddr("10.1.1.1")}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, command := range wire.Commands {
			c, fail := parseNetconf(data, command)
			if fail != nil {
				fine(t, fail)
				continue
			}
			if _, fail := c.valid(); fail != nil {
				fine(t, fail)
			}
			previous, fail := c.previous()
			if fail != nil {
				fine(t, fail)
				continue
			}
			p := parameters{command: command, containerID: "c1", ifName: "eth0", netns: "/n"}
			if previous != nil {
				if _, fail := find(previous, p); fail != nil {
					fine(t, fail)
				}
			}
			r, fail := newResult(made, previous, c.DNS)
			if fail != nil {
				fine(t, fail)
				continue
			}
			for _, version := range Versions {
				text, fail := encode(r, version)
				if fail != nil {
					fine(t, fail)
					continue
				}
				again := &Netconf{CNIVersion: version, PrevResult: text}
				if _, fail := again.previous(); fail != nil {
					t.Fatalf("what was told as %s cannot be read: %v\n%s", version, fail, text)
				}
			}
		}
	})
}

// fine refuses an error that is no error of the specification in one line.
func fine(t *testing.T, f *failure) {
	t.Helper()
	if f.Code == 0 || f.Msg == "" || strings.ContainsAny(f.Msg+f.Details, "\n\r") {
		t.Fatalf("%+v", f)
	}
}

// FuzzEnvironment goal: whatever a runtime passes, the agent is told of owners and namespaces only that it can keep.
// Method: read the parameters and the namespace's path; what is accepted has the form that the specification gives.
func FuzzEnvironment(f *testing.F) {
	f.Add("ADD", "c1", "/run/netns/x", "eth0", "IgnoreUnknown=1;K8S_POD_NAME=web-0;COLOR=red")
	f.Add("DEL", "c1", "", "eth0", "")
	f.Add("CHECK", "a/b", "/proc/1/ns/net", "eth/0", ";;=")
	f.Fuzz(func(t *testing.T, command, id, netns, ifName, args string) {
		env := map[string]string{envCommand: command, envContainerID: id, envNetns: netns, envIfName: ifName, envArgs: args}
		p, fail := readEnvironment(func(k string) string { return env[k] })
		if fail != nil {
			fine(t, fail)
			if fail.Code != types.ErrInvalidEnvironmentVariables {
				t.Fatalf("%+v", fail)
			}
			return
		}
		if !p.attaches() {
			return
		}
		for _, part := range []string{p.containerID, p.ifName} {
			if part == "" || len(part) > idMax || strings.ContainsAny(part, "/ \t\r\n\x00") {
				t.Fatalf("%q was accepted", part)
			}
		}
		if mayBeIn(DefaultNetnsDirs, p.netns) && (strings.Contains(p.netns, "/../") && strings.HasPrefix(p.netns, "/proc") || !strings.HasPrefix(p.netns, "/")) {
			t.Fatalf("%q was accepted", p.netns)
		}
	})
}

// FuzzDuration goal: what is printed reads back.
func FuzzDuration(f *testing.F) {
	f.Add(int64(5 * time.Second))
	f.Fuzz(func(t *testing.T, n int64) {
		d := Duration(n)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again Duration
		if err := json.Unmarshal(text, &again); err != nil || again != d {
			t.Fatalf("%s: %v, %v", text, again, err)
		}
	})
}
