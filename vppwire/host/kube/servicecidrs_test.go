package kube_test

import (
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"

	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

func serviceCIDR(name string, cidrs ...string) networking.ServiceCIDR {
	return networking.ServiceCIDR{TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "ServiceCIDR"},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networking.ServiceCIDRSpec{CIDRs: cidrs}}
}

// cidrs are the pod CIDRs of a node.
func (s *server) cidrs(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holders["nodes//"+name]
}

// Goal: no node gets a part of a service range, whether it is there before the controller or comes while it works; one that
// is deleted stays kept, as services may have addresses of it. A server without such objects changes nothing, and one that does not
// list them has no node served. Method: nodes that come one by one, from a range of which services take parts.
func TestServiceCIDRs(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	s.put("servicecidrs", serviceCIDR("kubernetes", "10.0.0.0/24", "fd00:5::/112"))
	d, _ := drive(t, kube.Config{Client: client, New: ranges(2, false)}) // 10.0.0.0/22
	next := func(name, want string) {
		t.Helper()
		s.addNode(name)
		until(t, func() bool { return len(s.cidrs(name)) > 0 }, func() string { return name + " is not served" })
		if got := s.cidrs(name)[0]; got != want {
			t.Errorf("%s has %s, not %s", name, got, want)
		}
	}
	next("node-0", "10.0.1.0/24")
	s.put("servicecidrs", serviceCIDR("more", "10.0.2.128/25"))
	s.Remove("servicecidrs", "", "kubernetes")
	until(t, func() bool {
		var free uint64
		must(t, d.Ask(t.Context(), func(m nodeipam.Machine) { free = m.(*nodeipam.RangeAllocator).Ranges()[0].Free }))
		return free == 1
	}, func() string { return "the second range is not heard of" })
	next("node-1", "10.0.3.0/24")

	old := newServer(t)
	old.missing = []string{"servicecidrs"}
	client, _ = old.dial(t)
	old.addNode("node-0")
	drive(t, kube.Config{Client: client, New: ranges(2, false)})
	until(t, func() bool { return len(old.cidrs("node-0")) > 0 }, func() string { return "a server without ServiceCIDRs is not served" })

	mute := newServer(t)
	var refused, lists atomic.Int64 // one list is answered, so that nothing else tells the controller
	var heals atomic.Bool
	mute.refuse = func(r *http.Request, p apiserver.Path) int {
		if p.Resource == "servicecidrs" && (!heals.Load() || lists.Add(1) > 1) {
			refused.Add(1)
			return http.StatusInternalServerError
		}
		return 0
	}
	client, _ = mute.dial(t)
	mute.addNode("node-0")
	drive(t, kube.Config{Client: client, New: ranges(2, false)})
	until(t, func() bool { return refused.Load() > 1 }, func() string { return "nobody asks again" })
	if got := mute.cidrs("node-0"); len(got) > 0 {
		t.Errorf("node-0 has %s before anybody knows the ranges of services", got)
	}
	mute.put("servicecidrs", serviceCIDR("kubernetes", "10.0.0.0/23"))
	heals.Store(true)
	until(t, func() bool { return len(mute.cidrs("node-0")) > 0 }, func() string { return "node-0 is not served" })
	if got := netip.MustParsePrefix(mute.cidrs("node-0")[0]); got != netip.MustParsePrefix("10.0.2.0/24") {
		t.Errorf("node-0 has %s", got)
	}
}
