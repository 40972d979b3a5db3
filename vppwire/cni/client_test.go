//go:build linux

package cni_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/cni"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// ask runs a command of an allowed sandbox against a socket.
func ask(ctx context.Context, command, socket, wait string) (code int, out string) {
	env := map[string]string{"CNI_COMMAND": command, "CNI_CONTAINERID": "c1", "CNI_IFNAME": "pod0", "CNI_NETNS_OVERRIDE": "1",
		"CNI_NETNS": fmt.Sprintf("/proc/%d/ns/net", os.Getpid())}
	conf := fmt.Sprintf(`{"cniVersion": "1.1.0", "name": "k8s", "agentSocket": %q, "agentWait": %q}`, socket, wait)
	var b bytes.Buffer
	code = cni.Run(ctx, func(k string) string { return env[k] }, strings.NewReader(conf), &b)
	return code, b.String()
}

// Goal: an agent that dies behind a request is asked again, and one that answers nonsense is not believed. Method:
// sockets behind which somebody else answers.
func TestOddAgents(t *testing.T) {
	hangUp := func(c *net.UnixConn) { _ = c.Close() }
	listenAndDie := func(c *net.UnixConn) { _, _ = wire.ReadRequest(c); _ = c.Close() }
	say := func(text string) func(*net.UnixConn) {
		return func(c *net.UnixConn) { _, _ = wire.ReadRequest(c); fmt.Fprint(c, text); _ = c.Close() }
	}
	attached := `{"code":0,"result":{"interfaces":[{"name":"pod0"}],"ips":[{"address":"10.1.1.2/32","interface":0}]}}` + "\n"
	for name, test := range map[string]struct {
		command string
		handle  []func(*net.UnixConn)
		code    float64 // 0 is success
		text    string
	}{
		"dies twice, then answers": {"ADD", []func(*net.UnixConn){hangUp, listenAndDie, say(attached)}, 0, "10.1.1.2/32"},
		"breaks off, then answers": {"ADD", []func(*net.UnixConn){say(`{"code":`), say(attached)}, 0, "10.1.1.2/32"},
		"DEL is asked again":       {"DEL", []func(*net.UnixConn){listenAndDie, say("{}\n")}, 0, ""},
		"STATUS is not":            {"STATUS", []func(*net.UnixConn){listenAndDie, say("{}\n")}, 50, "gone before"},
		"nonsense":                 {"ADD", []func(*net.UnixConn){say("hello\n")}, 5, "not understood"},
		"too much":                 {"ADD", []func(*net.UnixConn){say(strings.Repeat("x", wire.LineMax+1))}, 5, "bytes in a line"},
		"no result":                {"ADD", []func(*net.UnixConn){say(`{"code":0}` + "\n")}, 999, "without a result"},
		"no such interface":        {"ADD", []func(*net.UnixConn){say(strings.Replace(attached, `"interface":0`, `"interface":7`, 1))}, 999, "interface 7"},
		"a code of its own":        {"ADD", []func(*net.UnixConn){say(`{"code":123,"message":"a\nb","details":"c"}` + "\n")}, 123, `"a b"`},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			socket := oddAgent(t, test.handle...)
			code, out := ask(context.Background(), test.command, socket, "10s")
			var told map[string]any
			if out != "" {
				if err := json.Unmarshal([]byte(out), &told); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			if got, _ := told["code"].(float64); got != test.code || (code == 0) != (test.code == 0) || !strings.Contains(out, test.text) {
				t.Fatalf("exit %d, %s", code, out)
			}
		})
	}
}

// Goal: an agent that starts while it is asked is found. Method: start it when the plugin has begun.
func TestWaitsForAgent(t *testing.T) {
	a := fakeAgent{socket: t.TempDir() + "/cni.sock"}
	asked := make(chan struct{})
	type answer struct {
		code int
		out  string
	}
	done := make(chan answer)
	go func() {
		close(asked)
		code, out := ask(context.Background(), "ADD", a.socket, "30s")
		done <- answer{code, out}
	}()
	<-asked
	a.start(t)
	if got := <-done; got.code != 0 || !strings.Contains(got.out, "10.1.1.2/32") {
		t.Fatalf("%+v", got)
	}
}

// Goal: a runtime that gives a request up has it withdrawn. Method: cancel while the agent is silent; its end of the
// socket ends the agent's Request.
func TestInterrupted(t *testing.T) {
	a := fakeAgent{silent: true}
	a.start(t)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for a.said() == "" { // until it has been asked
		}
		cancel()
	}()
	code, out := ask(ctx, "ADD", a.socket, "0s")
	if code != 1 || !strings.Contains(out, `"interrupted"`) {
		t.Fatalf("%d %s", code, out)
	}
	a.stop() // returns when every open request has ended
}

// Goal: a file that is no socket, and a socket that may not be used, are told apart from an agent that is away.
func TestNoSocket(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := ask(context.Background(), "ADD", file, "0s"); code != 1 || !strings.Contains(out, `"code":11`) {
		t.Errorf("a file: %s", out) // connect(2) says ECONNREFUSED
	}
	if code, out := ask(context.Background(), "ADD", file+"/deeper", "0s"); code != 1 || !strings.Contains(out, `"code":5`) {
		t.Errorf("below a file: %s", out)
	}
}
