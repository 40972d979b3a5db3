package nodeipam

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestFlagsResolve(t *testing.T) {
	for _, c := range []struct {
		flags Flags
		want  string // ranges with their masks, then services; or the error
	}{
		{Flags{ClusterCIDR: "10.0.3.0/16"}, "[10.0.0.0/16] [24] invalid Prefix"},
		{Flags{ClusterCIDR: "10.0.0.0/16", NodeCIDRMaskSize: 26, ServiceCIDR: "10.0.0.0/24"}, "[10.0.0.0/16] [26] 10.0.0.0/24"},
		{Flags{ClusterCIDR: "fd00::/56"}, "[fd00::/56] [64] invalid Prefix"},
		{Flags{ClusterCIDR: "10.0.0.0/16, fd00::/48", NodeCIDRMaskSize: 20, NodeCIDRMaskSizeIPv6: 60}, "[10.0.0.0/16 fd00::/48] [24 60] invalid Prefix"},
		{Flags{AllocatorType: CloudAllocatorType}, "[] [] invalid Prefix"},
		{Flags{AllocatorType: CloudAllocatorType, ClusterCIDR: "10.0.0.0/28"}, "[10.0.0.0/28] [] invalid Prefix"},
		{Flags{AllocatorType: IPAMFromCloudAllocatorType, ClusterCIDR: "10.0.0.0/28"}, "mask size of cluster CIDR 10.0.0.0/28 must be less than or equal to --node-cidr-mask-size 24"},
		{Flags{}, "Must specify --cluster-cidr"},
		{Flags{ClusterCIDR: "10.0.0.0/16,10.1.0.0/16"}, "want one, or one of each family"},
		{Flags{ClusterCIDR: "10.0.0.0/16,fd00::/48,fd01::/48"}, "want one, or one of each family"},
		{Flags{ClusterCIDR: "10.0.0.0/16,"}, "cluster CIDR"},
		{Flags{ClusterCIDR: "10.0.0.0/16", ServiceCIDR: "x"}, "service CIDR"},
		{Flags{ClusterCIDR: "10.0.0.0/16", NodeCIDRMaskSize: 33}, "Invalid --cluster-cidr"},
		{Flags{AllocatorType: "Dice", ClusterCIDR: "10.0.0.0/16"}, "Invalid CIDR allocator type: Dice"},
	} {
		p, err := c.flags.Resolve()
		have := fmt.Sprint(p.ClusterCIDRs, p.NodeCIDRMaskSizes, p.ServiceCIDR)
		if err != nil {
			have = err.Error()
		}
		if !strings.Contains(have, c.want) {
			t.Errorf("%+v: %s, want %s", c.flags, have, c.want)
		}
	}
	two, err := Flags{ClusterCIDR: "10.0.0.0/16", ServiceCIDR: "10.0.0.0/24,fd00::/112"}.Resolve()
	if err != nil || two.SecondaryServiceCIDR != netip.MustParsePrefix("fd00::/112") {
		t.Errorf("%+v, %v", two, err)
	}
}

func FuzzParseCIDRList(f *testing.F) {
	for _, text := range []string{"", "10.0.0.0/8", "10.0.0.0/8,fd00::/8", "::ffff:10.0.0.0/104", "fd00::/8 , 1.2.3.4/5", ",", "10.0.0.0/8,10.0.0.0/8"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseCIDRList("cluster", text)
		if err != nil {
			return
		}
		back, err := parseCIDRList("cluster", strings.Join(texts(list), ","))
		if err != nil || fmt.Sprint(back) != fmt.Sprint(list) {
			t.Fatalf("%q reads as %v, which reads as %v, %v", text, list, back, err)
		}
	})
}

// Pod CIDRs of nodes are read from whatever stands there; an update is needed unless they are exactly the wanted ones.
func FuzzNeedPodCIDRsUpdate(f *testing.F) {
	f.Add("10.0.0.0/24", "fd00::/64")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, first, second string) {
		n := &KubeNode{Name: "n", PodCIDR: first, PodCIDRs: []string{first, second}}
		cidrs, err := n.parseCIDRs()
		if err != nil {
			return
		}
		need, err := NeedPodCIDRsUpdate(n, cidrs)
		if oneEach := !sameFamily(cidrs[0], cidrs[1]); oneEach != (err == nil) || need {
			t.Fatalf("%v: %t, %v", cidrs, need, err)
		}
		n.PodCIDRs = texts(cidrs)
		if back, err := n.parseCIDRs(); err != nil || fmt.Sprint(back) != fmt.Sprint(cidrs) {
			t.Fatalf("%v read back as %v, %v", cidrs, back, err)
		}
	})
}

func TestTimeoutStartsWithResync(t *testing.T) {
	b := Timeout{Resync: 7 * time.Second, MaxBackoff: 3 * time.Second, InitialRetry: time.Second}
	for i, step := range []struct {
		fails bool
		want  time.Duration
	}{{false, 7}, {true, 1}, {true, 2}, {true, 3}, {true, 3}, {false, 7}, {true, 1}} {
		b.Update(!step.fails)
		if b.Next() != step.want*time.Second {
			t.Errorf("step %d: %s, want %d s", i, b.Next(), step.want)
		}
	}
}
