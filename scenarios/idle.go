package scenarios

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/vppwire/mode"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// use says where a setting counts: a file that sets it elsewhere would run as if it did not, and is refused.
type use struct {
	path   string
	counts func(*Scenario) bool
	// of ends a sentence that begins with the setting's name.
	of string
}

// uses are the settings that count in some scenarios only. What package mode decides is not among them.
var uses = []use{
	{"config.ipam.clientQPS", func(s *Scenario) bool { return s.Config.IPAM.Traits().Leader }, "is of systems that ask the API server"},
	{"config.ipam.clientBurst", func(s *Scenario) bool { return s.Config.IPAM.ClientQPS > 0 }, "is of a limit, and clientQPS sets none"},
	{"config.ipam.nodeipam.allocator", bySystem(NodeIPAM), "is of nodeipam"},
	{"config.ipam.nodeipam.configureCloudRoutes", bySystem(NodeIPAM), "is of nodeipam"},
	{"config.ipam.nodeipam.clusterName", cloudRoutes, ofRoutes},
	{"config.ipam.nodeipam.otherRoutes", cloudRoutes, ofRoutes},
	{"config.ipam.cilium.mode", bySystem(Cilium), "is of cilium"},
	{"config.ipam.cilium.preAllocate", byMode(MultiPool, ENI, CRD), "is of cilium's modes multi-pool, eni and crd"},
	{"config.ipam.cilium.pools", byMode(MultiPool), "are of cilium's mode multi-pool"},
	{"config.ipam.cilium.namespacePool", byMode(MultiPool), "is of cilium's mode multi-pool"},
	{"config.ipam.cilium.prefixDelegation", byMode(ENI), "is of cilium's mode eni"},
	{"config.ipam.cilium.minAllocate", byMode(ENI, CRD), ofAddresses},
	{"config.ipam.cilium.maxAllocate", byMode(ENI, CRD), ofAddresses},
	{"config.ipam.cilium.maxAboveWatermark", byMode(ENI, CRD), ofAddresses},
	{"config.ipam.cilium.keepExcess", byMode(ENI, CRD), ofAddresses},
	{"config.ipam.cilium.releaseDelay", byMode(ENI, CRD), ofAddresses},
	{"config.ipam.cilium.releaseDelay", func(s *Scenario) bool { return !s.Config.IPAM.Cilium.KeepExcess }, "is of releases, and with keepExcess there are none"},
	{"config.ipam.cilium.expiration", byMode(ENI, CRD), ofAddresses},
	{"config.ipam.datastore.instanceType", onEC2, ofEC2},
	{"config.ipam.datastore.attachDelay", onEC2, ofEC2},
	{"config.ipam.datastore.requestsPerSecond", onEC2, ofEC2},
	{"config.ipam.datastore.subnets", onEC2, ofEC2},
	{"config.ipam.datastore.prefixDelegation", bySystem(Datastore), "is of datastore"},
	{"config.ipam.datastore.warmENITarget", bySystem(Datastore), "is of datastore"},
	{"config.ipam.datastore.warmENITarget", func(s *Scenario) bool { return !s.Config.IPAM.Datastore.PrefixDelegation }, "is of single addresses, and prefixDelegation gives prefixes"},
	{"config.ipam.datastore.warmPrefixTarget", bySystem(Datastore), "is of datastore"},
	{"config.ipam.datastore.warmPrefixTarget", func(s *Scenario) bool { return s.Config.IPAM.Datastore.PrefixDelegation }, "is of prefixes, and without prefixDelegation there are none"},
	{"config.ipam.datastore.warmIPTarget", bySystem(Datastore), "is of datastore"},
	{"config.ipam.datastore.minimumIPTarget", bySystem(Datastore), "is of datastore"},
	{"config.ipam.datastore.cooling", bySystem(Datastore), "is of datastore"},
	{"config.ipam.datastore.metadataLag", bySystem(Datastore), "is of datastore"},
	{"config.ipam.datastore.trunkENI", bySystem(Datastore), "is of datastore"},
	{"topology.nic", wired, ofWiring},
	{"topology.otherNICs", wired, ofWiring},
	{"topology.nicMTU", wired, ofWiring},
	{"topology.hostIPs", wired, ofWiring},
	{"topology.zones", distributes, "is of services with trafficDistribution"},
	{"config.wiring.node", wired, ofWiring},
	{"config.wiring.host", wired, ofWiring},
	{"config.wiring.mtu", wired, ofWiring},
	{"config.wiring.rxRing", wired, ofWiring},
	{"config.wiring.txRing", wired, ofWiring},
	{"config.wiring.keepOffload", wired, ofWiring},
	{"config.wiring.neighborAge", wired, ofWiring},
	{"config.wiring.mainVRF", wired, ofWiring},
	{"config.wiring.podVRF", wired, ofWiring},
	{"config.wiring.services", wired, ofWiring},
	{"config.wiring.policies", wired, ofWiring},
	{"config.wiring.memif", wired, ofWiring},
	{"config.wiring.memif", asksMemif, "is of pods that ask for one, by create-pods with interface"},
	{"config.ipam.nodeInterconnectDHCP", wired, ofWiring},
	{"config.ipam.nodeInterconnectCIDR", ownNIC, "is of nodes' own addresses, and with wiring.stealNIC they are their hosts'"},
	{"config.ipam.podIfIPCIDR", wired, ofWiring},
	{"config.ipam.defaultGateway", wired, ofWiring},
	{"config.nodes", wired, ofWiring},
	{"config.agent.callTimeout", wired, ofWiring},
	{"config.agent.driftRepair", wired, ofWiring},
	{"faults.dropRequest", wired, ofWiring},
	{"faults.dropReply", wired, ofWiring},
	{"faults.refuse", wired, ofWiring},
	{"faults.delayReply", wired, ofWiring},
	{"faults.crashVPP", wired, ofWiring},
	{"faults.loseWatch", wired, ofPeers},
	{"faults.duplicateWatch", wired, ofPeers},
	{"faults.compactStore", wired, ofPeers},
	{"config.wiring.natExternalTraffic", servedByVPP, ofNAT},
	{"config.wiring.cleanupIdleNATSessions", servedByVPP, ofNAT},
	{"config.wiring.tcpNATSessionTimeout", servedByVPP, ofNAT},
	{"config.wiring.tcpNATSessionTimeout", sessionsEnd, ofIdleSessions},
	{"config.wiring.otherNATSessionTimeout", servedByVPP, ofNAT},
	{"config.wiring.otherNATSessionTimeout", sessionsEnd, ofIdleSessions},
	{"config.wiring.serviceLocalEndpointWeight", servedByVPP, ofNAT},
}

