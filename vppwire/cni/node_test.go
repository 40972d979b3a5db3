//go:build linux

package cni_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/vppwire/cni"
	"github.com/vppdrill/vppdrill/vppwire/internal/embedded"
)

// realNode is a machine: a namespace with a real VPP in it, and the program's agent, which listens on a socket.
type realNode struct {
	name, netns, socket string
	log                 string // the agent's
}

// settleTime is how long a cluster of real nodes may take to start, on a machine that does many other things.
const settleTime = time.Minute

// realNodes starts two nodes that are joined by a wire. A test on them is skipped where there is no VPP or no root.
func realNodes(t testing.TB) [2]realNode {
	t.Helper()
	needRoot(t)
	binary, err := vppproc.Find("")
	if errors.Is(err, vppproc.ErrCannotRun) {
		t.Skipf("needs VPP: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(built(t), "vppdrill")
	dir, err := os.MkdirTemp("", "vdcni") // short, for the sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ctx := context.Background()
	store, err := embedded.Start(ctx, filepath.Join(dir, "etcd"), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	conf := filepath.Join(dir, "contiv.yaml")
	text := "TCPstackDisabled: true\nTCPChecksumOffloadDisabled: true\nMTUSize: 1450\nhostInterconnect: none\nclaimPatience: 1s\nipamConfig: {podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 20, nodeInterconnectCIDR: 192.168.16.0/24}\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var nodes [2]realNode
	for i, name := range []string{"node-a", "node-b"} {
		home := filepath.Join(dir, name)
		if err := os.Mkdir(home, 0o755); err != nil {
			t.Fatal(err)
		}
		nodes[i] = realNode{name: name, netns: newNetns(t, dir, name+".ns", nil), socket: filepath.Join(home, "cni.sock"), log: filepath.Join(home, "agent.log")}
	}
	plugTogether(t, nodes[0].netns, nodes[1].netns)
	for _, n := range nodes {
		n.start(t, program, binary, conf, store.Endpoint())
	}
	for _, n := range nodes {
		n.await(t)
	}
	return nodes
}

// start runs VPP and agent, which end with the test.
func (n realNode) start(t testing.TB, program, binary, conf, endpoint string) {
	t.Helper()
	home := filepath.Dir(n.socket)
	vpp, err := vppproc.Start(context.Background(), vppproc.Config{Binary: binary, Dir: home, Netns: n.netns, Sleep: pollSleep(t),
		Ready: settleTime, Boot: []string{"create host-interface name uplink", "set interface name host-uplink uplink0", "set interface mtu packet 1600 uplink0"}})
	if errors.Is(err, vppproc.ErrCannotRun) {
		t.Skipf("needs VPP: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vpp.Kill)
	log, err := os.Create(n.log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the agent has its own descriptor
	agent := exec.Command(program, "agent", "--config", conf, "--node", n.name, "--netns", n.netns, "--vpp-socket", filepath.Join(home, vppproc.APISocketFile),
		"--journal", filepath.Join(home, "journal"), "--cni-socket", n.socket, "--etcd", endpoint, "--register", "--rest", "")
	agent.Stderr = log
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = agent.Process.Kill() // it may have ended
		_ = agent.Wait()         // by the signal
		if t.Failed() {
			text, _ := os.ReadFile(n.log)
			t.Logf("agent of %s: ...\n%s", n.name, text[max(0, len(text)-8000):])
			n.show(t, vpp)
		}
	})
}

// show logs what VPP has to say, for a test that has failed.
func (n realNode) show(t testing.TB, vpp *vppproc.Process) {
	c, err := vpp.Dial()
	if err != nil {
		t.Logf("VPP of %s: %v", n.name, err)
		return
	}
	defer c.Close()
	for _, command := range []string{"show interface address", "show hardware-interfaces brief", "show vxlan tunnel", "show ip fib table 1", "show ip neighbors", "show errors"} {
		text, err := c.CLI(context.Background(), command)
		t.Logf("%s: %s (%v)\n%s", n.name, command, err, text)
	}
}

// await waits until the agent takes ADDs.
func (n realNode) await(t testing.TB) {
	t.Helper()
	said := ""
	for end := time.Now().Add(settleTime); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var code int
		if code, said = n.plugin("STATUS", "", "", ""); code == 0 {
			return
		}
	}
	t.Fatalf("%s is not ready: %s", n.name, said)
}

// plugin asks the node in this process, in the newest version.
func (n realNode) plugin(command, id, netns, previous string) (code int, out string) {
	env := map[string]string{"CNI_COMMAND": command, "CNI_CONTAINERID": id, "CNI_NETNS": netns, "CNI_IFNAME": "eth0"}
	if previous == "" {
		previous = "null"
	}
	conf := fmt.Sprintf(`{"cniVersion": "1.1.0", "name": "k8s", "agentSocket": %q, "netnsDirs": [%q], "prevResult": %s}`,
		n.socket, filepath.Dir(n.netns), previous)
	var b bytes.Buffer
	code = cni.Run(context.Background(), func(k string) string { return env[k] }, strings.NewReader(conf), &b)
	return code, b.String()
}

// plugTogether joins two namespaces by a cable whose ends are called uplink.
func plugTogether(t testing.TB, a, b string) {
	t.Helper()
	handles := [2]*netlink.Handle{}
	fds := [2]netns.NsHandle{}
	for i, path := range []string{a, b} {
		var err error
		if fds[i], err = netns.GetFromPath(path); err == nil {
			handles[i], err = netlink.NewHandleAt(fds[i], unix.NETLINK_ROUTE)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer handles[i].Close()
		defer func() { _ = fds[i].Close() }() // nothing was written
	}
	la := netlink.NewLinkAttrs()
	la.Name, la.MTU = "uplink", 1600
	cable := &netlink.Veth{LinkAttrs: la, PeerName: "uplink", PeerNamespace: netlink.NsFd(int(fds[1])), PeerMTU: 1600}
	if err := handles[0].LinkAdd(cable); err != nil {
		t.Fatal(err)
	}
	for _, h := range handles {
		link, err := h.LinkByName("uplink")
		if err == nil {
			err = h.LinkSetUp(link)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// addressIn is the address that a result gives the sandbox.
func addressIn(t testing.TB, result string) string {
	t.Helper()
	var r struct{ IPs []struct{ Address string } }
	if err := json.Unmarshal([]byte(result), &r); err != nil || len(r.IPs) != 1 {
		t.Fatalf("%v: %s", err, result)
	}
	ip, _, err := net.ParseCIDR(r.IPs[0].Address)
	if err != nil {
		t.Fatal(err)
	}
	return ip.String()
}

// TestRealNodes goal: what the plugin says is so. Method: a pod on each of two nodes with real VPPs; they reach each
// other by TCP, CHECK holds and sees damage, a name that is taken is refused, GC and DEL leave nothing in a sandbox.
func TestRealNodes(t *testing.T) {
	nodes := realNodes(t)
	dir := filepath.Dir(nodes[0].netns)
	var pods [2]string
	var results [2]string
	for i, n := range nodes {
		pods[i] = newNetns(t, dir, fmt.Sprintf("pod-%d.ns", i), nil)
		code, out := n.plugin("ADD", "c1", pods[i], "")
		if code != 0 {
			t.Fatalf("ADD on %s: %s", n.name, out)
		}
		results[i] = out
		if code, again := n.plugin("ADD", "c1", pods[i], ""); code != 0 || again != out {
			t.Errorf("a second ADD: %s", again)
		}
		if code, out := n.plugin("CHECK", "c1", pods[i], results[i]); code != 0 {
			t.Errorf("CHECK on %s: %s", n.name, out)
		}
	}
	exchange(t, pods[0], pods[1], addressIn(t, results[1]))
	if t.Failed() {
		return // what follows would only add to it
	}

	taken := newNetns(t, dir, "taken.ns", attachment{ifName: "eth0", mac: "02:00:00:00:00:01", addr: "10.9.9.9/32"}.make)
	code, out := nodes[0].plugin("ADD", "c2", taken, "")
	if code == 0 || !strings.Contains(out, `"code":4`) {
		t.Errorf("ADD of a name that is taken: %s", out)
	}

	inNetns(t, pods[0], func() error {
		link, err := netlink.LinkByName("eth0")
		if err != nil {
			return err
		}
		return netlink.LinkSetDown(link)
	})
	if code, out := nodes[0].plugin("CHECK", "c1", pods[0], results[0]); code == 0 || !strings.Contains(out, `"code":101`) {
		t.Errorf("CHECK of what is down: %s", out)
	}
	for i, n := range nodes {
		for range 2 {
			if code, out := n.plugin("DEL", "c1", pods[i], ""); code != 0 {
				t.Errorf("DEL on %s: %s", n.name, out)
			}
		}
		inNetns(t, pods[i], func() error {
			if _, err := netlink.LinkByName("eth0"); err == nil {
				return errors.New("DEL has left eth0")
			}
			return nil
		})
	}
}

// inNetns runs do in a namespace.
func inNetns(t testing.TB, path string, do func() error) {
	t.Helper()
	done := make(chan error)
	go inThread(func() {
		fd, err := netns.GetFromPath(path)
		if err == nil {
			err = netns.Set(fd)
			_ = fd.Close() // the thread keeps the namespace
		}
		if err == nil {
			err = do()
		}
		done <- err
	})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// exchange sends 1 MB by TCP from one sandbox to another and back.
func exchange(t testing.TB, from, to, addr string) {
	t.Helper()
	const size = 1 << 20
	listening := make(chan net.Listener, 1)
	inNetns(t, to, func() error {
		l, err := net.Listen("tcp", addr+":7000") // a socket stays where it was made
		listening <- l
		return err
	})
	l := <-listening
	if l == nil {
		t.FailNow()
	}
	defer func() { _ = l.Close() }() // the test is over
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		b := make([]byte, size)
		if n, err := readFull(c, b); err == nil {
			_, _ = c.Write(b[:n]) // the other end counts
		}
		_ = c.Close()
	}()
	inNetns(t, from, func() error {
		c, err := (&net.Dialer{Timeout: 10 * time.Second}).Dial("tcp", addr+":7000")
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		if err := c.SetDeadline(time.Now().Add(60 * time.Second)); err != nil {
			return err
		}
		sent := bytes.Repeat([]byte("vpp"), size/3+1)[:size]
		go func() { _, _ = c.Write(sent) }() // what is missing is missed below
		got := make([]byte, size)
		if _, err := readFull(c, got); err != nil {
			return err
		}
		if !bytes.Equal(got, sent) {
			return errors.New("what came back is not what was sent")
		}
		return nil
	})
}

func readFull(c net.Conn, b []byte) (int, error) {
	n := 0
	for n < len(b) {
		k, err := c.Read(b[n:])
		n += k
		if err != nil && n < len(b) {
			return n, err
		}
	}
	return n, nil
}

// pollSleep is how long VPP sleeps between two looks at its sockets, from VPPDRILL_POLL_SLEEP; as short as machines
// with few cores bear it otherwise. Real nodes have VPP never sleep (0s).
func pollSleep(t testing.TB) time.Duration {
	text := os.Getenv("VPPDRILL_POLL_SLEEP")
	if text == "" {
		return 100 * time.Microsecond
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
