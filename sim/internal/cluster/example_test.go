package cluster_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// world gives every pod of a node the next address. A real world passes the requests to its agents.
type world struct{ given map[string]byte }

func (world) CreateNetns(node, path string) {}
func (world) RemoveNetns(node, path string) {}

func (w world) Add(node string, req cluster.CNIAdd, done func(cluster.CNIResult)) {
	w.given[node]++
	addr := netip.AddrFrom4([4]byte{10, 1, 1, 1 + w.given[node]})
	done(cluster.CNIResult{Addr: netip.PrefixFrom(addr, 32), Gateway: netip.MustParseAddr("10.1.1.1")})
}

func (world) Del(node string, req cluster.CNIDel, done func(cluster.CNIResult)) {
	done(cluster.CNIResult{})
}

// A world with one node: the cluster asks it to wire pods, its agent hears of nodes and talks to the store.
func Example() {
	eng := engine.New(engine.Seeded(1))
	c := cluster.New(cluster.Config{
		Clock: eng, Machine: world{map[string]byte{}},
		Hooks: cluster.Hooks{Answered: func(node string, s *cluster.Sandbox) {
			fmt.Printf("%s %s %s has %s\n", eng.Now(), node, s.Pod, s.Addr)
		}},
	})
	_ = c.AddNode(cluster.Node{Meta: cluster.Meta{Name: "node-1"}})

	step := func(ev agent.Event) { // agent.Step goes here
		switch ev := ev.(type) {
		case agent.NodeSeen:
			fmt.Println(eng.Now(), "agent sees", ev.Name)
		case agent.StoreReply:
			fmt.Println(eng.Now(), "agent's node ID is stored at revision", ev.Revision)
		}
	}
	c.NewFeed("node-1", step).Start()
	store := c.NewStoreClient("node-1", step)
	store.Do(agent.StoreRequest{ID: 1, Op: agent.StoreCreate, Key: "ids/1", Value: "node-1"})

	c.Workload.Create(cluster.PodSpec{Name: "web-0"})
	c.Workload.Create(cluster.PodSpec{Name: "web-1"})
	_ = eng.RunUntil(time.Minute)
	fmt.Println("quiet:", c.Load().Quiet())
	// Output:
	// 1ms agent sees node-1
	// 1ms agent's node ID is stored at revision 2
	// 2ms node-1 default/web-0 has 10.1.1.2/32
	// 2ms node-1 default/web-1 has 10.1.1.3/32
	// quiet: true
}
