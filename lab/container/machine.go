package container

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/nodeinit"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// machine is one node: a container and its folder.
type machine struct {
	g    *labFabric
	spec lab.MachineSpec
	// boot is held by whoever switches, which takes a while; mu guards what kubelets and supervisors look at meanwhile.
	boot  sync.Mutex
	box   *box
	space *fabric.Space
	mu    sync.Mutex
	// pid is the container's first process, 0 while the machine is off.
	pid int
}

// PowerOn implements lab.Machine.
func (m *machine) PowerOn() (err error) {
	m.boot.Lock()
	defer m.boot.Unlock()
	if m.on() != 0 {
		return nil
	}
	ctx := context.Background()
	if m.box == nil {
		config := m.g.config
		if m.box, err = newBox(ctx, m.g.engine, boxSpec{image: m.g.image, name: boxName(config.ID, m.spec.Name), hostname: m.spec.Name,
			dir: m.spec.Dir, init: m.g.init, labels: labels(config.ID, config.Dir, m.spec.Name)}); err != nil {
			return err
		}
	}
	pid, err := m.box.start(ctx)
	if err != nil {
		return errors.Join(err, m.box.kill(ctx))
	}
	m.mu.Lock()
	m.pid = pid
	m.mu.Unlock()
	if err := m.connect(); err != nil {
		return errors.Join(err, m.off())
	}
	return nil
}

// connect joins a container that has just booted to the fabric.
func (m *machine) connect() (err error) {
	if m.space, err = fabric.Open(m.Netns("")); err != nil {
		return err
	}
	if err := m.g.Fabric.Join(m.space, m.spec); err != nil {
		return err
	}
	return m.space.SetManagement(m.spec)
}

// SetManagement implements lab.Machine.
func (m *machine) SetManagement(addrs []netip.Addr) error {
	m.boot.Lock()
	defer m.boot.Unlock()
	m.spec.Management = addrs
	if m.space == nil {
		return nil
	}
	return m.space.SetManagement(m.spec)
}

// on is the number of the container's first process, 0 while the machine is off.
func (m *machine) on() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pid
}

// PowerOff implements lab.Machine.
func (m *machine) PowerOff() error {
	m.boot.Lock()
	defer m.boot.Unlock()
	return m.off()
}

func (m *machine) off() error {
	if m.on() == 0 {
		return nil
	}
	m.mu.Lock()
	m.pid = 0
	m.mu.Unlock()
	errs := []error{m.box.kill(context.Background())}
	// Who looks for the socket must not find that of a dead VPP.
	if err := os.Remove(filepath.Join(m.VPPDir(), vppproc.APISocketFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	if m.space != nil {
		m.space.Close()
		m.space = nil
	}
	return errors.Join(append(errs, m.g.Leave(m.spec))...)
}

// Remove implements lab.Machine.
func (m *machine) Remove() error {
	m.boot.Lock()
	defer m.boot.Unlock()
	err := m.off()
	if m.box == nil {
		return err
	}
	return errors.Join(err, m.box.remove(context.Background()))
}

// Netns implements lab.Machine.
func (m *machine) Netns(path string) string { return netnsOf(m.on(), path) }

// netnsOf is the path by which this machine opens a namespace that a container calls path; init is its first process.
func netnsOf(init int, path string) string {
	if path == "" {
		path = nodeinit.NodeNetns
	}
	return "/proc/" + strconv.Itoa(init) + "/root" + path
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

// order starts a process in the container.
func (m *machine) order(ctx context.Context, o nodeinit.Order) (lab.Process, error) {
	pid := m.on()
	if pid == 0 {
		return nil, lab.ErrNotAlive
	}
	p, err := nodeinit.Start(ctx, m.box.spec.socket(), o)
	if err != nil {
		if m.on() != pid {
			return nil, lab.ErrNotAlive
		}
		return nil, err
	}
	return p, nil
}

// StartVPP implements lab.Machine. The VPP is the image's own.
func (m *machine) StartVPP(ctx context.Context) (lab.Process, error) {
	cfg := m.g.config.VPPConfig
	cfg.Binary, cfg.Dir, cfg.Netns = "", m.VPPDir(), ""
	cfg.Boot = append(cfg.Boot, fabric.VPPBoot(m.spec)...)
	return m.order(ctx, nodeinit.Order{VPP: &cfg})
}

// Spawn implements lab.Machine. The program that labs are run by is in every container; any other is the image's own.
func (m *machine) Spawn(argv []string, output string) (lab.Process, error) {
	if argv[0] == m.g.init[0] {
		argv = append([]string{Program}, argv[1:]...)
	}
	p, err := m.order(context.Background(), nodeinit.Order{Program: &nodeinit.Program{Argv: argv, Output: filepath.Join(m.spec.Dir, output)}})
	if err != nil {
		return nil, fmt.Errorf("start %s on %s: %w", argv[0], m.spec.Name, err)
	}
	return p, nil
}

// CreatePod implements lab.Machine.
func (m *machine) CreatePod(name string) (string, error) {
	if m.on() == 0 {
		return "", lab.ErrNotAlive
	}
	a, err := nodeinit.Send(context.Background(), m.box.spec.socket(), nodeinit.Order{Pod: "pod-" + strings.ToLower(name)})
	return a.Path, err
}

// RemovePod implements lab.Machine. The pods of a machine that is off are gone.
func (m *machine) RemovePod(path string) error {
	pid := m.on()
	if pid == 0 {
		return nil
	}
	_, err := nodeinit.Send(context.Background(), m.box.spec.socket(), nodeinit.Order{PodGone: path})
	if m.on() != pid {
		return nil
	}
	return err
}
