package endpoints

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/vppwire/service"
)

// Goal: a service's slices hold each of its endpoints once, no slice holds too many or none beside others, and an endpoint stays in its slice while
// it lives. Method: sets of endpoints at random, one after the other.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []service.Slice
		twice := map[netip.Addr]bool{}
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			whole := service.Slice{Name: service.Name{Namespace: "default", Name: "web"}, Service: "web"}
			for _, n := range rapid.SliceOfNDistinct(rapid.ByteRange(1, 12), 0, 10, rapid.ID).Draw(t, "endpoints") {
				whole.Endpoints = append(whole.Endpoints, service.Endpoint{Addr: netip.AddrFrom4([4]byte{10, 1, 1, n}), Node: "node-1", Ready: rapid.Bool().Draw(t, "ready")})
			}
			if len(whole.Endpoints) > 0 && rapid.Bool().Draw(t, "shown twice") {
				whole.Endpoints = append(whole.Endpoints, whole.Endpoints[0])
				twice[whole.Endpoints[0].Addr] = true
			}
			before := where(parts)
			parts = Split(whole, parts)
			now := where(parts)
			if len(Join(parts).Endpoints) != len(whole.Endpoints) {
				t.Fatalf("%d endpoints in %v", len(whole.Endpoints), parts)
			}
			for i, s := range parts {
				if len(s.Endpoints) > MostInSlice || len(s.Endpoints) == 0 && len(parts) > 1 || i > 0 && parts[i-1].Name.Name >= s.Name.Name {
					t.Fatalf("slice %d of %v", i, parts)
				}
			}
			for _, e := range whole.Endpoints {
				if name, was := before[e.Addr]; now[e.Addr] == "" || was && now[e.Addr] != name && !twice[e.Addr] {
					t.Fatalf("%s is in %q after %q", e.Addr, now[e.Addr], name)
				}
			}
		}
	})
}

// where is the name of each endpoint's slice.
func where(parts []service.Slice) map[netip.Addr]string {
	in := map[netip.Addr]string{}
	for _, s := range parts {
		for _, e := range s.Endpoints {
			in[e.Addr] = s.Name.Name
		}
	}
	return in
}
