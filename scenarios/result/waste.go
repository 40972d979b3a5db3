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

// holding is what one node has.
type holding struct{ addresses, leases, aside float64 }

func (h holding) idle() float64 { return h.addresses + h.aside - h.leases }

func (x *waste) observe(t *tally, f *fact.Fact) {
	switch f.Kind {
	case fact.FactLeased, fact.FactReleased, fact.FactBlocks, fact.FactSetAside, fact.FactAgentUp, fact.FactNodeGone:
	default:
		return
	}
	// A fact that comes late takes back what was counted too much: the sum is the same in any order.
	x.area += x.idle * (f.At - x.since).Seconds()
	x.since = f.At
	n := &t.node(f.Node).holding
	x.idle -= n.idle()
	switch f.Kind {
	case fact.FactLeased:
		n.leases++
	case fact.FactReleased:
		n.leases--
	case fact.FactBlocks:
		n.addresses = count(f.Blocks)
	case fact.FactSetAside:
		n.aside = float64(f.Number)
	case fact.FactAgentUp:
		n.leases = float64(len(f.Leases))
	case fact.FactNodeGone:
		*n = holding{aside: n.aside} // who gives it back tells
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

// leaked counts addresses that nobody will ever give back: leases without a sandbox, and blocks of nodes that have left.
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
