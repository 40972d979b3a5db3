package cluster

// groupKey: pods of one group fit or do not fit alike.
type groupKey struct {
	app string
	max int
}

// group is a queue of waiting pods.
type group struct {
	groupKey
	queue []*schedPod
	// full are the nodes that hold max pods of app, in the numbering joined of the slots.
	full   bitset
	joined int
	// blocked is Scheduler.freed at the last failed pick: until it grows, none of the group's pods fits anywhere.
	blocked int64
	queued  bool // in Scheduler.ready
}

// head is the pod of a group that has waited longest.
func (g *group) head() *schedPod {
	for len(g.queue) > 0 && !g.queue[0].waits {
		g.queue[0] = nil
		g.queue = g.queue[1:]
	}
	if len(g.queue) == 0 {
		return nil
	}
	return g.queue[0]
}

// groupHeap orders groups by the age of their heads.
type groupHeap []*group

func (h groupHeap) Len() int { return len(h) }
func (h groupHeap) Less(i, j int) bool {
	return h[i].age() < h[j].age()
}
func (h groupHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push and Pop are for container/heap.
func (h *groupHeap) Push(x any) { *h = append(*h, x.(*group)) }
func (h *groupHeap) Pop() any {
	old := *h
	g := old[len(old)-1]
	*h = old[:len(old)-1]
	return g
}

func (g *group) age() int64 {
	if p := g.head(); p != nil {
		return p.arrived
	}
	return -1
}

// schedApp counts the pods of one application by node. Only applications with a bound are counted.
type schedApp struct {
	name   string
	onNode map[*slot]int
	groups []*group
}

// mark keeps the groups' full nodes.
func (a *schedApp) mark(s *slots, n *slot) {
	for _, g := range a.groups {
		switch {
		case s.stale || g.joined != s.joined:
		case a.onNode[n] >= g.max:
			g.full.set(n.index)
		default:
			g.full.clear(n.index)
		}
	}
}
