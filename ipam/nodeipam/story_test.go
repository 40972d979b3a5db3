package nodeipam

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: what each controller asks for and says, step by step, in words that a reader can check against upstream's
// behaviour. Method: golden stories; `go test -rewrite` writes them anew. A story's commands:
//
//	range|multi|new|cloud|controller|routes …   start a controller; input lines are existing nodes, or ranges for multi
//	add|update|delete NAME …             what the watch tells
//	answer|aliases|listed|shown ID OUTCOME …   answers; shown's input lines are routes: name, destination, node, blackhole
//	wait DURATION, leading DURATION      time passes; until when this process leads
//	range-add|range-delete NAME …        a ClusterCIDR comes or goes
//	state                                what the controller keeps

// stepper is any of the controllers.
type stepper interface {
	Step(now time.Time, ev Event) []Effect
}

type story struct {
	ctl stepper
	now time.Time
}

var storyEpoch = time.Unix(1700000000, 0).UTC()

func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/story", func(t *testing.T, path string) {
		s := &story{now: storyEpoch}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.command(t, d) })
	})
}

func (s *story) command(t *testing.T, d *datadriven.TestData) string {
	get := func(key string) string {
		var values []string
		for _, a := range d.CmdArgs {
			if a.Key == key {
				values = append(values, a.Vals...)
			}
		}
		return strings.Join(values, ",")
	}
	name := ""
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	duration := func() time.Duration {
		x, err := time.ParseDuration(name)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return x
	}
	number, routed := strings.CutPrefix(name, "r")
	id, _ := strconv.ParseUint(number, 10, 64)
	if routed {
		id += routeIDs
	}
	node := storyNode(name, get)
	var err error
	var effects []Effect
	switch d.Cmd {
	case "range":
		var r *RangeAllocator
		if r, err = NewCIDRRangeAllocator(storyParams(get), storyNodes(d.Input)); err == nil {
			s.ctl, effects = r, r.Run(s.now)
		}
	case "multi":
		var r *RangeAllocator
		params := storyParams(get)
		for _, line := range strings.Split(d.Input, "\n") {
			params.MultiCIDRs = append(params.MultiCIDRs, storyRange(t, line))
		}
		if r, err = NewCIDRRangeAllocator(params, nil); err == nil {
			s.ctl, effects = r, r.Run(s.now)
		}
	case "new":
		var a Machine
		if a, err = New(CIDRAllocatorType(get("type")), storyParams(get), CloudProvider(get("cloud"))); err == nil {
			s.ctl, effects = a, a.Run(s.now)
		}
	case "controller":
		var c *Controller
		params := storyParams(get)
		if c, err = NewController(Config{Mode: NodeSyncMode(get("mode"))}, CloudProvider(get("cloud")), params.ClusterCIDRs[0], params.ServiceCIDR, params.NodeCIDRMaskSizes[0]); err == nil {
			c.start.wanted = true
			s.ctl = c
			effects = c.Step(s.now, Listed{Outcome: ipam.Done, Nodes: storyNodes(d.Input)})
		}
	case "routes":
		var r *RouteController
		period, _ := time.ParseDuration(get("period"))
		if r, err = NewRouteController(RouteConfig{Cluster: get("name"), CIDRs: storyParams(get).ClusterCIDRs, Period: period}); err == nil {
			s.ctl = r
			if d.Input != "" {
				effects = r.Step(s.now, Listed{Outcome: ipam.Done, Nodes: storyNodes(d.Input)})
			}
		}
	case "shown":
		ev := Routes{ID: id, Outcome: storyOutcome(t, d), Why: get("why")}
		for _, line := range strings.Split(d.Input, "\n") {
			if w := append(strings.Fields(line), "", "", ""); w[0] != "" {
				ev.Routes = append(ev.Routes, Route{Name: w[0], Destination: w[1], Node: w[2], Blackhole: w[3] == "blackhole"})
			}
		}
		effects = s.ctl.Step(s.now, ev)
	case "add":
		effects = s.ctl.Step(s.now, NodeAdded{node})
	case "update":
		effects = s.ctl.Step(s.now, NodeUpdated{node})
	case "delete":
		effects = s.ctl.Step(s.now, NodeDeleted{node})
	case "answer":
		a := Answered{ID: id, Outcome: storyOutcome(t, d), Why: get("why")}
		if n := get("node"); n != "" {
			node := storyNode(n, get)
			a.Node = &node
		}
		effects = s.ctl.Step(s.now, a)
	case "aliases":
		effects = s.ctl.Step(s.now, Aliases{ID: id, Outcome: storyOutcome(t, d), Why: get("why"), CIDRs: storyList(get("cidrs"))})
	case "listed":
		effects = s.ctl.Step(s.now, Listed{ID: id, Outcome: storyOutcome(t, d), Nodes: storyNodes(d.Input)})
	case "wait":
		s.now = s.now.Add(duration())
		effects = s.ctl.Step(s.now, Woke{})
	case "leading":
		effects = s.ctl.Step(s.now, Leading{s.now.Add(duration())})
	case "range-add":
		effects = s.ctl.Step(s.now, ClusterCIDRAdded{storyRange(t, d.Input)})
	case "services":
		var ranges []netip.Prefix
		for _, text := range strings.Fields(d.Input) {
			ranges = append(ranges, netip.MustParsePrefix(text))
		}
		effects = s.ctl.Step(s.now, ServiceCIDRs{ranges})
	case "range-delete":
		effects = s.ctl.Step(s.now, ClusterCIDRDeleted{name})
	case "release":
		err = s.ctl.(CIDRAllocator).ReleaseCIDR(&node)
		effects = s.ctl.(CIDRAllocator).Run(s.now)
	case "allocate":
		err = s.ctl.(CIDRAllocator).AllocateOrOccupyCIDR(&node)
		effects = s.ctl.(CIDRAllocator).Run(s.now)
	case "state":
		return s.state(name)
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	for _, e := range effects {
		if w, ok := e.(WakeAt); ok && !w.At.IsZero() {
			fmt.Fprintf(&b, "wake +%s\n", w.At.Sub(s.now))
			continue
		}
		fmt.Fprintf(&b, "%s\n", e.AppendText(nil))
	}
	return b.String()
}

func storyOutcome(t *testing.T, d *datadriven.TestData) ipam.Outcome {
	for o := ipam.Unknown; o <= ipam.Refused; o++ {
		if len(d.CmdArgs) > 1 && strings.ReplaceAll(o.String(), " ", "-") == d.CmdArgs[1].Key {
			return o
		}
	}
	d.Fatalf(t, "want an outcome")
	return ipam.Unknown
}

func storyParams(get func(string) string) CIDRAllocatorParams {
	var p CIDRAllocatorParams
	for _, c := range storyList(get("cluster")) {
		p.ClusterCIDRs = append(p.ClusterCIDRs, netip.MustParsePrefix(c))
	}
	for _, m := range storyList(get("mask")) {
		n, _ := strconv.Atoi(m)
		p.NodeCIDRMaskSizes = append(p.NodeCIDRMaskSizes, n)
	}
	if name := get("routes"); name != "" {
		p.Routes = &RouteConfig{Cluster: name, CIDRs: p.ClusterCIDRs}
	}
	if service := get("service"); service != "" {
		p.ServiceCIDR = netip.MustParsePrefix(service)
	}
	return p
}

func storyList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func storyNode(name string, get func(string) string) KubeNode {
	n := KubeNode{
		Name: name, UID: get("uid"), ResourceVersion: get("version"), PodCIDRs: storyList(get("cidrs")), ProviderID: get("provider"),
		Deleting: get("deleting") == "yes", NetworkTaint: get("taint") == "yes", NetworkUnavailable: ConditionStatus(get("unavailable")),
	}
	if labels := storyList(get("labels")); labels != nil {
		n.Labels = make(map[string]string)
		for _, l := range labels {
			key, value, _ := strings.Cut(l, ":")
			n.Labels[key] = value
		}
	}
	return n
}

// storyNodes reads lines like "n1 uid=u1 version=1 cidrs=10.0.0.0/24,fd00::/64".
func storyNodes(text string) (list []KubeNode) {
	for _, line := range strings.Split(text, "\n") {
		if words := strings.Fields(line); len(words) > 0 {
			list = append(list, storyNode(words[0], storyWords(words)))
		}
	}
	return list
}

func storyWords(words []string) func(string) string {
	return func(key string) string {
		for _, w := range words {
			if k, v, ok := strings.Cut(w, "="); ok && k == key {
				return v
			}
		}
		return ""
	}
}

// storyRange reads "name bits=8 v4=10.0.0.0/16 v6=fd00::/48 | selector".
func storyRange(t *testing.T, line string) ClusterCIDR {
	head, selector, _ := strings.Cut(line, "|")
	words := strings.Fields(head)
	get := storyWords(words)
	s, err := ParseSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	bits, _ := strconv.Atoi(get("bits"))
	c := ClusterCIDR{Name: words[0], Selector: s, PerNodeHostBits: bits}
	if v4 := get("v4"); v4 != "" {
		c.IPv4 = netip.MustParsePrefix(v4)
	}
	if v6 := get("v6"); v6 != "" {
		c.IPv6 = netip.MustParsePrefix(v6)
	}
	return c
}

// state is what can be seen of a controller from outside.
func (s *story) state(name string) string {
	var b strings.Builder
	switch c := s.ctl.(type) {
	case *RangeAllocator:
		for _, u := range c.Ranges() {
			fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s %s %d of %d blocks free", u.Name, u.CIDR, u.Free, u.Blocks)))
		}
		if w := c.Waiting(); len(w) > 0 {
			fmt.Fprintln(&b, "waiting:", strings.Join(w, " "))
		}
		for _, q := range c.Quarantined() {
			fmt.Fprintln(&b, "quarantined:", q.Node, q.Reason)
		}
		if name != "" {
			fmt.Fprintln(&b, name, c.NodeCIDRs(name))
		}
	case *RouteController:
		fmt.Fprintf(&b, "busy: %t, failure: %v\n", c.Busy(), c.Failure())
	case *CloudAllocator:
		fmt.Fprintln(&b, name, "failure:", c.Failure(name))
	case *Controller:
		u := c.Use()
		fmt.Fprintf(&b, "%s %d of %d blocks free\n", u.CIDR, u.Free, u.Blocks)
		if name != "" {
			fmt.Fprintln(&b, name, "failure:", c.Failure(name))
		}
	}
	return b.String()
}
