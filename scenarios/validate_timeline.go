package scenarios

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// roster is which nodes a timeline knows at one of its items. Nodes that "any" or chance removes stay on it: only what is
// certain is refused.
type roster struct {
	// present are nodes in the order in which they joined; gone are those removed by name.
	present, gone []string
	// next is the number of the next node without a name.
	next int
}

func (s *Scenario) newRoster() *roster {
	return &roster{present: s.NodeNames(), next: s.Topology.Nodes + 1}
}

// add joins one node and returns its name; an empty name takes the next free number.
func (r *roster) add(name string) string {
	if name == "" {
		for name = nodeName(r.next); slices.Contains(r.present, name) || slices.Contains(r.gone, name); name = nodeName(r.next) {
			r.next++
		}
		r.next++
	}
	r.present = append(r.present, name)
	r.gone = slices.DeleteFunc(r.gone, func(n string) bool { return n == name })
	return name
}

func (r *roster) remove(name string) {
	r.present = slices.DeleteFunc(r.present, func(n string) bool { return n == name })
	r.gone = append(r.gone, name)
}

// apply does to the roster what an action does to the nodes.
func (r *roster) apply(a Action) {
	switch a := a.(type) {
	case AddNode:
		for range a.Count {
			r.add(a.Name)
		}
	case RemoveNode:
		// behind a finalizer it stays for a while, and later items may name it
		if a.Finalizer == 0 && a.Node != AnyNode && a.Node != AllNodes {
			r.remove(string(a.Node))
		}
	case RenameNode:
		if a.Leaves == 0 && a.Node != AnyNode {
			r.remove(string(a.Node))
		}
		r.add(a.As)
	}
}

// everyNode names each node that exists at some time, in order of joining.
func (s *Scenario) everyNode() []string {
	r := s.newRoster()
	var seen []string
	note := func() {
		for _, name := range r.present {
			if !slices.Contains(seen, name) {
				seen = append(seen, name)
			}
		}
	}
	seen = append(seen, r.present...)
	for _, step := range s.Timeline {
		switch step.Action.(type) {
		case AddNode, RenameNode:
			r.apply(step.Action)
			note()
		}
	}
	return seen
}

// checkTimeline walks the timeline in order: times, nodes, and address plans after changes.
func (s *Scenario) checkTimeline() *InputError {
	r, h := s.newRoster(), s.newHeld()
	ipam := s.Config.IPAM
	last, lastItem := time.Duration(0), 0
	for i, step := range s.Timeline {
		path := "timeline[" + strconv.Itoa(i) + "]"
		if step.Action == nil {
			return s.wrongAt(path+".do", "is missing")
		}
		if step.Time < 0 {
			return s.wrongAt(path+".at", "%s is negative", FormatDuration(step.Time))
		}
		if step.Trigger == AtTime {
			if step.Time < last {
				return s.wrongAt(path+".at", "%s comes before timeline[%d] at %s", FormatDuration(step.Time), lastItem, FormatDuration(last))
			}
			last, lastItem = step.Time, i
		}
		if err := s.checkNodes(path, step.Action, r); err != nil {
			return err
		}
		switch a := step.Action.(type) {
		case AddNode:
			if slices.Contains(r.present, a.Name) {
				return s.wrongAt(path+".name", "%q exists already", a.Name)
			}
		case RenameNode:
			switch {
			case slices.Contains(r.present, a.As), slices.Contains(r.gone, a.As):
				return s.wrongAt(path+".as", "there is or was a node %q: a machine comes back under a name that none has had", a.As)
			case ipam.OnEC2():
				return s.wrongAt(path+".do", "%s: nodes are instances of EC2, whose Node objects have the names that EC2 gives them", a.Verb())
			}
		case ClaimAddress:
			if p, err := ipam.Plan(); err == nil && p.NodeInterconnect.Addr().Is6() {
				return s.wrongAt(path+".do", "%s: a stranger claims addresses by ARP, and nodes' addresses are of IPv6 here", a.Verb())
			}
		case DeletePods:
			if err := s.checkApp(path+".app", a.App); err != nil {
				return err
			}
		case ChangeCIDR:
			if s.Config.Wiring.StealNIC && a.NodeInterconnectCIDR.IsValid() {
				return s.wrongAt(path+".nodeInterconnectCIDR", "%s: the nodes' addresses are their hosts', with config.wiring.stealNIC", a.NodeInterconnectCIDR)
			}
			if !ipam.Traits().ByID {
				restart, is := a.Restart()
				if !is || ipam.System != NodeIPAM {
					return s.wrongAt(path+".do", "change-cidr needs config.ipam.system contiv; %s has add-range, remove-range and restart-controller", ipam.System)
				}
				if err := s.checkRestart(path, ipam, restart); err != nil {
					return err
				}
				ipam = restart.Apply(ipam)
				break
			}
			ipam = a.Apply(ipam)
			static := ipam
			static.NodeInterconnectDHCP = false // what a server leases from must fit as well
			if err := s.planError(path, static, len(r.present)); err != nil {
				return err
			}
			if err := h.checkHosts(path, ipam); err != nil {
				return err
			}
		case CreatePods:
			if err := s.checkWanted(path, ipam, a); err != nil {
				return err
			}
			if a.Interface != "" && !s.Config.Wiring.Memif {
				return s.wrongAt(path+".interface", "agents without config.wiring.memif refuse such pods")
			}
		case AddRange:
			if err := s.checkRange(path+".cidr", ipam, a.CIDR); err != nil {
				return err
			}
			if ipam.Traits().Ranges < RangesGrow {
				return s.wrongAt(path+".do", "%s keeps the ranges that it starts with", ipam.System)
			}
		case RemoveRange:
			if ipam.Traits().Ranges == RangesGrow {
				return s.wrongAt(path+".do", "%s takes no range back", ipam.System)
			}
			if err := s.checkRange(path+".cidr", ipam, a.CIDR); err != nil {
				return err
			}
		case StopDHCP:
			if !s.Config.HasDHCP() {
				return s.wrongAt(path+".do", "%s: there is no DHCP server: config.ipam.nodeInterconnectDHCP is not set", a.Verb())
			}
		case LoseLeader:
			if !ipam.Traits().Leader {
				return s.wrongAt(path+".do", "lose-leader needs config.ipam.system %s: %s has no controller", systemsWith("or", func(t Traits) bool { return t.Leader }), ipam.System)
			}
			if a.Asleep && (a.Within || a.Pause != 0 && a.Pause < leaderSleepLeast) {
				return s.wrongAt(path+".pause", "a leader that is asleep sends nothing, and keeps its lease unless it sleeps for %s at least", leaderSleepLeast)
			}
		case RestartController:
			if err := s.checkRestart(path, ipam, a); err != nil {
				return err
			}
			ipam = a.Apply(ipam)
		case SetClock:
			if (a.Ahead > 0) == (a.Back > 0) {
				return s.wrongAt(path+".do", "set-clock needs one of ahead and back")
			}
		case KillAgent:
			if a.ReturnNIC && !s.Config.Wiring.StealNIC {
				return s.wrongAt(path+".returnNIC", "true: VPP has taken no host's NIC; config.wiring.stealNIC does")
			}
		case SetPodCIDR:
			if !ipam.UseExternalIPAM {
				return s.wrongAt(path+".do", "set-pod-cidr needs config.ipam.useExternalIPAM: otherwise Node objects do not decide pod ranges")
			}
			if err := h.checkPodCIDR(path, ipam, a); err != nil {
				return err
			}
		case ChangeNodeAddress:
			if s.Config.Wiring.StealNIC {
				return s.wrongAt(path+".do", "%s: the node's address is its host's, with config.wiring.stealNIC", a.Verb())
			}
			if err := h.checkNodeAddress(path, ipam, a, r.present, step.Optional); err != nil {
				return err
			}
		case ChangeManagement:
			if s.Config.Wiring.StealNIC {
				return s.wrongAt(path+".do", "%s: what VPP takes with a NIC has static addresses, with config.wiring.stealNIC", a.Verb())
			}
			if err := h.checkManagement(path, ipam, a, r.present, step.Optional); err != nil {
				return err
			}
		case ChangeService:
			if err := h.checkServiceAddresses(path, ipam, Service(a)); err != nil {
				return err
			}
		}
		if err := h.checkController(path, step.Action); err != nil && !step.Optional {
			return err
		}
		r.apply(step.Action)
		h.apply(step.Action)
	}
	return nil
}

