//go:build linux

package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// installFlags say where the agent puts its CNI plugin, if anywhere.
type installFlags struct {
	binDir, confDir, name, version, socket string
	portMap                                bool
	// conflist is the configuration's text.
	conflist []byte
}

func (f *installFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.binDir, "cni-bin-dir", "", "`folder` of the runtime's plugins, into which the agent copies this program; needs --cni-conf-dir")
	flags.StringVar(&f.confDir, "cni-conf-dir", "", "`folder` of the runtime's network configurations, into which the agent writes its own once pods can be added; empty: nothing is installed")
	flags.StringVar(&f.name, "cni-conf-name", "05-vppdrill", "`name` of the configuration's file before .conflist; runtimes take the first in order")
	flags.StringVar(&f.version, "cni-version", "", "`version` of the CNI specification in the configuration, for older runtimes; empty: the newest")
	flags.StringVar(&f.socket, "cni-host-socket", "", "`socket` for the CNI plugin, where its path differs on the host; empty: that of --cni-socket")
	flags.BoolVar(&f.portMap, "cni-portmap", false, "use the reference plugin portmap for host ports")
}

// check completes the flags and makes the configuration.
func (f *installFlags) check(socket string) ([]byte, error) {
	if (f.binDir == "") != (f.confDir == "") {
		return nil, cli.Usagef("agent: --cni-bin-dir and --cni-conf-dir go together")
	}
	if f.portMap {
		if err := f.checkPortMap(); err != nil {
			return nil, err
		}
	}
	if f.socket == "" {
		f.socket = socket
	}
	text, err := cni.Conflist{CNIVersion: f.version, AgentSocket: f.socket, PortMap: f.portMap}.JSON()
	if err != nil {
		return nil, cli.Usagef("agent: --cni-version %q: %w", f.version, err)
	}
	return text, nil
}

// portMapPlugin is the reference plugin's file.
const portMapPlugin = "portmap"

// checkPortMap refuses a node on which no pod would start: runtimes call every plugin that the configuration names.
func (f *installFlags) checkPortMap() error {
	if f.binDir == "" {
		return cli.Usagef("agent: --cni-portmap goes with --cni-bin-dir and --cni-conf-dir: it is a part of what is installed there")
	}
	_, err := os.Stat(filepath.Join(f.binDir, portMapPlugin))
	if err == nil {
		return nil
	}
	return cli.CannotRun(fmt.Errorf("agent: --cni-portmap: no pod would start without the reference plugin: %w: `apt-get install kubernetes-cni` on the node, or leave "+
		"the flag out, and hostPort is without effect", err))
}

// readyPause is between two looks at an agent that is not ready yet.
const readyPause = 100 * time.Millisecond

// whenReady installs the plugin once the agent can take an ADD: kubelets take a node for ready from the moment that it
// is there. It is left in place when the agent ends, as a node whose agent is started again stays a node.
func (f *installFlags) whenReady(ctx context.Context, d *host.Driver, log *slog.Logger) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for {
		a, err := d.Request(ctx, func(n uint64) agent.Event { return agent.PodStatus{Request: n} })
		switch {
		case ctx.Err() != nil || errors.Is(err, host.ErrStopped):
			return nil
		case err != nil:
			return err
		case a.Code == agent.CodeOK:
			if err := cni.Install(self, f.binDir, f.confDir, f.name, f.conflist); err != nil {
				return err
			}
			log.Info("the CNI plugin is installed", "bin", f.binDir, "conf", f.confDir)
			return nil
		}
		log.Debug("not ready for pods yet", "why", a.Message)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(readyPause):
		}
	}
}
