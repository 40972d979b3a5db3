package endpoints

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: what begins and ends at a service's address is told, and whether the last service there had affinity. Method: states one after
// the other.
func TestServed(t *testing.T) {
	web := func(affinity time.Duration, endpoints int) []scenarios.ServiceState {
		s := scenarios.ServiceState{Service: scenarios.Service{ClusterIP: netip.MustParseAddr("10.96.0.10"), Port: 80, Protocol: scenarios.TCP, Affinity: affinity},
			Endpoints: make([]scenarios.EndpointState, endpoints)}
		return []scenarios.ServiceState{s}
	}
	var v Served
	for _, step := range []struct {
		what     string
		services []scenarios.ServiceState
		want     string
		kept     bool
	}{
		{"a first service", web(0, 1), "served", false},
		{"another endpoint", web(0, 2), "", false},
		{"affinity", web(time.Minute, 2), "gone", false},
		{"one without, which has no endpoint yet", web(0, 0), "", false},
		{"its endpoint", web(0, 1), "served", true},
		{"none", nil, "gone", false},
		{"the same again", web(0, 1), "served", false},
	} {
		var got []string
		kept := false
		for _, f := range v.Now(step.services) {
			x := f.What.(fact.Served)
			got, kept = append(got, map[bool]string{false: "served", true: "gone"}[x.Gone]), kept || x.Kept
		}
		if strings.Join(got, " ") != step.want || kept != step.kept {
			t.Errorf("%s: %v, kept %t", step.what, got, kept)
		}
	}
}
