package endpoints

import (
	"net/netip"
	"slices"
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
		want     []fact.FactKind
		kept     bool
	}{
		{"a first service", web(0, 1), []fact.FactKind{fact.FactServed}, false},
		{"another endpoint", web(0, 2), nil, false},
		{"affinity", web(time.Minute, 2), []fact.FactKind{fact.FactUnserved}, false},
		{"one without, which has no endpoint yet", web(0, 0), nil, false},
		{"its endpoint", web(0, 1), []fact.FactKind{fact.FactServed}, true},
		{"none", nil, []fact.FactKind{fact.FactUnserved}, false},
		{"the same again", web(0, 1), []fact.FactKind{fact.FactServed}, false},
	} {
		var got []fact.FactKind
		kept := false
		for _, f := range v.Now(step.services) {
			got, kept = append(got, f.Kind), kept || f.Kept
		}
		if !slices.Equal(got, step.want) || kept != step.kept {
			t.Errorf("%s: %v, kept %t", step.what, got, kept)
		}
	}
}
