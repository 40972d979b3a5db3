//go:build linux

package cmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/cnisocket"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/remotecni"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/host/hookprogram"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/linux"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
	"github.com/vppdrill/vppdrill/vppwire/internal/embedded"
)

// options are an agent's flags, checked, with its configuration.
type options struct {
	agentFlags
	cfg agent.Config
	log *slog.Logger
}

// host is what flags and file alone say of the driver.
func (o options) host() host.Config {
	return host.Config{Agent: o.cfg, VPP: host.Socket(o.vppSocket), CallTimeout: o.callTime, VPPPatience: o.patience, Log: o.log}
}

// run runs an agent until ctx ends, which is no error.
func run(ctx context.Context, o options) (err error) {
	closing := func(what func() error) { err = errors.Join(err, what()) }
	if folder := o.cfg.MemifFolder; folder != "" {
		if err := linux.CheckMemifFolder(folder); err != nil {
			return cli.Usagef("agent: MemifFolder: %w: name a folder of this user's that the agent may make", err)
		}
	}
	for _, path := range [...]string{o.journal, o.cniSocket, cmp.Or(o.cfg.GRPCSocket, o.cniSocket), cmp.Or(o.cfg.MemifFolder, o.cniSocket)} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
	}
	j, records, err := journal.Open(o.journal)
	if errors.Is(err, agent.ErrNewer) {
		return cli.Usagef("agent: %w: start the version that has written it", err)
	}
	if err != nil {
		return err
	}
	defer closing(j.Close)
	found := j.Found()
	if found.Damage != nil {
		o.log.Error("the journal was damaged; what stands before the damage counts", "error", found.Damage, "kept", found.Quarantine)
	} else if found.Cut > 0 {
		o.log.Warn("the journal ended within a write, which was cut off", "bytes", found.Cut)
	}
	if found.Unknown != nil {
		o.log.Warn("the journal has records that only a newer version knows; they are left out", "error", found.Unknown)
	}
	boot, err := host.BootID()
	if err != nil {
		return err
	}
	machine, err := linux.New(o.netns)
	if err != nil {
		return err
	}
	defer closing(machine.Close)
	machine.MemifFolder = o.cfg.MemifFolder
	alloc, err := o.cluster.allocator(o.reuseDelay)
	if err != nil {
		return err
	}
	facts, err := join(ctx, o, alloc, machine)
	if err != nil {
		return err
	}
	defer closing(facts.stop)
	c := o.host()
	c.Allocator, c.Journal, c.Records, c.Boot, c.Linux, c.HostAddresses = alloc, j, records, boot, machine, machine
	c.Store, c.Cluster, c.Events, c.Stepped = facts.store, facts.cluster, facts.events, facts.stepped
	if o.cfg.Hooks.Any() {
		c.Hooks = (&hookprogram.Programs{Node: o.node, Of: o.cfg.Hooks, Log: o.log}).Run
	}
	var addresses *ipamd.Requester // of EC2
	if node, ok := alloc.(*datastore.Node); ok {
		if addresses, err = warm(ctx, o, node, &c); err != nil {
			return err
		}
	}
	p, err := contiv.NewPlugin(c)
	if err != nil {
		return err
	}
	return serve(ctx, o, p, facts, addresses)
}

// warm has EC2 give an agent its addresses: what the agent hears of its cluster, and its steps, pass by the requester.
func warm(ctx context.Context, o options, node *datastore.Node, c *host.Config) (*ipamd.Requester, error) {
	var r *ipamd.Requester
	settings := o.cluster.ec2
	cloud, err := aws.Connect(ctx, aws.Config{SubnetDiscovery: settings.discovery, Log: o.log, Requested: func(name string, took time.Duration, err error) {
		if r != nil { // before there is one, limits are asked for
			r.Metrics().Requested(name, took, err)
		}
	}})
	if err != nil {
		return nil, err
	}
	sizing, err := settings.sizing(ctx, cloud)
	if err != nil {
		return nil, err
	}
	r = ipamd.NewRequester(ipamd.RequesterConfig{Cloud: cloud, Sizing: sizing, Node: o.node, Alloc: node, Settings: settings.shown(sizing.ENIsMax), Log: o.log})
	c.Cluster = r.Cluster(c.Cluster)
	others := c.Stepped
	c.Stepped = func(now time.Time, a *agent.Agent, effects []agent.Effect) {
		if others != nil {
			others(now, a, effects)
		}
		r.Stepped(now)
	}
	return r, nil
}

