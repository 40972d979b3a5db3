package hostmodel

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Host is one machine's Linux. It implements vppwire.Linux for changes and fact.Linux for views. Use New.
type Host struct {
	cfg        Config
	boots      uint64
	macs       uint64
	links      uint64 // that ever were
	root       *namespace
	namespaces map[string]*namespace
	names      []string
	taps       []*link
	// wentWith is by links of the host's own namespace the namespace that they went with, as the other ends of what was in
	// there.
	wentWith map[string]string
	// memifFolders are the folders with memif sockets, by path.
	memifFolders map[string]memifFolder
}

// Config says what a machine has when it starts.
type Config struct {
	// ID distinguishes machines: boot IDs and the MACs that a kernel would draw follow from it.
	ID uint64
	// Devices are the network cards; they are up from the start.
	Devices []Device
	// Routes are set after the devices have their addresses, in order. Netns must be empty.
	Routes []vppwire.HostRoute
}

// Device is a network card of the host's own namespace.
type Device struct {
	Name string
	// MAC of zero is drawn once and survives reboots, as one burnt into a card would.
	MAC vppwire.MAC
	// MTU in bytes, 0 for 1500.
	MTU   uint32
	Addrs []netip.Prefix
}

// New returns a machine that has just booted for the first time. A Config that cannot be had is an error.
func New(cfg Config) (*Host, error) {
	h := &Host{cfg: cfg}
	if err := h.boot(); err != nil {
		return nil, fmt.Errorf("machine %d: %w", cfg.ID, err)
	}
	return h, nil
}

// Reboot loses everything but the Config: namespaces, links and whatever was set on devices. Disks are separate; crash
// them beside it.
func (h *Host) Reboot() {
	if err := h.boot(); err != nil {
		panic(fmt.Sprintf("hostmodel: machine %d booted before, not now: %v", h.cfg.ID, err))
	}
}

// Boot identifies the present boot, as /proc/sys/kernel/random/boot_id does: 36 characters, never the same twice.
func (h *Host) Boot() string {
	a, b := scramble(h.cfg.ID, h.boots), scramble(h.boots, ^h.cfg.ID)
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&(1<<48-1))
}

func (h *Host) boot() error {
	h.boots++
	h.macs = 0
	h.wentWith = map[string]string{}
	h.memifFolders = map[string]memifFolder{}
	h.root = &namespace{}
	h.namespaces = make(map[string]*namespace)
	h.names = nil
	h.taps = nil
	if err := h.linkSet(vppwire.LinkSet{Name: loopback, Up: true}); err != nil {
		return err
	}
	for i, d := range h.cfg.Devices {
		if err := h.plug(d, uint64(i)); err != nil {
			return err
		}
	}
	for _, r := range h.cfg.Routes {
		if err := h.routeSet(r); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) plug(d Device, slot uint64) error {
	if err := h.root.free(d.Name); err != nil {
		return fmt.Errorf("device %s: %w", d.Name, err)
	}
	l := &link{name: d.Name, kind: kindDevice, mtu: mtuDefault, mac: d.MAC}
	if l.mac == (vppwire.MAC{}) {
		l.mac = macFrom(scramble(^h.cfg.ID, slot))
	}
	h.insert(h.root, l)
	if err := h.linkSet(vppwire.LinkSet{Name: d.Name, Up: true, MTU: d.MTU}); err != nil {
		return err
	}
	for _, a := range d.Addrs {
		if err := h.addrAdd(vppwire.AddrAdd{Link: d.Name, Addr: a}); err != nil {
			return err
		}
	}
	return nil
}

// drawMAC is what a kernel does for a link without a MAC: a locally administered unicast address.
func (h *Host) drawMAC() vppwire.MAC {
	h.macs++
	return macFrom(scramble(h.cfg.ID, h.boots<<32|h.macs))
}

func macFrom(x uint64) vppwire.MAC {
	return vppwire.MAC{byte(x)&^1 | 2, byte(x >> 8), byte(x >> 16), byte(x >> 24), byte(x >> 32), byte(x >> 40)}
}

// scramble makes numbers that look drawn from two that count; the constants are SplitMix64's.
func scramble(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b
	for range 2 {
		z += 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
	}
	return z
}

// CreateNamespace makes an empty namespace with the absolute path that names it; vppwire.ErrLinuxExists where there is
// one.
func (h *Host) CreateNamespace(path string) error {
	if path == "" || path[0] != '/' {
		return fmt.Errorf("namespace %q: %w: not an absolute path", path, ErrInvalid)
	}
	if h.namespaces[path] != nil {
		return fmt.Errorf("namespace %s: %w", path, vppwire.ErrLinuxExists)
	}
	h.namespaces[path] = &namespace{path: path}
	h.names = nil
	return nil
}

// RemoveNamespace removes a namespace with its links and the other ends of its veth pairs; false where there was none.
func (h *Host) RemoveNamespace(path string) bool {
	ns := h.namespaces[path]
	if ns == nil {
		return false
	}
	for len(ns.links) > 0 {
		l := ns.links[len(ns.links)-1]
		if l.peer != nil && l.peer.ns == h.root {
			h.wentWith[l.peer.name] = path
		}
		h.unlink(l)
	}
	delete(h.namespaces, path)
	h.names = nil
	return true
}

// HasNamespace reports whether path names a namespace; the empty path is the host's own.
func (h *Host) HasNamespace(path string) bool { return h.namespace(path) != nil }

// sortedNames returns the namespaces' paths, sorted once per change of their set.
func (h *Host) sortedNames() []string {
	if h.names == nil && len(h.namespaces) > 0 {
		h.names = slices.Sorted(maps.Keys(h.namespaces))
	}
	return h.names
}

// namespace finds a namespace, nil for none.
func (h *Host) namespace(path string) *namespace {
	if path == "" {
		return h.root
	}
	return h.namespaces[path]
}
