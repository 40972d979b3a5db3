package cmd

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/plan"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// podsMax bounds each number in --pods, countsMax how many there may be: each is walked step by step.
const (
	podsMax   = 2000
	countsMax = 500
)

// explainOptions are explain's flags.
type explainOptions struct {
	system, instance, pods    string
	format                    cli.Format
	enis, ipsPerENI, maxENI   int
	targets                   datastore.Targets
	prefixes, wholeENI, skip  bool
	marks                     cilium.Watermarks
	unused                    unused
	limit                     int
	keep                      bool
	follow, brief, documented bool
	changed                   func(flag string) bool
}

func explainCommand() *cobra.Command {
	o := explainOptions{targets: datastore.DefaultTargets()}
	c := &cobra.Command{
		Use:   "explain [FILE]",
		Short: "Show how many addresses a node keeps ready, and why",
		Long: `Compute how many addresses a node keeps with a given number of pods, decision by decision, without asking a cloud. The AWS
VPC CNI follows WARM_ENI_TARGET, WARM_IP_TARGET, MINIMUM_IP_TARGET and WARM_PREFIX_TARGET. Cilium follows its operator's
watermarks pre-allocate, min-allocate, max-allocate and max-above-watermark.

Each number of --pods is a separate node; with --follow they are steps of one node. FILE gives the targets of a scenario or
an ipam section; flags come before it. --documented compares with the tables of the AWS VPC CNI's documentation.`,
		Example: `  vppdrill ipam explain --instance t3.small --warm-ip 2 --minimum-ip 5 --pods 0,5,9
  vppdrill ipam explain --instance m5.large --prefix-delegation --pods 0-40 --brief
  vppdrill ipam explain --system cilium --pre-allocate 8 --max-above-watermark 4 --pods 3,20,3 --follow
  vppdrill ipam explain --documented`,
		Args: cli.Args(0, 1, "one file at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.changed = cmd.Flags().Changed
			return runExplain(cmd.OutOrStdout(), args, o)
		},
	}
	cli.AddFormat(c, &o.format)
	f := c.Flags()
	f.StringVar(&o.system, "system", "datastore", "datastore (AWS VPC CNI) or cilium")
	f.StringVar(&o.pods, "pods", "0,1,5,10,20", "numbers of pods, such as 0,5,9 or 0-30")
	f.BoolVar(&o.follow, "follow", false, "the numbers of pods are one node's, one after the other")
	f.BoolVar(&o.brief, "brief", false, "leave the reasons out")
	f.BoolVar(&o.documented, "documented", false, "compare with the AWS VPC CNI's documentation instead")
	f.StringVar(&o.instance, "instance", "m5.large", "EC2 instance type")
	f.IntVar(&o.enis, "enis", 0, "interfaces of the instance, where its type is not known")
	f.IntVar(&o.ipsPerENI, "ips-per-eni", 0, "addresses of an interface, its own included, where the type is not known")
	f.IntVar(&o.maxENI, "max-eni", 0, "MAX_ENI: interfaces that may be used; 0 is all")
	f.IntVar(&o.targets.WarmENI, "warm-eni", o.targets.WarmENI, "WARM_ENI_TARGET")
	f.IntVar(&o.targets.WarmIP, "warm-ip", 0, "WARM_IP_TARGET; 0 is unset")
	f.IntVar(&o.targets.MinimumIP, "minimum-ip", 0, "MINIMUM_IP_TARGET; 0 is unset")
	f.IntVar(&o.targets.WarmPrefix, "warm-prefix", o.targets.WarmPrefix, "WARM_PREFIX_TARGET, with --prefix-delegation")
	f.BoolVar(&o.prefixes, "prefix-delegation", false, "units are /28 prefixes")
	f.BoolVar(&o.wholeENI, "whole-eni", false, "ask for all that fits on an interface, as upstream up to 1.7")
	f.BoolVar(&o.skip, "custom-networking", false, "pods are in another subnet, so the first interface has none")
	o.unused = 8
	f.Var(&o.unused, "pre-allocate", "cilium: unused addresses that a node has at least, or none; 0 is 8, as in a CiliumNode")
	f.IntVar(&o.marks.MinAllocate, "min-allocate", 0, "cilium: addresses that it has at least")
	f.IntVar(&o.marks.MaxAllocate, "max-allocate", 0, "cilium: addresses that it has at most; 0 is no limit")
	f.IntVar(&o.marks.MaxAboveWatermark, "max-above-watermark", 0, "cilium: addresses beyond what is needed in each request")
	f.IntVar(&o.limit, "limit", 0, "cilium: addresses that the instance can have; 0 is no limit")
	f.BoolVar(&o.keep, "keep-excess", false, "cilium: nothing is given back (without release-excess-ips)")
	return c
}

