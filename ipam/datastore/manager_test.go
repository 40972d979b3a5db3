package datastore_test

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/plan"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// Goal: a node comes to rest at its targets with few requests and stays there; nothing that EC2, the metadata service
// or a crash does gives one address to two pods or makes a pod lose its own. Method: field incidents are replayed in a
// world of one node; world.check holds at every event.

func warmENI(n int) datastore.Targets { return datastore.Targets{WarmENI: n} }

func warmIP(warm, minimum int) datastore.Targets {
	return datastore.Targets{WarmIP: warm, MinimumIP: minimum}
}

// What plan.Warm explains is what a node does, and then it asks for nothing more.
func TestNodeComesToRestWherePlanSays(t *testing.T) {
	for _, c := range [...]struct {
		instance string
		targets  datastore.Targets
		pods     int
	}{
		{"t3.small", warmENI(1), 0}, {"t3.small", warmENI(1), 5}, {"t3.small", warmIP(2, 5), 0}, {"t3.small", warmIP(2, 5), 5},
		{"t3.small", warmIP(1, 1), 9}, {"m5.large", warmENI(0), 4}, {"p3dn.24xlarge", warmENI(1), 3}, {"p3dn.24xlarge", warmIP(5, 10), 15},
	} {
		w := newWorld(t, c.instance, c.targets)
		w.addAll(c.pods)
		w.run(5 * time.Minute)
		e := (plan.Warm{Sizing: w.sizing}).Explain(c.pods)[0]
		s := w.ds.GetIPStats()
		if w.ds.GetENIs() != len(e.PerENI) || s.TotalIPs != e.Held && c.pods == 0 || s.TotalIPs < e.Held {
			t.Errorf("%+v: %s, want %+v", c, w.stats(), e)
		}
		before := w.changes()
		w.run(time.Hour)
		if w.changes() != before {
			t.Errorf("%+v: %d requests at rest", c, w.changes()-before)
		}
		w.agree()
	}
}

// A warm target below an ENI's size is reached with one request, and nothing has to be given back.
func TestWarmTargetNeedsOneRequest(t *testing.T) {
	w := newWorld(t, "c5.4xlarge", warmIP(4, 0))
	w.run(10 * time.Minute)
	w.want("enis=1 total=4 assigned=0 cooling=0")
	if w.ec2.Requests("assign") != 1 || w.ec2.Requests("unassign") != 0 {
		t.Errorf("%d and %d requests", w.ec2.Requests("assign"), w.ec2.Requests("unassign"))
	}
}

// A burst comes and goes: the addresses go back, first those of ENIs that can go as a whole.
func TestBurstGoesBack(t *testing.T) {
	for _, prefixes := range [...]bool{false, true} {
		w := newWorld(t, "m5.large", warmIP(3, 0), func(_ *ec2.Config, z *datastore.Sizing) { z.PrefixDelegation = prefixes })
		w.addAll(20)
		w.run(time.Minute)
		for range 20 {
			w.remove(0)
		}
		w.run(10 * time.Minute)
		if prefixes {
			w.want("enis=1 total=16 assigned=0 cooling=0")
		} else {
			w.want("enis=1 total=3 assigned=0 cooling=0")
		}
		w.agree()
	}
}

// All pods of a full node restart at once: 4 addresses cool and none is left, so the node gets more at once instead of
// letting pods wait for 30 s.
func TestRestartOnAFullNodeDoesNotStarve(t *testing.T) {
	w := newWorld(t, "c5.4xlarge", warmIP(2, 23))
	w.addAll(21)
	w.run(time.Minute)
	for range 4 {
		w.remove(0)
	}
	for range 2 {
		w.add()
	}
	if w.add() {
		t.Fatal("there was an address left")
	}
	w.run(6 * time.Second)
	//lint:ignore SA4000 each call takes one more address
	if !w.add() || !w.add() {
		t.Fatalf("after 6 s: %s", w.stats())
	}
}

// With the primary ENI unusable and nothing to keep warm, the one ENI that there must be is not given back to be asked
// for again.
func TestNoEndlessLoopWithCustomNetworking(t *testing.T) {
	w := newWorld(t, "m5.large", warmENI(0), func(_ *ec2.Config, z *datastore.Sizing) { z.SkipPrimary = true })
	w.run(4 * time.Hour)
	if w.ec2.Requests("create") != 1 || w.ec2.Requests("delete") != 0 {
		t.Errorf("%d ENIs created, %d deleted", w.ec2.Requests("create"), w.ec2.Requests("delete"))
	}
}

