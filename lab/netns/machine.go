package netns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// managementBits is their subnet's length: all nodes of a lab are in one.
const managementBits = 16

// machine is one node: a namespace, a folder, and what runs in it.
type machine struct {
	g     *ground
	spec  lab.MachineSpec
	on    bool
	space *space
	// mu guards what kubelets and supervisors change at the same time.
	mu    sync.Mutex
	procs []lab.Process
	pods  map[string]bool
	// spawned numbers processes, for their records.
	spawned atomic.Int64
}

// Join implements lab.Ground.
func (g *ground) Join(spec lab.MachineSpec) (lab.Machine, error) {
	m := &machine{g: g, spec: spec, pods: map[string]bool{}}
	return m, os.MkdirAll(m.VPPDir(), 0o755)
}

func (m *machine) name() string { return m.g.name(m.spec.Name) }

// mac is a locally administered address of the lab's own: kind, then the machine's number.
func mac(kind byte, number uint32) net.HardwareAddr {
	return net.HardwareAddr{0x02, 0x76, kind, byte(number >> 16), byte(number >> 8), byte(number)}
}

// PowerOn implements lab.Machine.
func (m *machine) PowerOn() (err error) {
	if m.on {
		return nil
	}
	if err := create(m.name()); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.PowerOff())
		}
	}()
	m.mu.Lock()
	m.on = true
	m.mu.Unlock()
	if m.space, err = open(m.name()); err != nil {
		return err
	}
	if err := m.space.up("lo"); err != nil {
		return err
	}
	if err := sysctl(m.name(), "ipv4/ip_forward", "1"); err != nil {
		return err
	}
	n := m.spec.Number
	links := []struct {
		bridge, name string
		kind         byte
		mtu          int
	}{{managementBridge, lab.ManagementDevice, 1, 1500}}
	if m.spec.NIC {
		links = append(links, struct {
			bridge, name string
			kind         byte
			mtu          int
		}{wireBridge, lab.NICDevice, 2, wireMTU})
	}
	for _, l := range links {
		p := port(l.bridge, n)
		if err := m.g.fabric.drop(p); err != nil { // of an earlier boot: its other end goes when the namespace does, which takes a moment
			return err
		}
		if err := veth(end{m.space, l.name, mac(l.kind, n)}, end{m.g.fabric, p, nil}, l.mtu); err != nil {
			return err
		}
		if err := m.g.plug(l.bridge, p); err != nil {
			return err
		}
		if err := m.space.up(l.name); err != nil {
			return err
		}
	}
	if m.spec.NIC {
		m.g.connect(m.spec.Name, port(wireBridge, n))
	}
	return m.SetManagement(m.spec.Management)
}

// SetManagement implements lab.Machine.
func (m *machine) SetManagement(addrs []netip.Addr) error {
	m.spec.Management = addrs
	if !m.on {
		return nil
	}
	var list []netip.Prefix
	for _, a := range addrs {
		list = append(list, netip.PrefixFrom(a, managementBits))
	}
	return m.space.setAddresses(lab.ManagementDevice, list)
}

// PowerOff implements lab.Machine.
func (m *machine) PowerOff() error {
	if !m.on {
		return nil
	}
	m.mu.Lock()
	m.on = false
	procs, pods := m.procs, m.pods
	m.procs, m.pods = nil, map[string]bool{}
	m.mu.Unlock()
	for _, p := range procs {
		p.Kill()
	}
	var errs []error
	for pod := range pods { //vppdrill:unordered each namespace by itself
		errs = append(errs, remove(filepath.Base(pod)))
	}
	for _, bridge := range []string{wireBridge, managementBridge} {
		errs = append(errs, m.g.fabric.drop(port(bridge, m.spec.Number)))
	}
	m.g.connect(m.spec.Name, "")
	if m.space != nil {
		m.space.close()
		m.space = nil
	}
	return errors.Join(append(errs, remove(m.name()))...)
}

// Remove implements lab.Machine.
func (m *machine) Remove() error { return m.PowerOff() }

// Netns implements lab.Machine: namespaces have the same path for everybody.
func (m *machine) Netns(p string) string {
	if p == "" {
		return path(m.name())
	}
	return p
}

// Wire implements lab.Tapped.
func (m *machine) Wire() (netns, link string) {
	if !m.spec.NIC {
		return "", ""
	}
	return FabricPort(path(m.name()), m.spec.Name, m.spec.Number)
}

// VPPDir implements lab.Machine.
func (m *machine) VPPDir() string { return filepath.Join(m.spec.Dir, "vpp") }

// StartVPP implements lab.Machine.
func (m *machine) StartVPP(ctx context.Context) (lab.Process, error) {
	if !m.isOn() {
		return nil, lab.ErrNotAlive
	}
	cfg := m.g.site.VPPConfig
	cfg.Dir, cfg.Netns = m.VPPDir(), path(m.name())
	cfg.Env = append(cfg.Env, spawn.Mark(m.g.site.ID))
	if m.spec.NIC {
		cfg.Boot = append(cfg.Boot, fmt.Sprintf("create host-interface name %s hw-addr %s tx-size 10240", lab.NICDevice, mac(3, m.spec.Number)), // VPP's own size is for GSO: 70 MB
			fmt.Sprintf("set interface name host-%s %s", lab.NICDevice, lab.NICName))
	}
	p, err := vppproc.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return p, m.keep(p)
}

// keep notes a process that ends with the machine; one that came too late ends now.
func (m *machine) keep(p lab.Process) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on {
		p.Kill()
		return lab.ErrNotAlive
	}
	m.procs = slices.DeleteFunc(m.procs, func(q lab.Process) bool {
		select {
		case <-q.Done():
			return true
		default:
			return false
		}
	})
	m.procs = append(m.procs, p)
	return nil
}

// isOn reports whether the machine has power.
func (m *machine) isOn() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.on
}

// Spawn implements lab.Machine.
func (m *machine) Spawn(argv []string, output string) (lab.Process, error) {
	if !m.isOn() {
		return nil, lab.ErrNotAlive
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), spawn.Mark(m.g.site.ID))
	record := filepath.Join(m.spec.Dir, fmt.Sprintf("process-%d", m.spawned.Add(1)))
	p, err := spawn.Start(spawn.Config{Cmd: cmd, Netns: path(m.name()), Output: filepath.Join(m.spec.Dir, output), Record: record})
	if err != nil {
		return nil, fmt.Errorf("start %s on %s: %w", argv[0], m.spec.Name, err)
	}
	out := process{p}
	return out, m.keep(out)
}

// process is a spawned process as labs see it.
type process struct{ *spawn.Process }

// Kill implements lab.Process.
func (p process) Kill() { p.End(syscall.SIGKILL, 0) }

// Stop implements lab.Process.
func (p process) Stop() { p.End(syscall.SIGTERM, 5*time.Second) }

// CreatePod implements lab.Machine.
func (m *machine) CreatePod(name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on {
		return "", lab.ErrNotAlive
	}
	full := m.g.name("pod-" + strings.ToLower(name))
	if err := create(full); err != nil {
		return "", err
	}
	p := path(full)
	m.pods[p] = true
	s, err := open(full)
	if err != nil {
		return p, err
	}
	defer s.close()
	return p, s.up("lo")
}

// RemovePod implements lab.Machine.
func (m *machine) RemovePod(p string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.pods[p] {
		return nil
	}
	delete(m.pods, p)
	return remove(filepath.Base(p))
}
