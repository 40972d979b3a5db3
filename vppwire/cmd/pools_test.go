package cmd

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Goal: the flags of cluster-pool and multi-pool become a pool, and what makes none is refused in one line with code 2
// before any server is asked. Method: a table of flags.
func TestPoolFlags(t *testing.T) {
	for _, test := range []struct {
		kind         string
		flags        nodeipam.Flags
		four, six    int // lengths
		ranges, text string
	}{
		{typeClusterPool, nodeipam.Flags{ClusterCIDR: "10.0.0.0/16"}, 24, 120, "[10.0.0.0/16] []", ""},
		{typeClusterPool, nodeipam.Flags{ClusterCIDR: "10.0.0.0/16, fd00::/48", NodeCIDRMaskSizeIPv6: 64}, 24, 64, "[10.0.0.0/16] [fd00::/48]", ""},
		{typeMultiPool, nodeipam.Flags{ClusterCIDR: "10.0.0.0/16,10.9.0.0/20", NodeCIDRMaskSize: 27}, 27, 124, "[10.0.0.0/16 10.9.0.0/20] []", ""},
		{typeMultiPool, nodeipam.Flags{}, 0, 0, "", "--type multi-pool wants --cluster-cidr"},
		{typeMultiPool, nodeipam.Flags{ClusterCIDR: "10.0.0/16"}, 0, 0, "", "--cluster-cidr: "},
		{typeMultiPool, nodeipam.Flags{ClusterCIDR: "10.0.0.0/16,10.0.4.0/24"}, 0, 0, "", "overlap"},
		{typeClusterPool, nodeipam.Flags{ClusterCIDR: "10.0.0.0/16", NodeCIDRMaskSize: 8}, 0, 0, "", "prefix length 8"},
		{typeCRD, nodeipam.Flags{ClusterCIDR: "10.0.0.0/16"}, 0, 0, "", "--cluster-cidr 10.0.0.0/16: --type crd keeps 32768 addresses at most"},
		{typeCRD, nodeipam.Flags{ClusterCIDR: "10.0.0.0/20,10.0.4.0/24"}, 0, 0, "", "10.0.0.0/20 and 10.0.4.0/24 overlap"},
		{typeCRD, nodeipam.Flags{ClusterCIDR: "10.0.0.0/31"}, 0, 0, "", "IPv4 ranges of at most /30"},
		{typeCRD, nodeipam.Flags{ClusterCIDR: "fd00::/120"}, 0, 0, "", "IPv4 ranges of at most /30"},
		{typeClusterPool, nodeipam.Flags{ClusterCIDR: "10.0.0.0/16", ServiceCIDR: "10.96.0.0/16"}, 0, 0, "", "--service-cluster-ip-range"},
	} {
		f := &controllerFlags{kind: test.kind, ipam: test.flags, kubeconfig: "/nonexistent"}
		if test.text != "" {
			lease, err := (&controllerFlags{lease: defaultLease}).leaseOf()
			must(t, err)
			code, line := cli.Code(f.operate(t.Context(), lease, nil))
			if code != 2 || !strings.Contains(line, test.text) || strings.Contains(line, "\n") || strings.Contains(line, "nonexistent") {
				t.Errorf("%s %+v: %d %q, want %q", test.kind, test.flags, code, line, test.text)
			}
			continue
		}
		p, err := f.pool()
		must(t, err)
		if got := fmt.Sprint(p.IPv4, p.IPv6); got != test.ranges || p.MaskSize4 != test.four || p.MaskSize6 != test.six {
			t.Errorf("%s %+v: %s /%d /%d", test.kind, test.flags, got, p.MaskSize4, p.MaskSize6)
		}
	}
}

// Goal: cloud types want a program, and others refuse one. Method: a table of flags.
func TestCloudFlags(t *testing.T) {
	for _, test := range []struct{ kind, cloud, text string }{
		{"CloudAllocator", "", "--cloud PROGRAM"},
		{"IPAMFromCloud", "/nonexistent", "--cloud: "},
		{"RangeAllocator", "sh", "--cloud sh is for --type"},
		{"RangeAllocator with routes", "", "--configure-cloud-routes: --cloud PROGRAM keeps the routes"},
		{"RangeAllocator with routes", "/nonexistent", "--cloud: "},
		{"RangeAllocator with routes", "sh", ""},
		{"CloudAllocator", "sh", ""},
		{"IPAMFromCluster", "sh", ""},
	} {
		kind, with := strings.CutSuffix(test.kind, " with routes")
		f, flags := &controllerFlags{}, pflag.NewFlagSet("controller", pflag.ContinueOnError)
		f.add(flags)
		args := []string{"--type", kind, "--cloud", test.cloud, "--cluster-cidr", "10.0.0.0/16"}
		if with {
			args = append(args, "--configure-cloud-routes")
		}
		must(t, flags.Parse(args))
		cfg, err := f.config()
		switch code, line := cli.Code(err); {
		case test.text == "":
			must(t, err)
			if with != (cfg.Routes != nil) || with != (cfg.Cloud == nil) || !with && cfg.Provider != nodeipam.CloudProviderGCE {
				t.Errorf("%+v: %+v", test, cfg)
			}
		case code != 2 || !strings.Contains(line, test.text) || strings.Contains(line, "\n"):
			t.Errorf("%+v: %d %q", test, code, line)
		}
	}
}

// Goal: no pod gets an address of its block that the agent keeps for itself. Method: a block of 16 is filled as
// Cilium's modes do.
func TestCiliumLeavesReserved(t *testing.T) {
	for _, kind := range []string{ipamClusterPool, ipamMultiPool} {
		alloc, err := (&clusterFlags{ipam: kind}).allocator(0)
		must(t, err)
		block := netip.MustParsePrefix("10.0.0.0/28")
		_, err = alloc.SetBlocks(time.Now(), []netip.Prefix{block})
		must(t, err)
		pods := 0
		for ; ; pods++ {
			l, _, err := alloc.Allocate(time.Now(), ipam.Owner{Network: "k8s", ContainerID: fmt.Sprint(pods), IfName: "eth0"}, ipam.Want{})
			if err != nil {
				break
			}
			if l.Addr == agent.LoopbackOf(block) {
				t.Errorf("%s: pod %d has %s, which is NAT's", kind, pods, l.Addr)
			}
		}
		if pods != 12 { // without network, router, loopback, broadcast
			t.Errorf("%s: %d pods", kind, pods)
		}
	}
}
