//go:build linux

package cmd

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Where an agent's facts come from.
const (
	clusterEtcd       = "etcd"
	clusterKubernetes = "kubernetes"
)

// Where its addresses come from. All but contiv and datastore take their blocks from the Node object's pod CIDRs, which
// another program sets.
const (
	ipamContiv      = "contiv"       // blocks and addresses as Contiv cuts them by node ID
	ipamNodeIPAM    = "nodeipam"     // addresses as host-local gives them
	ipamClusterPool = "cluster-pool" // addresses as Cilium's agent gives them
	ipamMultiPool   = "multi-pool"   // the same, with blocks that come and go by what the node's PoolNode asks for
	ipamCRD         = "crd"          // single addresses of the pool in the node's CiliumNode
	ipamENI         = "eni"          // the same, where the operator has them of EC2
	ipamCalico      = "calico"       // single addresses of Calico's blocks, which the agent takes by itself
	ipamDatastore   = "datastore"    // addresses and blocks as EC2 gives them to the instance
	ipamExternal    = "external"     // addresses as another IPAM plugin says
)

var ipamSystems = []string{ipamContiv, ipamNodeIPAM, ipamClusterPool, ipamMultiPool, ipamCRD, ipamENI, ipamCalico, ipamDatastore, ipamExternal}

// addressed reports whether the node's CiliumNode has a pool of single addresses.
func (f *clusterFlags) addressed() bool { return f.ipam == ipamCRD || f.ipam == ipamENI }

// allocator is what gives a node's pods their addresses.
func (f *clusterFlags) allocator(reuseDelay time.Duration) (ipam.NodeAllocator, error) {
	switch f.ipam {
	case ipamDatastore:
		return datastore.NewNode(datastore.NodeConfig{Cooling: f.ec2.cooling, Gateway: ipamd.Gateway})
	case ipamClusterPool: // journals of before may hold pods with the address that agents keep for NAT
		return cilium.NewNode(cilium.NodeConfig{Pick: picker{}, FirstRouter: true, Avoid: agent.KeptForNAT, Dual: len(f.families) > 1})
	case ipamCRD, ipamENI:
		return cilium.NewExpiringNode(picker{}, ipamd.Gateway)
	case ipamCalico:
		return calico.NewNode(f.families...), nil
	case ipamMultiPool:
		return cilium.NewNode(cilium.NodeConfig{Pick: picker{}, FirstRouter: true, Keep: agent.KeptForNAT, Outside: ipamd.Gateway, Dual: len(f.families) > 1})
	}
	return nodeipam.NewNode(nodeipam.NodeConfig{ReuseDelay: reuseDelay, External: f.ipam == ipamExternal})
}

// picker draws where a search for a free address begins.
type picker struct{}

// Pick implements cilium.Picker.
func (picker) Pick(_ string, n int) int { return rand.IntN(n) }

// clusterFlags say which cluster an agent belongs to.
type clusterFlags struct {
	kind, kubeconfig, pools, ipam string
	// poolsNamespace and poolsName are pools, parted; of an IPAMConfig there is no namespace.
	poolsNamespace, poolsName string
	// ec2 are the environment's settings of --ipam datastore.
	ec2 settingsOfIPAMD
	// pods is the configuration's pod subnet, of --ipam crd and eni; families are its pools of ipam, the primary first, of --ipam calico, cluster-pool and
	// multi-pool.
	pods     netip.Prefix
	families []string
	// nodeConfigs: NodeConfig resources are heeded.
	nodeConfigs bool
	// marks are how many addresses --ipam multi-pool, crd and eni keep ready; of multi-pool the first alone. expiration is of crd and eni.
	marks      cilium.Watermarks
	expiration time.Duration
}

func (f *clusterFlags) add(flags *pflag.FlagSet) {
	f.addMarks(flags)
	flags.StringVar(&f.kind, "cluster", clusterEtcd, "source of nodes, pods, ranges and node IDs: `etcd|kubernetes`")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "`file` that names the API server; empty: the pod's own")
	flags.StringVar(&f.pools, "pools", "", "source of the address ranges, which may change: the key pools of the ConfigMap `NAMESPACE/NAME`, or the IPAMConfig NAME; empty: the configuration")
	flags.BoolVar(&f.nodeConfigs, "node-configs", false, "let the NodeConfig resource of a node replace its entry in the configuration")
	flags.StringVar(&f.ipam, "ipam", "", "source of addresses: `contiv|nodeipam|cluster-pool|multi-pool|crd|eni|calico|datastore|external`; cut by node ID, from the Node object's pod CIDRs, from blocks of vppdrill controller --type multi-pool, from the pool of the node's CiliumNode, from Calico's IPAMBlocks, from EC2 with the environment of vppdrill ipamd, or from another IPAM plugin; empty: as useExternalIPAM says")
}

