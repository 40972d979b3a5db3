package kindworld

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// Where things are on a node.
const (
	agentREST = "127.0.0.1:9999"
	vppDir    = "/run/vpp"
	cniSocket = "/run/vppdrill/cni.sock"
	// uplink is the link that VPP takes, management the one of the node's own addresses.
	uplink, management = "eth1", "eth0"
)

// askTime is how long an agent or a container runtime may take to answer.
const askTime = 5 * time.Second

// machine is one boot of a node's container, seen from this machine through /proc.
type machine struct {
	container string
	// id is Docker's, by which processes' control groups are named.
	id      string
	pid     int
	runtime *runtime
	http    *http.Client
}

func newMachine(container string, pid int, id string) (*machine, error) {
	m := &machine{container: container, pid: pid, id: id}
	var err error
	if m.runtime, err = dialRuntime(m.root()); err != nil {
		return nil, err
	}
	m.http = &http.Client{Timeout: askTime, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (conn net.Conn, err error) {
			err = spawn.Inside(m.netns(""), func() (err error) {
				conn, err = (&net.Dialer{}).DialContext(ctx, network, agentREST)
				return err
			})
			return conn, err
		}}}
	return m, nil
}

// root is where the node's files are.
func (m *machine) root() string { return "/proc/" + strconv.Itoa(m.pid) + "/root" }

// netns is a namespace of the node as this machine opens it; "" is the node's own. Nodes call /run by its old name, a
// link that leads elsewhere from here.
func (m *machine) netns(path string) string {
	if path == "" {
		return "/proc/" + strconv.Itoa(m.pid) + "/ns/net"
	}
	return m.root() + strings.TrimPrefix(path, "/var")
}

// agent is what the node's agent claims now.
func (m *machine) agent(ctx context.Context) (*rest.State, error) {
	body, err := m.get(ctx, rest.StateURL)
	if err != nil {
		return nil, err
	}
	s := &rest.State{}
	return s, json.Unmarshal(body, s)
}

func (m *machine) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://agent"+path, nil)
	if err != nil {
		return nil, err
	}
	r, err := m.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }() // it has been read
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("the agent says %s", r.Status)
	}
	return body, err
}

// look looks at the node: sandboxes, then the agent, and sandboxes again where the agent is another one than the last
// time.
func (m *machine) look(ctx context.Context, management []netip.Addr, life time.Time) (seen, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	s := seen{management: management}
	var err error
	if s.sandboxes, err = m.runtime.sandboxes(ctx); err != nil {
		return s, err
	}
	if s.agent, err = m.agent(ctx); err != nil {
		s.agent = nil
		return s, nil // it is down, or starts
	}
	if !s.agent.Life.Equal(life) {
		s.sandboxes, err = m.runtime.sandboxes(ctx)
	}
	return s, err
}

// vpp is the VPP that runs, as it was written down when it was ready; zero for none.
func (m *machine) vpp() spawn.ID {
	text, err := os.ReadFile(m.root() + vppDir + "/" + vppproc.PIDFile)
	if err != nil {
		return spawn.ID{}
	}
	id, err := spawn.ParseID(string(text))
	if err != nil {
		return spawn.ID{}
	}
	return id
}

// processes are those of a control group whose name has this part, by what they are called.
func processes(group, name string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil || group == "" {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		comm, err := os.ReadFile("/proc/" + e.Name() + "/comm")
		if err != nil || strings.TrimSpace(string(comm)) != name {
			continue
		}
		in, err := os.ReadFile("/proc/" + e.Name() + "/cgroup")
		if err == nil && strings.Contains(string(in), group) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// signal sends a signal to the processes of a control group that are called so, and says how many there were.
func signal(group, name string, sig unix.Signal) int {
	sent := 0
	for _, pid := range processes(group, name) {
		if unix.Kill(pid, sig) == nil {
			sent++
		}
	}
	return sent
}
