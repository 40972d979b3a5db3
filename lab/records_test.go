package lab

import (
	"context"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/etcd"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	hostetcd "github.com/vppdrill/vppdrill/vppwire/host/etcd"
)

// Goal: a lab hears of the records that agents write, under the keys that agents give them: laws about records have
// something to judge, and a block that another node's record bars is one. Method: a record written by an agent's own
// client into the lab's own store.
func TestRecordsAreHeard(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	store, err := etcd.Start(dir, "store")
	must(t, err)
	defer func() { must(t, store.Close()) }()
	l := newLiars(func(*scenarios.IPAM) {})
	l.w.control = &controlPlane{store: store}
	l.w.followRecords()
	client, err := hostetcd.Connect(hostetcd.Config{Endpoints: []string{"unix://" + store.Socket()}})
	must(t, err)
	defer func() { must(t, client.Close()) }()
	block := netip.MustParsePrefix("10.1.7.0/24")
	r := nodeid.Record{ID: 7, Name: "node-7", UID: "u7", PodNetworks: []netip.Prefix{block}}
	written := make(chan agent.Event, 1)
	client.Store().Do(agent.StoreRequest{ID: 1, Op: agent.StoreCreate, Key: r.Key(), Value: r.String()}, func(ev agent.Event) { written <- ev })
	if reply := (<-written).(agent.StoreReply); reply.Err != agent.StoreOK {
		t.Fatal(reply.Err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		l.w.held.mu.Lock()
		have := l.w.held.byID[7]
		l.w.held.mu.Unlock()
		if have == (fact.HeldID{ID: 7, Name: "node-7", UID: "u7"}) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the lab has not heard of the record: %+v", have)
		}
	}
	nodes := []fact.NodeState{{Name: "node-1", UID: "u1", Assigned: []ipam.Block{{Prefix: block}}}}
	must(t, l.w.blocked(context.Background(), nodes))
	if len(nodes[0].Blocked) != 1 || nodes[0].Blocked[0] != block {
		t.Errorf("%v bar the node, want %s", nodes[0].Blocked, block)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
