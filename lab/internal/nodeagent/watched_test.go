package nodeagent

import (
	"context"
	"net/netip"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// told is a cluster that tells what a test wants.
type tells []agent.Event

func (c tells) Watch(_ context.Context, tell func(agent.Event)) {
	for _, ev := range c {
		tell(ev)
	}
}

func (tells) Relist() {}

// Goal: what an agent has heard of the cluster is what was told last of each object, and a new list drops what is not
// in it. Method: stories of events, each with the lines after it.
func TestHeardCluster(t *testing.T) {
	seen := func(name, uid string, cidrs ...string) agent.NodeSeen {
		ev := agent.NodeSeen{Name: name, UID: uid}
		for _, c := range cidrs {
			ev.PodCIDRs = append(ev.PodCIDRs, netip.MustParsePrefix(c))
		}
		return ev
	}
	var events tells
	web := service.Name{Namespace: "default", Name: "web"}
	slice := service.Slice{Name: web, Service: "web"}
	passed := 0
	for _, step := range []struct {
		ev   agent.Event
		want []string
	}{
		{seen("node-1", "a"), []string{"node node-1 a [] []"}},
		{seen("node-2", "b"), []string{"node node-1 a [] []", "node node-2 b [] []"}},
		{seen("node-1", "a", "10.1.1.0/24"), []string{"node node-1 a [10.1.1.0/24] []", "node node-2 b [] []"}},
		{host.NodesListed{}, []string{"node node-1 a [10.1.1.0/24] []", "node node-2 b [] []"}},
		{agent.PoolsChanged{Pools: agent.Pools{Generation: 3}}, []string{"node node-1 a [10.1.1.0/24] []", "node node-2 b [] []", "pools 3"}},
		{agent.NodeGone{Name: "node-2", UID: "b"}, []string{"node node-1 a [10.1.1.0/24] []", "pools 3"}},
		// The watch has lost its place: node-1 is told again, node-4 is new, node-2 is not there.
		{seen("node-4", "d"), []string{"node node-1 a [10.1.1.0/24] []", "node node-4 d [] []", "pools 3"}},
		{host.NodesListed{}, []string{"node node-4 d [] []", "pools 3"}},
		{agent.PoolsChanged{Pools: agent.Pools{Generation: 4}}, []string{"node node-4 d [] []", "pools 4"}},
		{agent.ServiceSeen{Service: service.Service{Name: web}}, []string{"node node-4 d [] []", "pools 4", HeardService(service.Service{Name: web})}},
		{agent.EndpointsSeen{Slice: slice}, []string{"node node-4 d [] []", "pools 4", HeardService(service.Service{Name: web}), HeardSlice(slice)}},
		{agent.ServicesListed{Names: []service.Name{web}}, []string{"node node-4 d [] []", "pools 4", HeardService(service.Service{Name: web}), HeardSlice(slice)}},
		{agent.ServicesListed{}, []string{"node node-4 d [] []", "pools 4", HeardSlice(slice)}}, // a list without it
		{agent.EndpointsGone{Name: web}, []string{"node node-4 d [] []", "pools 4"}},
	} {
		events = append(events, step.ev)
		c := newHeardCluster(events)
		passed = 0
		c.Watch(t.Context(), func(agent.Event) { passed++ })
		if have := c.heard(); !slices.Equal(have, step.want) {
			t.Errorf("after %T: %q, want %q", step.ev, have, step.want)
		}
	}
	if passed != len(events) {
		t.Errorf("%d of %d events reached the agent", passed, len(events))
	}
}

// Goal: the revision heard of is the highest of the present data, in whatever order answers and changes arrive, and
// begins anew when the store has lost its data. Method: a table of what is told.
func TestStoreHeard(t *testing.T) {
	var h storeHeard
	for i, step := range []struct {
		data     uint64
		revision int64
		want     int64
	}{{1, 5, 5}, {1, 3, 5}, {0, 7, 7}, {1, 6, 7}, {2, 2, 2}, {0, 3, 3}, {2, 1, 3}} {
		h.hear(step.data, step.revision)
		if have := h.load(); have != step.want {
			t.Errorf("step %d: heard of %d, want %d", i, have, step.want)
		}
	}
}
