package cmd

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Lengths of blocks where no flag says one: a node's only one, and one of several.
const (
	onlyBlock4, onlyBlock6 = cilium.DefaultClusterPoolIPv4MaskSize, cilium.DefaultClusterPoolIPv6MaskSize
	someBlock4, someBlock6 = 28, 124
)

// pool is the default pool as the flags say.
func (f *controllerFlags) pool() (cilium.PoolSpec, error) {
	var p cilium.PoolSpec
	if f.ipam.ServiceCIDR != "" {
		return p, cli.Usagef("controller: --service-cluster-ip-range: pools have no use for it; leave services out of --cluster-cidr")
	}
	if f.ipam.ClusterCIDR == "" {
		return p, cli.Usagef("controller: --type %s wants --cluster-cidr", f.kind)
	}
	for _, text := range strings.Split(f.ipam.ClusterCIDR, ",") {
		r, err := space.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return p, cli.Usagef("controller: --cluster-cidr: %w", err)
		}
		list := &p.IPv4
		if r.Addr().Is6() {
			list = &p.IPv6
		}
		*list = append(*list, r)
	}
	only4, only6 := onlyBlock4, onlyBlock6
	if f.kind == typeMultiPool {
		only4, only6 = someBlock4, someBlock6
	}
	one := func(size int, ranges []netip.Prefix) int {
		if len(ranges) == len(p.IPv4)+len(p.IPv6) { // of one family the general flag speaks
			return cmp.Or(size, f.ipam.NodeCIDRMaskSize)
		}
		return size
	}
	p.MaskSize4, p.MaskSize6 = cmp.Or(one(f.ipam.NodeCIDRMaskSizeIPv4, p.IPv4), only4), cmp.Or(one(f.ipam.NodeCIDRMaskSizeIPv6, p.IPv6), only6)
	return p, nil
}

// operate runs one of cilium-operator's modes until ctx ends, which is no error.
func (f *controllerFlags) operate(ctx context.Context, lease *kube.Lease, log *slog.Logger) error {
	spec, err := f.pool()
	if err != nil {
		return err
	}
	cfg := kube.OperatorConfig{Requested: f.kind == typeMultiPool, Lease: lease, Log: log, New: func() (cilium.Pools, error) {
		if f.kind == typeClusterPool {
			return cilium.NewClusterPools(cilium.ClusterPoolConfig{IPv4: spec.IPv4, IPv6: spec.IPv6, MaskSize4: spec.MaskSize4, MaskSize6: spec.MaskSize6})
		}
		o, err := cilium.NewPoolOperator(cilium.PoolOperatorConfig{})
		if err != nil {
			return nil, err
		}
		return o, o.UpsertPool(cilium.DefaultPool, spec)
	}}
	if _, err := cfg.New(); err != nil {
		return cli.Usagef("controller: %w", oneline.Error(err))
	}
	needs := kube.OperatorNeeds(lease.Namespace, cfg.Requested)
	c, err := dialKubernetes(ctx, "controller", f.kubeconfig, "vppdrill-controller", needs, log)
	if err != nil {
		return err
	}
	o, err := c.Operator(cfg)
	if err != nil {
		return cli.Usagef("controller: %w", oneline.Error(err))
	}
	return f.run(ctx, running{lease, c, needs, o.Run, log})
}
