package controllers_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// Goal: ENIs are attached, filled, emptied and deleted in an order in which no address is ever EC2's again while the
// node still has it, whatever happens to any of the requests; and in the end EC2 has of the node what it has of one to
// which nothing happened. Method: exhaustive. A node grows to all its ENIs and back to one; each request of that life
// is refused, lost, done without an answer, late, or the death of who asks, in each run one or four in a row.
func TestENIRelease(t *testing.T) {
	for _, row := range []int{1, 4} {
		calm := newRelease(t, 0, 0, fault.Pass)
		calm.live()
		want := calm.end()
		if calm.deleted < 2 || calm.asked < 20 {
			t.Fatalf("%d ENIs deleted, %d requests: the life is too tame to mean anything", calm.deleted, calm.asked)
		}
		runs := 0
		for at := range calm.asked {
			for action := fault.Refuse; action <= fault.CrashAfter; action++ {
				r := newRelease(t, at, row, action)
				r.live()
				if got := r.end(); got != want {
					t.Fatalf("request %d (%s) suffers %s: in the end there are %s, else %s\n%s", at, r.struck, action, got, want, r.state())
				}
				runs++
			}
		}
		t.Logf("%d in a row: %d requests, %d ENIs deleted, %d runs", row, calm.asked, calm.deleted, runs)
	}
}

// release is one run: a world with a node whose EC2 is watched.
type release struct {
	*world
	asked, deleted int
	struck         string
	healed         bool
	cloud          controllers.Cloud
}

func newRelease(t *testing.T, at, row int, action fault.Action) *release {
	t.Helper()
	p := scenarios.IPAM{System: scenarios.Datastore, PodSubnetCIDR: scenarios.CIDR(netip.MustParsePrefix("10.1.0.0/23")), PodSubnetOneNodePrefixLen: 28}
	p.Datastore = scenarios.DatastoreIPAM{InstanceType: "t3.small", PrefixDelegation: true, WarmPrefix: 1, AttachDelay: 3 * time.Second, MetadataLag: 2 * time.Second}
	r := &release{}
	r.world = newWorldWith(t, p, func(env *controllers.Env) {
		env.Plant.Cloud = func(node string, c controllers.Cloud) controllers.Cloud {
			r.cloud = c
			return watchedCloud{c, r, node}
		}
		env.Judge = func(op fault.Op) fault.Verdict {
			if r.healed {
				return fault.Verdict{}
			}
			r.asked++
			if n := r.asked - 1; n < at || n >= at+row {
				return fault.Verdict{}
			}
			r.struck = op.Name
			return fault.Verdict{Action: action, Delay: 20 * time.Second}
		}
	})
	return r
}

// live grows and shrinks: slowly, so that units go before their ENI, and then faster than units are given back, so that
// ENIs go with all that they have.
func (r *release) live() {
	r.t.Helper()
	r.join("n1")
	for _, step := range []struct {
		pods int
		time time.Duration
	}{{3, 6 * time.Minute}, {130, 6 * time.Minute}, {60, 3 * time.Minute}, {130, 6 * time.Minute}, {110, 8 * time.Second}, {0, 6 * time.Minute}} {
		r.agents["n1"].pods(step.pods)
		r.must(r.run(step.time))
		if held := r.agents["n1"].held(); held != step.pods {
			r.t.Fatalf("%s suffers: %d pods of %d have an address\n%s", r.struck, held, step.pods, r.state())
		}
	}
}

// end is what EC2 has in the end, in numbers; names depend on how often it was asked.
func (r *release) end() string {
	r.t.Helper()
	r.healed = true
	r.must(r.run(10 * time.Minute))
	for range 70 { // ipamd looks at what there is once a minute
		if r.system.Pending() != "" {
			r.must(r.run(time.Second))
		}
	}
	if why := r.system.Pending(); why != "" {
		return "pending: " + why
	}
	units := 0
	enis := r.cloud.Metadata(r.now())
	for _, e := range enis {
		units += len(e.Units)
	}
	if n := len(r.agents["n1"].alloc.Blocks()); n != units {
		return fmt.Sprintf("%d units at EC2 and %d in use", units, n)
	}
	return fmt.Sprintf("%d ENIs with %d units", len(enis), units)
}

// watchedCloud is an EC2 that nobody may give back to what his node still has.
type watchedCloud struct {
	controllers.Cloud
	r    *release
	node string
}

func (c watchedCloud) free(what string, units []netip.Prefix) {
	for _, b := range c.r.agents[c.node].alloc.Blocks() {
		if slices.Contains(units, b.Prefix) {
			c.r.t.Fatalf("%s suffers: %s gives %s back, which the node still has\n%s", c.r.struck, what, b.Prefix, c.r.state())
		}
	}
}

// Unassign implements controllers.Cloud.
func (c watchedCloud) Unassign(now time.Time, eni string, units []netip.Prefix) error {
	c.free("unassign-units", units)
	return c.Cloud.Unassign(now, eni, units)
}

// Delete implements controllers.Cloud.
func (c watchedCloud) Delete(now time.Time, eni string) error {
	list := c.Cloud.Metadata(now.Add(time.Hour)) // as it is now, past the lag
	if i := slices.IndexFunc(list, func(e ec2.ENI) bool { return e.ID == eni }); i >= 0 {
		c.free("delete-eni", list[i].Units)
	}
	err := c.Cloud.Delete(now, eni)
	if err == nil {
		c.r.deleted++
	}
	return err
}
