package scenarios

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/plan"
)

// System is the name of an address management system.
type System string

// AddressSystem is all that files, laws, plans and the generator need to know of one address management system: a row of the table of
// systems. What gives blocks and addresses is a package of ipam, and what drives it belongs to a world.
type AddressSystem struct {
	Name System
	// Section is a struct of the settings that only this system has, with their defaults; files give it by the system's name in
	// config.ipam. nil: it has none, or IPAM names it.
	Section any
	// Rules are what holds in its scenarios.
	Rules Rules
	// Planner turns a configuration into an address plan's source; nil: it cannot be planned.
	Planner Planner
	// Draws make random scenarios of it; nil: there are none.
	Draws Draws
	// Requests are those of its programs, by their names in faults.
	Requests []string
	// Attachment is what it asks of the node ID store and of API server or cloud for one attachment, beside what wiring does.
	Attachment struct{ Store, API int64 }
	// Daemon begins the names of pods in kube-system by which clusters with it are known; empty: by none.
	Daemon string
}

// Rules are what a system makes of its configuration.
type Rules interface {
	Traits(c IPAM) Traits
	// Check returns what the system refuses, with the whole path of its field, or nil. p is the plan of config.ipam.
	Check(s *Scenario, p contiv.Plan) *InputError
}

// Planner makes sources of package plan.
type Planner interface {
	Source(c IPAM, b plan.Base) (plan.Source, error)
}

// Draws make random configurations of a system.
type Draws interface {
	// Draw sets what is the system's own, in a cluster whose pods have 10.1.0.0/16 and whose blocks are of 10.1.0.0/18. It reports
	// whether it has seen to the size of the ranges.
	Draw(d Chooser, c *IPAM) (sized bool)
	// Life makes blocks small, so that so many pods make a node ask for another one.
	Life(c *IPAM, pod PodWiring) (pods int)
}

// Chooser makes every draw; sim/engine's choosers do.
type Chooser interface {
	// Pick returns a number in [0, n); label names the draw.
	Pick(label string, n int) int
}

// One draws an element.
func One[T any](d Chooser, label string, of ...T) T { return of[d.Pick(label, len(of))] }

// Traits are what others need to know of a system as it is configured.
type Traits struct {
	// ByID: blocks follow from node IDs, and no program outside of the agents gives any.
	ByID bool
	// Leader: a controller that is elected on the API server gives blocks, or takes them back.
	Leader bool
	// Daemons: a program on each node asks for blocks or addresses.
	Daemons bool
	// EC2: nodes are EC2 instances, whose addresses are of one subnet. Single: nodes get addresses, not blocks.
	EC2, Single bool
	// IPv6 and Dual: it takes ranges of IPv6 alone, and of two families.
	IPv6, Dual bool
	// NoDual says why it takes no two families, "" where that is not built for it.
	NoDual string
	// Ranges says how ranges may change.
	Ranges RangeChanges
	// BlockBits is the length of blocks where a file gives none; 0: Contiv's default.
	BlockBits int
	// Rest is how long a released address stays unused, 0 for not at all or as something beside the agent decides.
	Rest time.Duration
	// NoWanted says why no pod gets the address that it asks for, "" where pods may ask.
	NoWanted string
	// Pools are those that pods may ask for by name, beside the default one; DefaultPool is its name where they may ask for
	// that, too.
	Pools       []NamedPool
	DefaultPool string
	// NoReuseDelay says why config.ipam.reuseDelay would do nothing, "" where it does something.
	NoReuseDelay string
}

// named reports whether pods may ask for a pool by its name.
func (t Traits) named() bool { return len(t.Pools) > 0 || t.DefaultPool != "" }

// NamedPool is a pool of addresses that pods ask for by its name.
type NamedPool struct {
	Name   string
	Ranges []netip.Prefix
}

// RangeChanges are the changes of ranges that a system takes.
type RangeChanges uint8

// The changes that there are.
const (
	RangesStay RangeChanges = iota
	RangesGrow
	RangesComeAndGo
)

