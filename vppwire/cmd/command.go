package cmd

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Commands are the commands of this package. save writes what was judged into a folder, in every format that this
// program has.
func Commands(save func(dir string, j Judgement) error) []*cobra.Command {
	return append(nodeCommands(), controllerCommand(), auditCommand(save), conformanceCommand(save))
}

// cannotRun are the errors that say that this machine, or its cluster, as it is now, cannot run an agent or a
// controller.
var cannotRun = append([]error{rest.ErrInUse, kube.ErrNotReady, kube.ErrRival, kube.ErrSilent, fs.ErrNotExist, fs.ErrPermission}, nodeCannotRun...)

// judged gives an error that stopped an agent or a controller its code.
func judged(command string, err error) error {
	if err == nil || cli.Coded(err) {
		return err
	}
	for _, known := range cannotRun {
		if errors.Is(err, known) {
			return cli.CannotRun(oneline.Error(fmt.Errorf("%s: %w", command, err)))
		}
	}
	return cli.Broken(oneline.Error(fmt.Errorf("%s: %w", command, err)))
}