// The agent dies between any two events of its first minutes; the next life adopts what is attached and no pod loses
// its address.
func TestKillAtAnyMomentOfGrowth(t *testing.T) {
	for at := 50 * time.Millisecond; at < 25*time.Second; at += 190 * time.Millisecond {
		w := newWorld(t, "t3.small", warmENI(1))
		end := epoch.Add(at)
		for w.now.Before(end) {
			w.run(min(time.Second, end.Sub(w.now)))
			w.add()
		}
		w.start()
		w.run(3 * time.Minute)
		w.addAll(9 - len(w.pods))
		w.run(2 * time.Minute)
		w.agree()
		w.want("enis=3 total=9 assigned=9 cooling=0")
	}
}

// The metadata service leaves an attached ENI out for a while; its pods keep their addresses and it is not given away.
func TestENIHiddenByTheMetadataService(t *testing.T) {
	w := newWorld(t, "t3.small", warmIP(1, 0))
	w.addAll(5)
	w.run(2 * time.Minute)
	hide := w.now.Add(70 * time.Second)
	w.mangle = func(c datastore.Call, r *datastore.Result) bool {
		if c.Op == datastore.ReadIMDS && w.now.Before(hide) {
			r.ENIs = r.ENIs[:1]
		}
		return false
	}
	w.run(10 * time.Minute)
	if s := w.ds.GetIPStats(); s.ForceRemovedENIs != 0 || s.AssignedIPs != 5 || w.ec2.Requests("delete") != 0 {
		t.Errorf("%+v", s)
	}
	w.agree()
}

// EC2 itself says for a while that an ENI with live pods is gone. When it is back, its pods have it: it never looks
// unused.
func TestENIThatEC2DeniesComesBackWithItsPods(t *testing.T) {
	w := newWorld(t, "t3.small", warmIP(1, 0))
	w.addAll(5)
	w.run(2 * time.Minute)
	deny := w.now.Add(90 * time.Second)
	w.mangle = func(c datastore.Call, r *datastore.Result) bool {
		if (c.Op == datastore.ReadIMDS || c.Op == datastore.DescribeENIs) && w.now.Before(deny) {
			r.ENIs = r.ENIs[:1]
		}
		return false
	}
	w.run(70 * time.Second)
	if s := w.ds.GetIPStats(); s.ForceRemovedENIs != 1 || len(w.ds.Orphans()) != 2 {
		t.Fatalf("%+v %v", s, w.ds.Orphans())
	}
	w.start() // and the agent restarts meanwhile
	w.run(10 * time.Minute)
	if s := w.ds.GetIPStats(); s.AssignedIPs != 5 || len(w.ds.Orphans()) != 0 {
		t.Errorf("%+v %v", s, w.ds.Orphans())
	}
	w.agree()
}

