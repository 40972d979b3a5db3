package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// ErrCannotRun says that a lab cannot run on this machine; the text around it says what is missing, in one line.
var ErrCannotRun = vppproc.ErrCannotRun

// Cannot is an ErrCannotRun of one line.
func Cannot(format string, args ...any) error { return vppproc.Cannot(format, args...) }

// ErrNotAlive is returned for a machine that is off.
var ErrNotAlive = errors.New("the machine is off")

// Backend makes the machines of labs: namespaces, containers. One serves any number of labs.
type Backend interface {
	// Name is the world's name: netns, container.
	Name() string
	// Check says in one line what this machine lacks; nil when labs can run. It changes nothing that stays.
	Check(ctx context.Context) error
	// Open prepares what the machines of one lab share: the fabric.
	Open(ctx context.Context, config Config) (Fabric, error)
	// Sweep removes everything that a lab has left behind whose owner is gone; dir is its folder. What is not there is
	// fine.
	Sweep(id, dir string) error
	// Strays lists the IDs of labs of which something exists that no folder tells of.
	Strays() ([]string, error)
	// NodePath is the path by which this machine opens the namespace of a lab's node; of one that is off nothing is there.
	NodePath(id, node string) string
	// Wire is where what passes the wire of the machine of this number shows: a namespace as this machine opens it, and a
	// link.
	Wire(id string, number uint32) (netns, link string)
}

// Config is one lab as its backend sees it.
type Config struct {
	// ID is short, unique on this machine and part of the name of everything the lab makes.
	ID string
	// Dir is the lab's folder.
	Dir string
	// VPPConfig is every node's: the binary, which is empty for a Supplier, how long the main loop sleeps, and its memory.
	VPPConfig vppproc.Config
}

// Supplier is a Backend whose machines bring a VPP along. None of this machine's is looked for.
type Supplier interface {
	// SuppliesVPP says where the VPP comes from: "image vppdrill/vpp:25.10".
	SuppliesVPP() string
}

// FindVPP is the binary that a lab of this backend runs: what vppproc.Find says, and nothing where machines bring
// theirs along; naming one is an error then.
func FindVPP(b Backend, explicit string) (string, error) {
	s, ok := b.(Supplier)
	if !ok {
		return vppproc.Find(explicit)
	}
	if explicit != "" {
		return "", fmt.Errorf("VPP %s: nodes of world %s have that of %s", explicit, b.Name(), s.SuppliesVPP())
	}
	return "", nil
}

// Fabric is what the machines of one lab stand on.
type Fabric interface {
	// Join makes a machine that is off.
	Join(spec MachineSpec) (Machine, error)
	// Cut makes exactly these pairs of machines unable to reach each other through the fabric; none is the healthy fabric.
	// ErrUnsupported where the fabric cannot cut these and nothing else.
	Cut(pairs [][2]string) error
	// ServeDHCP starts a DHCP server for machines' NICs; ErrCannotRun where there is none.
	ServeDHCP(c DHCPConfig) (DHCP, error)
	// Close removes the fabric; machines are removed before.
	Close() error
}

// Wired is a Fabric on whose wire somebody can be who is no machine.
type Wired interface {
	// Outsider has somebody who is no machine on the wire, with this address alone, who sends what is for dsts to via. It
	// returns its namespace as this process opens it. The wire's DHCP server is the same host, so that a lab has one or
	// the other.
	Outsider(addr netip.Prefix, via netip.Addr, dsts []netip.Addr) (netns string, err error)
	// Gateway has a router on the wire, with these addresses there, and others of its own from which it can ask machines. It is
	// the same host as the outsider, so that a lab has one or the other. It returns its namespace as this process opens it.
	Gateway(addrs []netip.Prefix, others []netip.Addr) (netns string, err error)
	// OnWire is a link whose frames come out on the wire, and its namespace.
	OnWire() (netns, link string)
}

// MachineSpec is what a new machine is.
type MachineSpec struct {
	Name string
	// Number is unique in the lab, for MACs and names of links.
	Number uint32
	// Dir is its folder: its disk. It exists.
	Dir string
	// NIC: VPP has an interface to the fabric, with an MTU of NICMTU bytes.
	NIC    bool
	NICMTU uint32
	// Gateway, where valid, says that the NIC is the only one of the machine, its host's as well as VPP's: ManagementDevice is its link to
	// the fabric, with the management addresses and a default route by this address (of scenarios.HostMetric).
	Gateway netip.Addr
	// OtherNICs are VPP's names of further interfaces to the fabric; it sits on OtherDevice of each one's number.
	OtherNICs []string
	// Management are the addresses of its Linux side.
	Management []netip.Addr
}

// Device is the link that VPP's interface to the fabric sits on.
func (s *MachineSpec) Device() string {
	if s.Gateway.IsValid() {
		return ManagementDevice
	}
	return NICDevice
}

// Machine is one node's hardware and Linux. One goroutine switches it on and off; processes and pods come and go on
// others.
type Machine interface {
	// PowerOn boots it: its Linux side is there, nothing runs. PowerOff kills everything on it; its folder stays.
	PowerOn() error
	PowerOff() error
	// Remove takes it away for good; its folder stays for the evidence.
	Remove() error
	// Netns is the path by which this process opens a namespace that the node calls path; "" is the node's own.
	Netns(path string) string
	SetManagement(addrs []netip.Addr) error
	// StartVPP returns when VPP is ready. VPP's files are below VPPDir.
	StartVPP(ctx context.Context) (Process, error)
	VPPDir() string
	// Spawn starts a program on the node, as the node's own process. Output is the name of its log in the node's folder.
	Spawn(argv []string, output string) (Process, error)
	// CreatePod makes a pod's namespace and returns its path as the node calls it; RemovePod ends it.
	CreatePod(name string) (path string, err error)
	RemovePod(path string) error
}

// Tapped is a Machine that can show what passes its wire.
type Tapped interface {
	// Wire is where everything that passes the machine's interface to the fabric can be captured: a namespace as this
	// process opens it, and a link; empty without such an interface.
	Wire() (netns, link string)
}

// Process is something that runs on a machine.
type Process interface {
	PID() int
	Done() <-chan struct{}
	// Kill ends it at once and returns when it is gone; Stop asks first.
	Kill()
	Stop()
}

// Pauser is a Process that can be stopped where it is and let go on.
type Pauser interface {
	Pause(pause bool) error
}

// ManagementDevice is the link of a node's Linux side that carries its management addresses.
const ManagementDevice = "eth0"

// nicDevices are the links that stand in for each machine's physical interfaces.
func (w *World) nicDevices() []string {
	list := []string{NICDevice}
	if w.scenario().Config.Wiring.StealNIC {
		list[0] = ManagementDevice
	}
	for i := range w.scenario().Topology.OtherNICs {
		list = append(list, OtherDevice(i))
	}
	return list
}

// OtherDevice is the link to the fabric of a machine's n-th further interface, from 0.
func OtherDevice(n int) string { return "nic" + strconv.Itoa(n+1) }

// NICDevice is the link to the fabric, NICName what its VPP interface is renamed to: an agent takes "host-…" for its
// own.
const (
	NICDevice = "uplink"
	NICName   = "uplink0"
)
