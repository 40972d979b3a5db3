package timeline

import (
	"reflect"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Need is something that an action or a setting takes and that not every world has.
type Need uint8

// Needs.
const (
	// Nothing is what every world has.
	Nothing Need = iota
	AgentCalls
	WatchDelivery
	UnsyncedWrites
	OneWayFabric
	SlowFabric
	ServerLink
	CIDRControllers
	LeadingController
	PausedControllers
	NodeDaemons
	CloudRanges
	CloudRoutes
	DHCPServer
	VhostNet
	PausedPrograms
	OtherVersions
	ServiceFeed
	PolicyFeed
	ForgetfulRuntimes
	WatchGaps
	GivenAddresses
	GivenPodCIDRs
	SlowServers
	GivenMachines
	NodeZones
	RudeRuntimes
	BoundedApps
	StaticPods
	PodNamespaces
	ExternalPlugin
	OwnClocks
	OtherMaxPods
	SeenRefusals
	NodeFinalizers
	NodeObjects
	NodeNames
	Strangers
	AgentAndVPP
	PluginPrograms
	CutLinks
	WantedAddresses
	MemifPrograms
	BranchInterfaces
	RetiredRanges
	PodAnnotations
	ControllerCalls
	PlantedFaults
	PodHooks
	Dataplane
	UnwiredPods
	OnlyNICs
)

// needs is the one table of reasons for which an action or a setting is refused.
var needs = [...]string{
	Nothing:           "",
	AgentCalls:        "a fault between an agent and what it calls takes a hand in the agent's own process",
	WatchDelivery:     "only who carries a watch can hold back or repeat what it delivers",
	UnsyncedWrites:    "a machine's own disk does not forget what was not synced",
	OneWayFabric:      "the fabric between nodes is cut in both directions or not at all",
	SlowFabric:        "the fabric between nodes need not have netem to make it slow",
	ServerLink:        "API server and store do not speak through anything that can be cut",
	CIDRControllers:   "no controller of nodes' pod ranges runs here",
	LeadingController: "nodes' pod ranges come from no controller that others could replace",
	PausedControllers: "no controller runs in a process of its own that could stand still",
	NodeDaemons:       "no daemon on the nodes asks for what this address management gives them",
	CloudRanges:       "no cloud gives machines their ranges here",
	CloudRoutes:       "the network between machines is no cloud's here",
	DHCPServer:        "nodes' addresses come from no DHCP server",
	VhostNet:          "VPP's taps need /dev/vhost-net",
	PausedPrograms:    "what runs inside a container is not reached by this machine's signals",
	OtherVersions:     "no other version of the agent is there",
	PolicyFeed:        "nothing tells the agents of network policies",
	ServiceFeed:       "nothing tells the agents of services",
	ForgetfulRuntimes: "the kubelets here forget no sandbox without a DEL",
	WatchGaps:         "the API server's cache keeps a watch's place, whatever its store forgets",
	GivenAddresses:    "nobody gives a node of a cluster another address",
	GivenPodCIDRs:     "a Node object's pod CIDR is not changed by anybody",
	SlowServers:       "connections to the API server cannot be made slow",
	GivenMachines:     "machines here have one NIC with Ethernet's MTU and one management address",
	NodeZones:         "no cloud says here which zone a machine is in",
	RudeRuntimes:      "the container runtime is a real one and behaves as it does",
	BoundedApps:       "the scheduler bounds no application's pods on a node",
	StaticPods:        "no pod comes from a node's own files here",
	PodNamespaces:     "a namespace that a running container holds cannot be taken away",
	ExternalPlugin:    "no IPAM plugin runs beside the agents here",
	OwnClocks:         "all nodes have the clock of this machine",
	OtherMaxPods:      "the kubelets here take 110 pods, some of the cluster's own among them",
	SeenRefusals:      "why a pod waits is not seen here",
	NodeFinalizers:    "nothing here keeps a deleted Node object behind a finalizer",
	NodeObjects:       "no machine here goes on without its Node object",
	Strangers:         "nobody who is no node can be on the wire between the nodes, or VPP's minutes are not the scenario's",
	NodeNames:         "no machine here comes back under another name",
	AgentAndVPP:       "it is about VPP or our agent, and --cni runs neither",
	PluginPrograms:    "only --cni runs CNI plugins of its own, with their state on a disk",
	WantedAddresses:   "no runtime here passes on which address a pod asks for",
	MemifPrograms:     "no pod here brings a program that speaks memif",
	RetiredRanges:     "the operator here is started again with more ranges, and takes none back",
	PodAnnotations:    "nothing tells agents here which pool a pod's annotations ask for",
	BranchInterfaces:  "no controller attaches trunk interfaces here",
	CutLinks:          "links between nodes are not cut here",
	ControllerCalls:   "nothing stands between controllers or daemons and what they ask",
	PlantedFaults:     "faults of other projects are planted into the simulator's agents alone",
	PodHooks:          "no program here embeds the agent and registers hooks",
	UnwiredPods:       "pods here are wired: addresses alone are the simulator's",
	OnlyNICs:          "a host here has a NIC beside that of its VPP, and none that VPP could take",
	Dataplane:         "pods have addresses alone, and there is no VPP, with config.wiring.pod none",
}

// String is the reason, for people.
func (n Need) String() string { return needs[n] }

// Refusal is something in a scenario that a world cannot do.
type Refusal struct {
	// What is an action's verb, or a setting: "faults.dropReply".
	What string
	// Need is what the world lacks.
	Need Need
}

// String names it with the reason.
func (r Refusal) String() string { return r.What + " (" + r.Need.String() + ")" }

// Names are what is refused.
func Names(list []Refusal) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.What)
	}
	return out
}

