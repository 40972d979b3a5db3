package host_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
	"github.com/vppdrill/vppdrill/vppwire/internal/embedded"
)

// patience is how long a test waits for what has to come. It is never the subject: a loaded machine may need it.
const patience = time.Minute

// node is a machine whose kernel and VPP are modelled and everything else is real: journal, etcd, sockets.
type node struct {
	t      testing.TB
	folder string
	linux  *counted
	etcd   *embedded.Server
	server *socket.Server
	vpp    *vppmodel.VPP
	pids   uint32

	driver *host.Driver
	stop   func() error
}

// counted is a modelled Linux that counts what changes it.
type counted struct {
	*hostmodel.Host
	mu     sync.Mutex
	writes int
}

func (c *counted) Apply(op vppwire.LinuxOp) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	return c.Host.Apply(op)
}

func newNode(t testing.TB) *node {
	t.Helper()
	kernel, err := hostmodel.New(hostmodel.Config{ID: 1})
	must(t, err)
	n := &node{t: t, folder: t.TempDir(), linux: &counted{Host: kernel}}
	n.etcd, err = embedded.Start(t.Context(), filepath.Join(n.folder, "etcd"), "127.0.0.1:0")
	must(t, err)
	t.Cleanup(n.etcd.Close)
	c, err := etcd.Connect(etcd.Config{Endpoints: []string{n.etcd.Endpoint()}})
	must(t, err)
	must(t, c.PutNode(t.Context(), "node-1", etcd.Node{UID: "uid-1"}))
	must(t, c.Close())
	t.Cleanup(func() {
		n.stopAgent()
		n.killVPP()
	})
	return n
}

func (n *node) socket() string { return filepath.Join(n.folder, "api.sock") }

// startVPP starts another life of VPP.
func (n *node) startVPP() {
	n.t.Helper()
	n.pids++
	n.vpp = vppmodel.New(vppmodel.Config{PID: n.pids, Host: n.linux.Host, NoNamespace: vppwire.ErrNoNamespace})
	s, err := socket.Listen(socket.Config{Path: n.socket(), VPP: n.vpp})
	must(n.t, err)
	n.server = s
}

func (n *node) killVPP() {
	if n.server == nil {
		return
	}
	must(n.t, n.server.Close())
	n.vpp.Kill()
	n.linux.DropTaps()
	n.server, n.vpp = nil, nil
}

// startAgent starts another life of the agent; change may alter its configuration.
func (n *node) startAgent(change func(*host.Config)) {
	n.t.Helper()
	j, records, err := journal.Open(filepath.Join(n.folder, "journal"))
	must(n.t, err)
	c, err := etcd.Connect(etcd.Config{Endpoints: []string{n.etcd.Endpoint()}})
	must(n.t, err)
	alloc, err := contiv.New(contiv.Config{})
	must(n.t, err)
	cfg := host.Config{
		Agent:     agentConfig(n.t),
		Allocator: alloc, Journal: j, Records: records, Boot: n.linux.Boot(), Linux: n.linux,
		Log: testLog(n.t), VPP: host.Socket(n.socket()), Store: c.Store(), Cluster: c.Cluster("node-1"),
	}
	if change != nil {
		change(&cfg)
	}
	n.driver, err = host.New(cfg)
	must(n.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.driver.Run(ctx) }()
	n.stop = func() error {
		cancel()
		err := <-ended
		return errors.Join(err, j.Close(), c.Close())
	}
}

func (n *node) stopAgent() {
	if n.stop != nil {
		must(n.t, n.stop())
		n.stop = nil
	}
}

func agentConfig(t testing.TB) agent.Config {
	cfg, err := agent.ParseConfig("contiv.yaml", []byte(`{TCPstackDisabled: true, MTUSize: 1450, ClaimPatience: 1ms,
		IPAMConfig: {podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 24, nodeInterconnectCIDR: 192.168.16.0/24, vxlanCIDR: 192.168.30.0/24}}`))
	must(t, err)
	cfg.NodeName = "node-1"
	return cfg
}

// settled waits until the agent has nothing left to do.
func (n *node) settled() {
	n.t.Helper()
	pending := "nothing was heard"
	until(n.t, func() bool {
		must(n.t, n.driver.Ask(n.t.Context(), func(a *agent.Agent) { pending = a.Pending() }))
		return pending == ""
	}, func() string { return pending })
}

// until waits for a condition.
func until(t testing.TB, holds func() bool, pending func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still: %s", pending())
		}
	}
}

// sandbox makes the k-th sandbox with its namespace.
func (n *node) sandbox(k int) agent.Sandbox {
	n.t.Helper()
	s := agent.Sandbox{Owner: ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("c%d", k), IfName: "eth0"},
		Netns: fmt.Sprintf("/run/netns/%d", k), PodNamespace: "default", PodName: fmt.Sprintf("pod-%d", k)}
	if !n.linux.HasNamespace(s.Netns) {
		must(n.t, n.linux.CreateNamespace(s.Netns))
	}
	return s
}

func (n *node) add(s agent.Sandbox) agent.Answer {
	n.t.Helper()
	a, err := n.driver.Request(n.t.Context(), func(r uint64) agent.Event { return agent.PodAdd{Request: r, Sandbox: s} })
	must(n.t, err)
	return a
}

func (n *node) del(s agent.Sandbox) agent.Answer {
	n.t.Helper()
	a, err := n.driver.Request(n.t.Context(), func(r uint64) agent.Event { return agent.PodDel{Request: r, Owner: s.Owner} })
	must(n.t, err)
	return a
}

// writes is how often VPP and Linux were changed so far.
func (n *node) writes() (vpp int64, linux int) { return n.vpp.Writes(), n.linux.writes }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func address(t testing.TB, a agent.Answer) netip.Prefix {
	t.Helper()
	if a.Code != agent.CodeOK {
		t.Fatalf("answer %d: %s", a.Code, a.Message)
	}
	return a.Result.Addr
}

// testLog shows the agent's log where somebody looks: VPPDRILL_LOG.
func testLog(t testing.TB) *slog.Logger {
	if os.Getenv("VPPDRILL_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}
