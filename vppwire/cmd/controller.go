package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Defaults of flags: a lease beside the controller manager's own, and a port beside the agent's on the same machine.
const (
	defaultLease          = "kube-system/vppdrill-node-ipam"
	defaultControllerREST = "127.0.0.1:9998"
)

// cloudTypes are those that look into a cloud.
var cloudTypes = []nodeipam.CIDRAllocatorType{nodeipam.CloudAllocatorType, nodeipam.IPAMFromClusterAllocatorType, nodeipam.IPAMFromCloudAllocatorType}

// Types that are cilium-operator's modes.
const (
	typeClusterPool = "cluster-pool"
	typeMultiPool   = "multi-pool"
	typeCRD         = "crd"
	typeENI         = "eni"
)

// typeCalico is Calico's controllers' part in IPAM.
const typeCalico = "calico"

// ciliumTypes are cilium-operator's.
var ciliumTypes = []string{typeClusterPool, typeMultiPool, typeCRD, typeENI}

// controllerFlags are the command line of `vppdrill controller`; those of the controller manager have its names.
type controllerFlags struct {
	kind              string
	ipam              nodeipam.Flags
	kubeconfig, lease string
	cloud             string
	rest              string
	format            cli.Format
	level             string
	// prefixes are of mode eni.
	prefixes bool
}

func controllerCommand() *cobra.Command {
	f := &controllerFlags{}
	c := &cobra.Command{
		Use:   "controller",
		Short: "Run the controller that gives nodes their pod CIDRs",
		Long: `Give each Node object its spec.podCIDRs, in place of the controller manager, which then runs with --allocate-node-cidrs=false.
Any number of controllers may run: the holder of a Lease works, the others wait. /healthz at --rest says whether one is
alive, /readyz which one works, and /metrics, for Prometheus, what that one holds, under the names of the controller in whose
place it runs. Several on one machine each need an address of their own.

RangeAllocator works as the controller manager's. cluster-pool and multi-pool work as cilium-operator: --cluster-cidr may
name any number of ranges, and more of them after each start, and a ledger among the cluster's NodeIDRecords keeps their
holders. cluster-pool gives each Node its pod CIDRs, for agents with --ipam cluster-pool or nodeipam. multi-pool answers the
requests of agents with --ipam multi-pool in their PoolNodes: blocks come and go with pods. crd fills the pools of
CiliumNodes with single addresses, by the watermarks that agents with --ipam crd write there, and takes excess ones back by
Cilium's release handshake; the ConfigMap vppdrill-addresses beside the Lease keeps their holders. eni does the same for
agents with --ipam eni by secondary addresses of EC2, of the instances that the Nodes' providerIDs name; AWS_REGION and
credentials come from where all AWS programs find them, and the rights that vppdrill ipamd needs, with DescribeInstances.
calico works as calico-kube-controllers: agents with --ipam calico take addresses of Calico's IPAMBlocks by themselves, and it
takes back what nodes had that are gone, and blocks that have been empty for a quarter of an hour. Run one of the two.

CloudAllocator gives nodes the alias ranges that the cloud has for their machines. IPAMFromCluster writes the nodes' ranges
to the cloud, and IPAMFromCloud the cloud's to the nodes. The cloud is a program of yours, run for each request:
"PROGRAM aliases NODE PROVIDER-ID" prints the ranges, one a line; "PROGRAM add-alias NODE PROVIDER-ID CIDR" adds one. Exit
code 0 is success, 2 a final refusal; others are tried again.

RangeAllocator in a cloud needs routes to the nodes' CIDRs: with --configure-cloud-routes a route controller keeps them by
the same program, and says in each Node's condition NetworkUnavailable whether they are there. "PROGRAM routes CLUSTER"
prints all of the network, each line NAME CIDR NODE, with - where no machine is, and blackhole behind the node of one that is
gone; "PROGRAM add-route NODE PROVIDER-ID CIDR NAME" and "PROGRAM delete-route NODE CIDR NAME" change them. Routes of other
names than the cluster's are left alone. The cloud's own controller manager then runs with --configure-cloud-routes=false.

Exit codes: 0 stopped, 1 it failed, 2 bad usage, 3 the cluster lacks what it needs, or does not answer.`,
		Example: `  vppdrill controller --type RangeAllocator --cluster-cidr 10.244.0.0/16 --service-cluster-ip-range 10.96.0.0/16 --kubeconfig admin.conf
  vppdrill controller --type multi-pool --cluster-cidr 10.244.0.0/16,10.100.0.0/20 --node-cidr-mask-size 28 --kubeconfig admin.conf`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("controller: takes no arguments, only flags; %q is one; see vppdrill controller --help", args[0])
			}
			if err := f.idle(cmd.Flags()); err != nil {
				return err
			}
			log, err := logger("controller", cmd.ErrOrStderr(), f.format, f.level)
			if err != nil {
				return err
			}
			if err := rest.Check(f.rest); f.rest != "" && err != nil {
				return cli.Usagef("controller: --rest: %w", err)
			}
			lease, err := f.leaseOf()
			if err != nil {
				return err
			}
			if slices.Contains(ciliumTypes, f.kind) {
				return f.operate(cmd.Context(), lease, log)
			}
			if f.kind == typeCalico {
				return f.tend(cmd.Context(), lease, log)
			}
			cfg, err := f.config()
			if err != nil {
				return err
			}
			cfg.Log, cfg.Lease = log, lease
			needs := kube.ControllerNeeds(lease.Namespace)
			c, requests, err := dialKubernetes(cmd.Context(), "controller", f.kubeconfig, needs, log)
			if err != nil {
				return err
			}
			d, err := c.Driver(cfg)
			if err != nil {
				return cli.Usagef("controller: %w", oneline.Error(err))
			}
			return f.run(cmd.Context(), running{lease, c, requests, needs, d, log})
		},
	}
	f.add(c.Flags())
	return c
}