// check completes the flags, and the configuration by them.
func (f *clusterFlags) check(cfg *agent.Config) error {
	switch f.kind {
	case clusterEtcd:
		for _, flag := range [...]struct{ name, value string }{{"kubeconfig", f.kubeconfig}, {"pools", f.pools}} {
			if flag.value != "" {
				return cli.Usagef("agent: --%s %s is for --cluster kubernetes", flag.name, flag.value)
			}
		}
		if f.nodeConfigs {
			return cli.Usagef("agent: --node-configs is for --cluster kubernetes")
		}
		if f.ipam == ipamMultiPool || f.ipam == ipamCalico || f.addressed() {
			return cli.Usagef("agent: --ipam %s is for --cluster kubernetes", f.ipam)
		}
	case clusterKubernetes:
	default:
		return cli.Usagef("agent: --cluster %q is none of etcd, kubernetes", f.kind)
	}
	if f.pools != "" {
		var inNamespace bool
		if f.poolsNamespace, f.poolsName, inNamespace = strings.Cut(f.pools, "/"); !inNamespace {
			f.poolsNamespace, f.poolsName = "", f.pools
		}
		if inNamespace && f.poolsNamespace == "" || f.poolsName == "" || strings.Contains(f.poolsName, "/") {
			return cli.Usagef("agent: --pools %q: want NAMESPACE/NAME of a ConfigMap or NAME of an IPAMConfig", f.pools)
		}
	}
	if f.ipam == "" {
		f.ipam = ipamContiv
		if cfg.IPAMConfig.UseExternalIPAM {
			f.ipam = ipamExternal
		}
	}
	if !slices.Contains(ipamSystems, f.ipam) {
		return cli.Usagef("agent: --ipam %q is none of %s%s", f.ipam, strings.Join(ipamSystems, ", "), cli.Hint(f.ipam, ipamSystems))
	}
	if err := f.checkMarks(); err != nil {
		return err
	}
	if f.ipam == ipamDatastore {
		var err error
		if f.ec2, err = ipamdSettings("agent", os.LookupEnv); err != nil {
			return err
		}
	}
	if f.addressed() || slices.Contains([]string{ipamCalico, ipamClusterPool, ipamMultiPool}, f.ipam) && cfg.IPAMConfig != (contiv.IPAMConfig{}) {
		plan, err := cfg.IPAMConfig.Resolve()
		if err != nil {
			return cli.Usagef("agent: %w", oneline.Error(err))
		}
		f.pods, f.families = plan.PodSubnet, plan.FamilyPools()
	}
	if f.ipam == ipamContiv && cfg.IPAMConfig.UseExternalIPAM {
		return cli.Usagef("agent: --ipam %s cuts blocks by node ID, and the configuration's useExternalIPAM takes them from elsewhere: leave out one of the two", f.ipam)
	}
	// Kubernetes' own suite (Netpol) found the way around: by a service's address, from a pod of the same node.
	if f.kind == clusterKubernetes && cfg.NetworkPolicies == agent.PoliciesVPP && cfg.Services != agent.ServicesVPP {
		return cli.Usagef("agent: NetworkPolicies: %s needs Services: %s on a Kubernetes cluster: kube-proxy hides a service's client behind its node, and policies let a node's own packets pass; "+
			"set both or none", agent.PoliciesVPP, agent.ServicesVPP)
	}
	if cfg.IPAMConfig != (contiv.IPAMConfig{}) {
		cfg.IPAMConfig.UseExternalIPAM = f.ipam != ipamContiv
	}
	return nil
}

// rests refuses a delay where nothing of ours gives addresses again, or what does knows none.
func (f *clusterFlags) rests(reuseDelay time.Duration) error {
	if reuseDelay == 0 {
		return nil
	}
	switch f.ipam {
	case ipamClusterPool, ipamMultiPool, ipamCRD, ipamENI:
		return cli.Usagef("agent: --reuse-delay %s is not of --ipam %s: Cilium's agent gives a released address again as it comes; leave it out, or take --ipam nodeipam", reuseDelay, f.ipam)
	case ipamCalico:
		return cli.Usagef("agent: --reuse-delay %s is not of --ipam %s: of a block the address that has been free for the longest is given first; leave it out", reuseDelay, f.ipam)
	case ipamDatastore:
		return cli.Usagef("agent: --reuse-delay %s is not of --ipam %s: IP_COOLDOWN_PERIOD says how long a released address cools; leave it out", reuseDelay, f.ipam)
	case ipamExternal:
		return cli.Usagef("agent: --reuse-delay %s is not of --ipam %s: the other plugin decides when an address comes again; leave it out", reuseDelay, f.ipam)
	}
	return nil
}

