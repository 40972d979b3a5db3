package result

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// waste sums, over time, the addresses of nodes' blocks that no pod holds.
type waste struct {
	idle  float64 // now
	since time.Duration
	area  float64 // address seconds up to since
}

// holding is the state of one node.
type holding struct{ addresses, leases, aside float64 }

func (h holding) idle() float64 { return h.addresses + h.aside - h.leases }

func (x *waste) observe(t *tally, f *fact.Fact) {
	switch f.What.(type) {
	case fact.Leased, fact.Released, fact.NodeBlocks, fact.SetAside, fact.AgentUp, fact.NodeGone:
	default:
		return
	}
	// A late fact corrects the sum, which is the same in any order.
	x.area += x.idle * (f.At - x.since).Seconds()
	x.since = f.At
	n := &t.node(f.Node).holding
	x.idle -= n.idle()
	switch x := f.What.(type) {
	case fact.Leased:
		n.leases++
	case fact.Released:
		n.leases--
	case fact.NodeBlocks:
		n.addresses = count(x.Blocks)
	case fact.SetAside:
		n.aside = float64(x.Addresses)
	case fact.AgentUp:
		n.leases = float64(len(x.Leases))
	case fact.NodeGone:
		*n = holding{aside: n.aside} // a later fact reports its return
	}
	x.idle += n.idle()
}

// mean is the average from the start to now.
func (x *waste) mean(now time.Duration) float64 {
	if now == 0 {
		return 0
	}
	return (x.area + x.idle*(now-x.since).Seconds()) / now.Seconds()
}

// leaked counts addresses that will never be freed: leases without a sandbox, and blocks of nodes that have left.
func leaked(nodes map[string]*tallied) int64 {
	sum := 0.0
	for _, n := range nodes { //vppdrill:unordered it is a sum
		if n.left {
			sum += count(n.assigned)
		}
		if !n.agent {
			continue
		}
		for _, a := range n.pods { //vppdrill:unordered it is a count
			if a.leased && !a.sandbox {
				sum++
			}
		}
	}
	return int64(sum)
}

func count(blocks []ipam.Block) (n float64) {
	for i := range blocks {
		n += float64(space.Count(blocks[i].Prefix))
	}
	return n
}
