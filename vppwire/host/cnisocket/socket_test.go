package cnisocket

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// scripted answers every request alike, or when it is withdrawn.
type scripted struct {
	answer    agent.Answer
	wait      bool
	heard     chan agent.Event
	withdrawn chan error
}

func (s *scripted) Request(ctx context.Context, event func(uint64) agent.Event) (agent.Answer, error) {
	s.heard <- event(7)
	if s.wait {
		<-ctx.Done()
		s.withdrawn <- ctx.Err()
		return agent.Answer{}, ctx.Err()
	}
	return s.answer, nil
}

func serve(t *testing.T, a Agent) (path string, stop func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "cni.sock")
	s, err := Listen(path, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		ended <- nil
	}
	t.Cleanup(stop)
	return path, stop
}

func ask(t *testing.T, path string, req wire.Request) wire.Response {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := wire.Write(c, req); err != nil {
		t.Fatal(err)
	}
	resp, err := wire.ReadResponse(c)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// Goal: each command becomes its event, and the answer what a plugin prints.
func TestCommands(t *testing.T) {
	addr := netip.MustParseAddr("10.1.1.2")
	a := &scripted{heard: make(chan agent.Event, 1), answer: agent.Answer{Result: agent.Attachment{IfName: "eth0", Netns: "/run/netns/x",
		Addr: netip.PrefixFrom(addr, 32), Gateway: netip.MustParseAddr("10.1.1.1"), MTU: 1450}}}
	path, _ := serve(t, a)
	owner := ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}
	base := wire.Request{Version: wire.Version, Network: "k8s", ContainerID: "c1", IfName: "eth0", Netns: "/run/netns/x"}
	for command, test := range map[string]struct {
		change func(*wire.Request)
		want   agent.Event
	}{
		wire.Add: {func(r *wire.Request) {
			r.Args = "K8S_POD_NAMESPACE=d;K8S_POD_NAME=p;K8S_POD_UID=u;IP=fd00::7/64,10.1.1.2"
			r.Wanted = []netip.Addr{addr}
		}, agent.PodAdd{Request: 7, Wanted: []netip.Addr{addr, netip.MustParseAddr("fd00::7")},
			Sandbox: agent.Sandbox{Owner: owner, Netns: "/run/netns/x", PodNamespace: "d", PodName: "p", PodUID: "u"}}},
		wire.Del:   {func(r *wire.Request) { r.Netns = "" }, agent.PodDel{Request: 7, Owner: owner}},
		wire.Check: {func(r *wire.Request) { r.Addr = addr }, agent.PodCheck{Request: 7, Owner: owner, Addr: addr}},
		wire.GC: {func(r *wire.Request) { r.Valid = []wire.Attachment{{ContainerID: "c1", IfName: "eth0"}} },
			agent.PodGC{Request: 7, Network: "k8s", Valid: []ipam.Owner{owner}}},
		wire.Status: {func(r *wire.Request) { *r = wire.Request{Version: 1} }, agent.PodStatus{Request: 7}},
	} {
		req := base
		test.change(&req)
		req.Command = command
		resp := ask(t, path, req)
		if d := cmp.Diff(test.want, <-a.heard, cmpopts.EquateComparable(netip.Addr{})); d != "" {
			t.Errorf("%s:\n%s", command, d)
		}
		if resp.Code != 0 || (resp.Result != nil) != (command == wire.Add) {
			t.Errorf("%s: %+v", command, resp)
		}
		if command == wire.Add && (resp.Result.IPs[0].Address.String() != "10.1.1.2/32" || resp.Result.Routes[0].Dst.String() != "0.0.0.0/0" ||
			resp.Result.Interfaces[0].Sandbox != "/run/netns/x") {
			t.Errorf("result %+v", resp.Result)
		}
	}
}

