package cmd

import (
	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/host/cnisocket"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
	"github.com/vppdrill/vppdrill/vppwire/internal/vpp"
)

// nodeCommands run on a cluster's nodes.
func nodeCommands() []*cobra.Command { return []*cobra.Command{agentCommand(), ipamdCommand()} }

// nodeCannotRun are the errors that say that this node, as it is now, cannot run them.
var nodeCannotRun = []error{vpp.ErrAbsent, vpp.ErrForbidden, vpp.ErrIncompatible, journal.ErrLocked, cnisocket.ErrInUse,
	aws.ErrNoMetadata, ipamd.ErrLocked, vppwire.ErrNoNamespace}
