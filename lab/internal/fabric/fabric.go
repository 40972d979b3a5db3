package fabric

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"github.com/vishvananda/netlink"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

const (
	// Wire joins the nodes' VPPs, Management their Linux sides.
	Wire       = "wire"
	Management = "mgmt"
	// WireMTU is the bridge's, whatever the NICs in it have: the largest that a scenario can give them.
	WireMTU       = 9216
	managementMTU = 1500
	// managementBits is the length of the management subnet: all nodes of a lab are in one.
	managementBits  = 16
	managementBits6 = 64
)

// Fabric is one lab's bridges.
type Fabric struct {
	*Space
	name string
	// ports are the wire's ports by machine name, guarded by mu: machines boot at the same time.
	mu    sync.Mutex
	ports map[string][]string
}

// New makes a fabric in a namespace of this name.
func New(name string) (*Fabric, error) {
	if err := Create(name); err != nil {
		return nil, err
	}
	s, err := Open(Path(name))
	if err != nil {
		return nil, errors.Join(err, Remove(name))
	}
	f := &Fabric{Space: s, name: name, ports: map[string][]string{}}
	for _, b := range []string{Wire, Management} {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.MTU = b, WireMTU
		snooping := false
		if err := s.LinkAdd(&netlink.Bridge{LinkAttrs: attrs, MulticastSnooping: &snooping}); err != nil {
			return nil, errors.Join(fmt.Errorf("create bridge %s in %s: %w", b, name, err), f.Close())
		}
		if err := s.Up(b); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// Close removes the fabric; machines are removed before.
func (f *Fabric) Close() error {
	f.Space.Close()
	return Remove(f.name)
}

// Port is the name of a machine's port in a bridge: short, as links' names are.
func Port(bridge string, number uint32) string {
	return bridge[:1] + strconv.FormatUint(uint64(number), 10)
}

// Kinds of MAC addresses: Linux's ends of the two links, VPP's interface on the wire, and what no machine has.
const (
	managementMAC = 1
	wireMAC       = 2
	vppMAC        = 3
	nobodyMAC     = 4
	// A machine's further interfaces have kinds of their own from here on: VPP's end even, Linux's odd.
	otherMAC = 8
)

// mac is a locally administered address of the lab's own: kind, then the machine's number.
func mac(kind byte, number uint32) net.HardwareAddr {
	return net.HardwareAddr{0x02, 0x76, kind, byte(number >> 16), byte(number >> 8), byte(number)}
}

// VPPBoot are the CLI commands by which a machine's VPP takes its interface to the wire; none where it has no NIC. The
// ring is smaller than VPP's own choice, which is for segmentation offload and takes 70 MB.
func VPPBoot(spec lab.MachineSpec) []string {
	var list []string
	boot := func(device, name string, hw net.HardwareAddr) {
		list = append(list, fmt.Sprintf("create host-interface name %s hw-addr %s tx-size 10240", device, hw),
			fmt.Sprintf("set interface name host-%s %s", device, name))
	}
	if spec.NIC {
		boot(spec.Device(), lab.NICName, mac(vppMAC, spec.Number))
	}
	for i, name := range spec.OtherNICs {
		boot(lab.OtherDevice(i), name, mac(otherVPP(i), spec.Number))
	}
	return list
}

// otherVPP is the kind of the MACs that VPPs have on their further interfaces.
func otherVPP(nic int) byte { return byte(otherMAC + 2*nic) }

// Join gives a machine that has just booted, in namespace s, its links: management, and the wire if it has a NIC; one link for both where
// the NIC is its only one.
func (f *Fabric) Join(s *Space, spec lab.MachineSpec) error {
	if !spec.Gateway.IsValid() {
		if err := f.link(s, Port(Management, spec.Number), Management, lab.ManagementDevice, mac(managementMAC, spec.Number), managementMTU); err != nil {
			return err
		}
	}
	var ports []string
	if spec.NIC {
		ports = append(ports, Port(Wire, spec.Number))
		if err := f.link(s, ports[0], Wire, spec.Device(), mac(wireMAC, spec.Number), int(spec.NICMTU)); err != nil {
			return err
		}
	}
	for i := range spec.OtherNICs {
		port := otherPort(i, spec.Number)
		if err := f.link(s, port, Wire, lab.OtherDevice(i), mac(otherVPP(i)+1, spec.Number), int(spec.NICMTU)); err != nil {
			return err
		}
		ports = append(ports, port)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ports[spec.Name] = ports
	return nil
}

// otherPort is the name of the port of a machine's further interface.
func otherPort(nic int, number uint32) string { return Port(Wire, number) + "-" + strconv.Itoa(nic+1) }

// link joins a device of s to a bridge.
func (f *Fabric) link(s *Space, port, bridge, device string, hw net.HardwareAddr, mtu int) error {
	if err := f.Drop(port); err != nil { // of an earlier boot: it goes by itself, but when Linux likes
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.HardwareAddr, attrs.Namespace = device, mtu, hw, netlink.NsFd(s.ns)
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: port, PeerNamespace: netlink.NsFd(f.ns), PeerMTU: uint32(mtu)}
	if err := s.LinkAdd(veth); err != nil {
		return fmt.Errorf("create link %s in %s: %w", device, s.path, err)
	}
	if err := f.plug(bridge, port); err != nil {
		return err
	}
	return s.Up(device)
}

// plug puts the fabric's end of a link into a bridge.
func (f *Fabric) plug(bridge, port string) error {
	b, err := f.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("find bridge %s: %w", bridge, err)
	}
	if err := f.With(port, "plug", func(l netlink.Link) error { return f.LinkSetMaster(l, b) }); err != nil {
		return err
	}
	return f.Up(port)
}

// Leave takes a machine's ports away; a machine without any is fine.
func (f *Fabric) Leave(spec lab.MachineSpec) error {
	f.mu.Lock()
	delete(f.ports, spec.Name)
	f.mu.Unlock()
	errs := []error{f.Drop(Port(Wire, spec.Number)), f.Drop(Port(Management, spec.Number))}
	for i := range spec.OtherNICs {
		errs = append(errs, f.Drop(otherPort(i, spec.Number)))
	}
	return errors.Join(errs...)
}

// SetManagement makes spec's the addresses of a machine's management device, behind which its gateway is, if it has one.
func (s *Space) SetManagement(spec lab.MachineSpec) error {
	var list []netip.Prefix
	for _, a := range spec.Management {
		bits := managementBits
		if a.Is6() {
			bits = managementBits6
		}
		list = append(list, netip.PrefixFrom(a, bits))
	}
	if err := s.SetAddresses(lab.ManagementDevice, list); err != nil || !spec.Gateway.IsValid() {
		return err
	}
	return s.With(lab.ManagementDevice, "route by", func(l netlink.Link) error {
		return s.RouteReplace(&netlink.Route{LinkIndex: l.Attrs().Index, Dst: &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)},
			Gw: spec.Gateway.AsSlice(), Priority: scenarios.HostMetric})
	})
}

// Cut implements lab.Fabric by the bridge's isolated flag: two isolated ports do not reach each other, every other pair
// does. So the pairs must be all pairs of some machines.
func (f *Fabric) Cut(pairs [][2]string) error {
	var cut []string
	distinct := map[[2]string]bool{}
	for _, p := range pairs {
		distinct[[2]string{min(p[0], p[1]), max(p[0], p[1])}] = true
		for _, m := range p {
			if !slices.Contains(cut, m) {
				cut = append(cut, m)
			}
		}
	}
	if len(cut)*(len(cut)-1)/2 != len(distinct) {
		return fmt.Errorf("cut %v: %w: the fabric can only cut all pairs of some nodes", pairs, result.ErrUnsupported)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for machine, ports := range f.ports { //vppdrill:unordered each port by itself
		for _, port := range ports {
			err := f.With(port, "isolate", func(l netlink.Link) error {
				return f.LinkSetIsolated(l, slices.Contains(cut, machine))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
