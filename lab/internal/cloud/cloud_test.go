package cloud_test

import (
	"errors"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/lab/internal/cloud"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
)

// Goal: a lab hears from EC2 itself what each node is assigned, also what goes with its instance, which others can have then; pods of a
// zone with a subnet of their own have addresses of that; and a subnet without room makes no instance. Method: nodes' clients by AWS' SDK,
// on the sockets that nodes use.
func TestCloud(t *testing.T) {
	dir := t.TempDir()
	plan := scenarios.DefaultConfig().IPAM
	plan.System, plan.PodSubnetOneNodePrefixLen = scenarios.Datastore, 0
	plan.PodSubnetCIDR = scenarios.CIDR(netip.MustParsePrefix("10.1.0.0/16"))
	plan.Datastore.InstanceType = "t3.small"
	plan.Datastore.Subnets = []scenarios.VPCSubnet{{CIDR: netip.MustParsePrefix("10.200.0.0/28"), Pods: netip.MustParsePrefix("10.1.0.0/28")}}
	c, err := cloud.New(cloud.Config{Dir: dir, Plan: plan, Now: time.Now})
	must(t, err)
	defer func() { must(t, c.Close()) }()
	told := map[string][]netip.Prefix{}
	launch := func(node string) error {
		return c.Launch(node, filepath.Join(dir, node+".sock"), func(units []netip.Prefix) { told[node] = slices.Clone(units) })
	}
	// client is a node's, which has an interface for pods with that many addresses.
	client := func(node string, units int) error {
		must(t, launch(node))
		a, err := aws.Connect(t.Context(), aws.Config{Sockets: aws.Sockets{API: c.API(), Metadata: filepath.Join(dir, node+".sock")}, PodSubnet: c.PodSubnet(node)})
		must(t, err)
		r := a.Do(t.Context(), datastore.Call{Number: 1, Op: datastore.CreateENI, Units: units})
		return r.Err
	}
	must(t, client("node-1", 3))
	if want := []netip.Prefix{netip.MustParsePrefix("10.1.0.5/32"), netip.MustParsePrefix("10.1.0.6/32"), netip.MustParsePrefix("10.1.0.7/32")}; !slices.Equal(told["node-1"], want) {
		t.Errorf("node-1 is assigned %v, want %v", told["node-1"], want)
	}
	must(t, client("node-2", 3))
	if err := client("node-3", 3); err == nil {
		t.Error("three addresses and an interface's own come out of 11 that two interfaces have taken 8 of")
	}
	must(t, c.Terminate("node-1"))
	if len(told["node-1"]) > 0 {
		t.Errorf("node-1 is assigned %v when it has gone", told["node-1"])
	}
	must(t, client("node-4", 3))
	for n := 5; ; n++ {
		if err := launch("node-" + string(rune('a'+n))); errors.Is(err, result.ErrNoMachine) {
			break
		} else if err != nil || n > 20 {
			t.Fatalf("instance %d: %v", n, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
