package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/plan"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// stage is a configuration at one time: a scenario may change it.
type stage struct {
	// when is "" for the start.
	when    string
	section section
	wired   bool
	cluster plan.Cluster
	// contivs is the source of an agent's settings file, which has no section.
	contivs plan.Source
	// given are the places of the keys that the file has, below path.
	given strictyaml.Positions
	path  string
}

// load reads a file of either kind.
func load(path string) ([]stage, error) {
	data, err := inputfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return parse(path, data)
}

// parse reads a scenario, or a document. Its errors are *scenarios.InputError.
func parse(file string, data []byte) ([]stage, error) {
	d := newDecoder(file)
	root, err := d.Tree(data, "configuration")
	if err != nil {
		return nil, err
	}
	entries, err := d.Mapping("", root)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(entries, func(e strictyaml.Entry) bool { return e.Name == "ipam" }) {
		doc := defaults()
		if err := d.Value("", root, reflect.ValueOf(&doc).Elem(), ""); err != nil {
			return nil, err
		}
		s := stage{section: doc.IPAM, cluster: clusterOf(doc.Topology), given: below(d.At, "ipam."), path: "ipam."}
		for _, n := range doc.IPAM.HostNetworks {
			s.cluster.Networks = append(s.cluster.Networks, plan.Network{Name: n.Name, Prefix: n.CIDR})
		}
		return []stage{s}, nil
	}
	if slices.ContainsFunc(entries, func(e strictyaml.Entry) bool { return strings.EqualFold(e.Name, "IPAMConfig") }) {
		return parseSettings(file, data)
	}
	return parseScenario(file, data, d, entries)
}

// parseSettings reads an agent's settings, of which nobody but its address plan matters here.
func parseSettings(file string, data []byte) ([]stage, error) {
	c, at, err := agent.ParseIPAMConfig(file, data)
	if err != nil {
		return nil, err
	}
	first, second, err := c.Families()
	if err != nil {
		return nil, stage{given: at, path: "IPAMConfig."}.at(file, err)
	}
	s := stage{contivs: plan.Contiv{Config: first}, given: at, path: "IPAMConfig.", cluster: clusterOf(topology{})}
	if second != (contiv.IPAMConfig{}) {
		s.contivs = plan.Dual{First: plan.Contiv{Config: first}, Second: plan.Contiv{Config: second}}
	}
	return []stage{s}, nil
}

// parseScenario reads a scenario with its own parser. When that refuses only the address plan, the plan is what this
// command is for: the two sections that matter are read from the tree.
func parseScenario(file string, data []byte, d *strictyaml.Decoder, entries []strictyaml.Entry) ([]stage, error) {
	s, err := scenarios.Parse(file, data)
	if err == nil {
		return stagesOf(s), nil
	}
	var input *scenarios.InputError
	if !errors.As(err, &input) || !aboutPlan(input.Field) {
		return nil, err
	}
	first := scenarios.Default()
	t := topology{Nodes: first.Topology.Nodes, MaxPodsPerNode: first.Topology.MaxPodsPerNode}
	for _, e := range entries {
		switch e.Name {
		case "topology":
			if loosely(d, "topology", e.Value, reflect.ValueOf(&t).Elem()) != nil {
				return nil, err
			}
		case "config":
			parts, wrong := d.Mapping("config", e.Value)
			if wrong != nil {
				return nil, err
			}
			for _, part := range parts {
				if part.Name == "ipam" && d.Value("config.ipam", part.Value, reflect.ValueOf(&first.Config.IPAM).Elem(), "") != nil {
					return nil, err
				}
			}
		}
	}
	if first.Config.IPAM.PodSubnetCIDR.Addr().Is6() {
		return nil, err // scenarios are IPv4
	}
	return []stage{{section: asSection(first.Config.IPAM), wired: true, cluster: clusterOf(t), given: below(d.At, "config.ipam."), path: "config.ipam."}}, nil
}

// aboutPlan reports whether a mistake in that field can be one of the address plan.
func aboutPlan(field string) bool {
	return field == "config.ipam" || strings.HasPrefix(field, "config.ipam.") || field == "topology.nodes"
}

// loosely reads those fields of v that n has and passes over others, which have been checked elsewhere.
func loosely(d *strictyaml.Decoder, path string, n ast.Node, v reflect.Value) error {
	entries, err := d.Mapping(path, n)
	if err != nil {
		return err
	}
	fields := strictyaml.Fields(v.Type())
	for _, e := range entries {
		if f, ok := strictyaml.FieldNamed(fields, e.Name); ok {
			if err := d.Value(strictyaml.Join(path, e.Name), e.Value, v.FieldByIndex(f.Index), f.Tag); err != nil {
				return err
			}
		}
	}
	return nil
}

