package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// dialKubernetes connects a command, has its requests counted, and checks what it may do. Once that is known, a server that
// refuses is asked again for as long as it takes.
func dialKubernetes(ctx context.Context, command, kubeconfig string, needs []kube.Need, log *slog.Logger) (*kube.Connection, host.Requests, error) {
	requests := host.NewRequests()
	c, err := kube.Dial(kubeconfig, "vppdrill-"+command, log)
	if err != nil {
		return nil, requests, cli.Usagef("%s: %w", command, err)
	}
	c.OnRequest(requests.Asked)
	c.TellClock(nil)
	err = c.Check(ctx, needs, "")
	if errors.Is(err, kube.ErrNotReady) || errors.Is(err, kube.ErrUnauthorized) {
		return nil, requests, cli.CannotRun(fmt.Errorf("%s: %w", command, err))
	}
	c.TellRefusals()
	return c, requests, err
}
