package sim_test

// Parts of files that several settings are tried with.
const (
	lossy     = "{faults: {dropReply: 0.1, delayReply: {p: 0.3, by: 3s}}, duration: 3m}"
	two       = `{config: {ipam: {podSubnetCIDR: "10.1.0.0/16,fd00:1::/64", vppHostSubnetCIDR: "172.30.0.0/16,fd00:30::/64", nodeInterconnectCIDR: "192.168.16.0/24,fd00:16::/64", vxlanCIDR: "192.168.30.0/24,fd00:18::/64", serviceCIDR: "10.96.0.0/12,fd00:96::/112"}}}`
	pools     = "{config: {ipam: {cilium: {pools: [{name: blue, ipv4: [10.1.8.0/22], preAllocate: 2}]}}}, timeline: [{at: 2s, do: create-pods, pool: blue, node: node-1, count: 20}, {when: settled, do: create-pods, node: node-1, count: 2}]}"
	churned   = "{churn: {every: 2s, lifetime: 10s, until: 1m}}"
	unclaimed = "{faults: {withdrawCNI: 0.5, crashAfterEffect: 0.02}, duration: 15m}"
	traced    = "{workload: {format: pods/1, rows: \"web-001 web 10 35 -\\nweb-002 web 11 51 -\\n\"}}"
	zones     = "{config: {ipam: {datastore: {subnets: [{cidr: 10.1.0.0/24}, {cidr: 10.1.1.0/24}]}}}}"
	others    = "{topology: {otherNICs: [eth8]}, config: {nodes: [{name: node-1, ip: 192.168.16.50/24, otherNICs: [{name: eth8, ip: 10.77.0.1/24}]}]}}"
	leased    = "{topology: {otherNICs: [eth8]}, config: {dhcp: {otherRange: 10.77.0.0/24}, nodes: [{name: node-1, otherNICs: [{name: eth8, useDHCP: true}]}]}}"
	// again is a node whose block is just large enough for pods that come, go, and come again; dense one whose first
	// interface is full.
	again     = "{config: {ipam: {podSubnetOneNodePrefixLen: 28}}, timeline: [{at: 20s, do: create-pods, node: node-1, count: 8}, {after: 20s, do: delete-pods, node: node-1, count: 8}, {after: 5s, do: create-pods, node: node-1, count: 8}]}"
	dense     = "{timeline: [{at: 20s, do: create-pods, node: node-1, count: 22}, {after: 60s, do: delete-pods, node: node-1, count: 22}, {after: 5s, do: create-pods, node: node-1, count: 22}, {after: 5m, do: create-pods, node: node-1, count: 1}]}"
	full      = "{topology: {maxPodsPerNode: 200}, timeline: [{at: 2s, do: create-pods, node: node-1, count: 30}, {when: settled, do: delete-pods, node: node-1, count: 28}, {after: 20m, do: create-pods, count: 2}]}"
	team      = "{config: {ipam: {podSubnetCIDR: 10.1.0.0/20, podSubnetOneNodePrefixLen: 28, ranges: [10.1.0.0/26], calico: {pools: [{name: team, cidr: 10.1.8.0/24, nodes: [node-2]}]}}}, timeline: [{at: 2s, do: create-pods, pool: team, node: node-1, count: 3}, {when: settled, do: create-pods, node: node-2, count: 60}]}"
	routed    = "{config: {ipam: {nodeipam: {configureCloudRoutes: true}}}}"
	crossed   = "{config: {ipam: {nodeipam: {configureCloudRoutes: true, otherRoutes: [{name: hq, destination: 10.1.0.0/26}]}}}}"
	borrowing = "{config: {ipam: {calico: {maxBlocksPerHost: 1}}}}"
)

