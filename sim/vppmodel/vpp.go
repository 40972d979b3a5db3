package vppmodel

import (
	"cmp"
	"errors"
	"net/netip"

	"go.fd.io/govpp/api"
)

// VPP is one modelled VPP process. It implements api.Connection. Use New; the zero VPP is not usable.
// It must not be used by two goroutines at once.
type VPP struct {
	pid     uint32
	host    Host
	noNetns error
	killed  bool
	writes  int64
	random  uint64

	ifaces     []*iface // by sw_if_index; nil where free
	ifacePages pages[iface]
	indices    indexPool
	// numbered holds the indices of interfaces with addresses, unordered: overlap checks look at nothing else.
	numbered []uint32

	tables [2]map[uint32]*table // by family, then table ID
	places [2]indexPool         // of tables
	placed []uint32             // the ID of the IPv4 table that was the last one at each place
	paths  pathStore

	neighbors      map[neighborKey]neighbor
	neighborsOn    []uint32 // how many neighbors an index has; survives the interface
	neighborLimits [2]neighborLimit
	// neighborWatchers are in the order of their wishes.
	neighborWatchers []neighborWatcher

	bridges  []*bridge // by bd_index; nil where free; 0 is VPP's own
	bridgeBy map[uint32]uint32
	// oldAges are what bridges that are gone leave to the next one that comes into being by a member at their place.
	oldAges map[uint32]uint8
	macs    map[macKey]macEntry
	// unflooded holds the interfaces that were a BVI once, by index.
	unflooded map[uint32]bool

	tunnels tunnels
	taps    instances
	loops   instances
	packets map[string]uint32 // AF_PACKET interfaces by Linux device

	classifiers  []*classifier // by index; nil where free
	classifierAt indexPool
	filters      map[uint32]*filters // by interface index; survives the interface

	nat  nat
	acls acls

	proxies    []proxyRange
	proxied    map[uint32]bool // by index; survives the interface, as in VPP
	stolen     stolen
	memifs     map[uint32]*memifSocket
	memifSeed  uint32
	runtimeDir string
	dhcp       map[uint32]*dhcpClient
	watchers   []*watcher
	wantEvents map[uint32]uint32 // the PID that a client gave, by client
	announce   func(client uint32, event api.Message)
	caller     uint32 // the client of the request under way
	crash      func(CrashTrigger, api.Message)
	leasing    func(at uint32, wanted bool)
	asked      func(request, reply api.Message)
}

// Config says what a VPP has when it starts. The zero Config is a VPP without NICs on a host where every tap works.
type Config struct {
	// PID is what control_ping answers; another one means another process. 0 becomes 1.
	PID uint32
	// NICs get the indices 1, 2, ... in order; they are down and have no address.
	NICs []NIC
	// RuntimeDir is where memif sockets are whose names are no paths; empty becomes /run/vpp.
	RuntimeDir string
	// Host is the Linux side of taps and AF_PACKET interfaces; nil: everything succeeds and leaves no trace.
	Host Host
	// NoNamespace is what an error of Host.TapCreate wraps when the namespace does not exist (retval -12).
	// Every other error is retval -13.
	NoNamespace error
	// Crash receives every request that a real VPP 25.10 would die of, before the model performs it all the same. nil
	// costs nothing.
	Crash func(CrashTrigger, api.Message)
	// Leasing receives every DHCP client that comes or goes, by its interface; the owner of a server answers by BindLease.
	Leasing func(at uint32, wanted bool)
	// Asked receives every state-changing request that has been performed, with its reply; both are valid only during the call.
	Asked func(request, reply api.Message)
}

// NIC is a physical or hypervisor interface.
type NIC struct {
	// Name is VPP's name: GigabitEthernet0/8/0.
	Name string
	// MAC of zero is drawn.
	MAC [6]byte
	// Driver is the interface_dev_type of dumps; empty becomes "dpdk".
	Driver string
	// MTU is what the hardware carries, in bytes of the IP packet; 0 becomes 9000. VPP's own MTU of the interface is 9000
	// all the same.
	MTU uint16
}

// Host is what VPP does to the machine below it. Namespaces are absolute paths; the empty one is VPP's own.
type Host interface {
	// TapCreate makes a tap's Linux end, up. A zero MAC is the host's choice, an MTU of 0 the kernel's default (1500
	// bytes).
	TapCreate(netns, name string, mac [6]byte, mtu uint32) error
	// TapDelete removes it; a namespace or link that is gone is success.
	TapDelete(netns, name string)
	// HasLink, LinkUp, LinkDown and LinkMAC are about devices in VPP's own namespace, below AF_PACKET interfaces.
	HasLink(name string) bool
	LinkUp(name string)
	LinkDown(name string)
	LinkMAC(name string) [6]byte
}