// facts is how an agent hears of its cluster, and speaks to it.
type facts struct {
	store   host.Store
	cluster host.Cluster
	// events may be nil.
	events func(agent.Log)
	// stepped may be nil.
	stepped func(time.Time, *agent.Agent, []agent.Effect)
	// trouble is a line about what keeps the agent from its cluster, empty where nothing does; it may be nil.
	trouble func() string
	// requests counts those to the API server, nil without one.
	requests *host.Requests
	// asked stands before the agent where its CNI plugin asks; it may be nil.
	asked func(kube.CNI) kube.CNI
	// run works beside the agent's driver until ctx ends; it may be nil.
	run  func(ctx context.Context, d *host.Driver)
	stop func() error
}

// preAllocate is how many addresses are kept ready where nothing else is said: cilium-agent's default.
const preAllocate = 8

// blockPatience is how long a block of multi-pool may take to come before pods' refusals are an event: several of the
// kubelet's repetitions.
const blockPatience = time.Minute

// join reaches the agent's cluster.
func join(ctx context.Context, o options, alloc ipam.NodeAllocator, machine vppwire.Linux) (facts, error) {
	if o.cluster.kind == clusterKubernetes {
		return joinKubernetes(ctx, o, alloc, machine)
	}
	c, stop, err := connect(ctx, o)
	if err != nil {
		return facts{}, err
	}
	return facts{store: c.Store(), cluster: c.Cluster(o.node), stop: stop}, nil
}

// use is what the agent does with the API server.
func (o options) use() kube.AgentUse {
	return kube.AgentUse{PoolsNamespace: o.cluster.poolsNamespace, PoolsName: o.cluster.poolsName, Services: o.services(), Policies: o.policies(),
		PoolNode: o.cluster.ipam == ipamMultiPool, CiliumNode: o.cluster.addressed(), CalicoBlocks: o.cluster.ipam == ipamCalico, NodeConfigs: o.cluster.nodeConfigs}
}

// policies reports whether the agent enforces network policies, services whether it is told of services: it serves them,
// or asks policies about their addresses.
func (o options) policies() bool { return o.cfg.NetworkPolicies == agent.PoliciesVPP }
func (o options) services() bool { return o.cfg.Services == agent.ServicesVPP || o.policies() }

// joinKubernetes ends an agent that may not do what it needs. An API server that does not answer ends none: what runs
// goes on.
func joinKubernetes(ctx context.Context, o options, alloc ipam.NodeAllocator, machine vppwire.Linux) (facts, error) {
	c, requests, err := dialKubernetes(ctx, "agent", o.cluster.kubeconfig, kube.AgentNeeds(o.use()), o.log)
	if err != nil {
		return facts{}, err
	}
	store := c.Store()
	f := facts{store: store, requests: &requests, events: c.Events(ctx, o.node), trouble: c.Refused, stop: func() error { store.Close(); return nil }}
	told := kube.FactsConfig{Node: o.node, PoolsNamespace: o.cluster.poolsNamespace, PoolsName: o.cluster.poolsName, Services: o.services(), Policies: o.policies(), Events: f.events}
	c.TellClock(f.events)
	full := &kube.NoAddress{Tell: f.events}
	f.stepped = func(now time.Time, _ *agent.Agent, effects []agent.Effect) { full.Stepped(now, effects) }
	f.cluster = c.Facts(told)
	if node, ok := alloc.(*cilium.Node); ok && o.cluster.ipam == ipamMultiPool {
		blocks := c.Requester(kube.RequesterConfig{Node: o.node, Alloc: node, PreAllocate: o.cluster.marks.PreAllocate})
		f.cluster, full.Patience = blocks.Cluster(f.cluster), blockPatience
		f.stepped = func(now time.Time, a *agent.Agent, effects []agent.Effect) {
			full.Stepped(now, effects)
			blocks.Stepped(now, a, effects)
		}
	}
	if node, ok := alloc.(*cilium.ExpiringNode); ok {
		addresses, err := c.AddressRequester(kube.AddressRequesterConfig{Linux: machine, Agent: cilium.AddressAgentConfig{Node: o.node, Alloc: node,
			Mode: o.cluster.ipam, PodCIDR: o.cluster.pods, Watermarks: o.cluster.marks, Expiration: o.cluster.expiration}})
		if err != nil {
			return facts{}, err
		}
		f.cluster, full.Patience = addresses.Cluster(f.cluster), blockPatience
		f.stepped = func(now time.Time, _ *agent.Agent, effects []agent.Effect) {
			full.Stepped(now, effects)
			addresses.Stepped(effects)
		}
		f.run = func(ctx context.Context, d *host.Driver) { addresses.Run(ctx, kube.OwnerOf(d)) }
	}
	if node, ok := alloc.(calico.Node); ok {
		blocks := c.CalicoHost(kube.CalicoConfig{Node: o.node, Alloc: node})
		f.cluster, f.asked = blocks.Cluster(f.cluster), blocks.Agent
		f.stepped = func(now time.Time, _ *agent.Agent, effects []agent.Effect) {
			full.Stepped(now, effects)
			blocks.Stepped()
		}
		f.run = func(ctx context.Context, d *host.Driver) { blocks.Run(ctx, kube.OwnerOf(d)) }
	}
	return f, nil
}
