package cmd

import (
	"context"
	"log/slog"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// tend runs Calico's controllers' part in IPAM until ctx ends, which is no error.
func (f *controllerFlags) tend(ctx context.Context, lease *kube.Lease, log *slog.Logger) error {
	needs := kube.CalicoControllerNeeds(lease.Namespace)
	c, requests, err := dialKubernetes(ctx, "controller", f.kubeconfig, needs, log)
	if err != nil {
		return err
	}
	tender, err := c.CalicoController(kube.CalicoControllerConfig{Grace: calico.DefaultGrace, Lease: lease, Log: log})
	if err != nil {
		return cli.Usagef("controller: %w", oneline.Error(err))
	}
	return f.run(ctx, running{lease, c, requests, needs, tender, log})
}
