package host_test

import (
	"context"
	"net/netip"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// toldCluster is a cluster that says what it is told to.
type toldCluster struct{ tell func(agent.Event) }

func (c *toldCluster) Watch(_ context.Context, tell func(agent.Event)) { c.tell = tell }
func (*toldCluster) Relist()                                           {}

// Goal: a Node object that is registered anew begins without the blocks of the one before, and who grants them hears of each object,
// once the cluster has told of one. Method: one life of a node's object.
func TestGrantedAnew(t *testing.T) {
	block := netip.MustParsePrefix("10.1.1.0/24")
	c := &toldCluster{}
	g := host.NewGranted(c, "node-1", nil)
	var last []netip.Prefix
	g.Watch(t.Context(), func(ev agent.Event) {
		if seen, is := ev.(agent.NodeSeen); is {
			last = seen.PodCIDRs
		}
	})
	another := func(than, uid string, want bool) {
		t.Helper()
		if got, is := g.Another(than); is != want || is && got != uid {
			t.Errorf("another than %q: %q, %t", than, got, is)
		}
	}
	another("a", "", false) // nobody has told of any yet
	g.Give([]netip.Prefix{block})
	c.tell(agent.NodeSeen{Name: "node-1", UID: "a"})
	if !slices.Equal(last, []netip.Prefix{block}) {
		t.Errorf("the first object has %v", last)
	}
	another("a", "", false)
	c.tell(agent.NodeGone{Name: "node-1", UID: "a"})
	another("a", "", true)
	c.tell(agent.NodeSeen{Name: "node-1", UID: "b"})
	if len(last) > 0 {
		t.Errorf("the next object has %v of the one before", last)
	}
	another("", "b", true)
	g.Give([]netip.Prefix{block})
	if !slices.Equal(last, []netip.Prefix{block}) {
		t.Errorf("the next object has %v after it was given a block", last)
	}
}
