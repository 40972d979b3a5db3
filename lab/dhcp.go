package lab

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// DHCP is a lab's DHCP server. Machines are named by their numbers.
type DHCP interface {
	// Serve makes another range the one that addresses are from.
	Serve(r netip.Prefix) error
	// Reserve has a machine get an address with its next renewal.
	Reserve(number uint32, a netip.Addr) error
	// Stop has the server answer nothing, or go on with the leases that it has given.
	Stop(stop bool) error
	// Leased is what a machine has and what the server wants it to have, zero for nothing; up reports whether the server
	// runs.
	Leased(number uint32) (now, wish netip.Prefix, up bool)
	// LeasedOther is what a machine has on its n-th further interface, from 0.
	LeasedOther(number uint32, nic int) (netip.Prefix, bool)
	Close() error
}

// DHCPConfig is a lab's DHCP server as the fabric makes it.
type DHCPConfig struct {
	// ID is the lab's, Dir the server's folder.
	ID, Dir string
	Range   netip.Prefix
	// OtherRange is what machines' further interfaces get, of which there are Others; the zero Prefix where none leases an
	// address.
	OtherRange netip.Prefix
	Others     int
	// Router is the default gateway that is named, the zero Addr for none.
	Router       netip.Addr
	Lease, Renew time.Duration
}

// renewEvery is how often leases are renewed in labs, whatever half of a lease would be: a change waits for the next
// renewal, and people for the change.
const renewEvery = 10 * time.Second

// serveDHCP starts the server that a scenario asks for.
func (w *World) serveDHCP(s *scenarios.Scenario) (err error) {
	if !s.Config.HasDHCP() {
		return nil
	}
	w.dhcp, err = w.fabric.ServeDHCP(DHCPConfig{ID: w.state.ID, Dir: filepath.Join(w.state.dir, "dhcp"), Range: s.Config.IPAM.Interconnect(),
		OtherRange: s.Config.DHCP.OtherRange, Others: len(s.Topology.OtherNICs),
		Router: s.Config.DHCP.Router, Lease: s.Config.DHCP.Lease, Renew: renewEvery})
	return err
}

// unleased says what a node's lease waits for, empty where the server has nothing to give or to change.
func (n *node) unleased(s *state) string {
	if n.w.dhcp == nil {
		return ""
	}
	for _, o := range n.w.scenario().OtherNICs(n.name) {
		if now, up := n.leasedOther(o.Name); o.UseDHCP && up && (!now.IsValid() || s.Leased[o.Name] != now) {
			return n.name + " has no DHCP lease on " + o.Name + " yet, or has not noticed it"
		}
	}
	if !n.w.scenario().Config.Leases(n.name) {
		return ""
	}
	switch now, wish, up := n.w.dhcp.Leased(n.number); {
	case !up:
		return ""
	case !now.IsValid():
		return n.name + " has no DHCP lease yet"
	case now != wish:
		return fmt.Sprintf("%s has a lease of %s, and is to have %s", n.name, now, wish)
	case s.Address != now || s.Leased[NICName] != now:
		return n.name + " has not noticed its DHCP lease of " + now.String()
	}
	return ""
}

// leasedOther is what a further interface has leased; up reports whether the server runs.
func (n *node) leasedOther(name string) (now netip.Prefix, up bool) {
	return n.w.dhcp.LeasedOther(n.number, slices.Index(n.w.scenario().Topology.OtherNICs, name))
}

// otherNICs are what the node's VPP has beside its main interface, as it should be.
func (n *node) otherNICs() (list []fact.OtherNIC) {
	for _, o := range n.w.scenario().OtherNICs(n.name) {
		nic := fact.OtherNIC{Name: o.Name, Addr: o.IP}
		if o.UseDHCP {
			nic.Addr, _ = n.leasedOther(o.Name)
		}
		list = append(list, nic)
	}
	return list
}
