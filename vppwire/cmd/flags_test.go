package cmd

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// flagTry is how a flag is tried.
type flagTry struct {
	value string
	// by is the test, as FILE: NAME, that sees what only sockets, files and servers show; empty: what is built of the
	// flags differs.
	by string
	// but are command lines in which it is not refused and changes nothing, and why that is well.
	but map[string]string
}

// countFlags tries every flag in every command line: it is refused by name, or what is built differs, in one of them at
// least.
func countFlags(t *testing.T, all *pflag.FlagSet, tries map[string]flagTry, lines map[string][]string, built func(args []string) (string, error)) {
	plain := map[string]string{}
	for name, args := range lines {
		var err error
		if plain[name], err = built(args); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	all.VisitAll(func(f *pflag.Flag) {
		try, ok := tries[f.Name]
		if !ok {
			t.Errorf("--%s has no value here", f.Name)
			return
		}
		if try.by != "" {
			file, test, _ := strings.Cut(try.by, ": ")
			text, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(text, []byte("func "+test+"(")) || !bytes.Contains(text, []byte(`"--`+f.Name+`"`)) {
				t.Errorf("--%s: %s does not give it: %v", f.Name, try.by, err)
			}
		}
		counted := try.by != ""
		for name, args := range lines {
			after, err := built(append(args[:len(args):len(args)], "--"+f.Name+"="+try.value))
			switch code, line := cli.Code(err); {
			case err != nil && (code != cli.ExitUsage || !strings.Contains(line, "--"+f.Name)):
				t.Errorf("--%s %s, %s: refused without its name: %d %s", f.Name, try.value, name, code, line)
			case err != nil || try.by != "":
			case after != plain[name]:
				counted = true
			case try.but[name] == "":
				t.Errorf("--%s %s, %s: accepted, and changes nothing", f.Name, try.value, name)
			}
		}
		if !counted {
			t.Errorf("--%s %s changes nothing anywhere", f.Name, try.value)
		}
	})
	if n := strings.Count(all.FlagUsages(), "\n"); n < len(tries) {
		t.Errorf("%d flags are tried, and there are %d", len(tries), n)
	}
}

// times are what differs from line to line of a log.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[^ "]*`)

// logLines is what a log becomes of one line of each level.
func logLines(log *slog.Logger, out *bytes.Buffer) string {
	log.Debug("said")
	log.Info("said")
	return times.ReplaceAllString(out.String(), "")
}

// Goal: no flag of the agent is accepted that changes nothing. Method: every flag of the command by reflection, with
// other flags beside it that decide whether it means something. What the command would run with is compared: the
// driver's configuration, what gives addresses and how soon again, what is asked of the API server, the installed
// files, and the log.
func TestAgentFlagsCount(t *testing.T) {
	dir := shortDir(t)
	config, other := filepath.Join(dir, "contiv.yaml"), filepath.Join(dir, "other.yaml")
	for path, more := range map[string]string{config: "", other: ", MTUSize: 1450"} {
		must(t, os.WriteFile(path, []byte("{TCPstackDisabled: true, IPAMConfig: {nodeInterconnectCIDR: 192.168.16.0/24}"+more+"}"), 0o600))
	}
	base := []string{"--config", config}
	line := func(more ...string) []string { return append(base[:len(base):len(base)], more...) }
	here := func(test string) string { return test + "_test.go: " }
	f := &agentFlags{}
	all := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	f.add(all)
	countFlags(t, all, map[string]flagTry{
		"config": {value: other}, "node": {value: "another"}, "vpp-socket": {value: "/run/other.sock"},
		"journal": {value: "/tmp/j", by: here("agent") + "TestRefusals"}, "cni-socket": {value: "/run/c.sock", by: here("agent") + "TestRefusals"},
		"netns": {value: "/run/netns/x", by: here("agent") + "TestRefusals"}, "etcd": {value: "http://127.0.0.1:1", by: here("real") + "TestRealVPP"},
		"etcd-prefix": {value: "/x/", by: here("agent") + "TestRefusals"}, "register": {value: "true", by: here("real") + "TestRealVPP"},
		"cluster": {value: "kubernetes", but: map[string]string{"at an API server": "it is that", "blocks that are asked for": "it is that", "addresses that are asked for": "it is that"}}, "kubeconfig": {value: "/x", by: here("notready") + "TestClusterNotReady"},
		"pools": {value: "ns/ranges"}, "node-configs": {value: "true"},
		"ipam":        {value: "external", but: map[string]string{"addresses of another plugin": "it is that"}},
		"cni-bin-dir": {value: filepath.Join(dir, "bin")}, "cni-conf-dir": {value: dir}, "cni-conf-name": {value: "99-last"}, "cni-version": {value: "0.4.0"}, "cni-host-socket": {value: "/run/h.sock"},
		"cni-portmap": {value: "true"}, "return-nic": {value: "true", by: here("agent") + "TestRefusals"},
		"rest": {value: "127.0.0.1:9000", by: here("real") + "TestRealVPP"}, "vpp-patience": {value: "1s"}, "call-timeout": {value: "1s"}, "reuse-delay": {value: "1m"},
		"format": {value: "json"}, "log-level": {value: "debug"}, "plan": {value: "true", by: here("agent") + "TestRefusals"},
		"pre-allocate": {value: "3"}, "min-allocate": {value: "4"}, "max-allocate": {value: "30"}, "max-above-watermark": {value: "2"}, "ipam-expiration": {value: "1m"},
	}, map[string][]string{
		"at etcd": line("--cluster", "etcd"), "at an API server": line("--cluster", "kubernetes"), "addresses of another plugin": line("--ipam", "external"),
		"addresses of Cilium's": line("--ipam", "cluster-pool"), "blocks that are asked for": line("--cluster", "kubernetes", "--ipam", "multi-pool"), "addresses that are asked for": line("--cluster", "kubernetes", "--ipam", "crd"),
		"an installed plugin": line("--cni-bin-dir", dir, "--cni-conf-dir", filepath.Join(dir, "conf")),
	}, func(args []string) (string, error) {
		f := &agentFlags{}
		flags := pflag.NewFlagSet("agent", pflag.ContinueOnError)
		f.add(flags)
		must(t, flags.Parse(args))
		if err := f.idle(flags); err != nil || f.plan {
			return "", err
		}
		must(t, os.WriteFile(filepath.Join(dir, portMapPlugin), nil, 0o700))
		var out bytes.Buffer
		o, err := f.options(&out)
		if err != nil {
			return "", err
		}
		alloc, err := o.cluster.allocator(o.reuseDelay)
		if err != nil {
			return "", err
		}
		c := o.host()
		shown := fmt.Sprintf("%+v %v %v %v %s %T %s", c.Agent, c.VPP, c.CallTimeout, c.VPPPatience, logLines(o.log, &out), alloc, again(t, alloc))
		if slices.Contains(modesOf[flagPreAllocate], o.cluster.ipam) { // what the requesters are made of
			shown += fmt.Sprintf(" %+v %v", o.cluster.marks, o.cluster.expiration)
		}
		if o.cluster.kind == clusterKubernetes {
			shown += fmt.Sprintf(" %+v", kube.AgentNeeds(o.use()))
		}
		if o.install.confDir != "" {
			shown += fmt.Sprint(o.install.binDir, o.install.confDir, o.install.name, string(o.install.conflist))
		}
		return shown, nil
	})
}

// again says how soon a full block of an allocator gives a released address again.
func again(t *testing.T, alloc ipam.NodeAllocator) string {
	now := time.Unix(0, 0)
	_, err := alloc.SetBlocks(now, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/28")})
	must(t, err)
	owner := func(n int) ipam.Owner { return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprint(n), IfName: "eth0"} }
	n := 0
	for ; err == nil; n++ {
		_, _, err = alloc.Allocate(now, owner(n), ipam.Want{})
	}
	if n > 1 {
		alloc.Release(now, owner(0))
		_, _, err = alloc.Allocate(now, owner(n), ipam.Want{})
	}
	return fmt.Sprint(n, err)
}

// Goal: no flag of the controller is accepted that changes nothing. Method: as for the agent, with each type and with
// ranges of one family and of two.
func TestControllerFlagsCount(t *testing.T) {
	all := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	(&controllerFlags{}).add(all)
	lines := map[string][]string{"CloudAllocator": {"--type", "CloudAllocator", "--cloud", "sh"}, "eni": {"--type", typeENI},
		"routes": {"--cluster-cidr", "10.0.0.0/16", "--cloud", "sh", "--" + routesFlag}}
	for _, kind := range []string{string(nodeipam.RangeAllocatorType), string(nodeipam.IPAMFromClusterAllocatorType), string(nodeipam.IPAMFromCloudAllocatorType), typeClusterPool, typeMultiPool} {
		for name, ranges := range map[string]string{" of IPv4": "10.0.0.0/16", " of IPv6": "fd00::/48", " of both": "10.0.0.0/16,fd00::/48"} {
			args := []string{"--type", kind, "--cluster-cidr", ranges}
			if strings.HasPrefix(kind, "IPAMFrom") {
				if args = append(args, "--cloud", "sh"); name == " of both" {
					continue // refused
				}
			}
			lines[kind+name] = args
		}
	}
	countFlags(t, all, map[string]flagTry{
		"type":  {value: typeMultiPool, but: map[string]string{"multi-pool of IPv4": "it is that", "multi-pool of IPv6": "it is that", "multi-pool of both": "it is that"}},
		"cloud": {value: "true"}, prefixFlag: {value: "true"}, "cluster-cidr": {value: "10.0.0.0/15"},
		routesFlag: {value: "true", by: "pools_test.go: TestCloudFlags"}, "cluster-name": {value: "prod"}, "route-reconciliation-period": {value: "1m"},
		"service-cluster-ip-range": {value: "10.0.1.0/24"},
		"node-cidr-mask-size":      {value: "27"}, "node-cidr-mask-size-ipv4": {value: "27"}, "node-cidr-mask-size-ipv6": {value: "60"},
		"kubeconfig": {value: "/x", by: "notready_test.go: TestClusterNotReady"}, "lease": {value: "default/other"}, "rest": {value: "127.0.0.1:9000", by: "controller_test.go: TestControllerShowsItself"},
		"format": {value: "json"}, "log-level": {value: "debug"},
	}, lines, func(args []string) (string, error) {
		f := &controllerFlags{}
		flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
		f.add(flags)
		must(t, flags.Parse(args))
		if err := f.idle(flags); err != nil {
			return "", err
		}
		var out bytes.Buffer
		log, err := logger("controller", &out, f.format, f.level)
		must(t, err)
		lease, err := f.leaseOf()
		must(t, err)
		shown := fmt.Sprint(lease.Namespace, lease.Name, lease.Writes, logLines(log, &out), f.kind)
		if f.kind == typeClusterPool || f.kind == typeMultiPool {
			p, err := f.pool()
			return shown + fmt.Sprintf("%+v", p), err
		}
		if f.kind == typeENI {
			return shown + fmt.Sprint(f.enis(nil).Prefixes), nil
		}
		cfg, err := f.config()
		if err != nil {
			return "", err
		}
		params, err := cfg.Flags.Resolve()
		if params.Routes != nil {
			shown += fmt.Sprint(*params.Routes)
			params.Routes = nil
		}
		return shown + fmt.Sprintf("%+v %v %v %v", params, cfg.Cloud, cfg.Routes, cfg.Provider), err
	})
}