// TapAddresser is a Host that also gives a tap's Linux end the addresses and gateways of the tap's request, in that
// order. Any error fails the creation with retval -145.
type TapAddresser interface {
	TapAddress(netns, name string, p netip.Prefix) error
	TapGateway(netns, name string, gw netip.Addr) error
}

// LinkIdentifier is a Host that can distinguish a device from a later one of the same name. An AF_PACKET interface is
// bound to the device that it was created on: with such a Host, View shows no device below it once that one is gone.
type LinkIdentifier interface {
	// LinkID is never 0 for a link that exists, and never the same for two links.
	LinkID(name string) uint64
}

// ErrKilled is what every call answers after Kill.
var ErrKilled = errors.New("not connected to VPP")

// New starts a VPP: local0, the NICs, and table 0 of both families.
func New(cfg Config) *VPP {
	v := &VPP{
		pid: max(cfg.PID, 1), host: cfg.Host, noNetns: cfg.NoNamespace, crash: cfg.Crash, leasing: cfg.Leasing, asked: cfg.Asked,
		neighbors: make(map[neighborKey]neighbor),
		bridgeBy:  make(map[uint32]uint32), oldAges: make(map[uint32]uint8), macs: make(map[macKey]macEntry), unflooded: make(map[uint32]bool),
		packets: make(map[string]uint32), proxied: make(map[uint32]bool), stolen: make(stolen),
		runtimeDir: cmp.Or(cfg.RuntimeDir, runtimeDir),
		filters:    make(map[uint32]*filters), acls: acls{on: make(map[uint32]*[2][]uint32)},
		dhcp: make(map[uint32]*dhcpClient), wantEvents: make(map[uint32]uint32),
		neighborLimits: [2]neighborLimit{{number: neighborLimitDefault}, {number: neighborLimitDefault}},
	}
	v.memifs = map[uint32]*memifSocket{0: {file: v.runtimeDir + "/" + memifFile}}
	v.paths.init()
	v.tunnels.init()
	for _, f := range families {
		v.tables[f] = make(map[uint32]*table)
		v.addTable(f, 0, "")
	}
	v.addBridge(0).bvi = 0 // VPP never sets it: its own bridge has local0 for a BVI, and takes no other
	v.addInterface(iface{kind: KindLocal, name: "local0"})
	for _, n := range cfg.NICs {
		i := iface{kind: KindNIC, name: n.Name, mac: n.MAC, ethernet: true, device: &nic{cmp.Or(n.Driver, "dpdk"), n.MTU}}
		if i.mac == (mac{}) {
			i.mac = v.drawMAC()
		}
		v.addInterface(i)
	}
	return v
}

// PID is what control_ping answers.
func (v *VPP) PID() uint32 { return v.pid }

// Writes counts state-changing requests that were answered with retval 0, repeats that changed nothing included.
func (v *VPP) Writes() int64 { return v.writes }

// Kill ends the process: every later call is ErrKilled, watchers' channels close, and taps vanish from the host unless
// they were created persistent. AF_PACKET leaves its devices unchanged.
func (v *VPP) Kill() {
	if v.killed {
		return
	}
	v.killed = true
	for _, i := range v.ifaces {
		if i == nil {
			continue
		}
		if t, ok := i.device.(*tap); ok && !t.persistent() && v.host != nil {
			v.host.TapDelete(t.path(), t.linuxName())
		}
	}
	for _, s := range v.memifs { // in any order: each has a file of its own
		v.hangUpMemif(s)
	}
	for _, w := range v.watchers {
		w.end()
	}
	v.watchers = nil
}

// Killed reports whether Kill was called.
func (v *VPP) Killed() bool { return v.killed }

// drawMAC returns the MAC that VPP would draw: 02:fe and four bytes that depend on PID and on how many were drawn
// before.
func (v *VPP) drawMAC() mac {
	v.random++
	x := uint64(v.pid)<<32 + v.random
	x = (x ^ x>>33) * 0xff51afd7ed558ccd // the finalizer of MurmurHash3, public domain
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return mac{0x02, 0xfe, byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)}
}
