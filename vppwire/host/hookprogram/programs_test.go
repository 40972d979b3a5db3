//go:build linux

package hookprogram

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

var hook = agent.Hook{ID: 3, Before: true, Interface: "host-vd1", Addr: netip.MustParseAddr("10.1.1.2"),
	Sandbox: agent.Sandbox{Owner: ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}, Netns: "/run/netns/x",
		PodNamespace: "default", PodName: "web-0", PodUID: "u"}}

// Goal: a program reads its pod as one JSON document, and success is one line of the log. Method: a script that keeps what it
// reads.
func TestEvent(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "in")
	var log strings.Builder
	p := Programs{Node: "node-1", Log: slog.New(slog.NewTextHandler(&log, nil)),
		Of: agent.HookPrograms{PreRemoval: script(t, "cat >"+kept+"; echo one; echo two >&2"), Timeout: time.Minute}}
	if err := p.Run(t.Context(), hook); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"hook":"preRemoval","node":"node-1","podNamespace":"default","podName":"web-0","podUID":"u","network":"k8s","containerID":"c1",` +
		`"ifName":"eth0","netns":"/run/netns/x","vppInterface":"host-vd1","address":"10.1.1.2"}` + "\n"
	if string(text) != want || !json.Valid(text) {
		t.Errorf("read %s", text)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `exit=0`) || !strings.Contains(got, `output="one two"`) {
		t.Errorf("logged %q", got)
	}
	h := hook
	h.Before = false
	if log.Reset(); p.Run(t.Context(), h) != nil || log.Len() > 0 {
		t.Error("there is no program behind an addition")
	}
}

// Goal: what goes wrong is one line that says what, and nothing takes longer than its limit. Method: programs that fail in
// each way, one with a child that would live on and hold the output.
func TestFailures(t *testing.T) {
	child := filepath.Join(t.TempDir(), "child")
	for name, test := range map[string]struct{ program, want string }{
		"code":    {script(t, "echo bad; exit 7"), "exit code 7: bad"},
		"signal":  {script(t, "kill -9 $$"), "signal: killed"},
		"hangs":   {script(t, "sleep 60 & echo $! >"+child+"; wait"), "killed after 300ms"},
		"talks":   {script(t, "yes | head -c 100000; exit 1"), "…"},
		"no file": {"/nonexistent/program", "no such file"},
		"no code": {filepath.Dir(script(t, "")), "permission denied"},
	} {
		p := Programs{Of: agent.HookPrograms{PreRemoval: test.program, Timeout: 300 * time.Millisecond}, Log: slog.New(slog.DiscardHandler)}
		if name == "talks" || name == "code" { // they may be slow on a busy machine
			p.Of.Timeout = time.Minute
		}
		err := p.Run(t.Context(), hook)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 2*outputMax {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, err := os.ReadFile(child)
	if err != nil {
		t.Fatal(err)
	}
	// It closes the output a moment before it is dead: a zombie until its new parent asks, or gone.
	alive := func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(string(text))))
		return err == nil && !strings.Contains(string(stat), ") Z ")
	}
	for end := time.Now().Add(20 * time.Second); alive(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the child lives")
		}
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	p := Programs{Of: agent.HookPrograms{PreRemoval: script(t, "sleep 60"), Timeout: time.Minute}, Log: slog.New(slog.DiscardHandler)}
	if err := p.Run(ctx, hook); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("of an agent that ends: %v", err)
	}
}

// Goal: an agent does not start with programs that it could not run.
func TestCheck(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		of   agent.HookPrograms
		want string
	}{
		{agent.HookPrograms{}, ""},
		{agent.HookPrograms{PostAdd: script(t, ""), PreRemoval: script(t, "")}, ""},
		{agent.HookPrograms{PostAdd: plain}, "hook postAdd " + plain + ": it may not be executed"},
		{agent.HookPrograms{PreRemoval: filepath.Dir(plain)}, "it is no file"},
		{agent.HookPrograms{PreRemoval: plain + "x"}, "hook preRemoval " + plain + "x: no such file or directory"},
	} {
		if err := Check(test.of); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.of, err)
		}
	}
}
