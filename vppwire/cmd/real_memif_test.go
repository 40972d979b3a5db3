package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// Goal: a pod whose program speaks memif is reached by other pods, as slave and as master, and again behind kill -9 of
// the agent, which then writes nothing, of VPP, and of the program; its DEL leaves nothing; somebody else's socket is
// one clear refusal. Method: the program is another VPP, which knows no more than what the pod's folder says.
func TestRealMemif(t *testing.T) {
	vpp := findVPP(t)
	host, one, two := namespace(t), namespace(t), namespace(t)
	for _, role := range []string{"memif", "memif-master"} {
		t.Run(role, func(t *testing.T) {
			m := &machine{t: t, folder: shortDir(t), vpp: vpp, host: host, plugins: []string{"memif"}}
			m.write("contiv.yaml", "{TCPstackDisabled: true, MTUSize: 1450, ClaimPatience: 1ms, MemifFolder: "+m.path("memif")+", IPAMConfig: {podSubnetCIDR: 10.1.0.0/16, "+
				"podSubnetOneNodePrefixLen: 24, nodeInterconnectCIDR: 192.168.16.0/24, vxlanCIDR: 192.168.30.0/24}}")
			m.startVPP()
			m.startAgent()
			m.add("c1", one)
			addr := m.addMemif("c2", two, role)
			p := &program{t: t, vpp: vpp, folder: shortDir(t), pod: m.path("memif/uid-c2/eth0")}
			p.start()
			answersPing(t, one, addr)

			kill(t, m.agent)
			m.startAgent()
			m.settled()
			for line := range strings.Lines(m.get("/metrics")) {
				if strings.HasPrefix(line, "vppdrill_agent_calls_total") && strings.Contains(line, "memif_create") {
					t.Errorf("a restarted agent wrote: %s", line)
				}
			}
			answersPing(t, one, addr)

			kill(t, m.process)
			m.until("VPP's death is noticed", func() bool { return m.try(wire.Request{Command: wire.Status}).Code != 0 })
			m.startVPP()
			m.until("VPP is found again", func() bool { return m.try(wire.Request{Command: wire.Status}).Code == 0 })
			m.settled()
			answersPing(t, one, addr)

			kill(t, p.process)
			p.start()
			answersPing(t, one, addr)

			m.ask(wire.Request{Command: wire.Del, ContainerID: "c2", IfName: "eth0"})
			m.settled()
			if left, err := filepath.Glob(m.path("memif/*")); err != nil || len(left) > 0 {
				t.Errorf("left: %v %v", left, err)
			}

			foreign := m.path("memif/uid-c3/eth0/memif.sock")
			must(t, os.MkdirAll(filepath.Dir(foreign), 0o755))
			l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: foreign, Net: "unixpacket"})
			must(t, err)
			defer func() { _ = l.Close() }()
			must(t, os.Chown(foreign, 1234, 1234))
			resp := m.try(m.memif("c3", two, "memif"))
			if want := foreign + " is of user 1234: somebody else's file is in the way"; resp.Code == 0 || !strings.Contains(resp.Message, want) {
				t.Errorf("a foreign socket: %d %s", resp.Code, resp.Message)
			}
			m.ask(wire.Request{Command: wire.Del, ContainerID: "c1", IfName: "eth0"})
			must(t, m.agent.Process.Signal(syscall.SIGTERM))
			_ = m.agent.Wait()
			kill(t, m.process)
		})
	}
}

func (m *machine) memif(container string, ns *netns, role string) wire.Request {
	return wire.Request{Command: wire.Add, ContainerID: container, IfName: "eth0", Netns: ns.path, Interface: role,
		Args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=" + container + ";K8S_POD_UID=uid-" + container}
}

func (m *machine) addMemif(container string, ns *netns, role string) netip.Addr {
	m.t.Helper()
	return m.ask(m.memif(container, ns, role)).Result.IPs[0].Address.Addr()
}

// program is a pod's VPP, told by the pod's folder what to be.
type program struct {
	t                testing.TB
	vpp, folder, pod string
	process          *exec.Cmd
}

func (p *program) start() {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.pod, "interface"))
	must(p.t, err)
	is := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		name, value, _ := strings.Cut(line, "=")
		is[name] = value
	}
	role := map[string]string{"memif": "slave no-zero-copy", "memif-master": "master"}[is["memif"]]
	script := fmt.Sprintf(`create memif socket id 1 filename %s/memif.sock
create interface memif id %s socket-id 1 hw-addr %s %s
set interface mtu packet %s memif1/0
set interface ip address memif1/0 %s
set interface state memif1/0 up
ip route add %s/32 via %[7]s memif1/0
set ip neighbor memif1/0 %[7]s %s
ip route add 0.0.0.0/0 via %[7]s memif1/0
`, p.pod, is["id"], is["mac"], role, is["mtu"], is["address"], is["gateway"], is["gateway-mac"])
	must(p.t, os.WriteFile(filepath.Join(p.folder, "script"), []byte(script), 0o600))
	conf := strings.NewReplacer("DIR", p.folder, "NAME", filepath.Base(p.folder)).Replace(`unix { nodaemon nosyslog cli-listen DIR/cli.sock poll-sleep-usec 100 exec DIR/script }
api-segment { prefix NAME } socksvr { socket-name DIR/api.sock } statseg { socket-name DIR/stats.sock }
buffers { page-size default buffers-per-numa 8192 } memory { main-heap-size 256M }
plugins { plugin default { disable } plugin memif_plugin.so { enable } plugin ping_plugin.so { enable } }
`)
	must(p.t, os.WriteFile(filepath.Join(p.folder, "startup.conf"), []byte(conf), 0o600))
	p.t.Cleanup(func() {
		left, err := filepath.Glob("/dev/shm/" + filepath.Base(p.folder) + "-*")
		must(p.t, err)
		for _, path := range left {
			if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
				must(p.t, err)
			}
		}
	})
	p.process = exec.Command(p.vpp, "-c", filepath.Join(p.folder, "startup.conf"))
	start(p.t, p.process, nil)
}

// answersPing sends echo requests from a namespace until one is answered.
func answersPing(t testing.TB, from *netns, addr netip.Addr) {
	t.Helper()
	var c net.PacketConn
	from.do(t, func() (err error) { c, err = net.ListenPacket("ip4:icmp", "0.0.0.0"); return err })
	defer func() { _ = c.Close() }()
	request := append([]byte{8, 0, 0, 0, 'v', 'p', 0, 1}, make([]byte, 1450-28)...)
	sum := uint32(0)
	for i := 0; i < len(request); i += 2 {
		sum += uint32(request[i])<<8 | uint32(request[i+1])
	}
	sum = sum>>16 + sum&0xffff
	request[2], request[3] = byte(^sum>>8), byte(^sum)
	b := make([]byte, 2000)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		_, _ = c.WriteTo(request, &net.IPAddr{IP: addr.AsSlice()}) // refused while nothing is there: tried again
		must(t, c.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
		if n, who, err := c.ReadFrom(b); err == nil && n == len(request) && b[0] == 0 && who.String() == addr.String() {
			return
		}
	}
	t.Fatalf("no answer from %s", addr)
}
