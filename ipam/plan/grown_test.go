package plan

import (
	"fmt"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// grown is the twin of Warm that only grows: where a node with an empty primary ENI and that many pods comes to.
type grown struct {
	perENI          []int
	assigned, total int
	requests        int
}

func grow(z datastore.Sizing, pods int) (g grown) {
	each := 1
	if z.PrefixDelegation {
		each = datastore.DelegatedIPs
	}
	rooms := []datastore.Room{{ENI: "0", Primary: true}}
	for {
		s := datastore.Stats{}
		for _, r := range rooms {
			s.TotalIPs += r.Units * each
		}
		s.AssignedIPs = min(pods, s.TotalIPs)
		if z.PrefixDelegation {
			s.TotalPrefixes = s.TotalIPs / each
			s.FreePrefixes = s.TotalPrefixes - (s.AssignedIPs+each-1)/each
		}
		step, ok := z.Grow(s, rooms, 0)
		if !ok {
			g.assigned, g.total = s.AssignedIPs, s.TotalIPs
			break
		}
		g.requests++
		if step.ENI == "" {
			rooms = append(rooms, datastore.Room{ENI: fmt.Sprint(len(rooms)), Units: step.Units})
			continue
		}
		for i := range rooms {
			if rooms[i].ENI == step.ENI {
				rooms[i].Units += step.Units
			}
		}
	}
	for _, r := range rooms {
		g.perENI = append(g.perENI, r.Units*each)
	}
	return g
}

// The table of upstream's documentation: which targets give how many ENIs and addresses for how many pods.
func TestWarmReproducesTheDocumentedTable(t *testing.T) {
	small, large := datastore.Sizing{ENIsMax: 3, UnitsPerENI: 3}, datastore.Sizing{ENIsMax: 15, UnitsPerENI: 49}
	for _, c := range [...]struct {
		z      datastore.Sizing
		t      datastore.Targets
		pods   int
		per    string
		assign int
	}{
		{small, datastore.Targets{WarmENI: 1}, 0, "[3]", 0},
		{small, datastore.Targets{WarmENI: 1}, 5, "[3 3 3]", 5},
		{small, datastore.Targets{WarmENI: 1}, 9, "[3 3 3]", 9},
		{small, datastore.Targets{WarmIP: 1, MinimumIP: 1}, 0, "[1]", 0},
		{small, datastore.Targets{WarmIP: 1, MinimumIP: 1}, 5, "[3 3]", 5},
		{small, datastore.Targets{WarmIP: 1, MinimumIP: 1}, 9, "[3 3 3]", 9},
		{small, datastore.Targets{WarmIP: 2, MinimumIP: 5}, 0, "[3 2]", 0},
		{small, datastore.Targets{WarmIP: 2, MinimumIP: 5}, 5, "[3 3 1]", 5},
		{small, datastore.Targets{WarmIP: 2, MinimumIP: 5}, 9, "[3 3 3]", 9},
		{small, datastore.Targets{WarmIP: 2, MinimumIP: 5}, 12, "[3 3 3]", 9},
		{large, datastore.Targets{WarmENI: 1}, 0, "[49]", 0},
		{large, datastore.Targets{WarmENI: 1}, 3, "[49 49]", 3},
		{large, datastore.Targets{WarmENI: 1}, 95, "[49 49 49]", 95},
		{large, datastore.Targets{WarmIP: 5, MinimumIP: 10}, 0, "[10]", 0},
		{large, datastore.Targets{WarmIP: 5, MinimumIP: 10}, 7, "[12]", 7},
		{large, datastore.Targets{WarmIP: 5, MinimumIP: 10}, 15, "[20]", 15},
		{large, datastore.Targets{WarmIP: 5, MinimumIP: 10}, 45, "[49 1]", 45},
		{large, datastore.Targets{}, 0, "[49]", 0},
	} {
		c.z.Targets = c.t
		if e := (Warm{Sizing: c.z}).Explain(c.pods)[0]; fmt.Sprint(e.PerENI) != c.per || e.Assigned != c.assign {
			t.Errorf("%+v, %d pods: %+v", c.t, c.pods, e)
		}
	}
	large.Targets, large.PrefixDelegation = datastore.DefaultTargets(), true
	if e := (Warm{Sizing: large}).Explain(17)[0]; fmt.Sprint(e.PerENI) != "[48]" || len(e.Steps) != 3 {
		t.Errorf("prefixes: %+v", e)
	}
}
