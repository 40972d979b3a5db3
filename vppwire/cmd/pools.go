package cmd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
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
	if f.kind == typeENI {
		return f.giveENIs(ctx, lease, log)
	}
	spec, err := f.pool()
	if err != nil {
		return err
	}
	if f.kind == typeCRD {
		return f.giveAddresses(ctx, slices.Concat(spec.IPv4, spec.IPv6), lease, log)
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
	return f.operateOn(ctx, kube.OperatorNeeds(lease.Namespace, cfg.Requested), log, func(*kube.Connection) kube.OperatorConfig { return cfg })
}

// giveAddresses runs cilium-operator's part in mode crd until ctx ends, which is no error.
func (f *controllerFlags) giveAddresses(ctx context.Context, ranges []netip.Prefix, lease *kube.Lease, log *slog.Logger) error {
	sum := 0
	for i, r := range ranges {
		if r.Addr().Is6() || r.Bits() > longestRange {
			return cli.Usagef("controller: --cluster-cidr %s: --type crd wants IPv4 ranges of at most /%d, whose first and last address no pod gets", r, longestRange)
		}
		if sum += 1 << (32 - r.Bits()); sum > bookMost {
			return cli.Usagef("controller: --cluster-cidr %s: --type crd keeps %d addresses at most, as one ConfigMap has no room for more", f.ipam.ClusterCIDR, bookMost)
		}
		if j := slices.IndexFunc(ranges[:i], r.Overlaps); j >= 0 {
			return cli.Usagef("controller: --cluster-cidr: %s and %s overlap", ranges[j], r)
		}
	}
	return f.operateOn(ctx, kube.AddressOperatorNeeds(lease.Namespace, true), log, func(c *kube.Connection) kube.OperatorConfig {
		return kube.OperatorConfig{Lease: lease, Log: log, Addresses: c.AddressBook(lease.Namespace, ranges), Release: release}
	})
}

// release is when addresses are given back.
var release = cilium.OperatorConfig{ReleaseExcessIPs: true, ReleaseDelay: cilium.DefaultReleaseDelay}

// giveENIs runs cilium-operator's part in mode eni until ctx ends, which is no error.
func (f *controllerFlags) giveENIs(ctx context.Context, lease *kube.Lease, log *slog.Logger) error {
	account, err := aws.Open(ctx, aws.Config{Log: log})
	if err != nil {
		return cli.CannotRun(fmt.Errorf("controller: %w", err))
	}
	cfg := f.enis(func(ctx context.Context, id string) (kube.Machine, error) { return account.Client(ctx, id) })
	return f.operateOn(ctx, kube.AddressOperatorNeeds(lease.Namespace, false), log, func(c *kube.Connection) kube.OperatorConfig {
		return kube.OperatorConfig{Lease: lease, Log: log, Addresses: c.ENIAddresses(cfg), Release: release}
	})
}

// enis is how addresses of EC2 are asked for.
func (f *controllerFlags) enis(machine func(ctx context.Context, id string) (kube.Machine, error)) kube.ENIAddressesConfig {
	return kube.ENIAddressesConfig{Prefixes: f.prefixes, Machine: machine}
}

// The longest range of --type crd, and how many addresses all of them may have: a ConfigMap has 1 MiB, and an address of a node takes 18
// bytes of it at most.
const longestRange, bookMost = 30, 1 << 15

// operateOn runs an operator, which has to have needs, on a connection of its own until ctx ends.
func (f *controllerFlags) operateOn(ctx context.Context, needs []kube.Need, log *slog.Logger, config func(*kube.Connection) kube.OperatorConfig) error {
	c, requests, err := dialKubernetes(ctx, "controller", f.kubeconfig, needs, log)
	if err != nil {
		return err
	}
	cfg := config(c)
	o, err := c.Operator(cfg)
	if err != nil {
		return cli.Usagef("controller: %w", oneline.Error(err))
	}
	return f.run(ctx, running{cfg.Lease, c, requests, needs, o, log})
}