const (
	ofAddresses    = "is of cilium's modes eni and crd"
	ofRoutes       = "is of a cloud's network, which configureCloudRoutes says that nodes are in"
	ofEC2          = "is of nodes on EC2: datastore, and cilium's mode eni"
	ofNAT          = "is of NAT, which there is with services: vpp"
	ofWiring       = "is of wiring, and with wiring.pod none there is none"
	ofPeers        = "is of what agents tell each other, and with wiring.pod none they tell nothing"
	ofIdleSessions = "is of idle sessions, which end with cleanupIdleNATSessions alone"
)

func bySystem(system System) func(*Scenario) bool {
	return func(s *Scenario) bool { return s.Config.IPAM.System == system }
}

func byMode(modes ...CiliumMode) func(*Scenario) bool {
	return func(s *Scenario) bool {
		return s.Config.IPAM.System == Cilium && slices.Contains(modes, s.Config.IPAM.Cilium.Mode)
	}
}

func cloudRoutes(s *Scenario) bool {
	return s.Config.IPAM.System == NodeIPAM && s.Config.IPAM.NodeIPAM.ConfigureCloudRoutes
}

func ownNIC(s *Scenario) bool { return !s.Config.Wiring.StealNIC }

func asksMemif(s *Scenario) bool {
	return slices.ContainsFunc(s.Timeline, func(step Step) bool {
		a, is := step.Action.(CreatePods)
		return is && a.Interface != ""
	})
}

