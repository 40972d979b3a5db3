//go:build linux

package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// ipamdFlags are the command line of `vppdrill ipamd`; what upstream's daemon reads from its environment is read from there.
type ipamdFlags struct {
	checkpoint, pods, introspection, setUp string
	format                                 cli.Format
	level                                  string
}

// defaultPods is where CNI plugins find the daemon.
const defaultPods = "unix:/run/vppdrill/ipamd.sock"

func ipamdCommand() *cobra.Command {
	f := &ipamdFlags{}
	c := &cobra.Command{
		Use:   "ipamd",
		Short: "Run AWS VPC CNI's address daemon on an EC2 instance",
		Long: `Keep addresses of EC2 warm on this instance and give them to pods, as ipamd of the AWS VPC CNI does, with its checkpoint file.
The environment has upstream's names: WARM_ENI_TARGET, WARM_IP_TARGET, MINIMUM_IP_TARGET, WARM_PREFIX_TARGET, MAX_ENI,
ENABLE_PREFIX_DELEGATION, ENABLE_SUBNET_DISCOVERY and IP_COOLDOWN_PERIOD. New interfaces are in the subnet with most free
addresses of the primary interface's and those tagged kubernetes.io/role/cni=1. Region, credentials and endpoints come from
where all AWS programs find them. The instance's role needs ec2:DescribeNetworkInterfaces, DescribeSubnets,
DescribeInstanceTypes, CreateNetworkInterface, CreateTags, AttachNetworkInterface, ModifyNetworkInterfaceAttribute,
DetachNetworkInterface, DeleteNetworkInterface, AssignPrivateIpAddresses and UnassignPrivateIpAddresses.

--introspection shows /v1/enis, /v1/pods, /v1/ipamd-env-settings and /v1/networkutils-env-settings as upstream does, and
/metrics, /healthz and /readyz. --pods takes POST /v1/add, /v1/check, /v1/del and /v1/gc, with a body as
{"networkName": "aws-cni", "containerID": "0f3a", "ifName": "eth0"}. "PROGRAM ENI" of --set-up makes the host ready for an
interface before pods get its addresses; without it that is another program's affair. Custom networking, branch interfaces
and IPv6 are not built, and refused.

While the checkpoint cannot be read, pods wait and nothing is written. Exit codes: 0 stopped, 1 it failed, 2 bad usage,
3 this is no EC2 instance, or another ipamd runs.`,
		Example: `  vppdrill ipamd
  WARM_IP_TARGET=5 MINIMUM_IP_TARGET=10 vppdrill ipamd --checkpoint /var/run/aws-node/ipam.json
  vppdrill lab ec2   # in another terminal: a modelled EC2 to try it on, and the environment for it`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("ipamd: takes no arguments, only flags; %q is one; see vppdrill ipamd --help", args[0])
			}
			log, err := logger("ipamd", cmd.ErrOrStderr(), f.format, f.level)
			if err != nil {
				return err
			}
			settings, err := ipamdSettings("ipamd", os.LookupEnv)
			if err != nil {
				return err
			}
			for flag, where := range map[string]string{"--introspection": f.introspection, "--pods": f.pods} { // in any order: one is told of
				if err := rest.Check(where); where != "" && err != nil {
					return cli.Usagef("ipamd: %s: %w", flag, err)
				}
			}
			if f.pods == "" || f.checkpoint == "" {
				return cli.Usagef("ipamd: --pods and --checkpoint cannot be empty")
			}
			return judged("ipamd", f.run(cmd.Context(), settings, log))
		},
	}
	f.add(c.Flags())
	return c
}

func (f *ipamdFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.checkpoint, "checkpoint", "/var/run/aws-node/ipam.json", "`file` of the pods' addresses, in upstream's format")
	flags.StringVar(&f.pods, "pods", defaultPods, "loopback `address` or unix:PATH for those who wire pods")
	flags.StringVar(&f.introspection, "introspection", ipamd.IntrospectionAddress, "loopback `address` or unix:PATH of introspection and metrics; empty: none")
	flags.StringVar(&f.setUp, "set-up", "", "`program` that makes the host ready for an interface, run as PROGRAM ENI")
	f.format = cli.Text
	flags.Var(&f.format, "format", "logs as text or json")
	flags.StringVar(&f.level, "log-level", "info", "lowest `level` to log: debug, info, warn, error")
}

// settingsOfIPAMD are the environment's, read.
type settingsOfIPAMD struct {
	targets    datastore.Targets
	enisMax    int // 0: the instance type's
	delegation bool
	discovery  bool
	cooling    time.Duration
}

// notBuilt are switches of upstream's whose behaviour this daemon does not have.
var notBuilt = []struct{ name, what string }{
	{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "custom networking"}, {"ENABLE_POD_ENI", "branch interfaces"}, {"ENABLE_IPv6", "IPv6"},
}

