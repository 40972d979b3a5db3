//go:build linux

package cmd

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Events about a node whose NodeConfig resource has changed.
const (
	reasonNodeConfigTaken   = "NodeConfigTaken"
	reasonNodeConfigRefused = "NodeConfigRefused"
)

// nodeConfigs are the NodeConfig resources that an agent heeds.
type nodeConfigs struct {
	// file is what the agent's configuration file says.
	file agent.Config
	// copy is where the resources that were taken last are kept, for starts at which the API server does not answer.
	copy string
	log  *slog.Logger
	// taken are those that count now; refused is why others do not, as last reported.
	taken   []agent.NodeConfig
	refused string
	tell    func(agent.Log)
}

// runConfigured runs an agent until ctx ends, and restarts it, in this process and with the dataplane unchanged,
// whenever a NodeConfig resource changes what it does. While it restarts a CNI request finds no socket, as with any
// agent that is exchanged, and is repeated.
func runConfigured(ctx context.Context, o options) error {
	if !o.cluster.nodeConfigs {
		return run(ctx, o)
	}
	c, err := kube.Dial(o.cluster.kubeconfig, "vppdrill-agent", o.log)
	if err != nil {
		return cli.Usagef("agent: %w", err)
	}
	n := &nodeConfigs{file: o.cfg, copy: filepath.Join(filepath.Dir(o.journal), "nodeconfigs.json"), log: o.log, tell: c.Events(ctx, o.node)}
	if n.taken, err = n.kept(); err != nil {
		o.log.Warn("the copy of the NodeConfig resources is of no use", "file", n.copy, "error", err)
	}
	first, err := c.NodeConfigs(ctx)
	if err != nil {
		o.log.Warn("the NodeConfig resources cannot be read; those that were taken last count", "count", len(n.taken), "error", err)
		o.cfg, _, _ = n.file.Override(n.taken, nil)
	} else {
		o.cfg = n.take(first)
	}
	return n.follow(ctx, o, c.FollowNodeConfigs, run)
}

// follow runs agents, one after the other, each with what the resources say when it begins.
func (n *nodeConfigs) follow(ctx context.Context, o options, follow func(context.Context, func(kube.NodeConfigs)), live func(context.Context, options) error) error {
	ctx, end := context.WithCancel(ctx)
	news, followed := make(chan kube.NodeConfigs), make(chan struct{})
	go func() {
		defer close(followed)
		follow(ctx, func(all kube.NodeConfigs) {
			select {
			case news <- all:
			case <-ctx.Done():
			}
		})
	}()
	defer func() { end(); <-followed }()
	for {
		life, over := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func(o options) { ended <- live(life, o) }(o)
		next, err := n.until(ended, news, o.cfg)
		over()
		if next == nil {
			return err
		}
		if err := <-ended; err != nil || ctx.Err() != nil {
			return err
		}
		o.cfg = *next
		n.tell(agent.Log{Level: int(slog.LevelInfo), Reason: reasonNodeConfigTaken, Message: "the agent restarts with changed NodeConfig resources; the dataplane stays"})
		n.log.Info("the agent restarts with changed NodeConfig resources")
	}
}

// until is the configuration that an agent which runs with cfg has to be restarted with; nil when it ended by itself
// before.
func (n *nodeConfigs) until(ended <-chan error, news <-chan kube.NodeConfigs, cfg agent.Config) (*agent.Config, error) {
	for {
		select {
		case err := <-ended:
			return nil, err
		case all := <-news:
			if now := n.take(all); !now.ActsAs(&cfg) {
				return &now, nil
			}
		}
	}
}

// take is the configuration by the file and by resources, which are kept for later. What cannot be taken is reported.
func (n *nodeConfigs) take(all kube.NodeConfigs) agent.Config {
	list := slices.Clone(all.List)
	for _, last := range n.taken {
		if all.Bad[last.NodeName] != nil {
			list = append(list, last) // what was known of the node stays
		}
	}
	cfg, taken, refused := n.file.Override(list, n.taken)
	n.taken = taken
	maps.Copy(refused, all.Bad)
	n.complain(refused)
	if err := n.keep(); err != nil {
		n.log.Warn("the NodeConfig resources cannot be kept for starts without an API server", "file", n.copy, "error", err)
	}
	return cfg
}

// complain reports once what of the own node cannot be taken; other nodes' agents report theirs.
func (n *nodeConfigs) complain(refused map[string]error) {
	text := ""
	if err := refused[n.file.NodeName]; err != nil {
		text = oneline.Error(err).Error()
	}
	if text != "" && text != n.refused {
		n.log.Warn("the NodeConfig resource is left alone", "error", text)
		n.tell(agent.Log{Level: int(slog.LevelWarn), Reason: reasonNodeConfigRefused, Message: "left alone: " + text})
	}
	n.refused = text
}

// keep writes down what was taken.
func (n *nodeConfigs) keep() error {
	text, err := agent.MarshalNodeConfigs(n.taken)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(n.copy), 0o755); err != nil {
		return err
	}
	return cni.Place(n.copy, text, 0o600)
}

// kept is what was written down; nothing where that never happened.
func (n *nodeConfigs) kept() ([]agent.NodeConfig, error) {
	text, err := os.ReadFile(n.copy)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return agent.UnmarshalNodeConfigs(text)
}
