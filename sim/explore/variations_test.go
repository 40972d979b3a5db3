package explore_test

import (
	"context"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
)

// Goal: variations of the catalogue's scenarios hold all laws and come to rest. Method: one of each that is not slow,
// and those that once broke something, each with what that was.
func TestVariations(t *testing.T) {
	all, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	vary := func(t *testing.T, s *scenarios.Scenario, seed uint64, was string) {
		t.Parallel()
		trial := explore.Explorer{}.Variations(s, 1, seed).Batch(1)[0]
		r, err := trial.Run(context.Background(), sim.Options{Laws: check.All()})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != result.Pass {
			t.Errorf("found once: %s\nfound now: %s: %s %v", was, r.Verdict, r.Error, r.Failure)
		}
	}
	// Variations pin pods to nodes, past the scheduler: also to one whose network is said to be unavailable.
	pinned := []string{"cloud-routes-of-others"}
	for _, s := range all {
		if !slices.Contains(s.Labels, "slow") && s.Expect.Violation == "" && !testing.Short() && !slices.Contains(pinned, s.Name) {
			t.Run(s.Name, func(t *testing.T) { vary(t, s, 1, "nothing") })
		}
	}
	for _, tc := range []struct {
		scenario string
		seed     uint64
		was      string
	}{
		{"add-refused-for-long", 7, "an ADD waited for what all pods of its node share, which was refused, until its runtime gave up"},
		{"external-range-changes", 23, "a plugin without an answer took an address back that the agent still had"},
		{"external-range-changes", 57, "an ADD was refused because whoever had its address last was still going"},
		{"node-ids-run-out", 17, "pods on a node for which there is no ID were left to their runtime's patience"},
		{"node-ids-run-out", 53, "likewise, one after the other, so that one was always open"},
		{"node-ids-run-out", 570012, "a node's new block within its old one, which drained, counted as another node's, and its route as one too many"},
		{"many-changes-to-ipam-from-cluster", 570082, "a list of the nodes that came late, and was not taken in any more, counted as news of them"},
		{"nodeipam-refused", 570101, "a block of a range within another one counted as given twice"},
		{"room-for-15", 18, "an agent that was short of room looked for some more, which counted as looking twice"},
		{"store-lost-while-paused", 22, "a record written again behind the mark of a complete store counted as too early"},
		{"datastore-metadata-lags", 19, "an interface that had been given back counted as kept while the metadata service showed it"},
		{"nodes-with-settings-of-their-own", 57, "a machine's former ID had its tunnel, and the new one was not reached for half a minute"},
		{"nodes-rolled-with-a-fixed-address", 90, "likewise, where an agent started between the two"},
		{"nodes-rolled-with-a-fixed-address", 289, "likewise, without the API server"},
		{"nodes-rolled-with-a-fixed-address", 296, "likewise, where the store had lost both records"},
		{"own-addresses-of-pod-interfaces", 38, "a gateway that is no address of VPP's counted as one that CHECK has to miss"},
		{"node-ports", 60, "the table of outer addresses went with the last of them, which counted as taken from the node"},
		{"leaders-list-what-was", 103, "a CIDR was written a second time behind the news that another node had it"},
		{"pods-without-a-node-id", 83, "an ADD was refused by an agent that had not heard that there was an ID again, which counted as too early"},
		{"outside-address-comes-back-early", 103, "an ADD waited for whoever had its address, which counted as passed over"},
		{"management-addresses-change", 510004, "a kubelet whose addresses changed while there was no API server never told it"},
		{"room-for-15", 510001, "ADDs that were under way when VPP started anew took the room of pods that had been there before"},
		{"calico-borrows", 520006, "a host of the simulator gave its last address back in a full pool, which its agent never drops"},
		{"management-addresses-change", 540006, "a new machine got an address that another one had been given"},
		{"room-for-15", 540008, "an ADD was refused for want of room, and there was some when its runtime heard of that"},
		{"affinity-ends-unheard", 500008, "a GC was answered whose plugin had ended, as the agent had been told"},
	} {
		s, err := catalog.ByName(tc.scenario)
		if err != nil {
			t.Fatal(err)
		}
		t.Run("found-"+tc.scenario, func(t *testing.T) { vary(t, s, tc.seed, tc.was) })
	}
}
