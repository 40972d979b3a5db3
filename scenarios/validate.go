package scenarios

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// churnEveryMin keeps a mistyped unit from filling the run with events.
const churnEveryMin = time.Millisecond

var ipamFields = strictyaml.Fields(reflect.TypeFor[IPAM]())

// Validate checks what concerns more than one field: the address plan, the timeline's order and nodes, and combinations
// that cannot work. Parse has called it; call it for a Scenario built in Go. The error is an *InputError, the first
// mistake in the order of the file's sections.
func (s *Scenario) Validate() error {
	for _, check := range [...]func() *InputError{
		s.checkName, s.checkTopology, s.checkPlan, s.checkWiring, s.checkSteal, s.checkIdle, s.checkNodeSettings, s.checkServices, s.checkPolicies, s.checkRuntime, s.checkTimeline, s.checkChurn, s.checkFaults,
		s.checkWorkload, s.checkEnd, s.checkLaws,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// wrongAt makes the error for the field at path.
func (s *Scenario) wrongAt(path, format string, args ...any) *InputError {
	at := s.at.Find(path)
	return &InputError{File: s.File, Line: at.Line, Column: at.Column, Field: path, Message: fmt.Sprintf(format, args...)}
}

// Misplaced gives a mistake that only a world can tell its place in the file.
func (s *Scenario) Misplaced(path string, mistake *InputError) *InputError {
	err := s.wrongAt(path, "%s", mistake.Message)
	err.Nearest = mistake.Nearest
	return err
}

// checkName repeats what the parser demands, for scenarios built in Go.
func (s *Scenario) checkName() *InputError {
	if !isWord(s.Name) {
		return s.wrongAt("name", "%q is not %s", s.Name, patterns["word"].want)
	}
	return nil
}

// checkNodeSettings refuses what says nothing, or the same of two.
func (s *Scenario) checkNodeSettings() *InputError {
	for i, n := range s.Config.Nodes {
		path := "config.nodes[" + strconv.Itoa(i) + "]"
		if !n.IP.IsValid() && !n.Gateway.IsValid() && !n.UseDHCP && len(n.Others) == 0 {
			return s.wrongAt(path, "says nothing of %s: want ip, useDHCP, gateway or otherNICs", n.Name)
		}
		if known := s.everyNode(); !slices.Contains(known, n.Name) {
			err := s.wrongAt(path+".name", "%q is not a node of this scenario", n.Name)
			err.Nearest = strictyaml.Nearest(n.Name, known)
			return err
		}
		if err := s.checkOtherNICs(path, &n); err != nil {
			return err
		}
		for _, other := range s.Config.Nodes[:i] {
			switch {
			case other.Name == n.Name:
				return s.wrongAt(path+".name", "%s is named twice", n.Name)
			case n.IP.IsValid() && other.IP.Addr() == n.IP.Addr():
				return s.wrongAt(path+".ip", "%s is %s's too", n.IP.Addr(), other.Name)
			}
			for k, nic := range n.Others {
				if nic.IP.IsValid() && slices.ContainsFunc(other.Others, func(o NICSettings) bool { return o.IP.Addr() == nic.IP.Addr() }) {
					return s.wrongAt(path+".otherNICs["+strconv.Itoa(k)+"].ip", "%s is %s's too", nic.IP.Addr(), other.Name)
				}
			}
		}
	}
	return nil
}

// checkOtherNICs refuses interfaces in networks that lead elsewhere.
func (s *Scenario) checkOtherNICs(path string, n *NodeSettings) *InputError {
	plan, err := s.Config.IPAM.Plan()
	if err != nil {
		return nil // told of elsewhere
	}
	ranges := []netip.Prefix{plan.PodSubnet, plan.VPPHostSubnet, plan.Service}
	if ranges = append(ranges, s.Config.IPAM.Interconnect()); n.IP.IsValid() {
		ranges[len(ranges)-1] = n.IP
	}
	for i, o := range n.Others {
		at := path + ".otherNICs[" + strconv.Itoa(i) + "]"
		if o.IP.IsValid() && o.UseDHCP {
			return s.wrongAt(at, "%s: give ip or useDHCP", o.Name)
		}
		addr := o.IP
		if o.UseDHCP {
			addr = s.Config.DHCP.OtherRange
		}
		for _, r := range ranges {
			if addr.IsValid() && r.IsValid() && addr.Overlaps(r) {
				return s.wrongAt(at, "%s of %s overlaps %s, which leads elsewhere", addr, o.Name, r.Masked())
			}
		}
		if addr.IsValid() {
			ranges = append(ranges, addr)
		}
	}
	return nil
}

func (s *Scenario) checkRuntime() *InputError {
	if t := s.Config.Runtime.Timeout; t != 0 && t < RuntimeTimeoutLeast {
		return s.wrongAt("config.runtime.timeout", "%s is less than %s", FormatDuration(t), FormatDuration(RuntimeTimeoutLeast))
	}
	return nil
}

// nodesWired is the most nodes of a cluster that is wired.
const nodesWired = 5000

func (s *Scenario) checkTopology() *InputError {
	t := s.Topology
	switch {
	case t.Nodes < 1:
		return s.wrongAt("topology.nodes", "%d is less than 1", t.Nodes)
	case t.Nodes > nodesWired && s.Config.Wiring.Pod != PodNone:
		return s.wrongAt("topology.nodes", "%d is more than %d, which a full mesh of nodes ends at: config.wiring.pod none takes more", t.Nodes, nodesWired)
	case t.PodsPerNode > t.MaxPodsPerNode:
		return s.wrongAt("topology.podsPerNode", "%d is more than maxPodsPerNode %d", t.PodsPerNode, t.MaxPodsPerNode)
	case t.NIC == "" && t.Nodes > 1:
		return s.wrongAt("topology.nic", "%d nodes without an interface cannot reach each other", t.Nodes)
	}
	return nil
}

func (s *Scenario) checkPlan() *InputError {
	if err := s.planError("config.ipam", s.Config.IPAM, s.Topology.Nodes); err != nil {
		return err
	}
	if err := s.newHeld().checkHosts("config.ipam", s.Config.IPAM); err != nil {
		return err
	}
	if err := s.checkDHCP(); err != nil {
		return err
	}
	return s.checkSystem(s.Config.IPAM)
}

// planError says why an address plan with so many nodes cannot work, at the field of section that is to blame.
func (s *Scenario) planError(section string, ipam IPAM, nodes int) *InputError {
	plan, err := ipam.Plan()
	if err == nil {
		err = rangeProblem(ipam)
	}
	if err != nil {
		return s.wrongInPlan(section, err)
	}
	if limit := plan.MaxNodeID(); int64(nodes) > int64(limit) {
		field := "topology.nodes"
		if section != "config.ipam" {
			field = section
		}
		return s.wrongAt(field, "%d nodes do not fit the address plan, which ends at node ID %d", nodes, limit)
	}
	return nil
}

// wrongInPlan blames the field of section that err starts with, or one that it names, where err starts with a field that was not given.
func (s *Scenario) wrongInPlan(section string, err error) *InputError {
	name, message := planField(err)
	if _, given := s.at[strictyaml.Join(section, name)]; !given && name != "" {
		for _, f := range ipamFields {
			if _, given := s.at[strictyaml.Join(section, f.Name)]; given && strings.Contains(message, f.Name+" ") {
				return s.wrongAt(strictyaml.Join(section, f.Name), "%s %s", name, message)
			}
		}
		return s.wrongAt(section, "%s %s", name, message)
	}
	return s.wrongAt(strings.TrimSuffix(strictyaml.Join(section, name), "."), "%s", message)
}

// vxlanOverhead is Ethernet, VXLAN, UDP and IP around a packet, in bytes (RFC 7348).
const (
	vxlanOverhead  = 14 + 8 + 8 + 20
	vxlanOverhead6 = vxlanOverhead + 20 // IPv6's header is so much longer
)

// neighborAgeMost is what an agent can be told.
const neighborAgeMost = 255 * time.Minute

func (s *Scenario) checkWiring() *InputError {
	w := s.Config.Wiring
	switch {
	case w.MainVRF == w.PodVRF:
		return s.wrongAt("config.wiring.podVRF", "%d is the main VRF too", w.PodVRF)
	case (w.MainVRF == 0 || w.PodVRF == 0) && (w.MainVRF != 0 || w.PodVRF != 1):
		return s.wrongAt("config.wiring.mainVRF", "VRFs %d and %d: Contiv honours them only when neither is 0", w.MainVRF, w.PodVRF)
	case s.Config.Agent.AddPatience == 0:
		return s.wrongAt("config.agent.addPatience", "must be longer than 0s")
	case s.Config.Agent.CallTimeout == 0:
		return s.wrongAt("config.agent.callTimeout", "must be longer than 0s")
	case w.RxRing&(w.RxRing-1) != 0:
		return s.wrongAt("config.wiring.rxRing", "%d is no power of two", w.RxRing)
	case w.TxRing&(w.TxRing-1) != 0:
		return s.wrongAt("config.wiring.txRing", "%d is no power of two", w.TxRing)
	case w.NeighborAge != w.NeighborAge.Truncate(time.Minute) || w.NeighborAge > neighborAgeMost:
		return s.wrongAt("config.wiring.neighborAge", "%s: want whole minutes up to %s", FormatDuration(w.NeighborAge), FormatDuration(neighborAgeMost))
	case s.Config.Agent.HookFails > 0 && s.Config.Agent.HookTime == 0:
		return s.wrongAt("config.agent.hookFails", "there are no hooks: config.agent.hookTime is not set")
	case w.Node == NodeL2 && s.Topology.NIC == "":
		return s.wrongAt("config.wiring.node", "l2 needs an interface: topology.nic")
	}
	return s.checkMTU()
}

// vppMTU is what VPP sends in one packet out of an Ethernet interface, in bytes, whatever the link below carries: nobody sets it
// (src/vnet/ethernet/interface.c, 25.10).
const vppMTU = 9000

// checkMTU refuses links whose packets the network between the nodes does not carry, at the MTU that was given.
func (s *Scenario) checkMTU() *InputError {
	need, more := s.Config.Wiring.MTU, ""
	if s.Config.Wiring.Node == NodeVXLAN {
		over := vxlanOverhead
		if s.Config.IPAM.IP6() {
			over = vxlanOverhead6
		}
		need, more = need+uint32(over), fmt.Sprintf(" and the %d that VXLAN adds", over)
	}
	if s.Topology.NIC == "" || need <= min(s.Topology.NICMTU, vppMTU) {
		return nil
	}
	if need <= s.Topology.NICMTU {
		return s.wrongAt("config.wiring.mtu", "%d bytes%s do not fit the %d that VPP sends out of a NIC: want %d at most", s.Config.Wiring.MTU, more, vppMTU, vppMTU-(need-s.Config.Wiring.MTU))
	}
	if _, given := s.at["config.wiring.mtu"]; !given {
		return s.wrongAt("topology.nicMTU", "%d bytes do not carry config.wiring.mtu %d%s", s.Topology.NICMTU, s.Config.Wiring.MTU, more)
	}
	return s.wrongAt("config.wiring.mtu", "%d bytes%s do not fit topology.nicMTU %d: want %d at most", s.Config.Wiring.MTU, more, s.Topology.NICMTU, s.Topology.NICMTU-(need-s.Config.Wiring.MTU))
}

func (s *Scenario) checkChurn() *InputError {
	c := s.Churn
	switch {
	case !c.On() && !reflect.DeepEqual(c, Churn{}):
		return s.wrongAt("churn", "wants every, the time between creations")
	case c.Lifetime > 0 && len(c.Lifetimes) > 0:
		return s.wrongAt("churn.lifetimes", "stands instead of lifetime; give one of them")
	case c.On() && c.Every < churnEveryMin:
		return s.wrongAt("churn.every", "%s is less than %s", FormatDuration(c.Every), FormatDuration(churnEveryMin))
	case c.Until != 0 && c.Until < c.From:
		return s.wrongAt("churn.until", "%s comes before from %s", FormatDuration(c.Until), FormatDuration(c.From))
	}
	return nil
}

func (s *Scenario) checkFaults() *InputError {
	f := s.Faults
	for _, d := range [...]struct {
		name string
		Delay
	}{{"delayReply", f.DelayReply}, {"delayStoreReply", f.DelayStoreReply}, {"slowDisk", f.SlowDisk}} {
		if d.P > 0 && d.By == 0 {
			return s.wrongAt("faults."+d.name+".by", "a delay of 0s is none")
		}
	}
	known := s.everyNode()
	for i, name := range f.Nodes {
		if !slices.Contains(known, name) {
			err := s.wrongAt("faults.nodes["+strconv.Itoa(i)+"]", "%q is not a node of this scenario", name)
			err.Nearest = strictyaml.Nearest(name, known)
			return err
		}
	}
	return nil
}

func (s *Scenario) checkWorkload() *InputError {
	switch {
	case len(s.Workload.Rows) > 0 && s.Workload.Format == "":
		return s.wrongAt("workload.format", "is missing; rows are written in %s", workloadFormat)
	case len(s.Workload.Rows) == 0 && s.Workload.Format != "":
		return s.wrongAt("workload.rows", "is missing")
	}
	return nil
}

// checkEnd refuses a break phase that ends before its timeline or churn, and one in which nothing would happen.
func (s *Scenario) checkEnd() *InputError {
	if s.Limits.Settle <= 0 {
		return s.wrongAt("limits.settle", "must be longer than 0s")
	}
	switch last := s.lastAt(); {
	case s.Duration != 0 && s.Duration < last:
		return s.wrongAt("duration", "%s ends before the timeline's last item at %s", FormatDuration(s.Duration), FormatDuration(last))
	case s.Duration != 0 && s.Duration < s.Churn.Until:
		return s.wrongAt("duration", "%s ends before churn.until at %s", FormatDuration(s.Duration), FormatDuration(s.Churn.Until))
	case len(s.Timeline) == 0 && s.BreakEnd() == 0 && s.Churn.On():
		return s.wrongAt("churn", "never happens: without a timeline the file needs duration or churn.until")
	case len(s.Timeline) == 0 && s.BreakEnd() == 0 && s.Faults.Any():
		return s.wrongAt("faults", "never happen: without a timeline the file needs duration")
	}
	return nil
}

func (s *Scenario) checkLaws() *InputError {
	for i, name := range s.Laws {
		if slices.Index(s.Laws, name) < i {
			return s.wrongAt("laws["+strconv.Itoa(i)+"]", "%q is listed twice", name)
		}
	}
	if v := s.Expect.Violation; v != "" && s.Laws != nil && !slices.Contains(s.Laws, v) {
		return s.wrongAt("expect.violation", "%q is not among laws", v)
	}
	return nil
}

// CheckLaws holds the laws that the scenario names against those that there are. A name that is none of them is an
// *InputError with its place in the file.
func (s *Scenario) CheckLaws(names []string) error {
	unknown := func(path, name string) error {
		err := s.wrongAt(path, "%q is not a law", name)
		err.Nearest = strictyaml.Nearest(name, names)
		return err
	}
	for i, name := range s.Laws {
		if !slices.Contains(names, name) {
			return unknown("laws["+strconv.Itoa(i)+"]", name)
		}
	}
	if v := s.Expect.Violation; v != "" && !slices.Contains(names, v) {
		return unknown("expect.violation", v)
	}
	return nil
}