// connect reaches etcd, or runs it; stop lets it go.
func connect(ctx context.Context, o options) (c *etcd.Client, stop func() error, err error) {
	endpoints := strings.Split(o.etcd, ",")
	var member *embedded.Server
	if dir, ok := strings.CutPrefix(o.etcd, "embedded:"); ok {
		if member, err = embedded.Start(ctx, dir, "127.0.0.1:0"); err != nil {
			return nil, nil, err
		}
		endpoints = []string{member.Endpoint()}
		o.log.Info("etcd runs in this process", "endpoint", endpoints[0])
	}
	c, err = etcd.Connect(etcd.Config{Endpoints: endpoints, Prefix: o.etcdPrefix, Log: o.log})
	if err != nil {
		if member != nil {
			member.Close()
		}
		return nil, nil, cli.Usagef("agent: %w", err)
	}
	if o.register {
		go register(ctx, o, c)
	}
	return c, func() error {
		err := c.Close()
		if member != nil {
			member.Close()
		}
		return err
	}, nil
}

// registerPause is between attempts to register a node while etcd is away.
const registerPause = time.Second

// register writes this node's object unless there is one.
func register(ctx context.Context, o options, c *etcd.Client) {
	for ctx.Err() == nil {
		once, cancel := context.WithTimeout(ctx, 5*registerPause)
		err := c.RegisterNode(once, o.node, etcd.Node{UID: rand.Text()})
		cancel()
		if err == nil {
			return
		}
		o.log.Debug("the node is not registered yet", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(registerPause):
		}
	}
}

// returnTime is how long the host may take to get its NIC back: a few changes of Linux.
const returnTime = 20 * time.Second

// returning is a context that ends when ctx does, or where flags say so only when the host has its NIC back then.
func (o options) returning(ctx context.Context, d *host.Driver) (later context.Context, end func()) {
	if !o.returnNIC {
		return context.WithCancel(ctx)
	}
	later, end = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer end()
		select {
		case <-later.Done():
			return
		case <-ctx.Done():
		}
		limited, cancel := context.WithTimeout(later, returnTime)
		defer cancel()
		if err := d.ReturnNIC(limited); err != nil && later.Err() == nil {
			o.log.Error("the agent goes all the same", "error", err)
		}
	}()
	return later, end
}

// serve runs the driver, its sockets and what works beside it until one of them ends.
func serve(ctx context.Context, o options, p *contiv.Plugin, facts facts, addresses *ipamd.Requester) error {
	d := p.Driver
	asked := kube.CNI(d)
	if facts.asked != nil {
		asked = facts.asked(d)
	}
	server, err := cnisocket.Listen(o.cniSocket, asked, o.log)
	if err != nil {
		return err
	}
	server.Done = d.Metrics.Requested
	if facts.requests != nil {
		d.Metrics.Registry.MustRegister(*facts.requests)
	}
	shownBy := rest.Config{Agent: d, NodeName: o.node, IPAM: o.cfg.IPAMConfig, Metrics: d.Metrics.Registry, Trouble: facts.trouble}
	if addresses != nil {
		shownBy.Metrics, shownBy.Beside = addresses.Metrics().With(shownBy.Metrics), addresses.Introspection()
	}
	h := rest.Handler(shownBy)
	shown, err := serving(o.rest, h, o.log)
	if err != nil {
		// the CNI socket goes as it does at the end
		return untilOneEnds(ctx, server.Serve, func(context.Context) error { return err })
	}
	parts := append(shown, server.Serve, d.Run)
	if o.cfg.GRPCSocket != "" {
		services, err := remotecni.Listen(o.cfg.GRPCSocket, o.cniSocket, p, o.log)
		if err != nil {
			return untilOneEnds(ctx, append(shown, server.Serve, func(context.Context) error { return err })...)
		}
		parts = append(parts, services.Serve)
		o.log.Info("gRPC", "socket", o.cfg.GRPCSocket)
	}
	if addresses != nil {
		parts = append(parts, func(ctx context.Context) error { addresses.Run(ctx, d); return nil })
	}
	if facts.run != nil {
		parts = append(parts, func(ctx context.Context) error { facts.run(ctx, d); return nil })
	}
	if o.install.confDir != "" {
		parts = append(parts, func(ctx context.Context) error {
			if err := o.install.whenReady(ctx, d, o.log); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
	}
	ctx, end := o.returning(ctx, d)
	defer end()
	o.log.Info("agent", "node", o.node, "cni", o.cniSocket, "vpp", o.vppSocket)
	if err := untilOneEnds(ctx, parts...); err != nil {
		return err
	}
	o.log.Info("stopped; the dataplane stands as it is")
	return nil
}