func onEC2(s *Scenario) bool       { return s.Config.IPAM.OnEC2() }
func wired(s *Scenario) bool       { return s.Config.Wiring.Pod != PodNone }
func servedByVPP(s *Scenario) bool { return s.Config.Wiring.Services == ServedByVPP }
func sessionsEnd(s *Scenario) bool { return s.Config.Wiring.NatCleanup }

const idleSetting = "%s, and changes nothing here: remove it"

// checkIdle refuses settings that change nothing beside the other ones.
func (s *Scenario) checkIdle() *InputError {
	usual := Default()
	for _, u := range uses {
		if !u.counts(s) && !reflect.DeepEqual(fieldAt(s, u.path), fieldAt(&usual, u.path)) {
			return s.wrongAt(u.path, idleSetting, u.of)
		}
	}
	if path, of := s.Config.IPAM.foreignSetting(); path != "" {
		return s.wrongAt(path, idleSetting, "is of "+string(of))
	}
	for i, step := range s.Timeline {
		if a, ok := step.Action.(CreatePods); ok && a.Pool != "" && !s.Config.IPAM.Traits().named() {
			return s.wrongAt("timeline["+strconv.Itoa(i)+"].pool", idleSetting, "names a pool of cilium's mode multi-pool, or of config.ipam.calico.pools")
		}
	}
	for _, i := range s.Config.Wiring.mode().Idle(s.around()) {
		return s.wrongAt(modePaths[i.Field], "%s: remove it", i.Why)
	}
	return nil
}

// fieldAt is the value of a field by its path.
func fieldAt(s *Scenario, path string) any {
	v := reflect.ValueOf(s).Elem()
	for name := range strings.SplitSeq(path, ".") {
		f, ok := strictyaml.FieldNamed(strictyaml.Fields(v.Type()), name)
		if !ok {
			panic("scenarios: no setting " + path)
		}
		v = v.FieldByIndex(f.Index)
	}
	return v.Interface()
}

// modePaths are the settings that package mode knows by other names.
var modePaths = map[string]string{"RxRing": "config.wiring.rxRing", "TxRing": "config.wiring.txRing", "KeepOffload": "config.wiring.keepOffload", "External": "config.wiring.natExternalTraffic"}

// mode is the section as package mode has it, as far as Idle looks at it. An age sets both that neighbors are scanned and when.
func (w *Wiring) mode() mode.Config {
	c := mode.Config{Node: mode.NodeVXLAN, RxRing: uint16(w.RxRing), TxRing: uint16(w.TxRing), KeepOffload: w.KeepOffload,
		NAT: mode.NAT{On: w.Services == ServedByVPP, External: w.NatExternal}}
	if w.Node == NodeL2 {
		c.Node = mode.NodeL2
	}
	c.Pod, _ = mode.PodModeOf(string(w.Pod)) // the enums say which words there are
	c.Host, _ = mode.HostModeOf(string(w.Host))
	return c
}

// implyGateway gives the nodes' network a router where natExternalTraffic wants an outside and the file names no gateway: its last address.
// What else makes the setting idle is refused.
func (s *Scenario) implyGateway() {
	c := &s.Config
	if !c.Wiring.NatExternal || !servedByVPP(s) || c.Wiring.Node == NodeL2 || c.HasDHCP() || s.around() != (mode.Around{NIC: true}) {
		return
	}
	plan, err := c.IPAM.Plan()
	if err != nil || !plan.NodeInterconnect.Addr().Is4() {
		return
	}
	last, err := space.NthLast(plan.NodeInterconnect, 1)
	if err != nil || slices.ContainsFunc(c.Nodes, func(n NodeSettings) bool { return n.IP.Addr() == last }) {
		return
	}
	c.IPAM.DefaultGateway = last
}

// around is what nodes have beside the wiring.
func (s *Scenario) around() mode.Around {
	return mode.Around{NIC: s.Topology.NIC != "", Gateway: s.Config.IPAM.DefaultGateway.IsValid() ||
		slices.ContainsFunc(s.Config.Nodes, func(n NodeSettings) bool { return n.Gateway.IsValid() })}
}
