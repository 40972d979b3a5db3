package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// agentEnv makes this test binary an agent with the command line that follows.
const agentEnv = "VPPDRILL_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentEnv) == "" {
		os.Exit(m.Run())
	}
	c := agentCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(os.Args[1:])
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if code, line := cli.Code(c.ExecuteContext(ctx)); code != cli.ExitHeld {
		fmt.Fprintln(os.Stderr, line)
		os.Exit(code)
	}
}

// patience is how long a test waits for what has to come. It is never the subject: a loaded machine may need it.
const patience = time.Minute

// Goal: on a real VPP and a real kernel two pods of a node reach each other, and go on doing so behind kill -9 of the
// agent, of which the next life changes nothing, and behind kill -9 of VPP; a deleted pod leaves nothing. Method: an
// agent as a process of its own, in namespaces of the test's.
func TestRealVPP(t *testing.T) {
	vpp := findVPP(t)
	host, one, two := namespace(t), namespace(t), namespace(t)
	m := &machine{t: t, folder: shortDir(t), vpp: vpp, host: host}
	m.write("contiv.yaml", "{TCPstackDisabled: true, MTUSize: 1450, ClaimPatience: 1ms, IPAMConfig: {podSubnetCIDR: 10.1.0.0/16, "+
		"podSubnetOneNodePrefixLen: 24, nodeInterconnectCIDR: 192.168.16.0/24, vxlanCIDR: 192.168.30.0/24}}")
	m.startVPP()
	m.startAgent()
	a, b := m.add("c1", one), m.add("c2", two)
	reaches(t, one, two, b)
	reaches(t, two, one, a)
	m.ask(wire.Request{Command: wire.Check, ContainerID: "c1", IfName: "eth0", Addr: a})

	kill(t, m.agent)
	m.startAgent()
	m.settled()
	for _, line := range strings.Split(m.get("/metrics"), "\n") {
		if strings.HasPrefix(line, "vppdrill_agent_calls_total") && !strings.Contains(line, "_dump\"") && !strings.Contains(line, "_get") && !strings.Contains(line, "_show_") && !strings.Contains(line, "\"classify_table_") {
			t.Errorf("a restarted agent wrote: %s", line)
		}
	}
	if again := m.add("c1", one); again != a {
		t.Fatalf("c1 has %s, then %s", a, again)
	}
	reaches(t, one, two, b)

	kill(t, m.process)
	m.until("VPP's death is noticed", func() bool { return m.try(wire.Request{Command: wire.Status}).Code != 0 })
	m.startVPP()
	m.until("VPP is found again", func() bool { return m.try(wire.Request{Command: wire.Status}).Code == 0 })
	m.settled()
	reaches(t, one, two, b)
	reaches(t, two, one, a)

	must(t, m.agent.Process.Signal(syscall.SIGTERM))
	if err := m.agent.Wait(); err != nil {
		t.Errorf("told to stop, the agent ends with %v", err)
	}
	if _, err := os.Lstat(m.path("cni.sock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket of a stopped agent: %v", err)
	}
	reaches(t, one, two, b)
	m.startAgent()

	m.ask(wire.Request{Command: wire.Del, ContainerID: "c1", IfName: "eth0"})
	m.ask(wire.Request{Command: wire.GC}) // c2 is younger than a list may be old: it stays
	m.settled()
	if again := m.add("c2", two); again != b {
		t.Fatalf("c2 has %s, and %s after a GC", b, again)
	}
	m.ask(wire.Request{Command: wire.Del, ContainerID: "c2", IfName: "eth0"})
	m.settled()
	for _, ns := range []*netns{one, two} {
		ns.do(t, func() error {
			links, err := net.Interfaces()
			if err == nil && len(links) != 1 {
				err = fmt.Errorf("left: %v", links)
			}
			return err
		})
	}
}

// machine is one node under test.
type machine struct {
	t              testing.TB
	folder, vpp    string
	host           *netns
	process, agent *exec.Cmd
	// etcd is the agent's; empty: one within its process. plugins are further ones of VPP.
	etcd    string
	plugins []string
}

func (m *machine) path(name string) string { return filepath.Join(m.folder, name) }

func (m *machine) write(name, text string) {
	m.t.Helper()
	must(m.t, os.WriteFile(m.path(name), []byte(text), 0o600))
}

// startVPP starts a VPP within the host's namespace.
func (m *machine) startVPP() {
	m.t.Helper()
	m.write("startup.conf", strings.ReplaceAll(`unix { nodaemon nosyslog cli-listen DIR/cli.sock poll-sleep-usec 100 }
api-segment { prefix NAME } socksvr { socket-name DIR/api.sock } statseg { socket-name DIR/stats.sock }
buffers { page-size default buffers-per-numa 8192 } memory { main-heap-size 256M }
plugins { plugin default { disable } plugin af_packet_plugin.so { enable } plugin vxlan_plugin.so { enable } }
`, "DIR", m.folder))
	conf, err := os.ReadFile(m.path("startup.conf"))
	must(m.t, err)
	for _, p := range m.plugins {
		conf = bytes.Replace(conf, []byte("plugin vxlan"), []byte("plugin "+p+"_plugin.so { enable } plugin vxlan"), 1)
	}
	m.write("startup.conf", strings.ReplaceAll(string(conf), "NAME", filepath.Base(m.folder)))
	m.t.Cleanup(func() { // a VPP that was killed leaves its shared memory
		left, err := filepath.Glob("/dev/shm/" + filepath.Base(m.folder) + "-*")
		must(m.t, err)
		for _, path := range left {
			must(m.t, os.Remove(path))
		}
	})
	m.process = exec.Command(m.vpp, "-c", m.path("startup.conf"))
	start(m.t, m.process, m.host)
}