// Goal: what no runtime would ask is refused with the specification's code, and the agent never hears of it.
func TestRefused(t *testing.T) {
	base := wire.Request{Version: wire.Version, Command: wire.Add, Network: "k8s", ContainerID: "c1", IfName: "eth0", Netns: "/run/netns/x"}
	for name, test := range map[string]struct {
		change func(*wire.Request)
		code   uint32
	}{
		"command":        {func(r *wire.Request) { r.Command = "RUN" }, 4},
		"no network":     {func(r *wire.Request) { r.Network = "" }, 7},
		"network":        {func(r *wire.Request) { r.Network = "k8s/x" }, 7},
		"container":      {func(r *wire.Request) { r.ContainerID = "-c\n" }, 4},
		"no container":   {func(r *wire.Request) { r.ContainerID = "" }, 4},
		"long interface": {func(r *wire.Request) { r.IfName = "sixteen-bytes-ab" }, 4},
		"interface":      {func(r *wire.Request) { r.IfName = "a/b" }, 4},
		"dots":           {func(r *wire.Request) { r.IfName = ".." }, 4},
		"wanted":         {func(r *wire.Request) { r.Args = "IP=10.1.1.256" }, 4},
		"two wanted": {func(r *wire.Request) {
			r.Args, r.Wanted = "IP=10.1.1.7/24", []netip.Addr{netip.MustParseAddr("10.1.1.8")}
		}, 4},
		"relative netns": {func(r *wire.Request) { r.Netns = "x" }, 4},
		"netns in two":   {func(r *wire.Request) { r.Netns = "/run/netns/x y" }, 4},
		"args":           {func(r *wire.Request) { r.Args = "K8S_POD_NAME" }, 4},
		"garbage of which": {func(r *wire.Request) {
			r.Command, r.Valid = wire.GC, []wire.Attachment{{ContainerID: "", IfName: "eth0"}}
		}, 4},
	} {
		req := base
		test.change(&req)
		if event, refusal := translate(req); event != nil || refusal == nil || refusal.Code != test.code || refusal.Message == "" {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
	path, _ := serve(t, &scripted{})
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	if resp, err := wire.ReadResponse(c); err != nil || resp.Code != 6 {
		t.Errorf("%+v, %v", resp, err)
	}
}

// Goal: a plugin that dies is noticed; an agent that stops answers, and its socket's name goes.
func TestEnds(t *testing.T) {
	a := &scripted{wait: true, heard: make(chan agent.Event, 1), withdrawn: make(chan error, 1)}
	path, stop := serve(t, a)
	status := wire.Request{Version: wire.Version, Command: wire.Status}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.Write(c, status); err != nil {
		t.Fatal(err)
	}
	<-a.heard
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-a.withdrawn; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	c, err = net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.Write(c, status); err != nil {
		t.Fatal(err)
	}
	<-a.heard
	stop()
	if resp, err := wire.ReadResponse(c); err == nil { // a code would say that nothing was done, which nobody knows
		t.Fatalf("%+v", resp)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the socket: %v", err)
	}
}

// Goal: the socket is its owner's alone; a living one is left alone, a dead one taken over, any other file never.
func TestSocketFile(t *testing.T) {
	path, _ := serve(t, &scripted{})
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	if _, err := Listen(path, &scripted{}, nil); !errors.Is(err, ErrInUse) {
		t.Errorf("twice: %v", err)
	}
	dead := filepath.Join(t.TempDir(), "dead.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	s, err := Listen(dead, &scripted{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.listener.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(file, &scripted{}, nil); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a file: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("the file now: %q, %v", text, err)
	}
}

// Goal: only root and the agent's own user are heard.
func TestMayAsk(t *testing.T) {
	for _, test := range []struct {
		uid, own uint32
		may      bool
	}{{0, 1000, true}, {1000, 1000, true}, {1001, 1000, false}, {1000, 0, false}} {
		if err := mayAsk(test.uid, test.own); (err == nil) != test.may {
			t.Errorf("user %d of an agent of %d: %v", test.uid, test.own, err)
		}
	}
}

// FuzzTranslate: what gets through to the agent prints as one line and is what an agent's journal takes.
func FuzzTranslate(f *testing.F) {
	f.Add("ADD", "k8s", "c1", "eth0", "/run/netns/x", "K8S_POD_NAME=p")
	f.Add("GC", "k8s", "c1", "eth0", "", "")
	f.Fuzz(func(t *testing.T, command, network, container, ifName, netns, args string) {
		event, refusal := translate(wire.Request{Command: command, Network: network, ContainerID: container, IfName: ifName, Netns: netns,
			Args: args, Valid: []wire.Attachment{{ContainerID: container, IfName: ifName}}})
		if (event == nil) == (refusal == nil) {
			t.Fatal("both or neither")
		}
		if event == nil {
			return
		}
		ev := event(1)
		if strings.Contains(string(ev.AppendText(nil)), "\n") {
			t.Fatalf("%q", ev.AppendText(nil))
		}
		if add, ok := ev.(agent.PodAdd); ok {
			r := agent.Record{Kind: agent.RecordSandbox, Number: 1, Sandbox: add.Sandbox}
			if back, err := agent.ParseRecord(r.String()); err != nil || back != r {
				t.Fatalf("%q: %v", r, err)
			}
		}
	})
}
