package cilium

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// An IPAM of any configuration is refused, or gives out addresses of its ranges that are not excluded.
func FuzzConfiguration(f *testing.F) {
	f.Add("", "10.0.0.0/24", "fd00::/64", "10.0.0.0/25", uint8(3))
	f.Add("HostScope", "10.0.0.1/32", "fd00::/127", "", uint8(7))
	f.Add("cluster-pool", "0.0.0.0/0", "::/0", "0.0.0.0/0", uint8(3))
	f.Add("crd", "", "", "", uint8(1))
	f.Add("kubernetes", "10.0.0.0/24", "10.0.0.0/24", "", uint8(3))
	f.Add("kubernets", "10.0.0.0/24", "10.0.0.0/24", "::ffff:10.0.0.0/121", uint8(15))
	f.Fuzz(func(t *testing.T, mode, cidr4, cidr6, excluded string, flags uint8) {
		var a Addressing
		a.CIDR4, _ = netip.ParsePrefix(cidr4)
		a.CIDR6, _ = netip.ParsePrefix(cidr6)
		bar, _ := netip.ParsePrefix(excluded)
		i, err := NewIPAM(a, Configuration{
			EnableIPv4: flags&1 != 0, EnableIPv6: flags&2 != 0, IPAM: mode, AllowFirstLastIPs: flags&4 != 0,
			BlacklistConflictingRoutes: flags&8 != 0, Pick: new(scatter),
			Routes: func() ([]Route, error) { return []Route{{Dst: bar, Gw: netip.MustParseAddr("192.0.2.1")}}, nil },
		}, nil)
		if err != nil {
			oneLine(t, err)
			return
		}
		if _, err := i.ReserveLocalRoutes(); err != nil {
			t.Fatal(err)
		}
		i.BlacklistIPNet(bar, "test")
		v4, v6, err := i.AllocateNext("", "pod")
		for _, r := range [...]*AllocationResult{v4, v6} {
			if r == nil {
				continue
			}
			_, blocked := i.BlacklistContains(r.IP)
			range4, range6 := a.CIDR4.Masked(), a.CIDR6.Masked()
			if in4, in6 := containsNormal(range4, r.IP), containsNormal(range6, r.IP); err != nil || blocked || !in4 && !in6 {
				t.Fatalf("%+v from %s and %s without %s: %v", r, range4, range6, bar, err)
			}
		}
		if v4 != nil && DeriveFamily(v4.IP) != IPv4 || v6 != nil && DeriveFamily(v6.IP) != IPv6 {
			t.Fatalf("%+v and %+v are of the wrong families", v4, v6)
		}
		used4, used6, _ := i.Dump()
		if want := count(v4) + count(v6); len(used4)+len(used6) != want {
			t.Fatalf("%d addresses are in use, %d were given: %v", len(used4)+len(used6), want, err)
		}
		if n := count(v4) + count(v6); n > 0 {
			if err := i.ReleaseIPString("pod"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func count(r *AllocationResult) int {
	if r == nil {
		return 0
	}
	return 1
}

// containsNormal reports whether p contains a whatever the spelling of p.
func containsNormal(p netip.Prefix, a netip.Addr) bool {
	return p.Contains(a) || a.Is4() && p.Contains(netip.AddrFrom16(a.As16()))
}

// A cluster's pool of any configuration is refused, or gives nodes different blocks of the right length out of its
// ranges.
func FuzzPoolConfigs(f *testing.F) {
	f.Add("10.0.0.0/8", "fd00::/104", 24, 120)
	f.Add("10.0.0.0/30", "", 31, 0)
	f.Add("10.0.0.0/24,10.0.0.128/25", "", 25, 0)
	f.Add("0.0.0.0/0", "::/0", 32, 63)
	f.Add("10.0.0.0/24", "fd00::/64", -1, 129)
	f.Fuzz(func(t *testing.T, ranges4, ranges6 string, mask4, mask6 int) {
		v4, v6 := prefixes(ranges4), prefixes(ranges6)
		p, err := NewClusterPool(ClusterPoolConfig{IPv4: v4, IPv6: v6, MaskSize4: mask4, MaskSize6: mask6})
		o, failed := NewPoolOperator(PoolOperatorConfig{})
		if failed != nil {
			t.Fatal(failed)
		}
		if err := o.UpsertPool("default", PoolSpec{IPv4: v4, IPv6: v6, MaskSize4: mask4, MaskSize6: mask6}); err != nil {
			oneLine(t, err)
			if len(o.Records()) > 0 || len(o.claims.names) > 0 {
				t.Fatalf("%v, but pools %v are there", err, o.claims.names)
			}
		}
		if err != nil {
			oneLine(t, err)
			return
		}
		p.FinishRestore()
		seen := make(map[netip.Prefix]bool)
		for i := range 3 {
			cidrs, _, err := p.Assign(epoch, fmt.Sprint("n", i))
			if err != nil {
				oneLine(t, err)
				continue
			}
			for _, c := range cidrs {
				inside := slices.ContainsFunc(slices.Concat(v4, v6), func(r netip.Prefix) bool { return containsNormal(r, c.Addr()) })
				if seen[c] || !inside || c != c.Masked() {
					t.Fatalf("%s of %v and %v is given to n%d", c, v4, v6, i)
				}
				seen[c] = true
			}
		}
	})
}

// prefixes are the valid ones of a list.
func prefixes(text string) (list []netip.Prefix) {
	for part := range strings.SplitSeq(text, ",") {
		if p, err := netip.ParsePrefix(part); err == nil {
			list = append(list, p)
		}
	}
	return list
}