// stagesOf is a scenario at its start and after each change of its address plan, each with the most nodes that it has
// until the next change.
func stagesOf(s *scenarios.Scenario) []stage {
	c := clusterOf(topology{Nodes: s.Topology.Nodes, PodsPerNode: s.Topology.PodsPerNode, MaxPodsPerNode: s.Topology.MaxPodsPerNode})
	for k := range s.Topology.HostIPs {
		// Where the simulator has the hosts' management addresses: one 16 of 10.20.0.0/14 for each.
		c.Networks = append(c.Networks, plan.Network{Name: "management", Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(20 + k)}), 16)})
	}
	config, nodes := s.Config.IPAM, s.Topology.Nodes
	list := []stage{{section: asSection(config), wired: true, cluster: c}}
	for i, step := range s.Timeline {
		nodes += joining(step.Action)
		if changed, ok := changedBy(step.Action, config); ok {
			config = changed
			list = append(list, stage{when: fmt.Sprintf("after timeline[%d] %s", i, step), section: asSection(config), wired: true, cluster: c})
			list[len(list)-1].cluster.Nodes = 0
		}
		last := &list[len(list)-1].cluster
		last.Nodes = max(last.Nodes, uint64(max(nodes, 0)))
	}
	return list
}

// joining is how many nodes an action adds, below 0 when one leaves.
func joining(a scenarios.Action) int {
	switch a := a.(type) {
	case scenarios.AddNode:
		return max(a.Count, 1)
	case scenarios.RemoveNode:
		return -1
	}
	return 0
}

// changedBy is the configuration after an action that changes it.
func changedBy(a scenarios.Action, c scenarios.IPAM) (scenarios.IPAM, bool) {
	switch a := a.(type) {
	case scenarios.ChangeCIDR:
		if restart, is := a.Restart(); is && !c.Traits().ByID {
			return restart.Apply(c), true
		}
		return a.Apply(c), true
	case scenarios.RestartController:
		return a.Apply(c), a.Changes()
	case scenarios.AddRange:
		if len(c.Ranges) == 0 {
			c.Ranges = []netip.Prefix{allPods(c)}
		}
		c.Ranges = append(slices.Clone(c.Ranges), a.CIDR)
		return c, true
	case scenarios.RemoveRange:
		if len(c.Ranges) == 0 {
			c.Ranges = []netip.Prefix{allPods(c)}
		}
		c.Ranges = slices.DeleteFunc(slices.Clone(c.Ranges), func(p netip.Prefix) bool { return p == a.CIDR })
		return c, len(c.Ranges) > 0
	}
	return c, false
}

func allPods(c scenarios.IPAM) netip.Prefix {
	p, err := plan.Read(c.Contiv())
	if err != nil {
		return c.PodSubnetCIDR.Prefix
	}
	return p.PodSubnet
}

func asSection(c scenarios.IPAM) section {
	s := section{IPAM: c, PodSubnetOneNodePrefixLen: c.PodSubnetOneNodePrefixLen, VPPHostSubnetOneNodePrefixLen: c.VPPHostSubnetOneNodePrefixLen}
	s.Cilium.CiliumIPAM, s.Datastore.DatastoreIPAM = c.Cilium, c.Datastore
	s.Cilium.MinAllocate, s.Cilium.MaxAllocate, s.Cilium.MaxAboveWatermark = c.Cilium.MinAllocate, c.Cilium.MaxAllocate, c.Cilium.MaxAboveWatermark
	if s.Cilium.PreAllocate = unused(c.Cilium.PreAllocate); c.Cilium.PreAllocate == 0 && !c.SingleAddresses() {
		// a scenario's 0 is none, where it is not the default as in a CiliumNode
		s.Cilium.PreAllocate = cilium.PreAllocateNone
	}
	for _, p := range c.Cilium.Pools {
		s.Cilium.Pools = append(s.Cilium.Pools, ciliumPool{Name: p.Name, IPv4: p.IPv4, MaskSizeIPv4: cmp.Or(p.MaskSize, c.PodSubnetOneNodePrefixLen), PreAllocate: unused(p.PreAllocate)})
	}
	return s
}

func clusterOf(t topology) plan.Cluster {
	return plan.Cluster{Nodes: uint64(max(t.Nodes, 0)), PodsPerNode: uint64(max(t.PodsPerNode, 0)), MaxPods: uint64(max(t.MaxPodsPerNode, 0)), Growth: plan.DefaultGrowth}
}

// below are the paths under one, without it.
func below(given strictyaml.Positions, prefix string) strictyaml.Positions {
	out := strictyaml.Positions{}
	for path, at := range given { // in any order: a map is filled
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			out[rest] = at
		}
	}
	return out
}
