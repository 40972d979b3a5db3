package kube_test

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// cloud is a cloud of alias ranges that fails the first time that it is asked for anything.
type cloud struct {
	mu      sync.Mutex
	aliases map[string][]string
	failed  map[string]bool
}

func newCloud() *cloud { return &cloud{aliases: map[string][]string{}, failed: map[string]bool{}} }

func (c *cloud) fail(what string) error {
	if c.failed[what] {
		return nil
	}
	c.failed[what] = true
	return errors.New("try again")
}

func (c *cloud) Aliases(_ context.Context, node, _ string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.aliases[node], c.fail("get " + node)
}

func (c *cloud) AddAlias(_ context.Context, node, _ string, cidr netip.Prefix) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aliases[node] = []string{cidr.String()} // the second time changes nothing
	return c.fail("add " + node)
}

func gce(n *v1.Node) { n.Spec.ProviderID = "gce://project/zone/" + n.Name }

// Goal: what the cloud gave a node is written into it, and its network counts as available. Method: a cloud that knows
// an alias.
func TestCloudAllocator(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	c := newCloud()
	c.aliases["node-0"] = []string{"10.4.0.0/24"}
	s.addNode("node-0", gce, func(n *v1.Node) {
		n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}, {Type: v1.NodeNetworkUnavailable, Status: v1.ConditionTrue}}
	})
	drive(t, kube.Config{Client: client, Cloud: c, New: func() (nodeipam.Machine, error) {
		return nodeipam.New(nodeipam.CloudAllocatorType, nodeipam.CIDRAllocatorParams{}, nodeipam.CloudProviderGCE)
	}})
	s.served(t)
	condition := func() (now v1.NodeCondition) {
		for _, c := range s.nodes()["node-0"].Status.Conditions {
			if c.Type == v1.NodeNetworkUnavailable {
				now = c
			}
		}
		return now
	}
	until(t, func() bool { return condition().Status == v1.ConditionFalse }, func() string { return "the network stays unavailable" })
	if c := condition(); c.Reason != "RouteCreated" || c.LastTransitionTime.IsZero() || len(s.nodes()["node-0"].Status.Conditions) != 2 {
		t.Fatalf("%+v", s.nodes()["node-0"].Status)
	}
}

// Goal: without a cloud the allocator says so, node by node, and goes on.
func TestNoCloud(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	s.addNode("node-0", gce)
	d, _ := drive(t, kube.Config{Client: client, New: func() (nodeipam.Machine, error) {
		return nodeipam.New(nodeipam.CloudAllocatorType, nodeipam.CIDRAllocatorParams{}, nodeipam.CloudProviderGCE)
	}})
	var failure error
	until(t, func() bool {
		must(t, d.Ask(t.Context(), func(m nodeipam.Machine) { failure = m.(*nodeipam.CloudAllocator).Failure("node-0") }))
		return failure != nil
	}, func() string { return "no failure" })
	if want := "failed to get cidr(s) from provider: refused: " + kube.ErrNoCloud.Error(); failure.Error() != want {
		t.Fatalf("%v, want %s", failure, want)
	}
}

// Goal: a controller that keeps cluster and cloud the same is told the nodes first, and tells both. Method: a node with
// an alias that the cluster does not know, and one with nothing.
func TestController(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	c := newCloud()
	s.addNode("node-0", gce, func(n *v1.Node) { n.Spec.PodCIDR, n.Spec.PodCIDRs = "10.0.0.0/24", []string{"10.0.0.0/24"} })
	s.addNode("node-1", gce)
	flags := nodeipam.Flags{AllocatorType: nodeipam.IPAMFromClusterAllocatorType, ClusterCIDR: "10.0.0.0/23", NodeCIDRMaskSize: 24}
	drive(t, kube.Config{Client: client, Cloud: c, Flags: flags, Provider: nodeipam.CloudProviderGCE})
	s.served(t)
	until(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.aliases["node-0"]) > 0 && len(c.aliases["node-1"]) > 0
	}, func() string { return "the cloud was not told" })
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.aliases["node-0"][0] != "10.0.0.0/24" || c.aliases["node-1"][0] != "10.0.1.0/24" || s.nodes()["node-1"].Spec.PodCIDR != "10.0.1.0/24" {
		t.Fatalf("%v, %+v", c.aliases, s.nodes()["node-1"].Spec)
	}
}
