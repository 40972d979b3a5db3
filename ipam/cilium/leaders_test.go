package cilium

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// lWorld is a cluster whose operator fails over: a ledger that appends in order, nodes, and leaders that do not know
// whether they still are.
type lWorld struct {
	ledger  []Claim
	nodes   map[string][]netip.Prefix // by incarnation
	lives   int
	leaders []*lLeader
	now     time.Time
}

// lLeader is one operator process.
type lLeader struct {
	pool  *ClusterPool
	queue []lWrite
}

// lWrite is entries to append and then what to show on a node.
type lWrite struct {
	entries []Claim
	node    string
	cidrs   []netip.Prefix
}

func newLWorld() *lWorld {
	return &lWorld{nodes: map[string][]netip.Prefix{"a/0": nil, "b/0": nil}, now: epoch}
}

// elect starts one more leader; a third one ends the first.
func (w *lWorld) elect(t *testing.T) {
	p, err := NewClusterPool(ClusterPoolConfig{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/27")}, MaskSize4: 28})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Assign(w.now, "a/0"); !errors.Is(err, ErrNotRestored) {
		t.Fatalf("assigned before the restore: %v", err)
	}
	for _, e := range w.ledger {
		if err := p.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	l := &lLeader{pool: p}
	for _, node := range slices.Sorted(maps.Keys(w.nodes)) {
		entries, err := p.Adopt(w.now, node, w.nodes[node])
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) > 0 {
			l.queue = append(l.queue, lWrite{entries: entries})
		}
	}
	p.FinishRestore()
	// Nodes that went while nobody watched are still in the ledger.
	for _, node := range slices.Sorted(maps.Keys(p.claims.byNode)) {
		if _, there := w.nodes[node]; !there {
			l.queue = append(l.queue, lWrite{entries: p.Unassign(w.now, node)})
		}
	}
	w.leaders = append(w.leaders, l)
	if len(w.leaders) > 2 {
		w.leaders = w.leaders[1:]
	}
}

// move does the m-th of all moves; false when it cannot be done.
func (w *lWorld) move(t *testing.T, m int) bool {
	if m == 0 {
		w.elect(t)
		return true
	}
	m--
	if m < 2 {
		// A node goes and comes again under its name.
		for _, node := range slices.Sorted(maps.Keys(w.nodes)) {
			if node[0] == "ab"[m] {
				delete(w.nodes, node)
				w.lives++
				w.nodes[fmt.Sprintf("%c/%d", node[0], w.lives)] = nil
				for _, l := range w.leaders[max(len(w.leaders)-1, 0):] { // only the newest watches
					if e := l.pool.Unassign(w.now, node); len(e) > 0 {
						l.queue = append(l.queue, lWrite{entries: e})
					}
				}
				return true
			}
		}
	}
	m -= 2
	if m/3 >= len(w.leaders) {
		return false
	}
	l := w.leaders[m/3]
	switch m % 3 {
	case 0, 1:
		for _, node := range slices.Sorted(maps.Keys(w.nodes)) {
			if node[0] != "ab"[m%3] {
				continue
			}
			cidrs, entries, err := l.pool.Assign(w.now, node)
			if err == nil {
				l.queue = append(l.queue, lWrite{entries: entries, node: node, cidrs: cidrs})
			}
			return err == nil
		}
	case 2:
		return w.send(l)
	}
	return false
}

const lMoves = 1 + 2 + 2*3

// send does the first write of a leader's queue; a leader whose append fails is gone.
func (w *lWorld) send(l *lLeader) bool {
	if len(l.queue) == 0 {
		return false
	}
	x := l.queue[0]
	l.queue = l.queue[1:]
	for _, e := range x.entries {
		if e.Version != uint64(len(w.ledger))+1 {
			w.leaders = slices.DeleteFunc(w.leaders, func(y *lLeader) bool { return y == l })
			return true
		}
		w.ledger = append(w.ledger, e)
	}
	if _, there := w.nodes[x.node]; there {
		w.nodes[x.node] = x.cidrs
	}
	return true
}

// unique checks that no block is on two nodes, and none on a node that the ledger gives to another.
func (w *lWorld) unique(t *testing.T, how []int) {
	seen := make(map[netip.Prefix]string)
	for _, node := range slices.Sorted(maps.Keys(w.nodes)) {
		for _, p := range w.nodes[node] {
			if seen[p] != "" {
				t.Fatalf("%s is on %s and %s after moves %v; ledger %v", p, seen[p], node, how, w.ledger)
			}
			seen[p] = node
		}
	}
}

// Goal: a block is never on two nodes, whenever leaders change, however late a deposed one wakes.
// Method: every sequence of the first moves, then seeded long ones.
func TestBlocksAreUniqueAcrossLeaders(t *testing.T) {
	const depth = 5
	var moves [depth]int
	for {
		w, n := newLWorld(), 0
		w.elect(t)
		for ; n < depth && w.move(t, moves[n]); n++ {
			w.unique(t, moves[:n+1])
		}
		// The first impossible move makes all its continuations impossible.
		at := min(n, depth-1)
		for at >= 0 {
			if moves[at]++; moves[at] < lMoves {
				break
			}
			moves[at] = 0
			at--
		}
		if at < 0 {
			break
		}
		clear(moves[at+1:])
	}
	shown := 0
	for walk := range 3000 {
		rng := rand.New(rand.NewPCG(uint64(walk), 2))
		w := newLWorld()
		var how []int
		for range 60 {
			m := rng.IntN(lMoves)
			if m == 0 && rng.IntN(4) > 0 {
				continue
			}
			how = append(how, m)
			w.move(t, m)
			w.unique(t, how)
		}
		shown += len(w.ledger)
	}
	if shown < 3000 {
		t.Errorf("the walks left only %d entries", shown)
	}
}
