package nodeagent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/lab/internal/etcd"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	hostetcd "github.com/vppdrill/vppdrill/vppwire/host/etcd"
)

// patience is how long a test waits for what has to come. It is never the subject: a loaded machine may need it.
const patience = time.Minute

// node is a machine whose kernel and VPP are modelled and everything else is real: journal, etcd, sockets.
type node struct {
	t      *testing.T
	config Config
	kernel *kernel
	server *socket.Server
	vpp    *vppmodel.VPP
	stop   func() error
}

// kernel is a modelled Linux that the test and the agent may use at the same time.
type kernel struct {
	mu sync.Mutex
	*hostmodel.Host
}

func (k *kernel) Apply(op vppwire.LinuxOp) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.Host.Apply(op)
}

func (k *kernel) namespace(path string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.CreateNamespace(path)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newNode makes a node whose VPP runs, and a cluster that has only it and its address plan.
func newNode(t *testing.T) *node {
	t.Helper()
	dir, err := os.MkdirTemp("", "na") // unix sockets have short paths
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host, err := hostmodel.New(hostmodel.Config{ID: 1})
	must(t, err)
	store, err := etcd.Start(dir, "store")
	must(t, err)
	api, err := etcd.Start(dir, "api")
	must(t, err)
	in := func(name string) string { return filepath.Join(dir, name) }
	n := &node{t: t, kernel: &kernel{Host: host}, config: Config{
		Agent: agent.Config{NodeName: "node-1", TCPstackDisabled: true, MTUSize: 1450},
		Boot:  "boot-1", CallTimeout: patience, VPP: in("vpp.sock"), Store: store.Socket(), Cluster: api.Socket(), CNI: in("cni.sock"),
		Watch: in("watch.sock"), Journal: in("journal"),
	}}
	t.Cleanup(func() {
		n.end()
		_ = n.server.Close() // a test may have closed it
		must(t, store.Close())
		must(t, api.Close())
	})
	objects, err := hostetcd.Connect(hostetcd.Config{Endpoints: []string{"unix://" + api.Socket()}})
	must(t, err)
	must(t, objects.PutPools(t.Context(), agent.PublishedPools{Generation: 7, IPAMConfig: contiv.IPAMConfig{
		PodSubnetCIDR: "10.1.0.0/16", PodSubnetOneNodePrefixLen: 24, NodeInterconnectCIDR: "192.168.16.0/24", VXLANCIDR: "192.168.30.0/24"}}))
	must(t, objects.PutNode(t.Context(), "node-1", hostetcd.Node{UID: "uid-1"}))
	must(t, objects.Close())
	n.vpp = vppmodel.New(vppmodel.Config{PID: 1, Host: host, NoNamespace: vppwire.ErrNoNamespace})
	n.server, err = socket.Listen(socket.Config{Path: n.config.VPP, VPP: n.vpp})
	must(t, err)
	return n
}

// begin starts a life of the agent and waits until it serves.
func (n *node) begin() {
	n.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, n.config, n.kernel, nil, slog.New(slog.DiscardHandler)) }()
	n.stop = func() error { cancel(); return <-ended }
	n.until("the agent serves", func() bool { _, err := n.get(http.MethodGet, "/state"); return err == nil })
}

func (n *node) end() {
	if n.stop != nil {
		if err := n.stop(); err != nil && err != context.Canceled {
			n.t.Error(err)
		}
		n.stop = nil
	}
}

func (n *node) until(what string, holds func() bool) {
	n.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			n.t.Fatalf("never: %s; %+v", what, n.state("0"))
		}
	}
}

// get asks the watch socket as a lab does.
func (n *node) get(method, what string) (string, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", n.config.Watch)
		}}}
	req, err := http.NewRequestWithContext(n.t.Context(), method, "http://agent"+what, nil)
	must(n.t, err)
	r, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Body.Close() }() // it has been read
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", r.StatusCode, body)
	}
	return string(body), err
}

func (n *node) state(after string) (s State) {
	n.t.Helper()
	body, err := n.get(http.MethodGet, "/state?after="+after)
	must(n.t, err)
	must(n.t, json.Unmarshal([]byte(body), &s))
	return s
}

// cni asks the agent as a plugin does.
func (n *node) cni(command, container string) wire.Response {
	n.t.Helper()
	c, err := net.Dial("unix", n.config.CNI)
	must(n.t, err)
	defer func() { _ = c.Close() }() // the answer is complete
	must(n.t, wire.Write(c, wire.Request{Version: wire.Version, Command: command, Network: "k8s", ContainerID: container, IfName: "eth0",
		Netns: "/run/netns/" + container, Args: "K8S_POD_NAMESPACE=default;K8S_POD_NAME=" + container}))
	r, err := wire.ReadResponse(c)
	must(n.t, err)
	return r
}