// explained is the answer in JSON.
type explained struct {
	System string     `json:"system"`
	Rows   []plan.Row `json:"rows"`
}

func runExplain(w io.Writer, args []string, o explainOptions) error {
	if o.documented {
		return writeDocumented(w, o.format)
	}
	pods, err := podCounts(o.pods)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		if err := o.from(args[0]); err != nil {
			return err
		}
	}
	o.marks.PreAllocate = int(o.unused)
	if systems := []string{"datastore", "cilium"}; !slices.Contains(systems, o.system) {
		return cli.Usagef("ipam explain: --system %q keeps nothing ready; datastore and cilium do%s", o.system, cli.Hint(o.system, systems))
	}
	rows, head, err := o.rows(pods)
	if err != nil {
		return err
	}
	if o.format == cli.JSON {
		return cli.WriteJSON(w, explained{o.system, rows})
	}
	_, err = fmt.Fprintf(w, "%s\n%s", head, plan.RowsText(rows, !o.brief))
	return err
}

// rows are the answer, and a line that says what it is the answer to.
func (o explainOptions) rows(pods []int) (rows []plan.Row, head string, err error) {
	if err := o.negative(); err != nil {
		return nil, "", err
	}
	if o.system == "cilium" {
		m := o.marks
		if m.MaxAllocate > 0 && m.MaxAllocate < m.MinAllocate {
			return nil, "", cli.Usagef("ipam explain: --max-allocate %d is less than --min-allocate %d", m.MaxAllocate, m.MinAllocate)
		}
		ready := o.unused
		if ready == 0 {
			ready = unused(m.Unused())
		}
		k := plan.Watermark{Marks: m, Limit: o.limit, ReleaseExcess: !o.keep, Prefixes: o.prefixes}
		head = fmt.Sprintf("cilium: pre-allocate %s, min-allocate %d, max-allocate %d, max-above-watermark %d", ready.String(), m.MinAllocate, m.MaxAllocate, m.MaxAboveWatermark)
		if o.prefixes {
			head += ", in /28 prefixes, which are not given back"
		}
		if o.follow {
			return k.Follow(pods...), head, nil
		}
		return k.Explain(pods...), head, nil
	}
	z, name, err := o.sizing()
	if err != nil {
		return nil, "", err
	}
	k := plan.Warm{Sizing: z.Sizing}
	head = fmt.Sprintf("datastore: %s with up to %d ENIs of %d addresses, %s", name, z.ENIsMax, z.UnitsPerENI, z.describe())
	if o.follow {
		return k.Follow(pods...), head, nil
	}
	return k.Explain(pods...), head, nil
}

// negative refuses numbers below 0.
func (o explainOptions) negative() error {
	for _, f := range [...]struct {
		name  string
		value int
	}{
		{"enis", o.enis}, {"ips-per-eni", o.ipsPerENI}, {"max-eni", o.maxENI}, {"warm-eni", o.targets.WarmENI}, {"warm-ip", o.targets.WarmIP},
		{"minimum-ip", o.targets.MinimumIP}, {"warm-prefix", o.targets.WarmPrefix},
		{"min-allocate", o.marks.MinAllocate}, {"max-allocate", o.marks.MaxAllocate}, {"max-above-watermark", o.marks.MaxAboveWatermark},
		{"limit", o.limit},
	} {
		if f.value < 0 || f.value > targetMax {
			return cli.Usagef("ipam explain: --%s %d is not 0 to %d", f.name, f.value, targetMax)
		}
	}
	return nil
}

// targetMax bounds targets, so that a slip of the finger does not walk for minutes.
const targetMax = 100000