func (f *controllerFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.kind, "type", string(nodeipam.RangeAllocatorType), "`RangeAllocator|CloudAllocator|IPAMFromCluster|IPAMFromCloud|cluster-pool|multi-pool|crd|eni|calico`")
	flags.StringVar(&f.cloud, "cloud", "", "`program` that asks the cloud, for types that need one and for --configure-cloud-routes")
	flags.BoolVar(&f.ipam.ConfigureCloudRoutes, routesFlag, false, "--type RangeAllocator: keep a route of the cloud's network for each CIDR of each node")
	flags.StringVar(&f.ipam.ClusterName, "cluster-name", nodeipam.DefaultClusterName, "`name` that tells the cluster's routes from others'")
	flags.DurationVar(&f.ipam.RouteReconciliationPeriod, "route-reconciliation-period", nodeipam.DefaultRoutePeriod, "`time` between two looks at the routes")
	flags.StringVar(&f.ipam.ClusterCIDR, "cluster-cidr", "", "`CIDR` of all pods, or one of each family, separated by a comma; any number with pools")
	flags.StringVar(&f.ipam.ServiceCIDR, "service-cluster-ip-range", "", "`CIDR` of services, which no node gets, or one of each family")
	flags.IntVar(&f.ipam.NodeCIDRMaskSize, "node-cidr-mask-size", 0, "`length` of a node's block; 0: 24 for IPv4, 64 for IPv6")
	flags.IntVar(&f.ipam.NodeCIDRMaskSizeIPv4, "node-cidr-mask-size-ipv4", 0, "`length` of a node's IPv4 block with two families")
	flags.IntVar(&f.ipam.NodeCIDRMaskSizeIPv6, "node-cidr-mask-size-ipv6", 0, "`length` of a node's IPv6 block with two families")
	flags.BoolVar(&f.prefixes, prefixFlag, false, "--type eni: interfaces get /28 prefixes, and single addresses where the subnet has none left")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "`file` that names the API server; empty: the pod's own")
	flags.StringVar(&f.lease, "lease", defaultLease, "Lease `NAMESPACE/NAME` of the working controller")
	flags.StringVar(&f.rest, "rest", defaultControllerREST, "loopback `address` or unix:PATH of /healthz, /readyz and /metrics; empty: none")
	f.format = cli.Text
	flags.Var(&f.format, "format", "logs as text or json")
	flags.StringVar(&f.level, "log-level", "info", "lowest `level` to log: debug, info, warn, error")
}