// One address is swapped for another outside of the agent: the number is the same, the set is not.
func TestSwappedAddressIsNoticed(t *testing.T) {
	w := newWorld(t, "m5.large", warmIP(4, 0))
	w.run(time.Minute)
	before := w.ds.Units("eni-0000")
	if err := w.ec2.Unassign(w.now, "eni-0000", before[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ec2.Assign(w.now, "eni-0000", 2, false); err != nil {
		t.Fatal(err)
	}
	if err := w.ec2.Unassign(w.now, "eni-0000", before[1:2]); err != nil {
		t.Fatal(err)
	}
	w.run(2 * time.Minute)
	w.agree()
	if slices.Equal(w.ds.Units("eni-0000"), before) {
		t.Error("nothing was swapped")
	}
}

// An ENI is detached under the agent: what is not in the cloud is not assignable a minute later.
func TestDetachedOutside(t *testing.T) {
	w := newWorld(t, "t3.small", warmENI(1))
	w.run(2 * time.Minute)
	w.addAll(3)
	w.run(time.Minute)
	if err := w.ec2.Delete(w.now, "eni-0001"); err != nil {
		t.Fatal(err)
	}
	w.run(90 * time.Second)
	w.agree()
}

// An ENI cannot be deleted for some minutes. It is not lost: it comes back into the store and goes when it can.
func TestENIThatCannotBeDeletedIsTriedAgain(t *testing.T) {
	w := newWorld(t, "t3.small", warmIP(1, 0))
	w.addAll(5)
	w.run(2 * time.Minute)
	w.ec2.Refuse("delete", w.now.Add(5*time.Minute))
	for range 5 {
		w.remove(0)
	}
	w.run(3 * time.Minute)
	if enis, _ := w.ec2.Describe(w.now); len(enis) != 2 {
		t.Fatalf("%d ENIs", len(enis))
	}
	w.run(15 * time.Minute)
	w.want("enis=1 total=1 assigned=0 cooling=0")
	w.agree()
}

// The answer to each request in turn is lost: it was done, or not. The node finds out and comes to rest.
func TestLostAnswers(t *testing.T) {
	for lost := 1; lost <= 14; lost++ {
		w := newWorld(t, "t3.small", warmENI(1))
		n := 0
		w.mangle = func(datastore.Call, *datastore.Result) bool {
			n++
			return n == lost
		}
		w.addAll(5)
		w.run(10 * time.Minute)
		w.want("enis=3 total=9 assigned=5 cooling=0")
		w.agree()
	}
}

// Nobody answers whether units were given back: the manager is unsure from then on, until a look behind a minute.
func TestUnsureOfWhatNobodyAnswered(t *testing.T) {
	w := newWorld(t, "m5.large", warmIP(3, 0))
	lost := false
	w.mangle = func(c datastore.Call, r *datastore.Result) bool {
		if c.Op == datastore.UnassignUnits && !lost {
			lost, r.Err = true, errors.New("no answer")
		}
		return false
	}
	w.addAll(5)
	w.run(time.Minute)
	for range 5 {
		w.remove(0)
	}
	for range 240 {
		if w.run(time.Second); lost {
			break
		}
	}
	if !lost || !w.manager.Unsure() {
		t.Fatalf("given back %t, unsure %t", lost, w.manager.Unsure())
	}
	w.run(50 * time.Second)
	if !w.manager.Unsure() {
		t.Error("it is sure within a minute")
	}
	w.run(2 * time.Minute)
	if w.manager.Unsure() {
		t.Error("it is never sure again")
	}
	w.agree()
}

// A late answer to a call that was given up changes nothing.
func TestLateAnswerIsIgnored(t *testing.T) {
	w := newWorld(t, "t3.small", warmENI(1))
	var kept *datastore.Result
	w.mangle = func(c datastore.Call, r *datastore.Result) bool {
		if c.Op == datastore.AssignUnits && kept == nil {
			kept = r
			return true
		}
		return false
	}
	w.run(5 * time.Minute)
	w.want("enis=1 total=3 assigned=0 cooling=0")
	if list := w.manager.Step(w.now, datastore.Called{Result: *kept}); list != nil {
		t.Errorf("%v", list)
	}
	w.agree()
}

// EC2 throttles: the node waits longer and longer, and gets there all the same.
func TestThrottling(t *testing.T) {
	w := newWorld(t, "t3.small", warmENI(1), func(c *ec2.Config, _ *datastore.Sizing) { c.Account = ec2.NewAccount(epoch, 0.02, 1) })
	for range 60 {
		w.run(time.Minute)
		if len(w.pods) < 5 {
			w.add()
		}
	}
	w.want("enis=3 total=9 assigned=5 cooling=0")
	if len(w.notes) > 60 {
		t.Errorf("%d refusals in an hour", len(w.notes))
	}
}

// The subnet runs dry: a node that starts then serves the pods that it has and gets what there is.
func TestSubnetRunsDry(t *testing.T) {
	subnet := ec2.NewSubnet(netip.MustParsePrefix("10.0.0.0/28"))
	for i := 5; i <= 12; i++ {
		subnet.Occupy(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	w := newWorld(t, "m5.large", warmIP(3, 0), func(c *ec2.Config, _ *datastore.Sizing) { c.Subnet = subnet })
	w.run(time.Minute)
	w.want("enis=1 total=2 assigned=0 cooling=0")
	w.addAll(2)
	if w.add() {
		t.Fatal("an address came from nowhere")
	}
	w.start()
	w.run(time.Minute)
	w.want("enis=1 total=2 assigned=2 cooling=0")
	requests := w.ec2.Requests("assign") + w.ec2.Requests("create")
	w.run(time.Hour)
	if n := w.ec2.Requests("assign") + w.ec2.Requests("create") - requests; n > 40 {
		t.Errorf("%d requests in an hour to a dry subnet", n)
	}
}

// No /28 is left in one piece: pods wait beside free addresses, as upstream's do with prefix delegation, until there is
// one.
func TestFragmentedSubnet(t *testing.T) {
	subnet := ec2.NewSubnet(netip.MustParsePrefix("10.0.0.0/26"))
	hole := netip.MustParseAddr("10.0.0.40")
	for _, a := range [...]netip.Addr{netip.MustParseAddr("10.0.0.20"), hole} {
		subnet.Occupy(a)
	}
	w := newWorld(t, "m5.large", datastore.DefaultTargets(), func(c *ec2.Config, z *datastore.Sizing) {
		c.Subnet, z.PrefixDelegation = subnet, true
	})
	w.run(10 * time.Minute)
	if s := w.ds.GetIPStats(); w.add() || s.TotalIPs != 0 {
		t.Fatalf("%+v", s)
	}
	subnet.Vacate(hole)
	for range 5 {
		w.run(2 * time.Minute)
	}
	w.addAll(1)
	if s := w.ds.GetIPStats(); s.TotalPrefixes != 1 || s.AssignedIPs != 1 {
		t.Errorf("%+v; %v", s, w.notes)
	}
}

// Somebody else's ENI is left alone and its slot is not counted on; the trunk is asked for once and never given back.
func TestForeignENIsAndTrunk(t *testing.T) {
	w := newWorld(t, "t3.small", warmENI(1), func(_ *ec2.Config, z *datastore.Sizing) { z.TrunkSlot = true })
	w.run(time.Minute)
	if w.wantTrunk != 1 {
		t.Errorf("asked for a trunk %d times", w.wantTrunk)
	}
	if _, err := w.ec2.Attach(w.now, map[string]string{datastore.NoManageTag: "true"}, false); err != nil {
		t.Fatal(err)
	}
	trunk, err := w.ec2.Attach(w.now, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	w.run(3 * time.Minute)
	w.addAll(3)
	w.run(3 * time.Minute)
	w.want("enis=2 total=3 assigned=3 cooling=0")
	if w.ds.GetTrunkENI() != trunk || w.ec2.Requests("delete") != 0 {
		t.Errorf("trunk %q, %v", w.ds.GetTrunkENI(), w.notes)
	}
}

// At the start one ENI cannot be set up. Its pods are not dead: their claims wait until it can.
func TestSetUpFailsAtTheStart(t *testing.T) {
	w := newWorld(t, "t3.small", warmIP(1, 0))
	w.addAll(5)
	w.run(time.Minute)
	w.setUpFails["eni-0001"] = true
	w.start()
	w.run(2 * time.Second)
	if !w.manager.Ready() || w.ds.GetENIs() != 1 || len(w.ds.Orphans()) != 2 {
		t.Fatalf("ready %v, %s, orphans %v", w.manager.Ready(), w.stats(), w.ds.Orphans())
	}
	w.run(3 * time.Minute)
	w.setUpFails["eni-0001"] = false
	w.run(5 * time.Minute)
	if s := w.ds.GetIPStats(); s.AssignedIPs != 5 || len(w.ds.Orphans()) != 0 {
		t.Errorf("%s, orphans %v", w.stats(), w.ds.Orphans())
	}
	w.agree()
}

// The backing store cannot be read at first: nothing is assigned until it can, then all pods are there.
func TestStartWaitsForTheBackingStore(t *testing.T) {
	w := newWorld(t, "t3.small", warmENI(1))
	w.addAll(2)
	w.file.Error = errors.New("disk")
	w.start()
	w.run(time.Minute)
	if w.manager.Ready() || w.add() {
		t.Fatal("it serves without knowing its pods")
	}
	w.file.Error = nil
	w.run(2 * time.Minute)
	w.addAll(1)
	w.want("enis=2 total=6 assigned=3 cooling=0")
}

// A node that goes away neither grows nor shrinks.
func TestTerminating(t *testing.T) {
	w := newWorld(t, "t3.small", warmENI(1))
	w.run(time.Minute)
	w.effects(w.manager.Step(w.now, datastore.Terminating{}))
	w.addAll(3)
	before := w.changes()
	w.run(10 * time.Minute)
	if w.changes() != before {
		t.Errorf("%d requests", w.changes()-before)
	}
}