// Line is all of it in one line.
func Line(list []Refusal) string {
	var out []string
	for _, r := range list {
		out = append(out, r.String())
	}
	return strings.Join(out, ", ")
}

// Lacking is the need of an action that is among lacks, Nothing when the action can be done.
func Lacking(a scenarios.Action, lacks []Need) Need {
	i := slices.IndexFunc(actions, func(x action) bool { return x.verb == a.Verb() })
	if i < 0 {
		return Nothing // Settle and Heal: result.Run does them
	}
	for _, need := range actions[i].need(a) {
		if slices.Contains(lacks, need) {
			return need
		}
	}
	return Nothing
}

// RefusedActions are the verbs of a timeline that a world with these lacks cannot do, each once.
func RefusedActions(s *scenarios.Scenario, lacks []Need) []Refusal {
	var out []Refusal
	for _, step := range s.Timeline {
		r := Refusal{step.Action.Verb(), Lacking(step.Action, lacks)}
		if r.Need != Nothing && !slices.ContainsFunc(out, func(x Refusal) bool { return x.What == r.What }) {
			out = append(out, r)
		}
	}
	return out
}

// RefusedSettings are what a world with these lacks cannot do of a scenario beside its timeline.
func RefusedSettings(s *scenarios.Scenario, lacks []Need) []Refusal {
	f := s.Faults
	var out []Refusal
	for _, r := range [...]struct {
		what string
		need Need
		on   bool
	}{
		{"faults.dropRequest", AgentCalls, f.DropRequest > 0}, {"faults.dropReply", AgentCalls, f.DropReply > 0},
		{"faults.refuse", AgentCalls, f.Refuse > 0}, {"faults.delayReply", AgentCalls, f.DelayReply.P > 0},
		{"faults.crashVPP", AgentCalls, f.CrashVPP > 0}, {"faults.crashBeforeEffect", AgentCalls, f.CrashBeforeEffect > 0},
		{"faults.crashAfterEffect", AgentCalls, f.CrashAfterEffect > 0}, {"faults.crashAfterPersist", AgentCalls, f.CrashAfterPersist > 0},
		{"faults.diskError", AgentCalls, f.DiskError > 0}, {"faults.slowDisk", AgentCalls, f.SlowDisk.P > 0},
		{"faults.compactStore", AgentCalls, f.CompactStore > 0}, {"faults.storeUnavailable", AgentCalls, f.StoreUnavailable > 0},
		{"faults.dropStoreReply", AgentCalls, f.DropStoreReply > 0}, {"faults.delayStoreReply", AgentCalls, f.DelayStoreReply.P > 0},
		{"faults.loseWatch", WatchDelivery, f.LoseWatch > 0}, {"faults.duplicateWatch", WatchDelivery, f.DuplicateWatch > 0},
		{"faults.withdrawCNI", AgentCalls, f.WithdrawCNI > 0}, {"faults.inject", AgentCalls, injects(&f, AgentCalls)},
		{"faults.inject", WatchDelivery, injects(&f, WatchDelivery)}, {"faults.inject", ControllerCalls, injects(&f, ControllerCalls)},
		{"faults.asItWas", PlantedFaults, f.AsItWas != ""},
		{"ipam.system=" + string(s.Config.IPAM.System), CIDRControllers, !s.Config.IPAM.Traits().ByID},
		{"ipam.system=" + string(s.Config.IPAM.System), NodeDaemons, s.Config.IPAM.Traits().Daemons},
		{"ipam.nodeipam.allocator=" + string(s.Config.IPAM.NodeIPAM.Allocator), CloudRanges, s.Config.IPAM.NodeIPAM.Allocator.InCloud()},
		{"ipam.nodeipam.configureCloudRoutes", CloudRoutes, s.Config.IPAM.NodeIPAM.ConfigureCloudRoutes},
		{"ipam.datastore.trunkENI", BranchInterfaces, s.Config.IPAM.System == scenarios.Datastore && s.Config.IPAM.Datastore.TrunkENI},
		{"ipam.cilium.pools", PodAnnotations, s.Config.IPAM.System == scenarios.Cilium && len(s.Config.IPAM.Cilium.Pools) > 0},
		{"agent.hookTime", PodHooks, s.Config.Agent.HookTime > 0},
		{"wiring.services=vpp", ServiceFeed, s.Config.Wiring.Services == scenarios.ServedByVPP},
		{"wiring.policies=vpp", PolicyFeed, s.Config.Wiring.Policies == scenarios.EnforcedByVPP},
		{"topology.clockSpread", OwnClocks, s.Topology.ClockSpread > 0}, {"topology.clockDrift", OwnClocks, s.Topology.ClockDrift > 0},
		{"config.runtime.newestByClock", OwnClocks, s.Config.Runtime.NewestByClock},
		{"wiring.stealNIC", OnlyNICs, s.Config.Wiring.StealNIC},
		{"wiring.pod=none", UnwiredPods, s.Config.Wiring.Pod == scenarios.PodNone},
		{"wiring.pod=tap", VhostNet, s.Config.Wiring.Pod == scenarios.PodTAP},
		{"topology.nic=false", GivenMachines, s.Topology.NIC == ""},
		{"topology.nicMTU", GivenMachines, s.Topology.NICMTU != scenarios.Default().Topology.NICMTU},
		{"topology.otherNICs", GivenMachines, len(s.Topology.OtherNICs) > 0},
		{"topology.hostIPs", GivenMachines, s.Topology.HostIPs != 1},
		{"topology.zones", NodeZones, s.Topology.Zones != 0},
		{"topology.maxPodsPerNode", OtherMaxPods, s.Topology.MaxPodsPerNode != scenarios.Default().Topology.MaxPodsPerNode},
		{"expect.exhausted", SeenRefusals, s.Expect.Exhausted != nil}, {"expect.waiting", SeenRefusals, s.Expect.Waiting != nil},
		{"expect.refused", SeenRefusals, s.Expect.Refused != nil}, {"expect.neverAnswered", SeenRefusals, s.Expect.NeverAnswered != nil},
		{"config.runtime", RudeRuntimes, s.Config.Runtime != scenarios.Runtime{}},
		{"workload.maxPerNode", BoundedApps, slices.ContainsFunc(s.Workload.Rows, func(r scenarios.WorkloadPod) bool { return r.MaxPerNode > 0 })},
		{"ipam.useExternalIPAM", ExternalPlugin, s.Config.IPAM.UseExternalIPAM},
		{"ipam.nodeInterconnectDHCP", DHCPServer, s.Config.IPAM.NodeInterconnectDHCP},
		{"config.wiring.memif", MemifPrograms, s.Config.Wiring.Memif},
		{"config.wiring", AgentAndVPP, !reflect.DeepEqual(s.Config.Wiring, scenarios.Default().Config.Wiring)},
		{"config.agent", AgentAndVPP, !reflect.DeepEqual(s.Config.Agent, scenarios.Default().Config.Agent)},
	} {
		if r.on && slices.Contains(lacks, r.need) {
			out = append(out, Refusal{r.what, r.need})
		}
	}
	return out
}