// prefixFlag is as Cilium's operator has it.
const prefixFlag = "aws-enable-prefix-delegation"

// routesFlag is as the controller manager has it.
const routesFlag = "configure-cloud-routes"

// rangeFlags are those that say what nodes' ranges are cut from.
var rangeFlags = []string{"cluster-cidr", "service-cluster-ip-range", "node-cidr-mask-size", "node-cidr-mask-size-ipv4", "node-cidr-mask-size-ipv6"}

// idle refuses flags that are given and change nothing. A range that cannot be read is refused later.
func (f *controllerFlags) idle(flags *pflag.FlagSet) (err error) {
	four, six := 0, 0
	for text := range strings.SplitSeq(f.ipam.ClusterCIDR, ",") {
		if r, bad := space.ParsePrefix(strings.TrimSpace(text)); bad == nil && r.Addr().Is6() {
			six++
		} else if bad == nil {
			four++
		}
	}
	flags.Visit(func(given *pflag.Flag) {
		const mask = "node-cidr-mask-size"
		refuse := func(format string, args ...any) {
			if err == nil {
				err = cli.Usagef("controller: --"+given.Name+" "+format, args...)
			}
		}
		switch kind, name := nodeipam.CIDRAllocatorType(f.kind), given.Name; {
		case kind == nodeipam.CloudAllocatorType && slices.Contains(rangeFlags, name):
			refuse("is not for --type %s: the cloud alone says which ranges there are", f.kind)
		case f.kind == typeENI && slices.Contains(rangeFlags, name):
			refuse("is not for --type eni: EC2's subnets have the addresses")
		case name == prefixFlag && f.kind != typeENI:
			refuse("is for --type eni: with --type %s no node gets addresses of EC2", f.kind)
		case f.kind == typeCRD && strings.HasPrefix(name, mask):
			refuse("is not for --type crd: nodes get single addresses")
		case f.kind == typeCalico && slices.Contains(rangeFlags, name):
			refuse("is not for --type calico: IPPools say what blocks are cut from")
		case name == routesFlag && kind != nodeipam.RangeAllocatorType:
			refuse("is for --type %s: with --type %s nodes need no routes of a cloud, or a cloud has them already", nodeipam.RangeAllocatorType, f.kind)
		case (name == "cluster-name" || name == "route-reconciliation-period") && !f.ipam.ConfigureCloudRoutes:
			refuse("is for --%s, which is not given", routesFlag)
		case name == "route-reconciliation-period" && f.ipam.RouteReconciliationPeriod <= 0:
			refuse("%s must be above 0", f.ipam.RouteReconciliationPeriod)
		case name == "cloud" && (slices.Contains(ciliumTypes, f.kind) || f.kind == typeCalico):
			refuse("%s is for cloud types, --type %s asks none", f.cloud, f.kind)
		case name == "cluster-cidr" && four > 0 && six > 0 && slices.Contains(cloudTypes, kind):
			refuse("%s has two families, and --type %s knows one range of a node", f.ipam.ClusterCIDR, f.kind)
		case name == mask+"-ipv4" && six > 0 && four == 0:
			refuse("is for IPv4, and --cluster-cidr %s has none", f.ipam.ClusterCIDR)
		case name == mask+"-ipv6" && four > 0 && six == 0:
			refuse("is for IPv6, and --cluster-cidr %s has none", f.ipam.ClusterCIDR)
		case name == mask && four > 0 && six > 0:
			refuse("is for one family, and --cluster-cidr %s has two: give --%[2]s-ipv4 and --%[2]s-ipv6", f.ipam.ClusterCIDR, mask)
		case name == mask && (flags.Changed(mask+"-ipv4") || flags.Changed(mask+"-ipv6")):
			refuse("is given twice, for one family and for any: leave out one of the two")
		}
	})
	return err
}