// Goal: what the watch socket tells is what the agent does: its identity, its leases and each change of them once, what
// it has heard of, what it has asked of VPP, Linux, store and disk; another life finds the leases and counts from zero.
// Method: two lives of an agent on a modelled VPP and Linux and real etcds, with a pod.
func TestState(t *testing.T) {
	n := newNode(t)
	n.begin()
	n.until("the agent is idle", func() bool { s := n.state("0"); return s.Pending == "" && s.VPPUp && s.ID != 0 })
	s := n.state("0")
	if s.PID != os.Getpid() || s.ID != 1 || s.Address.String() != "192.168.16.1/24" || s.PodSubnet.String() != "10.1.0.0/16" ||
		s.VXLAN.String() != "192.168.30.1" || len(s.Blocks) != 1 || s.Blocks[0].Prefix.String() != "10.1.1.0/24" || s.StoreRevision == 0 || len(s.Leases)+len(s.Restored) > 0 {
		t.Errorf("%+v", s)
	}
	if want := []string{"node node-1 uid-1 [] []", "pools 7"}; !slices.Equal(s.Heard, want) {
		t.Errorf("heard %q, want %q", s.Heard, want)
	}
	if s.Writes == 0 || s.VPPCalls == 0 || s.LinuxCalls == 0 || s.Writes >= s.VPPCalls+s.LinuxCalls || s.StoreWrites == 0 || s.StoreOps <= s.StoreWrites || s.JournalBytes == 0 {
		t.Errorf("counted %+v", s)
	}
	last := s.Changes[len(s.Changes)-1].Number
	after := fmt.Sprint(last)

	must(t, n.kernel.namespace("/run/netns/pod-a"))
	if r := n.cni(wire.Add, "pod-a"); r.Code != 0 || len(r.Result.IPs) != 1 || r.Result.IPs[0].Address.String() != "10.1.1.2/32" {
		t.Fatalf("%+v", r)
	}
	s = n.state(after)
	if len(s.Changes) != 1 || s.Changes[0].Number != last+1 || len(s.Changes[0].Leased) != 1 || s.Changes[0].Leased[0].Owner.ContainerID != "pod-a" ||
		s.Changes[0].At > Monotonic() || len(s.Leases) != 1 {
		t.Errorf("changes %+v, leases %+v", s.Changes, s.Leases)
	}
	if again := n.state(fmt.Sprint(last + 1)); len(again.Changes) != 0 {
		t.Errorf("told again: %+v", again.Changes)
	}
	before := n.state("0")

	n.end()
	n.begin()
	n.until("the second life is idle", func() bool { s := n.state("0"); return s.Pending == "" && s.VPPUp })
	s = n.state("0")
	if len(s.Restored) != 1 || s.Restored[0].Addr.String() != "10.1.1.2" || len(s.Leases) != 1 || s.ID != 1 {
		t.Errorf("restored %+v", s)
	}
	if s.Writes != 0 || s.VPPCalls == 0 || s.VPPCalls >= before.VPPCalls {
		t.Errorf("a restart on a dataplane that is right wrote %d times in %d calls", s.Writes, s.VPPCalls)
	}
	if r := n.cni(wire.Del, "pod-a"); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	s = n.state("0")
	if c := s.Changes[len(s.Changes)-1]; len(c.Released) != 1 || c.Released[0].Addr.String() != "10.1.1.2" || len(s.Leases) != 0 || s.Writes == 0 {
		t.Errorf("after DEL %+v", s)
	}
}

// Goal: the watch socket takes orders of the right form and says what is wrong with others; a VPP that has gone shows.
// Method: each request of a table, then the end of VPP.
func TestWatchSocket(t *testing.T) {
	n := newNode(t)
	n.config.Address = "192.168.16.9/24"
	n.begin()
	n.until("the address of the start", func() bool { return n.state("0").Address.String() == "192.168.16.9/24" })
	for _, c := range []struct{ method, what, answer, err string }{
		{http.MethodGet, "/state?after=x", "", "400"},
		{http.MethodPut, "/address?is=192.168.16.77", "", "400"},
		{http.MethodPut, "/address?is=192.168.16.77/24", "", ""},
		{http.MethodGet, "/plan", "table 1", ""},
		{http.MethodGet, "/metrics", "vppdrill", ""},
		{http.MethodDelete, "/state", "", "405"},
	} {
		answer, err := n.get(c.method, c.what)
		if (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) || !strings.Contains(answer, c.answer) {
			t.Errorf("%s %s: %.200s, %v", c.method, c.what, answer, err)
		}
	}
	n.until("the other address", func() bool { return n.state("0").Address.String() == "192.168.16.77/24" })
	n.until("idle", func() bool { return n.state("0").Pending == "" })
	must(t, n.server.Close())
	n.vpp.Kill()
	n.until("VPP is away", func() bool { return !n.state("0").VPPUp })
}

// Goal: what a process is started with and cannot use ends it with an error that names it. Method: a table of broken
// configurations.
func TestMainRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		must(t, os.WriteFile(file, []byte(text), 0o644))
		return file
	}
	for file, want := range map[string]string{
		filepath.Join(dir, "none"):                                          "none: no such file",
		write("text", "{"):                                                  "text: unexpected end of JSON",
		write("journal", `{"Journal": "/nowhere/journal"}`):                 "/nowhere/journal",
		write("delay", `{"ReuseDelay": -1, "Journal": "/nowhere/journal"}`): "negative",
	} {
		if err := Main(t.Context(), file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}
