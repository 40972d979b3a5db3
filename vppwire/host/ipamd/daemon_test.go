package ipamd_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
)

// Goal: a node keeps its warm interface, pods come and go under the seed's checkpoint, and a daemon that starts again knows them all.
// Method: the daemon's own loop on a test's clock, asking a double of EC2 by the SDK.
func TestDaemonGrowsRestartsAndShrinks(t *testing.T) {
	n := newNode(t, "10.0.0.0/24", ec2.RegionConfig{AttachDelay: 3 * time.Second, MetadataLag: 2 * time.Second})
	n.start(time.Minute)
	if got := n.total(); got != 9 {
		t.Errorf("%d addresses at first, want the 9 of one interface", got)
	}
	pods := map[string]netip.Addr{}
	for k := range 12 {
		name := fmt.Sprint("pod-", k)
		pods[name] = n.pod(name)
		n.run(20 * time.Second)
	}
	if got := n.total(); got != 27 {
		t.Errorf("%d addresses for 12 pods, want the 27 of three interfaces", got)
	}
	n.whole(pods)
	n.start(time.Minute)
	for name, was := range pods {
		if a := n.pod(name); a != was {
			t.Errorf("%s had %s, and has %s after a restart", name, was, a)
		}
	}
	for name := range pods {
		if _, err := n.Release(key(name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := n.Release(key("pod-0")); err == nil {
		t.Error("a pod's address is taken back twice")
	}
	pods = map[string]netip.Addr{"last": n.pod("last")}
	n.run(10 * time.Minute)
	if got := n.total(); got != 18 {
		t.Errorf("%d addresses for one pod, want the 18 of two interfaces", got)
	}
	n.whole(pods)
	if n.loose() > 0 {
		t.Errorf("%d interfaces are attached to nothing", n.loose())
	}
	n.secretless()
}

// What EC2 answers about an interface that was deleted a moment ago is old: it does not come back into the store, nor are its addresses
// given to pods, though reads are later than the metadata service is looked at.
func TestDaemonForgetsNoDeletion(t *testing.T) {
	n := newNode(t, "10.0.0.0/24", ec2.RegionConfig{ReadLag: 55 * time.Second, MetadataLag: 50 * time.Second})
	n.sizing.WarmIP = 1
	n.start(5 * time.Minute)
	var pods []string
	for k := range 12 {
		name := fmt.Sprint("pod-", k)
		n.pod(name)
		pods = append(pods, name)
		n.run(3 * time.Minute)
	}
	for _, name := range pods {
		if _, err := n.Release(key(name)); err != nil {
			t.Error(err)
		}
	}
	n.log.Reset()
	n.run(time.Hour)
	log := n.log.String()
	if !strings.Contains(log, " delete-eni") {
		t.Fatal("no interface is deleted")
	}
	if strings.Contains(log, "EC2 does not have") {
		t.Errorf("a deleted interface came back:\n%s", log)
	}
}

// With prefix delegation and no /28 in one piece nothing is assigned, pods wait, and no single address is asked for.
func TestDaemonWaitsForAPrefix(t *testing.T) {
	n := newNode(t, "10.0.0.0/26", ec2.RegionConfig{})
	for _, a := range []string{"10.0.0.5", "10.0.0.20", "10.0.0.36", "10.0.0.50"} {
		n.subnet.Occupy(netip.MustParseAddr(a))
	}
	n.sizing.PrefixDelegation = true
	n.start(10 * time.Minute)
	if _, err := n.Assign(key("web")); err == nil || n.total() != 0 {
		t.Errorf("%v with %d addresses, want a pod that waits", err, n.total())
	}
	if !strings.Contains(n.log.String(), ec2.CodeNoBlock) {
		t.Error("nobody is told why")
	}
	n.subnet.Vacate(netip.MustParseAddr("10.0.0.36"))
	n.run(10 * time.Minute)
	pods := map[string]netip.Addr{"web": n.pod("web")}
	if got := n.total(); got != 16 {
		t.Errorf("%d addresses, want one prefix", got)
	}
	n.whole(pods)
	if strings.Contains(n.shown("/metrics"), "awscni_total_ipv4_prefixes 1") == false {
		t.Error("no prefix is shown")
	}
}