// ipamdSettings reads the environment. What upstream would pass over is refused.
func ipamdSettings(command string, lookup func(name string) (string, bool)) (s settingsOfIPAMD, err error) {
	number := func(name string, least, absent int) int {
		text, set := lookup(name)
		if !set || text == "" {
			return absent
		}
		n, bad := strconv.Atoi(text)
		if (bad != nil || n < least) && err == nil {
			err = cli.Usagef("%s: %s=%q: want a number from %d", command, name, text, least)
		}
		return n
	}
	flag := func(name string, absent bool) bool {
		text, set := lookup(name)
		if !set || text == "" {
			return absent
		}
		on, bad := strconv.ParseBool(text)
		if bad != nil && err == nil {
			err = cli.Usagef("%s: %s=%q: want true or false", command, name, text)
		}
		return on
	}
	for _, name := range [...]string{"WARM_IP_TARGET", "MINIMUM_IP_TARGET", "WARM_ENI_TARGET", "WARM_PREFIX_TARGET"} {
		number(name, 0, 0)
	}
	s.targets = datastore.ParseTargets(func(name string) string { text, _ := lookup(name); return text })
	s.enisMax = number("MAX_ENI", 1, 0)
	s.delegation = flag("ENABLE_PREFIX_DELEGATION", false)
	s.discovery = flag("ENABLE_SUBNET_DISCOVERY", true)
	s.cooling = time.Duration(number("IP_COOLDOWN_PERIOD", 1, int(datastore.CoolingPeriod/time.Second))) * time.Second
	for _, n := range notBuilt {
		if flag(n.name, false) && err == nil {
			err = cli.Usagef("%s: %s=true: %s is not built; remove it", command, n.name, n.what)
		}
	}
	return s, err
}

// shown are the settings as introspection shows them.
func (s settingsOfIPAMD) shown(enisMax int) map[string]any {
	return map[string]any{
		"WARM_ENI_TARGET": s.targets.WarmENI, "WARM_IP_TARGET": s.targets.WarmIP, "MINIMUM_IP_TARGET": s.targets.MinimumIP, "WARM_PREFIX_TARGET": s.targets.WarmPrefix,
		"MAX_ENI": enisMax, "ENABLE_PREFIX_DELEGATION": s.delegation, "ENABLE_SUBNET_DISCOVERY": s.discovery, "IP_COOLDOWN_PERIOD": int(s.cooling / time.Second),
		"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": false, "ENABLE_POD_ENI": false, "ENABLE_IPv6": false,
	}
}

// sizing is what the settings and the instance's limits make of the pool.
func (s settingsOfIPAMD) sizing(ctx context.Context, cloud *aws.Client) (datastore.Sizing, error) {
	limits, err := cloud.Limits(ctx)
	if err != nil {
		return datastore.Sizing{}, err
	}
	most := limits.ENIs
	if s.enisMax > 0 {
		most = min(most, s.enisMax)
	}
	return datastore.Sizing{Targets: s.targets, ENIsMax: most, UnitsPerENI: limits.IPv4PerENI - 1, PrefixDelegation: s.delegation}, nil
}

// run runs the daemon until ctx ends, which is no error.
func (f *ipamdFlags) run(ctx context.Context, s settingsOfIPAMD, log *slog.Logger) (err error) {
	dirs := []string{filepath.Dir(f.checkpoint)}
	if path, is := strings.CutPrefix(f.pods, "unix:"); is {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	lock, err := ipamd.Lock(f.checkpoint)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	var d *ipamd.Daemon
	cloud, err := aws.Connect(ctx, aws.Config{SubnetDiscovery: s.discovery, SetUp: f.setUpENI(log), Log: log,
		Requested: func(name string, took time.Duration, err error) {
			if d != nil { // before there is one, limits are asked for
				d.Metrics().Requested(name, took, err)
			}
		}})
	if err != nil {
		return err
	}
	sizing, err := s.sizing(ctx, cloud)
	if err != nil {
		return err
	}
	d = ipamd.New(ipamd.Config{Cloud: cloud, Checkpoint: datastore.NewJSONFile(ipamd.Disk{}, f.checkpoint), Cooling: s.cooling,
		Sizing: sizing, Settings: s.shown(sizing.ENIsMax), Log: log})
	parts, err := serving(f.pods, d.Pods(), log)
	if err != nil {
		return err
	}
	shown, err := serving(f.introspection, d.Introspection(), log)
	if err != nil {
		// the socket goes as it does at the end
		return untilOneEnds(ctx, parts[0], func(context.Context) error { return err })
	}
	i := cloud.Instance()
	log.Info("ipamd", "instance", i.ID, "type", i.Type, "enis", sizing.ENIsMax, "addresses", sizing.UnitsPerENI, "checkpoint", f.checkpoint)
	if err := untilOneEnds(ctx, append(append(parts, shown...), d.Run)...); err != nil {
		return err
	}
	log.Info("stopped; pods keep their addresses")
	return nil
}

// setUpENI runs the program of --set-up, which sees no credentials.
func (f *ipamdFlags) setUpENI(log *slog.Logger) func(ctx context.Context, eni string) error {
	if f.setUp == "" {
		return nil
	}
	return func(ctx context.Context, eni string) error {
		cmd := exec.CommandContext(ctx, f.setUp, eni)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		cmd.WaitDelay = time.Second
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %s: %w: %s", f.setUp, eni, err, oneline.Text(strings.TrimSpace(string(out))))
		}
		log.Debug("set up", "eni", eni)
		return nil
	}
}
