package sim_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// Goal: random scenarios that have found something once find nothing any more. Method: each is drawn from its seed
// again and run with every law. What a seed draws changes with the generator and the order of events, so a line here
// keeps a scenario of that kind, not exactly that one; what can be said in a few actions is in the catalogue too.
func TestFoundSeeds(t *testing.T) {
	for _, tc := range []struct {
		profile gen.Profile
		seed    uint64
		found   string
	}{
		{gen.Small(), 119, "a new node took the ID of one whose machine was off when the store lost its data"},
		{gen.Small(), 195, "a new node took the ID of one whose agent was cut off when the store lost its data"},
		{gen.Small(), 30, "a new block overlapped a draining one whose record the store had lost"},
		{gen.Small(), 273, "a store that had just lost its data again was taken for complete"},
		{gen.Small(), 4145, "an agent without news from the API server released the ID of a node that had joined since"},
		{gen.Small(), 604, "half a list of nodes ended like a whole one, and the other half counted as gone"},
		{gen.Small(), 5099, "a block came back to life that an agent had dropped, died over, and read as dropped from an unsynced journal"},
		{gen.Small(), 163, "blocks were told as facts before the releases that they followed from"},
		{gen.Small(), 213, "releases during a restart were told as facts of the life before"},
		{gen.Small(), 100, "a DEL whose answer was lost kept its address in the state of a law"},
		{gen.Small(), 9, "a joining node was not told as a reason to write after a clean restart"},
		{gen.Small(), 343, "a route of a table that died with VPP stayed unknown, and its pod's DEL open for ever"},
		{gen.Small(), 545, "a cluster counted as quiet while a runtime waited for the answer of a dead agent"},
		{gen.Small(), 5052, "records of nodes that had left before anybody looked were never released"},
		{gen.Small(), 231500828, "nodes whose IDs newer ranges had no room for wrote records without addresses when the store had lost its data"},
		{gen.Tiny(), 50060315, "a local of a load balancing mapping that is taken away twice counted as what a VPP dies of"},
		{gen.Tiny(), 93840, "a pod whose namespace was removed while its ADD was open was wired anew once, as its link had gone"},
		{gen.Tiny(), 3109004471, "an agent that waited for the answer of a call in a namespace that was gone was to give the pod back before it"},
		{gen.Tiny(), 3300040780, "an agent that went by another failure of a pod's wiring first was to give the pod back for a gone namespace"},
		{gen.Tiny(), 3300034723, "a claim that was on its way when the store lost its data was to wait for the records that were lost"},
		{gen.Tiny(), 3200021873, "a node that had not heard yet that the store had lost its data was to wait for the records that were lost"},
		{gen.Tiny(), 540001016, "offloads of a device that had gone with its sandbox were refused, which nothing was thought to explain"},
		{gen.Tiny(), 1215, "a watch of the store that was late ended the newer one"},
		{gen.Tiny(), 230004677, "an agent asked a thousand times a second to delete what a repeated request of its had deleted"},
		{gen.Tiny(), 230000889, "ranges changed twice, and a node that heard of each late took a Linux route away for each"},
		{gen.Tiny(), 231011623, "a record was written anew without a block that it had told of before the store lost its data"},
		{gen.Tiny(), 231039343, "a node that heard late of endpoints and last that a service has no affinity any more replaced its mapping for each"},
		{gen.Tiny(), 280059589, "a namespace was removed under an ADD that went on beyond the healing, and no runtime replaced its sandbox"},
		{gen.Systems(), 1090, "an address that an ENI had given back was given to the next ENI of the node, and ipamd did not believe it for a minute"},
		{gen.Tiny(), 330005747, "an agent died when its disk had a write that it had not heard of, and its blocks counted as those of its life before"},
		{gen.Tiny(), 330013480, "VPP took a link down, and to set its offload again behind a lost answer counted as needless"},
		{gen.Tiny(), 310001418, "ranges changed back as the store lost its data, and a record that named once more what it had named counted as new"},
		{gen.Tiny(), 300025962, "a clock was set back before a crash, and garbage was collected when what was lost was too young for it by the agent's time"},
		{gen.Tiny(), 300040173, "a namespace was removed under an ADD, and all was quiet between the ADD's answer and the runtime's next look"},
		{gen.Tiny(), 300088514, "a request for a watch that came twice took the place of the first, which was about to hear that the store had lost its data"},
		{gen.Tiny(), 290037549, "an address that had rested rested again, by a clock that was set back before the machine crashed, and counted as free"},
		{gen.Tiny(), 290091272, "a late request for a watch took the place of the later one that the agent read, which never heard that the store had lost its data"},
		{gen.Tiny(), 250016679, "a list of nodes was asked for at the moment at which the watch told of one that had left, which then stayed in"},
		{gen.Tiny(), 250041499, "likewise, of a node that was made unschedulable right before it left"},
		{gen.Tiny(), 250016856, "the claim of an ID reached the store when that had just lost its data, and others cut the ID's holder off for it"},
		{gen.Tiny(), 250053520, "a node whose disk refused its claim leased another address than its record had told, and began with that"},
		{gen.Tiny(), 270001650, "a node that heard late of another's two moves replaced its routes there for each"},
		{gen.Systems(), 230100424, "pods that had found no address a moment ago did not count as waiting for the addresses that were fetched for them"},
		{gen.Systems(), 270000113, "a cluster counted as quiet while ipamd left a block alone whose giving back had not reached EC2"},
		{gen.Systems(), 232000313, "ipamd took a block back into use whose giving back nobody had answered, and which was on its way still"},
		{gen.Systems(), 2170, "a watch lost a change in quiet, because it was to lose the next one before all was healed"},
		{gen.Systems(), 8100082, "a store that had lost its data told no changes of records as facts any more"},
		{gen.Systems(), 96000033, "a record announced and dropped a block that its node never took, and a peer that heard late took its route away"},
		{gen.Systems(), 110000069, "a node that came anew took blocks that an old list showed of its former life"},
		{gen.Tiny(), 360020616, "a runtime that had stood still heard of a refusal for want of an address when there was one again"},
		{gen.Tiny(), 350002762, "a call that was made twice by whoever injects took more away than the agent knew, and its next call was refused"},
		{gen.Tiny(), 7710863, "an agent that forgot many IDs one after the other counted as one that wakes in vain"},
		{gen.Small(), 41262, "a CHECK came while the agent looked around, and what was still to be looked at counted as looked at twice"},
		{gen.Systems(), 230100212, "an operator gave addresses back to EC2 one by one, and was throttled for longer than it had"},
		{gen.Systems(), 888093, "an agent that had stood still heard at once how its blocks had come and gone, which counted as its pool's turning back and forth"},
		{gen.Systems(), 5100268, "a cloud did not answer, and what ipamd gave back and took back into use meanwhile counted as its pool's turning back and forth"},
		{gen.Systems(), 883000046, "a cluster counted as quiet while ipamd was still to ask EC2 what had become of an ENI whose deletion it had given up"},
		{gen.Systems(), 606000001, "a node heard what had changed in its CiliumNode while it wrote it, and looked no more when that was refused as a conflict"},
		{gen.Systems(), 606000019, "two pods showed one address for a while, and its EndpointSlice had more endpoints than it may"},
		{gen.Systems(), 8800074, "many blocks came with one write, which replaced the journal, and counted as one that replaces it too soon"},
		{gen.Systems(), 941000031, "a node without a free address counted as cooling what cooled in blocks on their way out, too"},
		{gen.Tiny(), 8609913, "an agent heard late what a watch had told before a list, and the list, and took a node for one that is there which the list had not"},
		{gen.Systems(), 72000107, "blocks that were named again for their order were not counted among what a journal would have got"},
		{gen.Systems(), 7100046, "a prefix, then several addresses, then one, asked for in one go by an ipamd counted as three tries too early"},
		{gen.Systems(), 7300187, "a condition set behind an alias that was added anew counted as needless"},
		{gen.Systems(), 2400000421, "a disk lost the release of an address with what failed, and kept the drop of its block, which was written behind that"},
		{gen.Systems(), 2701000027, "a cloud's answer about a node that had gone and come again since counted as the one that was waited for"},
		{gen.Systems(), 2800000217, "a controller that was told of an older object after a newer one counted as one that knows the newer one"},
		{gen.Systems(), 2800000267, "a watch was stale by 20 s, and its news late by another 20, and a node that took a route away for it counted as one without cause"},
		{gen.Systems(), 3108000025, "an operator asked EC2 for more addresses than there were, and got none of those that there were"},
		{gen.Systems(), 3106000012, "a ledger whose claims the store had lost was struck out from the first return of one of them on, with all claims behind it"},
		{gen.Systems(), 3104000074, "a block that went with an ADD that the disk refused was no longer published before the disk knew"},
		{gen.Systems(), 3101000201, "an operator's requests in vain used up what EC2 let through, so that no address came back, without an end"},
		{gen.Systems(), 3115000081, "a cluster counted as quiet while an operator had one address, and a node had none"},
		{gen.Systems(), 3120000167, "an interface counted as one with a pod's address, which by the metadata service's past it had had before"},
		{gen.Systems(), 3116000050, "a subnet had no address for a machine in the place of one that was taken away, and the run could not be judged"},
		{gen.Tiny(), 4100005263, "a veth that was made behind a lost answer had its MTU set again, although the AF_PACKET interface on it had brought it up"},
		{gen.Tiny(), 4400012315, "an agent that could not know of its new VPP was blamed for what it said of the old one's DHCP client"},
		{gen.Tiny(), 4400016023, "a list of the nodes whose age a slow clock counted counted as older than it was, and the next one as asked for while it was under way"},
		{gen.Tiny(), 4400073842, "a STATUS was asked between the lease of the node's address and the agent's next look, and its refusal counted as untrue"},
		{gen.Tiny(), 4400090886, "a law counted free addresses by a clock that was set ahead, and those that cooled came back too early"},
		{gen.Tiny(), 3640028055, "who had come first until a moment ago was not counted when a release was called late"},
		{gen.Systems(), 7720014, "an ADD was heard behind its DEL, the agent died, and its next life wired a deleted pod into a namespace that was gone, without an end"},
		{gen.Systems(), 7700012, "an instance counted as full by what the metadata service showed of an interface that had been deleted"},
		{gen.Systems(), 7000012, "a cloud allocator's further try of one write counted as needless, as the node had been told of meanwhile"},
		{gen.Tiny(), 2000014397, "two agents that had lost the store together took their records back whenever the other's was gone, and claimed anew, without an end"},
		{gen.Tiny(), 800063383, "an ADD that waited for the pause behind nine refusals of what all pods need counted as slow for no reason"},
		{gen.Systems(), 920000114, "a plugin that was given an address only when a partition had ended counted as one that its agent had not answered"},
		{gen.Tiny(), 510027492, "an agent died at a lease and again before it was up, and its next life counted as one that goes on with the round of its block"},
		{gen.Tiny(), 7000706, "the trunk's MTU was set late behind a lost request, and a pod's macvlan was to have a greater one than its parent"},
		{gen.Tiny(), 7101127, "a sandbox was removed between a look at its link and the AF_PACKET interface on it, which counted as refused for nothing"},
		{gen.Tiny(), 7408171, "a dump that a VPP answered when it went on counted as the last of a look that was not over"},
	} {
		t.Run(fmt.Sprintf("%s-%d", tc.profile.Name, tc.seed), func(t *testing.T) {
			t.Parallel()
			s := gen.Draw(engine.Seeded(tc.seed), tc.profile, fmt.Sprintf("gen-%d", tc.seed))
			r, err := sim.Run(context.Background(), s, sim.Options{Seed: tc.seed, Laws: check.All()})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != result.Pass {
				t.Errorf("found once: %s\nfound now: %s: %s", tc.found, r.Verdict, r.Error)
			}
		})
	}
}
