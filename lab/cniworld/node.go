package cniworld

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	"github.com/containernetworking/cni/libcni"
	"github.com/google/uuid"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/plugin"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Folders of a node: its disk, which is a small file system so that it can be full, and its /run, which a boot empties.
const (
	diskFolder = "disk"
	runFolder  = "run"
	// diskSize is enough for thousands of pods' files.
	diskSize = "8m"
	// diskAt is what of the disk plugins see: the place where all of them keep their state.
	diskAt = "/var/lib/cni"
)

// node is one machine: a network namespace, a mount namespace, a disk, and a kubelet.
type node struct {
	w       *World
	name    string
	uid     string
	number  uint32
	address netip.Addr
	kubelet *kubelet

	// mu guards what follows.
	mu       sync.Mutex
	on       bool
	warm     bool
	cordoned bool
	space    *fabric.Space
	cidrs    []netip.Prefix
	list     *libcni.NetworkConfigList
	// changed: the configuration is not that of the node's start any more.
	changed bool
	armed   *scenarios.KillPlugin
	full    int
	// life ends with the machine's power, down with the runtime's process.
	life context.Context
	end  context.CancelFunc
	down context.Context
	kill context.CancelCauseFunc
	// gatewayAnswers: a pod's gateway answered, undisturbed.
	gatewayAnswers bool
	book           book
	// api is where the node's plugins reach the cluster's API server, nil where they ask none.
	api *http.Server
	remains
}

// errRuntimeKilled is what a plugin's answer is to a runtime that is not there any more.
var errRuntimeKilled = errors.New("the runtime was killed")

// newNode makes a machine that is off.
func (w *World) newNode(name string) (*node, error) {
	w.mu.Lock()
	w.made++
	n := &node{w: w, name: name, uid: uuid.NewString(), number: w.made}
	w.mu.Unlock()
	n.address = netip.AddrFrom4([4]byte{10, 20, byte(n.number >> 8), byte(n.number)})
	n.kubelet = newKubelet(n)
	n.remains.init()
	if err := os.RemoveAll(n.dir(diskFolder)); err != nil {
		return nil, err
	}
	for _, d := range [...]string{diskFolder, runFolder} {
		if err := os.MkdirAll(n.dir(d), 0o755); err != nil {
			return nil, err
		}
	}
	if err := unix.Mount("vppdrill", n.dir(diskFolder), "tmpfs", 0, "mode=0755,size="+diskSize); err != nil {
		return nil, fmt.Errorf("disk of %s: %w", name, err)
	}
	return n, n.configure(w.Play.Plan())
}

// dir is something in the node's folder. Machines of one name that come after one another have different ones.
func (n *node) dir(of string) string {
	return filepath.Join(n.w.dir(fmt.Sprintf("%s.%d", n.name, n.number)), of)
}

// netns is the node's own namespace as this process opens it, the name below which `ip netns` shows it.
func (n *node) netnsName() string { return n.w.place.namespace(fmt.Sprintf("%s.%d", n.name, n.number)) }
func (n *node) netns() string     { return fabric.Path(n.netnsName()) }

// configure gives the node its range of a plan, and the configuration that follows.
func (n *node) configure(plan scenarios.IPAM) error {
	cidrs, err := timeline.PodCIDRs(plan, n.number)
	if err != nil {
		return err
	}
	return n.setCIDRs(cidrs)
}

func (n *node) setCIDRs(cidrs []netip.Prefix) error {
	list, err := n.w.o.Chain.list("", cidrs)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changed = n.list != nil && string(n.list.Bytes) != string(list.Bytes)
	n.cidrs, n.list = cidrs, list
	return nil
}

// boot starts the machine: its namespaces are there, nothing runs.
func (n *node) boot() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.on {
		return nil
	}
	if err := fabric.Create(n.netnsName()); err != nil {
		return err
	}
	var err error
	if n.space, err = fabric.Open(n.netns()); err != nil {
		return err
	}
	if err := n.space.Up("lo"); err != nil {
		return err
	}
	if err := n.w.fabric.Join(n.space, n.machine()); err != nil {
		return err
	}
	if err := n.space.SetManagement(lab.MachineSpec{Management: []netip.Addr{n.address}}); err != nil {
		return err
	}
	if err := spawn.Inside(n.netns(), func() error { return fabric.Sysctl("ipv4/ip_forward", "1") }); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(n.dir(runFolder)), os.MkdirAll(filepath.Join(n.dir(runFolder), "netns"), 0o755), os.MkdirAll(diskAt, 0o755)); err != nil {
		return err
	}
	if n.w.o.Chain.asks() {
		if n.api, err = n.w.server.serve(n.netns(), n.dir(runFolder)); err != nil {
			return err
		}
	}
	n.life, n.end = context.WithCancel(context.Background())
	n.down, n.kill = context.WithCancelCause(n.life)
	n.on = true
	if n.w.dhcp != nil {
		return n.startDHCP()
	}
	return nil
}

