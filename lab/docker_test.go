package lab

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: an engine that is not there, does not run, hangs or is something else is called so, with what mends it. Method:
// sockets that are each of these; a TCP engine may be encrypted and is left to the library.
func TestDocker(t *testing.T) {
	dir := t.TempDir()
	listen := func(name string) (string, net.Listener) {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() }) // the test is over
		return l.Addr().String(), l
	}
	serve := func(name, body string) string {
		path, l := listen(name)
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })}
		go func() { _ = s.Serve(l) }()      // until it is closed
		t.Cleanup(func() { _ = s.Close() }) // the test is over
		return path
	}
	hangs, _ := listen("hangs")
	stale, l := listen("stale")
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close() // its socket stays, as a killed engine's does
	for _, c := range []struct {
		host, socket    string
		here            bool
		version, why, m string
	}{
		{"", serve("good", `{"Version": "28.1"}`), true, "28.1", "", ""},
		{"", filepath.Join(dir, "none"), false, "", "Docker is not installed: there is no " + dir, "apt-get install docker.io"},
		{"", filepath.Join(dir, "none"), true, "", "Docker is installed and does not run: there is no " + dir, "systemctl start docker"},
		{"", stale, true, "", "Docker does not run: nobody listens on " + dir, "systemctl start docker"},
		{"", hangs, true, "", "takes connections and does not answer within 200ms", "systemctl restart docker"},
		{"", serve("other", "hello"), true, "", "is no Docker engine", "DOCKER_HOST"},
		{"unix://" + stale, "", true, "", "stale, which DOCKER_HOST names", "systemctl start docker"},
	} {
		version, err := docker(t.Context(), c.host, c.socket, 200*time.Millisecond, func() bool { return c.here })
		var none NoDocker
		if version != c.version || (err == nil) != (c.why == "") || err != nil && !(errors.As(err, &none) && strings.Contains(none.Why, c.why) && strings.Contains(none.Mend, c.m)) {
			t.Errorf("%s%s: %q, %v, want %q", c.host, c.socket, version, err, c.why)
		}
	}
}

// Goal: a lab stands for any scenario, and what of it is not done there is said before anything starts. Method:
// README's kind of scenario, with churn, faults and a timeline of which labs cannot do one action, and one that is only
// a topology.
func TestStanding(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte("name: x\nchurn: {every: 2s, lifetime: 40s}\ntimeline: [{at: 10s, do: restart-vpp, node: node-1}, {at: 20s, do: restart-agent, node: node-1}]\n"+
		"faults: {dropReply: 0.01}\n"))
	if err != nil {
		t.Fatal(err)
	}
	standing, left := Standing(s)
	if text := strings.Join(left, "\n"); standing.Faults.Any() || len(Unsupported(standing)) > 0 || len(standing.Timeline) != 2 ||
		!strings.HasPrefix(text, "left out: faults, which only a run heals\n") || !strings.Contains(text, "\nleft to vppdrill run: a timeline of 2 items and churn") {
		t.Errorf("left:\n%s", text)
	}
	if _, left := Standing(standing); len(left) != 1 {
		t.Errorf("again: %v", left)
	}
	bare := scenarios.Default()
	if _, left := Standing(&bare); len(left) > 0 {
		t.Errorf("of nothing: %v", left)
	}
}