// sizing is what an instance keeps, and the instance's name.
func (o explainOptions) sizing() (sized, string, error) {
	limits, ok := datastore.LimitsOf(o.instance)
	name := o.instance
	if o.enis > 0 || o.ipsPerENI > 0 {
		if o.enis == 0 || o.ipsPerENI == 0 {
			return sized{}, "", cli.Usagef("ipam explain: --enis and --ips-per-eni go together")
		}
		limits, ok, name = datastore.Limits{ENIs: o.enis, IPv4PerENI: o.ipsPerENI}, true, "an instance"
	}
	if o.maxENI > 0 {
		limits.ENIs = min(limits.ENIs, o.maxENI)
	}
	if !ok {
		return sized{}, "", cli.Usagef("ipam explain: --instance %q is not known; give --enis and --ips-per-eni%s", o.instance, cli.Hint(o.instance, datastore.InstanceTypes()))
	}
	return sized{datastore.Sizing{Targets: o.targets, ENIsMax: limits.ENIs, UnitsPerENI: limits.IPv4PerENI - 1, PrefixDelegation: o.prefixes,
		WholeENI: o.wholeENI, SkipPrimary: o.skip}}, name, nil
}

// from takes from a file what no flag says.
func (o *explainOptions) from(file string) error {
	stages, err := load(file)
	if err != nil {
		return cli.BadInput(err)
	}
	s := stages[0]
	if !o.changed("system") {
		o.system = string(s.section.System)
	}
	c := s.section.Datastore
	for _, v := range [...]struct {
		flag string
		into *int
		from int
	}{
		{"warm-ip", &o.targets.WarmIP, c.WarmIP}, {"minimum-ip", &o.targets.MinimumIP, c.MinimumIP}, {"warm-eni", &o.targets.WarmENI, c.WarmENI},
		{"warm-prefix", &o.targets.WarmPrefix, c.WarmPrefix}, {"enis", &o.enis, c.ENIs}, {"ips-per-eni", &o.ipsPerENI, c.IPsPerENI}, {"max-eni", &o.maxENI, c.MaxENI},
		{"min-allocate", &o.marks.MinAllocate, s.section.Cilium.MinAllocate},
		{"max-allocate", &o.marks.MaxAllocate, s.section.Cilium.MaxAllocate}, {"max-above-watermark", &o.marks.MaxAboveWatermark, s.section.Cilium.MaxAboveWatermark},
	} {
		if !o.changed(v.flag) {
			*v.into = v.from
		}
	}
	if !o.changed("pre-allocate") {
		o.unused = s.section.Cilium.PreAllocate
	}
	if !o.changed("prefix-delegation") {
		o.prefixes = c.PrefixDelegation
		if o.system == string(scenarios.Cilium) {
			o.prefixes = s.section.Cilium.PrefixDelegation
		}
	}
	if !o.changed("instance") {
		o.instance = c.InstanceType
	}
	return nil
}

// sized is a Sizing that can say what it is.
type sized struct{ datastore.Sizing }

func (z sized) describe() string {
	unit := ""
	if z.PrefixDelegation {
		unit = ", in /28 prefixes"
	}
	switch {
	case z.Addressed():
		return fmt.Sprintf("WARM_IP_TARGET %d, MINIMUM_IP_TARGET %d%s", z.WarmIP, z.MinimumIP, unit)
	case z.PrefixDelegation:
		return fmt.Sprintf("WARM_PREFIX_TARGET %d%s", z.WarmPrefix, unit)
	}
	return fmt.Sprintf("WARM_ENI_TARGET %d", z.WarmENI)
}

// podCounts reads "0,5,9" and "0-30".
func podCounts(text string) ([]int, error) {
	var list []int
	for _, part := range strings.Split(text, ",") {
		first, last, span := strings.Cut(strings.TrimSpace(part), "-")
		low, err := strconv.Atoi(first)
		high := low
		if span && err == nil {
			high, err = strconv.Atoi(last)
		}
		if err != nil || low < 0 || high < low || high > podsMax || len(list)+high-low >= countsMax {
			return nil, cli.Usagef("ipam explain: --pods %q is no list such as 0,5,9 or 0-30, of at most %d numbers up to %d", text, countsMax, podsMax)
		}
		for n := low; n <= high; n++ {
			list = append(list, n)
		}
	}
	return list, nil
}

func writeDocumented(w io.Writer, format cli.Format) error {
	list := plan.DocumentedTable()
	if format == cli.JSON {
		return cli.WriteJSON(w, list)
	}
	_, err := io.WriteString(w, plan.DocumentedText(list))
	return err
}