// config checks the flags.
func (f *controllerFlags) config() (kube.Config, error) {
	f.ipam.AllocatorType = nodeipam.CIDRAllocatorType(f.kind)
	cfg := kube.Config{}
	switch inCloud := slices.Contains(cloudTypes, f.ipam.AllocatorType); {
	case inCloud && f.cloud == "":
		return cfg, cli.Usagef("controller: --type %s looks into a cloud: --cloud PROGRAM asks it, see vppdrill controller --help", f.kind)
	case inCloud:
		path, err := exec.LookPath(f.cloud)
		if err != nil {
			return cfg, cli.Usagef("controller: --cloud: %w", err)
		}
		cfg.Cloud, cfg.Provider = kube.CloudProgram(path), nodeipam.CloudProviderGCE
	case f.ipam.ConfigureCloudRoutes && f.cloud == "":
		return cfg, cli.Usagef("controller: --%s: --cloud PROGRAM keeps the routes, see vppdrill controller --help", routesFlag)
	case f.ipam.ConfigureCloudRoutes:
		path, err := exec.LookPath(f.cloud)
		if err != nil {
			return cfg, cli.Usagef("controller: --cloud: %w", err)
		}
		cfg.Routes = kube.CloudProgram(path)
	case f.cloud != "":
		return cfg, cli.Usagef("controller: --cloud %s is for --type %s, %s and %s, and for --%s", f.cloud, cloudTypes[0], cloudTypes[1], cloudTypes[2], routesFlag)
	}
	if _, err := f.ipam.Resolve(); err != nil {
		return kube.Config{}, cli.Usagef("controller: %w", oneline.Error(err))
	}
	cfg.Flags = f.ipam
	return cfg, nil
}

// leaseOf is the lease that this process stands for.
func (f *controllerFlags) leaseOf() (*kube.Lease, error) {
	namespace, name, ok := strings.Cut(f.lease, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return nil, cli.Usagef("controller: --lease %q: want NAMESPACE/NAME", f.lease)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &kube.Lease{Namespace: namespace, Name: name, Identity: host + "_" + rand.Text(), Writes: f.writes(), Standing: kube.NewStanding()}, nil
}

// writes is what this type of controller alone may write.
func (f *controllerFlags) writes() []string {
	switch f.kind {
	case typeMultiPool:
		return []string{kube.WritesLedger}
	case typeClusterPool:
		return []string{kube.WritesLedger, kube.WritesPodCIDRs}
	case typeCRD, typeENI:
		return []string{kube.WritesAddresses}
	case typeCalico:
		return []string{kube.WritesBlocks}
	}
	return []string{kube.WritesPodCIDRs}
}

// rightsPatience is how long a right may be missing: as long as a leader leads without an answer.
const rightsPatience = 10 * time.Second

// running is what a controller runs with.
type running struct {
	lease    *kube.Lease
	conn     *kube.Connection
	requests host.Requests
	needs    []kube.Need
	work     interface {
		Run(ctx context.Context) error
		ipam.Figured
	}
	log *slog.Logger
}

// run runs one, and shows how it fares, until ctx ends, which is no error.
func (f *controllerFlags) run(ctx context.Context, r running) error {
	h := http.NewServeMux()
	h.Handle("/", rest.Probes(r.lease.Standing.Alive, r.lease.Standing.Ready))
	h.Handle("/metrics", rest.Figures(host.Registry(r.requests, host.Figures(r.lease.Standing.Figures), host.Figures(r.work.Figures))))
	parts, err := serving(f.rest, h, r.log)
	if err != nil {
		return judged("controller", err)
	}
	parts = append(parts, r.work.Run, func(ctx context.Context) error { return r.conn.KeepRights(ctx, r.needs, rightsPatience) })
	r.log.Info("controller", "type", f.kind, "lease", r.lease.Namespace+"/"+r.lease.Name, "identity", r.lease.Identity)
	if err := untilOneEnds(ctx, parts...); err != nil && !errors.Is(err, context.Canceled) {
		return judged("controller", err)
	}
	return nil
}
