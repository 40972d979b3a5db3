package scenarios

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/plan"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
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
	// Ranges says how ranges may change.
	Ranges RangeChanges
	// BlockBits is the length of blocks where a file gives none; 0: Contiv's default.
	BlockBits int
	// Rest is how long a released address stays unused, 0 for not at all or as something beside the agent decides.
	Rest time.Duration
	// NoReuseDelay says why config.ipam.reuseDelay would do nothing, "" where it does something.
	NoReuseDelay string
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

// section is what a configuration says for one system of its own; at points to a struct of the type of its Section, and nothing changes it.
type section struct {
	of *AddressSystem
	at any
}

func (r *AddressSystem) section() section {
	if r.Section == nil {
		return section{of: r}
	}
	at := reflect.New(reflect.TypeOf(r.Section))
	at.Elem().Set(reflect.ValueOf(r.Section))
	return section{r, at.Interface()}
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

// SectionOf is what a configuration says in the section of type T; the defaults where it says nothing.
func SectionOf[T any](c IPAM) (t T) {
	for _, s := range c.own {
		if at, ok := s.at.(*T); ok {
			return *at
		}
	}
	for _, r := range systems {
		if usual, ok := r.Section.(T); ok {
			return usual
		}
	}
	return t
}

// SetSection replaces what a configuration says in the section of type T.
func SetSection[T any](c *IPAM, t T) {
	c.own = slices.Clone(c.own)
	for i, s := range c.own {
		if _, ok := s.at.(*T); ok {
			c.own[i].at = &t
			return
		}
	}
	for _, r := range systems {
		if _, ok := r.Section.(T); ok {
			c.own = append(c.own, section{r, &t})
		}
	}
}

// Sections are the sections of systems as fields, to be read into before anything else knows c.
func (c *IPAM) Sections() (list []strictyaml.Member) {
	for _, s := range c.own {
		if s.at != nil {
			v := reflect.ValueOf(s.at).Elem()
			tag := reflect.StructTag(`doc:"What only ` + string(s.of.Name) + ` has."`)
			list = append(list, strictyaml.Member{Field: strictyaml.Field{Name: string(s.of.Name), Type: v.Type(), Tag: tag}, Value: v})
		}
	}
	return list
}

var typeIPAM = reflect.TypeFor[IPAM]()

// moreOf are the sections of systems, where v is config.ipam.
func moreOf(v reflect.Value) []strictyaml.Member {
	if v.Type() != typeIPAM {
		return nil
	}
	c := v.Interface().(IPAM)
	return c.Sections()
}

// Members lists the fields of a part of a scenario, sections of systems among them.
func Members(v reflect.Value) []strictyaml.Member { return append(strictyaml.Members(v), moreOf(v)...) }

// checkSystem checks what belongs to one address management system.
func (s *Scenario) checkSystem(c IPAM) *InputError {
	row, t := c.Row(), c.Traits()
	if row.Rules == nil {
		err := s.wrongAt("config.ipam.system", "there is no system %q", c.System)
		err.Nearest = strictyaml.Nearest(string(c.System), SystemNames())
		return err
	}
	if why := c.NoReuseDelay(); why != "" && c.ReuseDelay > 0 {
		return s.wrongAt("config.ipam.reuseDelay", "%s", why)
	}
	if t.ByID && len(c.Ranges) > 0 {
		return s.wrongAt("config.ipam.ranges", "%s has none: a node's block follows from its ID", c.System)
	}
	if !t.ByID && c.UseExternalIPAM {
		return s.wrongAt("config.ipam.useExternalIPAM", "is Contiv's; %s brings blocks of its own", c.System)
	}
	p, err := c.Plan()
	switch {
	case err != nil:
		return s.wrongAt("config.ipam", "%s", err)
	case p.Second != nil && !t.Dual:
		return s.wrongAt("config.ipam.podSubnetCIDR", "%s: %s gives addresses of one family here; %s take two", c.PodSubnetCIDR, c.System,
			systemsWith("and", func(t Traits) bool { return t.Dual }))
	case p.PodSubnet.Addr().Is6() && !t.IPv6:
		return s.wrongAt("config.ipam.podSubnetCIDR", "%s: %s is here with IPv4 alone; %s take IPv6", p.PodSubnet, c.System,
			systemsWith("and", func(t Traits) bool { return t.IPv6 }))
	}
	if err := s.checkRanges(c); err != nil {
		return err
	}
	if !t.ByID {
		if err := s.checkPools(c, p.PodSubnet, p.PodSubnetOneNodePrefixLen); err != nil {
			return err
		}
	}
	if err := row.Rules.Check(s, p); err != nil {
		at := s.wrongAt(err.Field, "%s", err.Message)
		at.Nearest = err.Nearest
		return at
	}
	return nil
}

// systemsWith lists the systems that have something by their defaults: "nodeipam, cilium and calico".
func systemsWith(and string, has func(Traits) bool) string {
	var names []string
	for _, r := range systems {
		c := DefaultConfig().IPAM
		c.System = r.Name
		if has(c.Traits()) {
			names = append(names, string(r.Name))
		}
	}
	last := max(len(names)-1, 0)
	return strings.Join(append([]string{strings.Join(names[:last], ", ")}, names[last:]...), " "+and+" ")
}

// usual are the defaults of a system's section.
func (c IPAM) usual(system string) reflect.Value {
	c.System = System(system)
	return reflect.ValueOf(c.Row().Section)
}

// foreignSetting returns the path of the first setting that is of another system's section and not its default, and that system.
func (c IPAM) foreignSetting() (path string, of System) {
	for _, s := range c.own {
		if s.at == nil || s.of.Name == c.System {
			continue
		}
		usual := c.usual(string(s.of.Name))
		for _, m := range strictyaml.Members(reflect.ValueOf(s.at).Elem()) {
			if !reflect.DeepEqual(m.Value.Interface(), usual.FieldByIndex(m.Index).Interface()) {
				return "config.ipam." + string(s.of.Name) + "." + m.Name, s.of.Name
			}
		}
	}
	return "", ""
}

// Reader reads scenario files that may choose systems which the table does not have.
type Reader struct{ Systems []*AddressSystem }

// blank is what an empty file means to the reader.
func (r Reader) blank() Scenario {
	s := Default()
	c := &s.Config.IPAM
	usual := c.System
	for _, row := range r.Systems {
		c.Use(row)
	}
	c.System = usual
	return s
}

// scalar reads values that depend on the reader, and all others that scenarios have.
func (r Reader) scalar(v reflect.Value, tag reflect.StructTag, text string) (bool, *strictyaml.ValueError) {
	if v.Type() == typeSystem && len(r.Systems) > 0 {
		v.SetString(text)
		return true, strictyaml.CheckWords(append(SystemNames(), namesOf(r.Systems)...), text)
	}
	return setOwn(v, tag, text)
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

// blockBits is the length of one node's block, 0 for Contiv's default.
func (c IPAM) blockBits() int {
	t := c.Traits()
	if t.Single {
		return delegatedBits
	}
	return cmp.Or(c.PodSubnetOneNodePrefixLen, t.BlockBits)
}
