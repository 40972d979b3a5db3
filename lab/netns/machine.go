package netns

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// machine is one node: a namespace, a folder, and what runs in it.
type machine struct {
	g     *labFabric
	spec  lab.MachineSpec
	on    bool
	space *fabric.Space
	// mu guards what kubelets and supervisors change at the same time.
	mu    sync.Mutex
	procs []lab.Process
	pods  map[string]bool
	// spawned numbers processes, for their records.
	spawned atomic.Int64
}

func (m *machine) name() string { return prefix(m.g.config.ID) + m.spec.Name }

// PowerOn implements lab.Machine.
func (m *machine) PowerOn() (err error) {
	if m.on {
		return nil
	}
	if err := fabric.Create(m.name()); err != nil {
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
	if m.space, err = fabric.Open(m.Netns("")); err != nil {
		return err
	}
	if err := m.space.Up("lo"); err != nil {
		return err
	}
	if err := spawn.Inside(m.Netns(""), func() error { return fabric.Sysctl("ipv4/ip_forward", "1") }); err != nil {
		return err
	}
	if err := m.g.Fabric.Join(m.space, m.spec); err != nil {
		return err
	}
	return m.space.SetManagement(m.spec)
}

// SetManagement implements lab.Machine.
func (m *machine) SetManagement(addrs []netip.Addr) error {
	m.spec.Management = addrs
	if !m.on {
		return nil
	}
	return m.space.SetManagement(m.spec)
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
		errs = append(errs, fabric.Remove(filepath.Base(pod)))
	}
	errs = append(errs, m.g.Leave(m.spec))
	if m.space != nil {
		m.space.Close()
		m.space = nil
	}
	return errors.Join(append(errs, fabric.Remove(m.name()))...)
}

// Remove implements lab.Machine.
func (m *machine) Remove() error { return m.PowerOff() }

// Netns implements lab.Machine: namespaces have the same path for everybody.
func (m *machine) Netns(p string) string {
	if p == "" {
		return fabric.Path(m.name())
	}
	return p
}

// Wire implements lab.Tapped.
func (m *machine) Wire() (netns, link string) {
	if !m.spec.NIC {
		return "", ""
	}
	return Backend{}.Wire(m.g.config.ID, m.spec.Number)
}

// VPPDir implements lab.Machine.
func (m *machine) VPPDir() string { return filepath.Join(m.spec.Dir, "vpp") }

// StartVPP implements lab.Machine.
func (m *machine) StartVPP(ctx context.Context) (lab.Process, error) {
	if !m.isOn() {
		return nil, lab.ErrNotAlive
	}
	cfg := m.g.config.VPPConfig
	cfg.Dir, cfg.Netns = m.VPPDir(), m.Netns("")
	cfg.Env = append(cfg.Env, spawn.Mark(m.g.config.ID))
	cfg.Boot = append(cfg.Boot, fabric.VPPBoot(m.spec)...)
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
	cmd.Env = append(os.Environ(), spawn.Mark(m.g.config.ID))
	record := filepath.Join(m.spec.Dir, fmt.Sprintf("process-%d", m.spawned.Add(1)))
	p, err := spawn.Start(spawn.Config{Cmd: cmd, Netns: m.Netns(""), Output: filepath.Join(m.spec.Dir, output), Record: record})
	if err != nil {
		return nil, fmt.Errorf("start %s on %s: %w", argv[0], m.spec.Name, err)
	}
	return p, m.keep(p)
}

// CreatePod implements lab.Machine.
func (m *machine) CreatePod(name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on {
		return "", lab.ErrNotAlive
	}
	full := prefix(m.g.config.ID) + "pod-" + strings.ToLower(name)
	if err := fabric.Create(full); err != nil {
		return "", err
	}
	path := fabric.Path(full)
	m.pods[path] = true
	return path, fabric.Loopback(path)
}

// RemovePod implements lab.Machine.
func (m *machine) RemovePod(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.pods[path] {
		return nil
	}
	delete(m.pods, path)
	return fabric.Remove(filepath.Base(path))
}
