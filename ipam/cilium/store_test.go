package cilium

import (
	"errors"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

// eniStore is a store with the full node.
func eniStore(t *testing.T) (*NodeStore, *CiliumNode) {
	t.Helper()
	n, err := ParseCiliumNode([]byte(fullNode))
	if err != nil {
		t.Fatal(err)
	}
	n.Status.IPAM = IPAMStatus{}
	s, err := NewNodeStore(StoreConfig{Name: "n1", ENI: true, Pick: new(scatter)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(); !errors.Is(err, ErrNodeUnknown) {
		t.Errorf("before the first update: %v", err)
	}
	if err := s.Update(n); err != nil {
		t.Fatal(err)
	}
	return s, n
}

// A result names the interface; an interface that is missing leaves the address free.
func TestENIResults(t *testing.T) {
	s, n := eniStore(t)
	a := s.Allocator(IPv4)
	ip := netip.MustParseAddr("10.1.1.226")
	want := &AllocationResult{
		IP: ip, Master: "02:00:00:00:00:01", GatewayIP: netip.MustParseAddr("10.1.1.1"),
		CIDRs: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("10.2.0.0/16")},
	}
	if have, err := a.Allocate(ip, "pod"); err != nil || !reflect.DeepEqual(have, want) {
		t.Fatalf("%+v %v", have, err)
	}
	if _, err := a.Allocate(ip, "pod"); !errors.Is(err, ErrAllocated) {
		t.Error(err)
	}
	if _, status := a.Dump(); status != "1/2 allocated" {
		t.Error(status)
	}
	if err := a.Release(ip); err != nil {
		t.Fatal(err)
	}
	if err := a.Release(ip); err == nil {
		t.Error("an address was released twice")
	}
	n.Status.ENI.ENIs = map[string]ENI{}
	if err := s.Update(n); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if r, err := a.AllocateNext("pod"); err == nil || r != nil || err.Error() != "unable to find ENI eni-1" {
			t.Fatalf("%v %v", r, err)
		}
	}
	if used, _ := a.Dump(); len(used) != 0 || len(s.free[0]) != 2 {
		t.Errorf("a failed allocation left %v in use and %v free", used, s.free[0])
	}
	other := n.Clone()
	other.Metadata.Name = "n2"
	if err := s.Update(other); err == nil {
		t.Error("another node's resource was taken")
	}
}

// How large the pool has to be at the start, and what else the start waits for.
func TestStoreReady(t *testing.T) {
	for name, c := range map[string]struct {
		w      Watermarks
		health bool
		want   int
	}{
		"min":       {Watermarks{MinAllocate: 3, PreAllocate: 1}, true, 3},
		"pre":       {Watermarks{PreAllocate: 4}, true, 4},
		"health":    {Watermarks{}, true, 2},
		"no health": {Watermarks{}, false, 1},
	} {
		s, err := NewNodeStore(StoreConfig{Name: "n1", HealthChecking: c.health, Pick: new(scatter)})
		if err != nil {
			t.Fatal(err)
		}
		n := &CiliumNode{Metadata: ObjectMeta{Name: "n1"}}
		n.Spec.IPAM.Watermarks, n.Spec.IPAM.Pool = c.w, make(AllocationMap)
		ip := netip.MustParseAddr("10.0.0.1")
		for have := range 5 {
			if err := s.Update(n); err != nil {
				t.Fatal(err)
			}
			if err := s.Ready(); s.Required() != c.want || (err == nil) != (have >= c.want) {
				t.Errorf("%s: %d addresses: %v", name, have, err)
			}
			n.Spec.IPAM.Pool[ip] = AllocationIP{}
			ip = ip.Next()
		}
	}
	s, n := eniStore(t)
	n.Spec.IPAM.MinAllocate = 3
	if err := errors.Join(s.Update(n), s.Ready()); err != nil {
		t.Error(err)
	}
	n.Status.ENI.ENIs = nil
	if err := s.Update(n); err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(); err == nil {
		t.Error("ready without a VPC's range")
	}
}

// Between a restart and the end of the restore, what the last life published is nobody else's.
func TestRestoreComesFirst(t *testing.T) {
	s, n := eniStore(t)
	live := netip.MustParseAddr("10.1.1.226")
	n.Status.IPAM.Used = AllocationMap{live: {Owner: "default/web"}}
	if err := s.Update(n); err != nil {
		t.Fatal(err)
	}
	a := s.Allocator(IPv4)
	if r, err := a.AllocateNext("router"); err != nil || r.IP == live {
		t.Fatalf("%v %v", r, err)
	}
	if _, err := a.AllocateNext("health"); !errors.Is(err, ErrNoMoreIPs) {
		t.Errorf("a published address was given away: %v", err)
	}
	n.Status.IPAM.ReleaseIPs = map[netip.Addr]HandshakeState{live: MarkedForRelease}
	if err := s.Update(n); err != nil {
		t.Fatal(err)
	}
	if answers := s.Answers(); len(answers) != 0 {
		t.Errorf("before the restore the agent answers %v", answers)
	}
	p, ok := s.Publish(epoch)
	if !ok || len(p.Status.IPAM.Used) != 2 {
		t.Errorf("before the restore %v is published", p)
	}
	if _, err := a.Allocate(live, "default/web"); err != nil {
		t.Fatal(err)
	}
	if answers := s.Answers(); answers[live] != DoNotRelease {
		t.Errorf("the agent answers %v about a live address", answers)
	}
	s.FinishRestore()
	if _, ok := s.Publish(epoch.Add(14 * time.Second)); ok {
		t.Error("published again before 15 s")
	}
	if p, ok = s.Publish(epoch.Add(15 * time.Second)); !ok || p.Status.IPAM.ReleaseIPs[live] != DoNotRelease {
		t.Errorf("%v %v", p, ok)
	}
	if _, ok = s.Publish(epoch.Add(time.Minute)); !ok {
		t.Error("an answer that the resource does not show is not given again")
	}
}
