//go:build linux

package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/host/hookprogram"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Defaults of flags. The REST address is the one that contiv/vpp's telemetry asks at.
const (
	defaultVPPSocket = "/run/vpp/api.sock"
	defaultJournal   = "/var/lib/vppdrill/journal"
	defaultCNISocket = "/run/vppdrill/cni.sock"
	defaultEtcd      = "http://127.0.0.1:2379"
	defaultREST      = "127.0.0.1:9999"
	defaultPatience  = 30 * time.Second
)

// agentFlags are the command line of `vppdrill agent`.
type agentFlags struct {
	config, node                   string
	vppSocket, journal, cniSocket  string
	netns                          string
	etcd, etcdPrefix               string
	register                       bool
	cluster                        clusterFlags
	rest                           string
	patience, callTime, reuseDelay time.Duration
	returnNIC                      bool
	format                         cli.Format
	level                          string
	plan                           bool
	install                        installFlags
}

func agentCommand() *cobra.Command {
	f := &agentFlags{}
	c := &cobra.Command{
		Use:   "agent",
		Short: "Run the node agent, which gives pods addresses and wires them to VPP",
		Long: `Run one node's agent. It answers the CNI plugin on a unix socket, keeps its records in a journal, and wires pods, node and
peers in VPP and Linux. It finds its node ID and its peers in etcd, or with --cluster kubernetes at the API server. Stopping
it leaves the dataplane unchanged; starting it again changes only what differs. --plan prints what a running agent wants
and what is there instead.

Exit codes: 0 stopped, 1 it failed, 2 bad usage or configuration, 3 this machine cannot run it now.`,
		Example: `  vppdrill agent --config contiv.yaml --node node-1 --etcd http://127.0.0.1:2379
  vppdrill agent --config contiv.yaml --etcd embedded:/var/lib/vppdrill/etcd --register
  vppdrill agent --config contiv.yaml --cluster kubernetes --kubeconfig /etc/kubernetes/kubelet.conf --ipam external
  vppdrill agent --plan --rest 127.0.0.1:9999`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("agent: takes no arguments, only flags; %q is one; see vppdrill agent --help", args[0])
			}
			if err := f.idle(cmd.Flags()); err != nil {
				return err
			}
			if f.plan {
				return showPlan(cmd.Context(), f.rest, cmd.OutOrStdout())
			}
			o, err := f.options(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return judged("agent", runConfigured(cmd.Context(), o))
		},
	}
	f.add(c.Flags())
	return c
}

func (f *agentFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.config, "config", agent.ContivConfigPath, "configuration `file` in Contiv's format")
	flags.StringVar(&f.node, "node", "", "this node's Kubernetes `name`; empty: NodeName of the configuration, or the host's name")
	flags.StringVar(&f.vppSocket, "vpp-socket", defaultVPPSocket, "VPP's binary API `socket`")
	flags.StringVar(&f.journal, "journal", defaultJournal, "`file` of the agent's records")
	flags.StringVar(&f.cniSocket, "cni-socket", defaultCNISocket, "`socket` for the CNI plugin")
	flags.StringVar(&f.netns, "netns", "", "network namespace `path` that counts as the host's own; empty: the agent's")
	flags.StringVar(&f.etcd, "etcd", defaultEtcd, "etcd's `URLs`, separated by commas; embedded:DIR runs one member in the agent")
	flags.StringVar(&f.etcdPrefix, "etcd-prefix", etcd.DefaultPrefix, "`prefix` of every key in etcd")
	flags.BoolVar(&f.register, "register", false, "write this node's object into etcd, where no other program does")
	f.cluster.add(flags)
	f.install.add(flags)
	flags.StringVar(&f.rest, "rest", defaultREST, "loopback `address` or unix:PATH of the REST server; empty: none")
	flags.DurationVar(&f.patience, "vpp-patience", defaultPatience, "how long VPP may be away at the start; 0: indefinitely")
	flags.BoolVar(&f.returnNIC, "return-nic", false, "give the host back the NIC that VPP has taken (StealInterface) when the agent is asked to end")
	flags.DurationVar(&f.callTime, "call-timeout", 0, "how long VPP may be silent before an answer counts as lost; 0: 10s")
	flags.DurationVar(&f.reuseDelay, "reuse-delay", 0, "cool-down of a released address, with --ipam contiv or nodeipam")
	f.format = cli.Text
	flags.Var(&f.format, "format", "logs as text or json")
	flags.StringVar(&f.level, "log-level", "info", "lowest `level` to log: debug, info, warn, error")
	flags.BoolVar(&f.plan, "plan", false, "print what a running agent wants and what is there, and exit")
}

