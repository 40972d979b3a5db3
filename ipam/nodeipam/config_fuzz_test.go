package nodeipam

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Goal: flags of any kind are refused with one line before anything starts, or make a controller that gives a new node
// blocks of its ranges which nobody has: no service address, and none of a node whose object may be damaged.
// Method: arbitrary flags, and a node that shows arbitrary CIDRs beside one that needs some.
func FuzzFlags(f *testing.F) {
	f.Add("", "10.0.0.0/16", "10.0.1.0/24", 24, 0, 0, "10.0.0.0/24,fd00::/64")
	f.Add("RangeAllocator", "10.0.0.0/16,fd00::/48", "", 0, 20, 64, "10.0.0.0/20")
	f.Add("IPAMFromCluster", "10.0.0.0/30", "10.0.0.0/31", 31, 0, 0, "x,10.0.0.0/32")
	f.Add("CloudAllocator", "", "", -1, 0, 129, "")
	f.Add("RangeAlocator", "::/0", "::/0", 16, 0, 63, "::/0")
	f.Fuzz(func(t *testing.T, kind, cluster, service string, mask, mask4, mask6 int, shown string) {
		flags := Flags{AllocatorType: CIDRAllocatorType(kind), ClusterCIDR: cluster, ServiceCIDR: service,
			NodeCIDRMaskSize: mask, NodeCIDRMaskSizeIPv4: mask4, NodeCIDRMaskSizeIPv6: mask6}
		p, err := flags.Resolve()
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" || len(p.ClusterCIDRs) > 0 {
				t.Fatalf("%+v, %q", p, err)
			}
			return
		}
		live := KubeNode{Name: "live", UID: "u1", ResourceVersion: "1", PodCIDRs: strings.Split(shown, ",")}
		held, _ := live.parseCIDRs() // what can be read counts
		if held == nil {
			for _, text := range live.PodCIDRs {
				if c, err := netip.ParsePrefix(text); err == nil {
					held = append(held, space.Normal(c))
				}
			}
		}
		r, err := NewCIDRRangeAllocator(p, []KubeNode{live})
		if err != nil {
			return
		}
		out := r.Step(epochOfFuzz, NodeAdded{Node: KubeNode{Name: "new", UID: "u2", ResourceVersion: "2"}})
		for _, e := range out {
			patch, ok := e.(PatchNodeCIDRs)
			if !ok {
				continue
			}
			if patch.Name != "new" {
				t.Fatalf("%s is patched: %v", patch.Name, patch.CIDRs)
			}
			for i, c := range patch.CIDRs {
				if !space.Contains(p.ClusterCIDRs[i], c) || c.Bits() != p.NodeCIDRMaskSizes[i] {
					t.Fatalf("%s is not of %v with lengths %v", c, p.ClusterCIDRs, p.NodeCIDRMaskSizes)
				}
				for _, other := range append(held, p.ServiceCIDR, p.SecondaryServiceCIDR) {
					if other.IsValid() && space.Overlap(other, c) {
						t.Fatalf("%s overlaps %s, which is taken: node shows %q, flags %+v", c, other, shown, flags)
					}
				}
			}
		}
	})
}

var epochOfFuzz = time.Unix(1700000000, 0).UTC()

// Controllers of any configuration are refused with one line, or start; none of them panics on a node that shows
// anything.
func FuzzConfig(f *testing.F) {
	f.Add("SyncFromCluster", "gce", "10.0.0.0/16", "10.0.0.0/24", 24, int64(0), int64(0), int64(0), "10.0.0.0/24")
	f.Add("SyncFromCloud", "gce", "::/0", "", 200, int64(-1), int64(1), int64(1), "")
	f.Add("SyncFromCloud", "gce", "10.0.0.0/16", "", 24, int64(-1), int64(1), int64(1), "")
	f.Add("", "azure", "10.0.0.0/33", "x", -24, int64(1), int64(1), int64(1), "x")
	f.Fuzz(func(t *testing.T, mode, cloud, cluster, service string, mask int, resync, backoff, retry int64, shown string) {
		c, _ := netip.ParsePrefix(cluster)
		s, _ := netip.ParsePrefix(service)
		cfg := Config{Mode: NodeSyncMode(mode), Resync: time.Duration(resync), MaxBackoff: time.Duration(backoff), InitialRetry: time.Duration(retry)}
		ctl, err := NewController(cfg, CloudProvider(cloud), c, s, mask)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" || ctl != nil {
				t.Fatalf("%v, %q", ctl, err)
			}
			return
		}
		if min(ctl.cfg.Resync, ctl.cfg.MaxBackoff, ctl.cfg.InitialRetry) <= 0 {
			t.Fatalf("times of %+v", ctl.cfg)
		}
		ctl.start.wanted = true
		out := ctl.Step(epochOfFuzz, Listed{Outcome: ipam.Done, Nodes: []KubeNode{
			{Name: "live", UID: "u1", ProviderID: "gce://p/z/live", PodCIDRs: []string{shown}},
			{Name: "new", UID: "u2", ProviderID: "gce://p/z/new"},
		}})
		for _, e := range append(out, ctl.Step(epochOfFuzz.Add(time.Hour), Woke{})...) {
			if patch, ok := e.(PatchNodeCIDRs); ok && patch.Name == "live" && shown != "" {
				t.Fatalf("the live node's CIDR %q is replaced by %v", shown, patch.CIDRs)
			}
		}
	})
}