// tries has every setting of a scenario file.
var tries = map[string]try{
	"name":   {never: "it names the result"},
	"labels": {never: "scenarios are selected by them, by the commands that run several"},
	"seeds":  {never: "how many seeds a command runs"},
	// What happens is tried by the story of each action.
	"timeline": {never: "the actions' own affair"},

	"topology.nodes": {value: "3"}, "topology.podsPerNode": {value: "4"}, "topology.maxPodsPerNode": {value: "4", with: "{timeline: [{at: 2s, do: create-pods, count: 30}]}"}, "topology.nic": {value: "eth9"},
	"topology.otherNICs": {value: "[eth8]"}, "topology.nicMTU": {value: "1400", bound: true}, "topology.hostIPs": {value: "2"},
	"topology.zones":       {value: "2", with: "{services: [{name: near, app: per-node, clusterIP: 10.96.0.98, trafficDistribution: prefer-same-node}]}", in: inServices},
	"topology.clockSpread": {value: "10s"}, "topology.clockDrift": {value: "0.0005"},

	"config.ipam.system": {value: "nodeipam", in: []string{"contiv"}}, "config.ipam.podSubnetCIDR": {value: "10.1.0.0/22"},
	"config.ipam.podSubnetOneNodePrefixLen":         {value: "27"},
	"config.ipam.podSubnetOneNodePrefixLenIPv6":     {value: "121", with: two},
	"config.ipam.vppHostSubnetOneNodePrefixLenIPv6": {value: "122", with: two},
	"config.ipam.vppHostSubnetCIDR":                 {value: "172.31.0.0/16"}, "config.ipam.vppHostSubnetOneNodePrefixLen": {value: "25"},
	"config.ipam.nodeInterconnectCIDR": {value: "192.168.17.0/24"}, "config.ipam.nodeInterconnectDHCP": {value: "true", in: []string{"contiv", "nodeipam", "services", "eni", "calico"}},
	"config.ipam.vxlanCIDR": {value: "192.168.31.0/24"}, "config.ipam.podIfIPCIDR": {value: "10.2.1.0/24"}, "config.ipam.contivCIDR": {value: "10.128.0.0/14", in: []string{"contiv", "nodeipam", "multi-pool", "eni", "prefixes", "calico", "services"}},
	"config.ipam.serviceCIDR":     {value: "10.96.0.0/14", but: map[string]string{"*": "keeps other ranges off it, where kube-proxy serves services"}},
	"config.ipam.defaultGateway":  {value: "192.168.16.101"},
	"config.ipam.useExternalIPAM": {value: "true"}, "config.ipam.reuseDelay": {value: "1m", with: again, in: []string{"contiv", "nodeipam", "aliases"}},
	"config.ipam.clientQPS": {value: "1", more: map[string]string{"cluster-pool": "{topology: {nodes: 6}}"}}, "config.ipam.clientBurst": {value: "1", with: "{config: {ipam: {clientQPS: 1}}}"},
	"config.ipam.ranges": {value: "[10.1.8.0/22]", more: map[string]string{"calico": "{config: {ipam: {podSubnetCIDR: 10.1.0.0/20}}}"}}, "config.ipam.nodeipam.allocator": {value: "IPAMFromCluster"},
	"config.ipam.nodeipam.configureCloudRoutes": {value: "true"}, "config.ipam.nodeipam.clusterName": {value: "prod", with: routed, in: []string{"nodeipam"}},
	"config.ipam.nodeipam.otherRoutes[0].name": {value: "office", with: crossed, in: []string{"nodeipam"}}, "config.ipam.nodeipam.otherRoutes[0].destination": {value: "10.1.0.64/26", with: crossed, in: []string{"nodeipam"}},

	"config.ipam.cilium.mode": {value: "crd", in: []string{"contiv", "nodeipam", "multi-pool", "cluster-pool", "eni", "prefixes", "calico"}}, "config.ipam.cilium.preAllocate": {value: "3"},
	"config.ipam.cilium.pools[0].name": {value: "green", with: "{config: {ipam: {cilium: {pools: [{name: blue, ipv4: [10.1.8.0/22], preAllocate: 2}]}}}}"}, "config.ipam.cilium.pools[0].ipv4": {value: "[10.1.12.0/22]", with: pools},
	"config.ipam.cilium.pools[0].maskSizeIPv4": {value: "27", with: pools}, "config.ipam.cilium.pools[0].preAllocate": {value: "12", with: pools},
	"config.ipam.cilium.namespacePool": {value: "blue", with: pools}, "config.ipam.cilium.prefixDelegation": {value: "true"}, "config.ipam.cilium.minAllocate": {value: "12"},
	"config.ipam.cilium.maxAllocate": {value: "5"}, "config.ipam.cilium.maxAboveWatermark": {value: "4"}, "config.ipam.cilium.keepExcess": {value: "true"},
	"config.ipam.cilium.releaseDelay": {value: "1s"}, "config.ipam.cilium.expiration": {value: "30s", with: unclaimed},

	"config.ipam.datastore.prefixDelegation": {value: "false", in: []string{"contiv", "nodeipam", "multi-pool", "eni", "crd", "prefixes", "calico"}},
	"config.ipam.datastore.warmENITarget":    {value: "2"}, "config.ipam.datastore.instanceType": {value: "t3.nano"}, "config.ipam.datastore.warmIPTarget": {value: "5"},
	"config.ipam.datastore.minimumIPTarget": {value: "40"}, "config.ipam.datastore.warmPrefixTarget": {value: "2"}, "config.ipam.datastore.cooling": {value: "2m", more: map[string]string{"single": dense}, but: map[string]string{"prefixes": "another prefix comes before"}},
	"config.ipam.datastore.attachDelay": {value: "20s", more: map[string]string{"prefixes": dense}}, "config.ipam.datastore.metadataLag": {value: "20s", more: map[string]string{"prefixes": dense}}, "config.ipam.datastore.requestsPerSecond": {value: "1"},
	"config.ipam.datastore.subnets[0].taken": {value: "[10.1.0.4/30, 10.1.0.8/29, 10.1.0.16/28, 10.1.0.128/25]", with: zones},
	"config.ipam.datastore.subnets[0].cidr":  {value: "10.1.2.0/24", with: zones}, "config.ipam.datastore.subnets[0].pods": {value: "10.1.1.0/24", with: "{config: {ipam: {datastore: {subnets: [{cidr: 10.200.0.0/24, pods: 10.1.0.0/24}]}}}}"},
	"config.ipam.datastore.trunkENI": {value: "true"},

	"config.ipam.calico.strictAffinity": {value: "true", with: borrowing},
	"config.ipam.calico.pools[0].name":  {never: "pods ask by it"}, "config.ipam.calico.pools[0].cidr": {value: "10.1.12.0/24", with: team}, "config.ipam.calico.pools[0].nodes": {value: "[node-1]", with: team},
	"config.ipam.calico.maxBlocksPerHost": {value: "1"}, "config.ipam.calico.emptyBlockGrace": {value: "1s", more: map[string]string{"calico": full}},

	"config.wiring.pod": {value: "veth", in: []string{"no-host"}}, "config.wiring.node": {value: "l2", in: []string{"contiv", "taps", "no-host", "services", "leases"}},
	"config.wiring.host": {value: "none", in: []string{"contiv", "taps", "veths", "services", "leases"}}, "config.wiring.mtu": {value: "1400"}, "config.wiring.stealNIC": {value: "true"}, "config.wiring.memif": {value: "true", bound: true},
	"config.wiring.rxRing": {value: "512"}, "config.wiring.txRing": {value: "512"}, "config.wiring.keepOffload": {value: "true"}, "config.wiring.neighborAge": {value: "4m"},
	"config.wiring.mainVRF": {value: "5", with: "{config: {wiring: {mainVRF: 6, podVRF: 7}}}"}, "config.wiring.podVRF": {value: "8", with: "{config: {wiring: {mainVRF: 6, podVRF: 7}}}"},
	"config.wiring.services": {value: "vpp", in: []string{"contiv", "taps", "veths", "no-host", "leases"}}, "config.wiring.natExternalTraffic": {value: "true"},
	"config.wiring.cleanupIdleNATSessions": {value: "true"},
	"config.wiring.tcpNATSessionTimeout":   {value: "90", with: "{config: {wiring: {cleanupIdleNATSessions: true}}}"},
	"config.wiring.otherNATSessionTimeout": {value: "9", with: "{config: {wiring: {cleanupIdleNATSessions: true}}}"}, "config.wiring.serviceLocalEndpointWeight": {value: "7"},

	"config.dhcp.lease": {value: "10m", in: []string{"contiv", "leases"}}, "config.dhcp.router": {value: "192.168.16.2", in: []string{"contiv", "leases"}},
	"config.dhcp.otherRange": {value: "10.78.0.0/24", with: leased},
	"config.nodes[0].name":   {value: "node-2", with: others}, "config.nodes[0].ip": {value: "192.168.16.60/24", with: others}, "config.nodes[0].useDHCP": {value: "true", with: "{config: {nodes: [{name: node-1, gateway: 192.168.16.100}]}}"},
	"config.nodes[0].gateway": {value: "192.168.16.100", with: others}, "config.nodes[0].otherNICs[0].name": {value: "eth7", with: others},
	"config.nodes[0].otherNICs[0].ip": {value: "10.77.0.2/24", with: others}, "config.nodes[0].otherNICs[0].useDHCP": {value: "true", with: "{topology: {otherNICs: [eth8]}, config: {dhcp: {otherRange: 10.77.0.0/24}, nodes: [{name: node-1, otherNICs: [{name: eth8}]}, {name: node-2, otherNICs: [{name: eth8, useDHCP: true}]}]}}"},
	"config.agent.driftRepair": {value: "1m"}, "config.agent.nodeIDQuarantine": {value: "1m"}, "config.agent.addPatience": {value: "2s", with: "{faults: {refuse: 0.5}, duration: 5m}"},
	"config.agent.hookTime": {value: "1s"}, "config.agent.hookFails": {value: "1", with: "{config: {agent: {hookTime: 1s}}}"}, "config.agent.callTimeout": {value: "4s", with: lossy},
	"config.runtime.timeout": {value: "10s", with: lossy}, "config.runtime.orphans": {value: "true", with: "{config: {runtime: {timeout: 10s}, agent: {addPatience: 5m}}, faults: {refuse: 0.6}, duration: 5m}"},
	"config.runtime.repeatAdd": {value: "true"}, "config.runtime.repeatDel": {value: "true"}, "config.runtime.twiceDel": {value: "true"},
	"config.runtime.noNetns": {value: "true"}, "config.runtime.addBeforeDel": {value: "true", with: "{timeline: [{at: 2s, do: replace-sandbox, node: node-1, count: 2}]}"},
	"config.runtime.newestByClock": {value: "true", with: "{timeline: [{at: 2s, do: set-clock, node: node-1, back: 10m}, {after: 1s, do: replace-sandbox, node: node-1, count: 2}]}"},

	"config.wiring.policies": {value: "vpp", in: inVeths},
	"policies[0].name":       {never: "it names the policy"}, "policies[0].pods": {value: "[app=none]", with: enforced, in: inVeths},
	"policies[0].directions": {value: "[egress]", with: enforced, in: inVeths}, "policies[0].peers": {value: "[all]", with: enforced, in: inVeths},
	"policies[0].ports": {value: "[\"tcp:80\"]", with: "{config: {wiring: {policies: vpp}}, policies: [{name: closed, pods: [app=per-node], peers: [app=per-node]}]}", in: inVeths},

	"services[0].name": {value: "shop", in: inServices}, "services[0].app": {value: "none", in: inServices}, "services[0].hosts": {value: "all", with: hosted, in: inServices},
	"services[0].clusterIP": {value: "10.96.0.99", in: inServices}, "services[0].externalIP": {value: "20.20.20.21", in: inServices}, "services[0].protocol": {value: "udp", in: inServices},
	"services[0].port": {value: "81", in: inServices}, "services[0].targetPort": {value: "9090", in: inServices}, "services[0].nodePort": {value: "30081", in: inServices},
	"services[0].sessionAffinity": {value: "1h", in: inServices}, "services[0].healthCheckNodePort": {value: "31000", with: "{services: [{name: web, app: per-node, clusterIP: 10.96.0.10, externalTrafficPolicy: local}]}", in: inServices}, "services[0].trafficDistribution": {value: "prefer-same-node", in: inServices}, "services[0].externalTrafficPolicy": {value: "local", in: inServices}, "services[0].internalTrafficPolicy": {value: "local", in: inServices},

	"churn.every": {value: "3s", with: churned}, "churn.count": {value: "2", with: churned}, "churn.lifetime": {value: "5s", with: churned}, "churn.lifetimes": {value: "[5s, 9s]", with: "{churn: {every: 2s, until: 1m}}"},
	"churn.from": {value: "10s", with: churned}, "churn.until": {value: "30s", with: churned}, "churn.app": {value: "web", with: churned},

	"faults.dropRequest": {value: "0.2"}, "faults.dropReply": {value: "0.2"}, "faults.refuse": {value: "0.2"}, "faults.delayReply.p": {value: "0.3"},
	"faults.delayReply.by": {value: "2s", with: lossy}, "faults.crashVPP": {value: "0.02"}, "faults.crashBeforeEffect": {value: "0.02"}, "faults.crashAfterEffect": {value: "0.02"},
	"faults.crashAfterPersist": {value: "0.1"}, "faults.diskError": {value: "0.1"}, "faults.slowDisk.p": {value: "0.3"}, "faults.slowDisk.by": {value: "3s", with: "{faults: {slowDisk: {p: 0.3}}}"},
	"faults.storeUnavailable": {value: "0.2"}, "faults.dropStoreReply": {value: "0.2"}, "faults.delayStoreReply.p": {value: "0.3"},
	"faults.delayStoreReply.by": {value: "3s", with: "{faults: {delayStoreReply: {p: 0.3}}}"}, "faults.compactStore": {value: "0.2"}, "faults.loseWatch": {value: "0.2"},
	"faults.duplicateWatch": {value: "0.2"}, "faults.withdrawCNI": {value: "0.2"}, "faults.nodes": {value: "[node-1]", with: lossy},
	"faults.inject": {value: "[\"(Nth 1 (Request tap_create_v3 Mute))\"]", in: []string{"taps"}}, "faults.asItWas": {never: "refused by name where nobody has planted it"},
	"workload.format": {never: "there is one, and no other word is taken"}, "workload.rows": {value: "\"web-001 web 10 45 -\\n\"", with: traced},
	"limits.settle": {value: "1ms", with: "{timeline: [{at: 2s, do: create-pods, count: 30}]}"}, "limits.events": {value: "50"}, "limits.violations": {never: "where no law is broken there is nothing to count"}, "duration": {value: "30m"}, "laws": {value: "[one-owner]"},
	"expect.exhausted": {value: "true"}, "expect.pods": {value: "1"}, "expect.nodes": {value: "9"}, "expect.unscheduled": {value: "7"}, "expect.waiting": {value: "7"}, "expect.refused": {value: "7"},
	"expect.neverAnswered": {value: "7"}, "expect.violation": {value: "one-owner"},
}

var inServices, inVeths = []string{"services"}, []string{"veths"}

// enforced is a policy that closes pods.
const enforced = "{config: {wiring: {policies: vpp}}, policies: [{name: closed, pods: [app=per-node]}]}"

// hosted is a service without pods.
const hosted = "{services: [{name: web, clusterIP: 10.96.0.10}]}"
