package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// dialKubernetes connects a command and checks what it may do. Once that is known, a server that refuses is asked again
// for as long as it takes.
func dialKubernetes(ctx context.Context, command, kubeconfig, userAgent string, needs []kube.Need, log *slog.Logger) (*kube.Connection, error) {
	c, err := kube.Dial(kubeconfig, userAgent, log)
	if err != nil {
		return nil, cli.Usagef("%s: %w", command, err)
	}
	c.TellClock(nil)
	err = c.Check(ctx, needs, "")
	if errors.Is(err, kube.ErrNotReady) || errors.Is(err, kube.ErrUnauthorized) {
		return nil, cli.CannotRun(fmt.Errorf("%s: %w", command, err))
	}
	c.TellRefusals()
	return c, err
}