// The applications of pods that nothing gives another one: those of the topology, of create-pods and of churn.
const (
	TopologyApp = "per-node"
	CreatedApp  = "pod"
	ChurnApp    = "churn"
)

// checkApp refuses an application that no pod of the scenario belongs to.
func (s *Scenario) checkApp(path, app string) *InputError {
	if app == "" {
		return nil
	}
	var known []string
	if s.Topology.PodsPerNode > 0 {
		known = append(known, TopologyApp)
	}
	if s.Churn.On() {
		known = append(known, cmp.Or(s.Churn.App, ChurnApp))
	}
	for _, step := range s.Timeline {
		if a, ok := step.Action.(CreatePods); ok {
			known = append(known, cmp.Or(a.App, CreatedApp))
		}
	}
	for _, row := range s.Workload.Rows {
		if row.App == app {
			return nil
		}
	}
	if slices.Contains(known, app) {
		return nil
	}
	err := s.wrongAt(path, "no pod of this scenario belongs to %q", app)
	err.Nearest = strictyaml.Nearest(app, known)
	return err
}

// checkNodes looks up every node that an action names. Fields of types NodeRef and Endpoint are what names nodes.
func (s *Scenario) checkNodes(path string, a Action, r *roster) *InputError {
	v := reflect.ValueOf(a)
	for _, f := range strictyaml.Fields(v.Type()) {
		fv := v.FieldByIndex(f.Index)
		switch {
		case f.Type == typeNodeRef && fv.String() != "":
			if err := s.checkNode(path+"."+f.Name, fv.String(), r, []string{string(AllNodes), string(AnyNode)}); err != nil {
				return err
			}
		case f.Type.Kind() == reflect.Array && f.Type.Elem() == typeEndpoint:
			for j := range fv.Len() {
				at := path + "." + f.Name + "[" + strconv.Itoa(j) + "]"
				words := []string{string(AnyNode), string(APIServer), string(Store)}
				if err := s.checkNode(at, fv.Index(j).String(), r, words); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *Scenario) checkNode(path, name string, r *roster, words []string) *InputError {
	switch {
	case slices.Contains(words, name), slices.Contains(r.present, name):
		return nil
	case slices.Contains(r.gone, name):
		return s.wrongAt(path, "%q was removed before", name)
	}
	err := s.wrongAt(path, "%q is not a node at this point", name)
	err.Nearest = strictyaml.Nearest(name, append(slices.Clone(r.present), words...))
	return err
}
