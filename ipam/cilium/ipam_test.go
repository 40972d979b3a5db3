package cilium

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var smallRanges = Addressing{CIDR4: netip.MustParsePrefix("10.0.0.8/29"), CIDR6: netip.MustParsePrefix("2001:db8::8/126")}

// Only a route inside of a range conflicts with it, in either family; what covers the range is told.
func TestReserveLocalRoutes(t *testing.T) {
	addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
	via := addr("192.0.2.1")
	routes := []Route{
		{Dst: prefix("10.0.0.0/8"), Link: "eth1", Gw: via},
		{Dst: prefix("10.2.0.0/16"), Link: "eth1", Gw: via},
		{Dst: prefix("10.2.7.0/24"), Link: "eth1", Src: addr("10.2.7.1")},
		{Dst: prefix("10.2.8.0/24"), Link: "eth2"},
		{Dst: prefix("10.2.9.0/24"), Link: "cilium_host", Gw: via},
		{Dst: prefix("0.0.0.0/0"), Gw: via}, {Gw: via},
		{Dst: prefix("192.168.0.0/24"), Src: via},
		{Dst: prefix("::ffff:10.2.10.0/120"), Gw: via},
		{Dst: prefix("fd00::40/122"), Gw: addr("fe80::1")},
	}
	ipam, err := NewIPAM(Addressing{prefix("10.2.0.0/16"), prefix("fd00::/120")}, Configuration{
		EnableIPv4: true, EnableIPv6: true, BlacklistConflictingRoutes: true, Pick: new(scatter),
		Routes: func() ([]Route, error) { return routes, nil },
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := ipam.ReserveLocalRoutes()
	if err != nil || report.String() != "3 routes reserve 576 addresses, 2 cover a range, 5 ignored" {
		t.Errorf("%v %v", report, err)
	}
	for text, want := range map[string]bool{
		"10.2.7.9": true, "10.2.10.1": true, "::ffff:10.2.10.1": true, "fd00::41": true,
		"10.2.8.1": false, "10.2.9.1": false, "10.2.0.1": false, "192.168.0.2": false, "fd00::1": false,
	} {
		owner, ok := ipam.BlacklistContains(addr(text))
		if ok != want || ok && !strings.HasPrefix(owner, "local route: ") {
			t.Errorf("%s: %v %q", text, ok, owner)
		}
	}
	if err := ipam.AllocateIP(addr("10.2.7.9"), "pod"); err == nil || err.Error() != "IP 10.2.7.9 is blacklisted, owned by local route: 10.2.7.0/24" {
		t.Error(err)
	}
}

func TestNewIPAM(t *testing.T) {
	store, err := NewNodeStore(StoreConfig{Name: "n", Pick: new(scatter)})
	if err != nil {
		t.Fatal(err)
	}
	multi, err := NewMultiPool(MultiPoolConfig{IPv4: true, Pick: new(scatter)})
	if err != nil {
		t.Fatal(err)
	}
	for mode, wrong := range map[string]string{
		"": "", "HostScope": "", "kubernetes": "", "cluster-pool": "", "crd": "", "ENI": "", "azure": "", "multi-pool": "",
		"carrier pigeon": "Unknown IPAM backend carrier pigeon: want one of hostscope, kubernetes, cluster-pool, crd, eni, azure, multi-pool",
	} {
		c := Configuration{IPAM: mode, EnableIPv4: true, Pick: new(scatter), Store: store, MultiPool: multi}
		ipam, err := NewIPAM(smallRanges, c, nil)
		if (err == nil) != (wrong == "") || err != nil && err.Error() != wrong {
			t.Errorf("mode %q: %v", mode, err)
			continue
		}
		if err == nil && (ipam.IPv4Allocator == nil || ipam.IPv6Allocator != nil) {
			t.Errorf("mode %q: allocators %v %v", mode, ipam.IPv4Allocator, ipam.IPv6Allocator)
		}
		c.Pick = nil
		if _, err := NewIPAM(smallRanges, c, nil); err == nil {
			t.Errorf("mode %q: no Picker is needed", mode)
		}
	}
	ipam, err := NewIPAM(nil, Configuration{Pick: new(scatter)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, status := ipam.Dump(); status != "Not running" {
		t.Error(status)
	}
}

// counter is a Locker that knows whether it is held.
type counter struct{ held, times int }

func (c *counter) Lock()   { c.held++; c.times++ }
func (c *counter) Unlock() { c.held-- }

// Every method takes the lock once and gives it back; callbacks come without it.
func TestLock(t *testing.T) {
	lock := new(counter)
	a := netip.MustParseAddr("10.0.0.9")
	ipam, err := NewIPAM(smallRanges, Configuration{
		EnableIPv4: true, Pick: new(scatter), Lock: lock, BlacklistConflictingRoutes: true,
		Routes: func() ([]Route, error) {
			if lock.held != 0 {
				t.Error("routes are listed under the lock")
			}
			return nil, nil
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(){
		"AllocateIP":         func() { _ = ipam.AllocateIP(a, "x") },
		"AllocateIPString":   func() { _ = ipam.AllocateIPString("10.0.0.9", "x") },
		"AllocateNext":       func() { _, _, _ = ipam.AllocateNext("", "x") },
		"AllocateNextFamily": func() { _, _ = ipam.AllocateNextFamily(IPv4, "x") },
		"WithExpiration":     func() { _, _, _ = ipam.AllocateNextWithExpiration("", "x", time.Second) },
		"ReleaseIP":          func() { _ = ipam.ReleaseIP(a) },
		"ReleaseIPString":    func() { _ = ipam.ReleaseIPString("10.0.0.9") },
		"by owner":           func() { _ = ipam.ReleaseIPString("nobody") },
		"BlacklistIP":        func() { ipam.BlacklistIP(a, "x") },
		"BlacklistIPNet":     func() { ipam.BlacklistIPNet(netip.PrefixFrom(a, 30), "x") },
		"BlacklistContains":  func() { ipam.BlacklistContains(a) },
		"ReserveLocalRoutes": func() { _, _ = ipam.ReserveLocalRoutes() },
		"StartExpiration":    func() { _, _ = ipam.StartExpirationTimer(a, time.Second) },
		"StopExpiration":     func() { _ = ipam.StopExpirationTimer(a, "") },
		"Advance":            func() { ipam.Advance(epoch) },
		"NextExpiry":         func() { ipam.NextExpiry() },
		"Dump":               func() { ipam.Dump() },
		"DebugStatus":        func() { _ = ipam.DebugStatus() },
	} {
		before := lock.times
		if call(); lock.held != 0 || lock.times != before+1 {
			t.Errorf("%s locked %d times and left %d", name, lock.times-before, lock.held)
		}
	}
}

func TestDebugStatus(t *testing.T) {
	uuids := 0
	ipam, err := NewIPAM(smallRanges, Configuration{EnableIPv4: true, Pick: new(scatter), NewUUID: func() string {
		uuids++
		return fmt.Sprint("uuid-", uuids)
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"10.0.0.11", "10.0.0.9"} {
		if err := ipam.AllocateIPString(text, "pod-"+text); err != nil {
			t.Fatal(err)
		}
		if _, err := ipam.StartExpirationTimer(netip.MustParseAddr(text), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	ipam.BlacklistIP(netip.MustParseAddr("10.0.0.10"), "test")
	ipam.BlacklistIPNet(netip.MustParsePrefix("10.0.0.12/30"), "net")
	want := `owners
  10.0.0.9 pod-10.0.0.9
  10.0.0.11 pod-10.0.0.11
expiration timers
  10.0.0.9 uuid-2
  10.0.0.11 uuid-1
blacklist
  10.0.0.10 test
  10.0.0.12/30 net
`
	if have := ipam.DebugStatus(); have != want {
		t.Errorf("have\n%swant\n%s", have, want)
	}
}

// A UUID without a source of its own is version 4, variant 1, and another one each time.
func TestUUIDs(t *testing.T) {
	ipam, err := NewIPAM(smallRanges, Configuration{EnableIPv4: true, Pick: new(scatter)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for range 100 {
		id := ipam.newUUID()
		if len(id) != 36 || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) || seen[id] {
			t.Fatalf("UUID %q", id)
		}
		seen[id] = true
	}
}