// systems is the table. Random scenarios draw from it by place.
var systems = []*AddressSystem{&contivSystem, &nodeIPAMSystem, &ciliumSystem, &datastoreSystem, &calicoSystem}

// Systems are all address management systems.
func Systems() []*AddressSystem { return slices.Clone(systems) }

// SystemNames are their names.
func SystemNames() []string { return namesOf(systems) }

func namesOf(rows []*AddressSystem) []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = string(r.Name)
	}
	return names
}

// Use gives the configuration another system, which may be one that the table does not have.
func (c *IPAM) Use(r *AddressSystem) {
	c.System = r.Name
	if !slices.Contains(systems, r) && !slices.ContainsFunc(c.own, func(s section) bool { return s.of == r }) {
		c.own = append(slices.Clone(c.own), r.section())
	}
}

// Row is the row of the configuration's system; of one that nobody knows, a row without anything.
func (c IPAM) Row() *AddressSystem {
	for _, s := range c.own {
		if s.of.Name == c.System {
			return s.of
		}
	}
	for _, r := range systems {
		if r.Name == c.System {
			return r
		}
	}
	return &AddressSystem{Name: c.System}
}

// Traits are its system's.
func (c IPAM) Traits() Traits {
	if rules := c.Row().Rules; rules != nil {
		return rules.Traits(c)
	}
	return Traits{Rest: c.ReuseDelay}
}

// PlanSource is its source of an address plan.
func (c IPAM) PlanSource(b plan.Base) (plan.Source, error) {
	if p := c.Row().Planner; p != nil {
		return p.Source(c, b)
	}
	return nil, fmt.Errorf("no address plan is made of system %q", c.System)
}

// OnEC2 reports whether nodes are EC2 instances, whose addresses are of one subnet.
func (c IPAM) OnEC2() bool { return c.Traits().EC2 }

// SingleAddresses reports whether nodes get addresses, not blocks.
func (c IPAM) SingleAddresses() bool { return c.Traits().Single }

// AddressRest is how long a released address stays unused, 0 for not at all or as something beside the agent decides.
func (c IPAM) AddressRest() time.Duration {
	if c.UseExternalIPAM {
		return 0
	}
	return c.Traits().Rest
}

// NoReuseDelay says why ReuseDelay would do nothing, "" where it does something.
func (c IPAM) NoReuseDelay() string {
	if c.UseExternalIPAM {
		return "is the external plugin's affair with useExternalIPAM"
	}
	return c.Traits().NoReuseDelay
}

// ByController reports whether controllers alone give nodes their blocks, and nothing on a node asks for any.
func (c IPAM) ByController() bool {
	t := c.Traits()
	return !t.ByID && !t.Daemons
}

// Assigned reports whether nodes get their blocks from outside.
func (c IPAM) Assigned() bool { return !c.Traits().ByID || c.UseExternalIPAM }

// blockBits is the length of one node's block, of a cluster of one family or of IPv4, and that of IPv6 in a cluster of two; 0 for Contiv's
// default. A system's own default leaves as many bits to hosts in both families.
func (c IPAM) blockBits() (one, six int) {
	t := c.Traits()
	own := t.BlockBits
	if t.Single {
		own = delegatedBits
	}
	if own == 0 {
		return c.PodSubnetOneNodePrefixLen, c.PodSubnetOneNodePrefixLenIPv6
	}
	one, six = own, own+moreBitsIPv6
	if !c.Dual() && c.PodSubnetCIDR.Addr().Is6() {
		one = six
	}
	if !t.Single {
		one, six = cmp.Or(c.PodSubnetOneNodePrefixLen, one), cmp.Or(c.PodSubnetOneNodePrefixLenIPv6, six)
	}
	if !c.Dual() {
		six = c.PodSubnetOneNodePrefixLenIPv6 // which is refused
	}
	return one, six
}

// moreBitsIPv6 is how much longer a prefix of IPv6 is that has as many addresses.
const moreBitsIPv6 = 128 - 32
