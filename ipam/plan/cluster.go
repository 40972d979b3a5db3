package plan

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Cluster is what is known of the cluster beside its addresses. The zero value of a field means that it is not known.
type Cluster struct {
	// Nodes and PodsPerNode are expected.
	Nodes, PodsPerNode uint64
	// MaxPods is how many pods the kubelet starts on a node at most.
	MaxPods uint64
	// Growth is how much larger the cluster shall be able to become, in percent of Nodes; negative for DefaultGrowth.
	Growth int
	// Networks are those that the hosts are attached to.
	Networks []Network
}

// DefaultGrowth is the room that the lint asks for when nobody says: half as many nodes again. It is a choice of this
// project.
const DefaultGrowth = 50

// Network is a network that hosts are attached to.
type Network struct {
	Name   string
	Prefix netip.Prefix
}

// usualNetworks are on many hosts without anybody having asked for them.
var usualNetworks = []Network{
	{"Docker's default bridge docker0", netip.MustParsePrefix("172.17.0.0/16")},
	{"libvirt's default network virbr0", netip.MustParsePrefix("192.168.122.0/24")},
}

// special are the ranges that nobody can have, as networks.
var special = func() (list []Network) {
	for _, r := range space.SpecialRanges() {
		list = append(list, Network{r.Name, r.Prefix})
	}
	return list
}()

// private are the IPv4 ranges that nobody has on the internet. Every range that is not special and in none of them
// hides somebody. IPv6 is not judged: public addresses for pods are usual there.
var private = []netip.Prefix{
	// RFC 1918
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	// RFC 6598, shared with carriers; clouds use it for pods
	netip.MustParsePrefix("100.64.0.0/10"),
	// RFC 2544, benchmarks
	netip.MustParsePrefix("198.18.0.0/15"),
	// RFC 5737
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
}

func (c Cluster) growth() uint64 {
	if c.Growth < 0 {
		return DefaultGrowth
	}
	return uint64(c.Growth)
}

// wanted is how many nodes shall fit, growth included, rounded up.
func (c Cluster) wanted() uint64 {
	more := times(c.Nodes, c.growth())
	if more == countMax {
		return more
	}
	return plus(c.Nodes, (more+99)/100)
}

func (c Cluster) check() error {
	var errs []error
	for _, n := range c.Networks {
		if !n.Prefix.IsValid() {
			errs = append(errs, fmt.Errorf("host network %q has no prefix", n.Name))
		}
	}
	return errors.Join(errs...)
}

// networks are those of the cluster in normal form, then the usual ones that are not among them.
func (c Cluster) networks() (own, usual []Network) {
	for _, n := range c.Networks {
		own = append(own, Network{n.Name, space.Normal(n.Prefix)})
	}
	for _, u := range usualNetworks {
		covered := false
		for _, n := range own {
			covered = covered || space.Overlap(n.Prefix, u.Prefix)
		}
		if !covered {
			usual = append(usual, u)
		}
	}
	return own, usual
}
