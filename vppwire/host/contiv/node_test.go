package contiv_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	ranges "github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
	"github.com/vppdrill/vppdrill/vppwire/internal/embedded"
)

// patience is how long a test waits for what has to come. It is never the subject: a loaded machine may need it.
const patience = time.Minute

// node is a machine whose kernel and VPP are modelled and everything else is real.
type node struct {
	t      testing.TB
	plugin *contiv.Plugin
	stop   func() error
	folder string
	linux  *hostmodel.Host
	etcd   *embedded.Server
}

func newNode(t testing.TB) *node {
	t.Helper()
	kernel, err := hostmodel.New(hostmodel.Config{ID: 1})
	must(t, err)
	n := &node{t: t, folder: t.TempDir(), linux: kernel}
	n.etcd, err = embedded.Start(t.Context(), filepath.Join(n.folder, "etcd"), "127.0.0.1:0")
	must(t, err)
	t.Cleanup(n.etcd.Close)
	c, err := etcd.Connect(etcd.Config{Endpoints: []string{n.etcd.Endpoint()}})
	must(t, err)
	must(t, c.PutNode(t.Context(), "node-1", etcd.Node{UID: "uid-1"}))
	must(t, c.Close())
	vpp := vppmodel.New(vppmodel.Config{PID: 1, Host: kernel, NoNamespace: vppwire.ErrNoNamespace, NICs: []vppmodel.NIC{{Name: "GigabitEthernet0/8/0"}}})
	s, err := socket.Listen(socket.Config{Path: filepath.Join(n.folder, "api.sock"), VPP: vpp})
	must(t, err)
	t.Cleanup(func() {
		n.stopAgent()
		must(t, s.Close())
	})
	return n
}

// addresses are those of the host's own links.
type addresses []netip.Addr

func (a addresses) HostAddrs() ([]netip.Addr, error) { return a, nil }

func (addresses) WatchAddrs(ctx context.Context, _ func()) error { <-ctx.Done(); return nil }

// startAgent makes another life of the agent; change may do something before it runs.
func (n *node) startAgent(change func(*contiv.Plugin)) {
	n.t.Helper()
	j, records, err := journal.Open(filepath.Join(n.folder, "journal"))
	must(n.t, err)
	c, err := etcd.Connect(etcd.Config{Endpoints: []string{n.etcd.Endpoint()}})
	must(n.t, err)
	alloc, err := ranges.New(ranges.Config{})
	must(n.t, err)
	cfg, err := agent.ParseConfig("contiv.yaml", []byte(`{TCPstackDisabled: true, ClaimPatience: 1ms, PodInterconnect: veth, Services: vpp, CleanupIdleNATSessions: true,
		TCPNATSessionTimeout: 90, ServiceLocalEndpointWeight: 3, NatExternalTraffic: true,
		IPAMConfig: {podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 24, nodeInterconnectCIDR: 192.168.16.0/24, vxlanCIDR: 192.168.30.0/24, defaultGateway: 192.168.16.100}}`))
	must(n.t, err)
	cfg.NodeName = "node-1"
	n.plugin, err = contiv.NewPlugin(host.Config{Agent: cfg, Allocator: alloc, Journal: j, Records: records, Boot: n.linux.Boot(), Linux: n.linux,
		VPP: host.Socket(filepath.Join(n.folder, "api.sock")), Store: c.Store(), Cluster: c.Cluster("node-1"), HostAddresses: addresses{netip.MustParseAddr("10.20.0.1")}})
	must(n.t, err)
	if change != nil {
		change(n.plugin)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.plugin.Run(ctx) }()
	n.stop = func() error {
		cancel()
		return errors.Join(<-ended, j.Close(), c.Close())
	}
}

func (n *node) stopAgent() {
	if n.stop != nil {
		must(n.t, n.stop())
		n.stop = nil
	}
}

func (n *node) add(k int) {
	n.t.Helper()
	s := agent.Sandbox{Owner: owner(k), Netns: fmt.Sprintf("/run/netns/%d", k), PodNamespace: "default", PodName: fmt.Sprintf("web-%d", k)}
	if !n.linux.HasNamespace(s.Netns) {
		must(n.t, n.linux.CreateNamespace(s.Netns))
	}
	n.request(func(r uint64) agent.Event { return agent.PodAdd{Request: r, Sandbox: s} })
}

func (n *node) del(k int) {
	n.t.Helper()
	n.request(func(r uint64) agent.Event { return agent.PodDel{Request: r, Owner: owner(k)} })
}

func (n *node) request(event func(uint64) agent.Event) {
	n.t.Helper()
	a, err := n.plugin.Request(n.t.Context(), event)
	must(n.t, err)
	if a.Code != agent.CodeOK {
		n.t.Fatalf("answer %d: %s", a.Code, a.Message)
	}
}

func owner(k int) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("c%d", k), IfName: "eth0"}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
