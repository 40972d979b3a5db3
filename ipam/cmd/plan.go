package cmd

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/ipam/plan"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// planOptions are plan's flags.
type planOptions struct {
	format          cli.Format
	nodes, pods     int
	maxPods, growth int
	networks        []string
	changed         func(flag string) bool
	listRules       bool
}

func planCommand() *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use:   "plan FILE",
		Short: "Print and lint the address plan of a configuration",
		Long: `Print a configuration's ranges, how many nodes and pods fit, what is reserved, and what runs out first. Report what is
wrong: overlaps, the service range, networks of the hosts, too little room to grow.

FILE is a scenario, an agent's settings with IPAMConfig, or only an ipam section, perhaps with a topology beside it. Such a
section may also be IPv6 and have, below ipam, nodeipam.clusterCIDRs (a list of prefixes), nodeipam.forNodes (a list of
{name, selector, perNodeHostBits, ipv4, ipv6}), cilium.pools, datastore.subnets (a list of {cidr, pods, taken}) and
hostNetworks (a list of {name, cidr}). If a scenario changes its address plan, each stage is printed.

Exit codes: 0 no findings or warnings only, 1 a finding is an error, 2 bad usage or input.`,
		Example: `  vppdrill ipam plan my-scenario.yaml
  vppdrill ipam plan ipam.yaml --nodes 200 --pods-per-node 60 --growth 100 --host-network 10.20.0.0/16
  vppdrill ipam plan ipam.yaml --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && (!o.listRules || len(args) != 0) {
				return cli.Usagef("ipam plan: wants one file; see vppdrill ipam plan --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.changed = cmd.Flags().Changed
			if o.listRules {
				return writeRules(cmd.OutOrStdout(), o.format)
			}
			return runPlan(cmd.OutOrStdout(), args[0], o)
		},
	}
	cli.AddFormat(c, &o.format)
	f := c.Flags()
	f.IntVar(&o.nodes, "nodes", 0, "nodes to expect, in place of the file's")
	f.IntVar(&o.pods, "pods-per-node", 0, "pods to expect on a node, in place of the file's")
	f.IntVar(&o.maxPods, "max-pods", 0, "the kubelet's limit, in place of the file's")
	f.IntVar(&o.growth, "growth", plan.DefaultGrowth, "how much larger the cluster shall be able to become, in percent of its nodes")
	f.StringArrayVar(&o.networks, "host-network", nil, "a network that hosts are attached to, such as 10.20.0.0/16 or lan=10.20.0.0/16; may be repeated")
	f.BoolVar(&o.listRules, "rules", false, "list what is looked for instead")
	return c
}

// apply puts the flags in place of what the file says.
func (o planOptions) apply(c *plan.Cluster) error {
	for _, f := range [...]struct {
		name  string
		value int
		into  *uint64
	}{{"nodes", o.nodes, &c.Nodes}, {"pods-per-node", o.pods, &c.PodsPerNode}, {"max-pods", o.maxPods, &c.MaxPods}} {
		switch {
		case !o.changed(f.name):
		case f.value < 0:
			return cli.Usagef("ipam plan: --%s %d is negative", f.name, f.value)
		default:
			*f.into = uint64(f.value)
		}
	}
	if o.growth < 0 {
		return cli.Usagef("ipam plan: --growth %d is negative", o.growth)
	}
	c.Growth = o.growth
	for _, text := range o.networks {
		name, cidr, ok := strings.Cut(text, "=")
		if !ok {
			name, cidr = "--host-network", text
		}
		p, err := netip.ParsePrefix(cidr)
		if err != nil || p.Addr().Zone() != "" {
			return cli.Usagef("ipam plan: --host-network %q is not a prefix such as 10.20.0.0/16", text)
		}
		c.Networks = append(c.Networks, plan.Network{Name: name, Prefix: p})
	}
	return nil
}

// planned is one stage's plan in JSON.
type planned struct {
	File  string `json:"file"`
	Stage string `json:"stage,omitempty"`
	plan.Plan
}

func runPlan(w io.Writer, file string, o planOptions) error {
	stages, err := load(file)
	if err != nil {
		return cli.BadInput(err)
	}
	plans := make([]planned, len(stages))
	wrong := 0
	for i, s := range stages {
		if err := o.apply(&s.cluster); err != nil {
			return err
		}
		p, err := s.plan()
		if err != nil {
			return cli.BadInput(s.at(file, err))
		}
		for k, f := range p.Findings {
			p.Findings[k].Where = s.where(f.Where)
		}
		if p.Worst() == plan.Error {
			wrong++
		}
		plans[i] = planned{file, s.when, p}
	}
	if o.format == cli.JSON {
		err = cli.WriteJSON(w, plans)
	} else {
		err = writePlans(w, plans)
	}
	if err == nil && wrong > 0 {
		err = cli.Broken(nil) // the findings have told it
	}
	return err
}

// at gives an error that begins with a key the place of that key.
func (s stage) at(file string, err error) error {
	key, message, _ := strings.Cut(err.Error(), " ")
	if p, ok := s.given[key]; ok {
		return &scenarios.InputError{File: file, Line: p.Line, Column: p.Column, Field: s.path + key, Message: message}
	}
	return &scenarios.InputError{File: file, Message: err.Error()}
}

func (s stage) plan() (plan.Plan, error) {
	source, err := s.source()
	if err != nil {
		return plan.Plan{}, err
	}
	return plan.Make(source, s.cluster)
}

// where marks a default, so that a reader does not search the file for it.
func (s stage) where(text string) string {
	key, _, _ := strings.Cut(text, " ")
	_, contiv := s.given["contivCIDR"]
	if _, given := s.given[key]; s.given != nil && (s.contivs != nil || s.section.System == scenarios.Contiv) && slices.Contains(withDefault, key) && !given && !contiv {
		return text + " (default)"
	}
	return text
}

// withDefault are the keys of ranges with defaults.
var withDefault = []string{"podSubnetCIDR", "vppHostSubnetCIDR", "nodeInterconnectCIDR", "vxlanCIDR", "serviceCIDR"}

func writePlans(w io.Writer, plans []planned) error {
	for i, p := range plans {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		title := p.File
		if p.Stage != "" {
			title += " " + p.Stage
		}
		if _, err := fmt.Fprintf(w, "%s\n%s", title, p.Plan); err != nil {
			return err
		}
	}
	return nil
}

func writeRules(w io.Writer, format cli.Format) error {
	if format == cli.JSON {
		return cli.WriteJSON(w, plan.Rules())
	}
	for _, r := range plan.Rules() {
		if _, err := fmt.Fprintf(w, "%-16s %s\n", r.Name, r.Why); err != nil {
			return err
		}
	}
	return nil
}