// options checks the flags and reads the configuration; nothing is changed.
func (f *agentFlags) options(errOut io.Writer) (options, error) {
	o := options{agentFlags: *f}
	var err error
	if o.log, err = logger("agent", errOut, f.format, f.level); err != nil {
		return o, err
	}
	for _, d := range [...]struct {
		flag  string
		value time.Duration
	}{{"vpp-patience", f.patience}, {"call-timeout", f.callTime}, {"reuse-delay", f.reuseDelay}} {
		if d.value < 0 {
			return o, cli.Usagef("agent: --%s %s is negative", d.flag, d.value)
		}
	}
	if err := rest.Check(f.rest); f.rest != "" && err != nil {
		return o, cli.Usagef("agent: --rest: %w", err)
	}
	yaml, err := inputfile.Read(f.config)
	if err != nil {
		return o, cli.Usagef("agent: --config: %w", err)
	}
	if o.cfg, err = agent.ParseConfig(f.config, yaml); err != nil {
		return o, cli.BadInput(oneline.Error(fmt.Errorf("agent: %w", err)))
	}
	switch file := o.cfg.NodeName; {
	case o.node != "" && file != "" && o.node != file:
		return o, cli.Usagef("agent: --node %s, and %s says NodeName %s: give one of them", o.node, f.config, file)
	case o.node != "":
	case file != "":
		o.node = file
	default:
		if o.node, err = os.Hostname(); err != nil {
			return o, cli.Usagef("agent: --node is needed: %w", err)
		}
	}
	o.cfg.NodeName = o.node
	if !kube.IsNodeName(o.node) {
		return o, cli.Usagef("agent: --node %q is no name of a Kubernetes node: want lower case letters, digits, hyphens and dots, such as node-1", o.node)
	}
	if f.returnNIC && !o.cluster.nodeConfigs && !o.cfg.StealFirstNIC && o.cfg.StealInterface == "" &&
		!slices.ContainsFunc(o.cfg.NodeConfig, func(n agent.NodeConfig) bool { return n.StealInterface != "" }) {
		return o, cli.Usagef("agent: --return-nic gives back what StealInterface took, and %s takes none: leave it out", f.config)
	}
	if err := hookprogram.Check(o.cfg.Hooks); err != nil {
		return o, cli.Usagef("agent: %s: %w", f.config, err)
	}
	if o.cfg.GRPCSocket != "" && o.cfg.GRPCSocket == path.Clean(o.cniSocket) {
		return o, cli.Usagef("agent: GRPCSocket %s of %s is the CNI plugin's: name another file", o.cfg.GRPCSocket, f.config)
	}
	if err := checkEtcd(o.etcd); err != nil && o.cluster.kind == clusterEtcd {
		return o, err
	}
	if info, err := os.Stat(o.journal); err == nil && !info.Mode().IsRegular() {
		return o, cli.Usagef("agent: --journal %s is a folder or a device: name a file, which the agent makes", o.journal)
	}
	if err := o.cluster.check(&o.cfg); err != nil {
		return o, err
	}
	if err := o.cluster.rests(o.reuseDelay); err != nil {
		return o, err
	}
	o.install.conflist, err = o.install.check(f.cniSocket)
	return o, err
}

// checkEtcd refuses what is neither URLs of etcd's members nor embedded:DIR.
func checkEtcd(text string) error {
	if dir, embedded := strings.CutPrefix(text, "embedded:"); embedded {
		if dir == "" {
			return cli.Usagef("agent: --etcd embedded: wants a folder behind the colon")
		}
		return nil
	}
	for _, one := range strings.Split(text, ",") {
		if host, port, err := net.SplitHostPort(one); err == nil && host != "" && port != "" {
			continue
		}
		switch u, err := url.Parse(one); {
		case err != nil || u.Host == "" && u.Path == "" || !slices.Contains([]string{"http", "https", "unix", "unixs"}, u.Scheme):
			return cli.Usagef("agent: --etcd %q is no URL of etcd: want http://HOST:PORT, https://HOST:PORT, unix:PATH or embedded:DIR", one)
		}
	}
	return nil
}

// etcdFlags are those that mean something with --cluster etcd.
var etcdFlags = []string{"etcd", "etcd-prefix", "register"}

// installedFlags are those that mean something where the agent installs its plugin.
var installedFlags = []string{"cni-conf-name", "cni-version", "cni-host-socket"}

// idle refuses flags that are given and change nothing.
func (f *agentFlags) idle(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(given *pflag.Flag) {
		switch name := given.Name; {
		case err != nil:
		case f.plan && name != "plan" && name != "rest":
			err = cli.Usagef("agent: --%s is for an agent that runs, and --plan asks the one at --rest %s: leave out one of the two", name, f.rest)
		case f.cluster.kind == clusterKubernetes && slices.Contains(etcdFlags, name):
			err = cli.Usagef("agent: --%s is for --cluster etcd", name)
		case len(modesOf[name]) > 0 && !slices.Contains(modesOf[name], f.cluster.ipam):
			err = cli.Usagef("agent: --%s is for --ipam %s", name, strings.Join(modesOf[name], ", "))
		case f.install.binDir == "" && f.install.confDir == "" && slices.Contains(installedFlags, name):
			err = cli.Usagef("agent: --%s goes with --cni-bin-dir and --cni-conf-dir: it is about what is installed there", name)
		}
	})
	return err
}

// planTime is how long an agent may take to show its plan.
const planTime = 10 * time.Second

// showPlan prints the plan of the agent that serves REST at an address.
func showPlan(ctx context.Context, where string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, planTime)
	defer cancel()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		network, address := "tcp", where
		if path, ok := strings.CutPrefix(where, "unix:"); ok {
			network, address = "unix", path
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://agent/plan", nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return cli.CannotRun(fmt.Errorf("agent: no agent shows its plan at %s: %w", where, errors.Unwrap(err)))
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or the error tells
	if resp.StatusCode != http.StatusOK {
		return cli.CannotRun(fmt.Errorf("agent: the agent at %s says %s", where, resp.Status))
	}
	_, err = io.Copy(out, resp.Body)
	return err
}
