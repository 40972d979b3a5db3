package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Where an agent's facts come from, and where its addresses do.
const (
	clusterEtcd       = "etcd"
	clusterKubernetes = "kubernetes"
	ipamContiv        = "contiv"
	ipamExternal      = "external"
)

// clusterFlags say which cluster an agent belongs to.
type clusterFlags struct {
	kind, kubeconfig, pools, ipam string
	// poolsNamespace and poolsName are pools, parted.
	poolsNamespace, poolsName string
}

func (f *clusterFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.kind, "cluster", clusterEtcd, "what tells about nodes, pods and ranges, and keeps node IDs: `etcd|kubernetes`")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "`file` that says which API server to use; empty: the one of the pod that this runs in")
	flags.StringVar(&f.pools, "pools", "", "ConfigMap `NAMESPACE/NAME` whose key pools holds the address ranges, which may change; empty: the configuration's")
	flags.StringVar(&f.ipam, "ipam", "", "where a node's blocks come from: `contiv|external`: cut by node ID, or the Node object's pod CIDRs; empty: as useExternalIPAM of the configuration says")
}

// check completes the flags, and the configuration by them.
func (f *clusterFlags) check(cfg *agent.Config) error {
	if cfg.Services == agent.ServicesVPP {
		return cli.Usagef("agent: Services vpp: nothing tells this command of services yet, set it to kube-proxy")
	}
	switch f.kind {
	case clusterEtcd:
		for _, flag := range [...]struct{ name, value string }{{"kubeconfig", f.kubeconfig}, {"pools", f.pools}} {
			if flag.value != "" {
				return cli.Usagef("agent: --%s %s is for --cluster kubernetes", flag.name, flag.value)
			}
		}
	case clusterKubernetes:
	default:
		return cli.Usagef("agent: --cluster %q is none of etcd, kubernetes", f.kind)
	}
	if f.pools != "" {
		var ok bool
		if f.poolsNamespace, f.poolsName, ok = strings.Cut(f.pools, "/"); !ok || f.poolsNamespace == "" || f.poolsName == "" || strings.Contains(f.poolsName, "/") {
			return cli.Usagef("agent: --pools %q: want NAMESPACE/NAME", f.pools)
		}
	}
	switch f.ipam {
	case "":
	case ipamContiv, ipamExternal:
		cfg.IPAMConfig.UseExternalIPAM = f.ipam == ipamExternal
	default:
		return cli.Usagef("agent: --ipam %q is none of contiv, external", f.ipam)
	}
	return nil
}

// facts is how an agent hears of its cluster, and speaks to it.
type facts struct {
	store   host.Store
	cluster host.Cluster
	// events may be nil.
	events func(agent.Log)
	stop   func() error
}

// join reaches the agent's cluster.
func join(ctx context.Context, o options) (facts, error) {
	if o.cluster.kind == clusterKubernetes {
		return joinKubernetes(ctx, o)
	}
	c, stop, err := connect(ctx, o)
	if err != nil {
		return facts{}, err
	}
	return facts{store: c.Store(), cluster: c.Cluster(o.node), stop: stop}, nil
}

// joinKubernetes ends an agent that may not do what it needs. An API server that does not answer ends none: what runs goes on.
func joinKubernetes(ctx context.Context, o options) (facts, error) {
	c, err := dialKubernetes(ctx, "agent", o.cluster.kubeconfig, "vppdrill-agent", kube.AgentNeeds(o.cluster.poolsNamespace, o.cluster.poolsName), o.log)
	if err != nil {
		return facts{}, err
	}
	store := c.Store()
	return facts{store: store, cluster: c.Facts(o.node, o.cluster.poolsNamespace, o.cluster.poolsName), events: c.Events(ctx, o.node),
		stop: func() error { store.Close(); return nil }}, nil
}

// dialKubernetes connects a command and checks what it may do.
func dialKubernetes(ctx context.Context, command, kubeconfig, userAgent string, needs []kube.Need, log *slog.Logger) (*kube.Connection, error) {
	c, err := kube.Dial(kubeconfig, userAgent, log)
	if err != nil {
		return nil, cli.Usagef("%s: %w", command, err)
	}
	err = c.Check(ctx, needs)
	if errors.Is(err, kube.ErrNotReady) {
		return nil, cli.CannotRun(fmt.Errorf("%s: %w", command, err))
	}
	return c, err
}