func (m *machine) startAgent() {
	m.t.Helper()
	m.agent = exec.Command(os.Args[0], "--config", m.path("contiv.yaml"), "--node", "node-1", "--vpp-socket", m.path("api.sock"),
		"--journal", m.path("journal"), "--cni-socket", m.path("cni.sock"), "--etcd", cmp.Or(m.etcd, "embedded:"+m.path("etcd")), "--register",
		"--rest", "unix:"+m.path("rest.sock"), "--netns", m.host.path, "--vpp-patience", patience.String())
	m.agent.Env = append(os.Environ(), agentEnv+"=1")
	start(m.t, m.agent, nil)
	m.until("the agent answers", func() bool {
		for _, name := range []string{"cni.sock", "rest.sock"} {
			c, err := net.Dial("unix", m.path(name))
			if err != nil {
				return false
			}
			_ = c.Close()
		}
		return true
	})
}

// start starts a process that ends with the test; its words are shown when the test fails.
func start(t testing.TB, c *exec.Cmd, ns *netns) {
	t.Helper()
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	begin := c.Start
	if ns != nil {
		begin = func() (err error) { ns.do(t, func() error { err = c.Start(); return nil }); return err }
	} else {
		c.SysProcAttr.Pdeathsig = 0 // it would come with the end of the thread that has started it
	}
	must(t, begin())
	t.Cleanup(func() {
		kill(t, c)
		if t.Failed() {
			t.Logf("%s:\n%s", c.Path, said.String())
		}
	})
}

func kill(t testing.TB, c *exec.Cmd) {
	t.Helper()
	if c.ProcessState != nil {
		return
	}
	if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	_ = c.Wait() // it was killed
}

func (m *machine) try(req wire.Request) wire.Response {
	m.t.Helper()
	req.Version, req.Network = wire.Version, "k8s"
	c, err := net.Dial("unix", m.path("cni.sock"))
	must(m.t, err)
	defer func() { _ = c.Close() }()
	must(m.t, wire.Write(c, req))
	resp, err := wire.ReadResponse(c)
	must(m.t, err)
	return resp
}

func (m *machine) ask(req wire.Request) wire.Response {
	m.t.Helper()
	resp := m.try(req)
	if resp.Code != 0 {
		m.t.Fatalf("%s %s: %d %s", req.Command, req.ContainerID, resp.Code, resp.Message)
	}
	return resp
}

func (m *machine) add(container string, ns *netns) netip.Addr {
	m.t.Helper()
	r := m.ask(wire.Request{Command: wire.Add, ContainerID: container, IfName: "eth0", Netns: ns.path,
		Args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=" + container})
	return r.Result.IPs[0].Address.Addr()
}

func (m *machine) get(path string) string {
	m.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", m.path("rest.sock"))
	}}}
	resp, err := client.Get("http://agent" + path)
	must(m.t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	must(m.t, err)
	return string(body)
}

func (m *machine) settled() {
	m.t.Helper()
	m.until("the agent is idle", func() bool { return m.get("/healthz") == "ok\n" })
}

func (m *machine) until(what string, holds func() bool) {
	m.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			m.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// reaches sends datagrams from one namespace to an address in another until one is answered.
func reaches(t testing.TB, from, to *netns, addr netip.Addr) {
	t.Helper()
	var server, client *net.UDPConn
	at := net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 7))
	to.do(t, func() (err error) { server, err = net.ListenUDP("udp4", at); return err })
	defer func() { _ = server.Close() }()
	from.do(t, func() (err error) { client, err = net.DialUDP("udp4", nil, at); return err })
	defer func() { _ = client.Close() }()
	go func() {
		b := make([]byte, 2000)
		for {
			n, who, err := server.ReadFromUDP(b)
			if err != nil {
				return
			}
			_, _ = server.WriteToUDP(b[:n], who) // the client asks again
		}
	}()
	// 1450 less IPv4's and UDP's headers: the largest that fits the MTU.
	payload := bytes.Repeat([]byte("x"), 1450-28)
	b := make([]byte, 2000)
	for deadline := time.Now().Add(patience); ; {
		_, _ = client.Write(payload) // refused while nothing is there: tried again
		must(t, client.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
		if n, err := client.Read(b); err == nil && n == len(payload) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no answer from %s", addr)
		}
	}
}

// findVPP is the VPP to test with.
func findVPP(t testing.TB) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("skipped: a VPP with pods needs root")
	}
	candidates := []string{os.Getenv("VPPDRILL_VPP")}
	if candidates[0] == "" {
		more, err := filepath.Glob("/opt/*/bin/vpp")
		must(t, err)
		candidates = append([]string{"vpp", "/usr/bin/vpp"}, more...)
	}
	for _, c := range candidates {
		if path, err := exec.LookPath(c); err == nil {
			return path
		}
	}
	t.Skip("skipped: there is no VPP on this machine; VPPDRILL_VPP may name one")
	return ""
}

// shortDir is a folder whose paths fit into a unix socket's 107 bytes.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "vppdrill")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}

// netns is a network namespace that lives as long as a thread that is in it.
type netns struct {
	path string
	jobs chan func()
}

func namespace(t testing.TB) *netns {
	t.Helper()
	n := &netns{jobs: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		n.path = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), unix.Gettid())
		ready <- err
		for job := range n.jobs {
			job()
		}
	}()
	if err := <-ready; err != nil {
		t.Skipf("skipped: this machine lets nobody make network namespaces: %v", err)
	}
	t.Cleanup(func() { close(n.jobs) })
	return n
}

// do runs something within the namespace.
func (n *netns) do(t testing.TB, job func() error) {
	t.Helper()
	done := make(chan error)
	n.jobs <- func() { done <- job() }
	must(t, <-done)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