// binds are what plugins on the node see elsewhere than this process: the disk, and a /run with this machine's named
// namespaces.
func (n *node) binds() []plugin.Bind {
	return []plugin.Bind{{At: filepath.Join(n.dir(runFolder), "netns"), From: fabric.Folder}, {At: diskAt, From: n.dir(diskFolder)},
		{At: "/run", From: n.dir(runFolder)}}
}

// powerOff ends everything on the machine. Its disk stays.
func (n *node) powerOff() error {
	n.mu.Lock()
	if !n.on {
		n.mu.Unlock()
		return nil
	}
	n.on = false
	n.end()
	space, api := n.space, n.api
	n.mu.Unlock()
	n.kubelet.powerOff()
	if api != nil {
		_ = api.Close() // who still waits for an answer gets none
	}
	errs := []error{n.w.fabric.Leave(n.machine())}
	space.Close()
	return errors.Join(append(errs, fabric.Remove(n.netnsName()))...)
}

// remove takes the machine away for good.
func (n *node) remove() error {
	err := n.powerOff()
	n.kubelet.stop()
	if bad := unix.Unmount(n.dir(diskFolder), unix.MNT_DETACH); bad != nil && !errors.Is(bad, unix.EINVAL) {
		err = errors.Join(err, bad)
	}
	return err
}

// machine is what the node has of the fabric. Only a chain with a DHCP server has a NIC on the server's wire.
func (n *node) machine() lab.MachineSpec {
	return lab.MachineSpec{Name: n.name, Number: n.number, NIC: n.w.dhcp != nil, NICMTU: nicMTU}
}

// isUp reports whether the machine has power.
func (n *node) isUp() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.on
}

// route makes the ranges of other nodes reachable, as a cloud's route controller does.
func (w *World) route() error {
	if !w.o.Chain.routed() {
		return nil
	}
	nodes := w.inOrder()
	return each(nodes, func(n *node) error {
		if !n.isUp() {
			return nil
		}
		for _, other := range nodes {
			if other == n {
				continue
			}
			for _, p := range other.cidrs {
				if !p.Addr().Is4() {
					continue // the fabric's own network is IPv4's
				}
				r := &netlink.Route{Dst: ipNet(p), Gw: other.address.AsSlice()}
				if err := n.space.RouteReplace(r); err != nil {
					return fmt.Errorf("route %s on %s: %w", p, n.name, err)
				}
			}
		}
		return nil
	})
}

// fill leaves no byte on the disk, or gives all back.
func (n *node) fill(full bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	const filler = "filler"
	file := filepath.Join(n.dir(diskFolder), filler)
	if !full {
		if n.full--; n.full > 0 {
			return nil
		}
		return os.Remove(file)
	}
	if n.full++; n.full > 1 {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<16)
	for {
		if _, err := f.Write(block); errors.Is(err, unix.ENOSPC) {
			if len(block) == 1 {
				return f.Close()
			}
			block = make([]byte, max(1, len(block)/16))
		} else if err != nil {
			return errors.Join(err, f.Close())
		}
	}
}

// lose removes what is on the disk.
func (n *node) lose(what scenarios.PluginState) error {
	entries, err := os.ReadDir(n.dir(diskFolder))
	errs := []error{err}
	for _, e := range entries {
		if e.Name() == "filler" || what == scenarios.RuntimeState != (e.Name() == "results") && what != scenarios.AllState {
			continue
		}
		errs = append(errs, os.RemoveAll(filepath.Join(n.dir(diskFolder), e.Name())))
	}
	n.readBook()
	return errors.Join(errs...)
}

// tell tells a fact of this node.
func (n *node) tell(what fact.What, line string) {
	n.w.Tell(fact.Fact{Node: n.name, What: what}, line)
}
