package nodeid

import (
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// mishaps are what may still go wrong in the rest of a search.
type mishaps struct {
	// lose: answers that do not come. late: requests that arrive after they were given up, or never. wipe: losses of all
	// of the store's data. kill: ends of an agent; each is started again when the search likes. swap: Node objects made
	// anew under another UID.
	lose, late, wipe, kill, swap int
	// join: Node objects that come to be while others are at work.
	join int
	// haste: alarms that ring while messages are under way.
	haste int
}

// branch is one point of a search.
type branch struct {
	*cluster
	left mishaps
	path []string
}

// next are all the ways on from here, each with its name.
func (b branch) next() []branch {
	var all []branch
	add := func(name string, left mishaps, do func(c *cluster)) {
		c := b.copied()
		do(c)
		all = append(all, branch{c, left, append(slices.Clip(b.path), name)})
	}
	quiet := true
	for i, n := range b.nodes {
		if len(n.up) > 0 {
			quiet = false
			what := n.name + " " + n.up[0].Op.String() + " " + n.up[0].Key
			add(what, b.left, func(c *cluster) { c.request(c.nodes[i], false) })
			writes := n.up[0].Op != List && n.up[0].Op != Watch
			if left := b.left; left.lose > 0 && writes {
				left.lose--
				add(what+", answer lost", left, func(c *cluster) { c.request(c.nodes[i], true) })
			}
			if left := b.left; left.late > 0 && writes {
				left.late--
				add(what+", late", left, func(c *cluster) {
					n := c.nodes[i]
					c.late = append(c.late, lateRequest{n.name, n.up[0]})
					n.up = n.up[1:]
				})
			}
		}
		if len(n.down) > 0 {
			quiet = false
			add(fmt.Sprintf("%s is told %T", n.name, n.down[0]), b.left, func(c *cluster) { c.deliver(c.nodes[i]) })
		}
		if len(n.disk) > 0 {
			quiet = false
			add(n.name+" saves", b.left, func(c *cluster) { c.save(c.nodes[i]) })
		}
		switch left := b.left; {
		case n.m == nil && n.uid != "":
			quiet = false
			add("start "+n.name, left, func(c *cluster) { c.start(c.nodes[i]) })
		case n.m != nil && left.kill > 0:
			left.kill--
			add("kill "+n.name, left, func(c *cluster) { c.kill(c.nodes[i]) })
		}
		if left := b.left; left.join > 0 && n.uid == "" {
			left.join--
			add("Node object "+n.name, left, func(c *cluster) {
				n := c.nodes[i]
				n.uid = "uid-" + n.name
				for _, other := range c.nodes {
					if other.m != nil {
						other.down = append(other.down, NodeSeen{n.name, n.uid})
					}
				}
			})
		}
		if left := b.left; left.swap > 0 && n.uid != "" {
			left.swap--
			add("new Node object "+n.name, left, func(c *cluster) {
				n := c.nodes[i]
				n.uid += "-b"
				for _, other := range c.nodes {
					c.step(other, NodeSeen{n.name, n.uid})
				}
			})
		}
	}
	for i, l := range b.late {
		add("late "+l.node+" "+l.r.Op.String()+" "+l.r.Key, b.left, func(c *cluster) { c.arrive(i) })
	}
	if left := b.left; left.wipe > 0 {
		left.wipe--
		add("the store loses its data", left, func(c *cluster) { c.wipe() })
	}
	if at := b.due(); !at.IsZero() && at.Sub(b.now) < testPatience/2 {
		left := b.left
		if !quiet {
			left.haste--
		}
		if left.haste >= 0 {
			add("time passes", left, func(c *cluster) { c.wake(at) })
		}
	}
	return all
}

// key tells apart what can go on differently.
func (b branch) key(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	fmt.Fprint(&h, b.now.UnixNano(), b.store, b.late, b.left)
	for _, n := range b.nodes {
		fmt.Fprint(&h, n.uid, n.saved, n.up, n.down, n.disk)
		if n.m != nil {
			m := *n.m
			m.out, m.cfg, m.plan = nil, Config{}, nil
			m.changed = 0
			m.now = m.now.UTC()
			fmt.Fprint(&h, m)
		}
	}
	return h.Sum64()
}

// broken says which promise does not hold here, empty when all do. A node whose agent is down goes on acting on what
// its disk says: its VPP forwards.
func (b branch) broken() string {
	by := map[uint32]string{}
	for _, n := range b.nodes {
		acting := n.saved.ID
		if n.m != nil {
			acting = n.m.Acting()
			if acting != 0 && n.saved.ID != acting {
				return fmt.Sprintf("%s acts on ID %d, and its disk says %v", n.name, acting, n.saved)
			}
		}
		if other := by[acting]; acting != 0 && other != "" {
			return fmt.Sprintf("%s and %s act on ID %d", other, n.name, acting)
		}
		by[acting] = n.name
	}
	return ""
}

// unfinished says what is missing or left over at the end of everything, empty for nothing.
func (b branch) unfinished() string {
	extra := maps.Clone(b.store.items)
	delete(extra, KeyComplete)
	for _, n := range b.nodes {
		if n.m != nil && (!n.m.Usable() || n.m.Claim().UID != n.uid || n.m.Unsettled() != "") {
			return fmt.Sprintf("%s ends with claim %v, usable %t, %s", n.name, n.m.Claim(), n.m.Usable(), n.m.Unsettled())
		}
		delete(extra, recordKey(n.m.Claim().ID))
	}
	for _, item := range extra {
		if r, err := ParseRecord(item.Value); err != nil || slices.ContainsFunc(b.nodes, func(n *node) bool { return n.uid == r.UID }) {
			return "left over: " + item.Key + " " + item.Value
		}
	}
	return ""
}

// TestNoTwoNodesActOnOneID searches every order in which the requests, answers, deliveries and disk writes of a few
// nodes can happen, with answers lost, requests that arrive late, agents that die, Node objects made anew and a store
// that loses its data at any point in between. Goal: at no point do two nodes act on one ID; and wherever nothing is
// left to happen, each has one. Method: exhaustive; orders that lead to the same state are followed once.
// VPPDRILL_SEARCH=whole searches the spaces of more than 50,000 states too.
func TestNoTwoNodesActOnOneID(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func() *cluster
		left    mishaps
		long    bool
	}{
		{"two nodes of a new cluster", func() *cluster { return newCluster("n1", "n2") }, mishaps{}, false},
		{"one answer is lost", func() *cluster { return newCluster("n1", "n2") }, mishaps{lose: 1}, false},
		{"one request is late", func() *cluster { return newCluster("n1", "n2") }, mishaps{late: 1}, true},
		{"an agent dies", held, mishaps{kill: 1}, false},
		{"a new node meets an empty store", held, mishaps{wipe: 1}, false},
		{"an answer is lost and the data too", held, mishaps{wipe: 1, lose: 1}, false},
		{"a request is late and the data lost", held, mishaps{wipe: 1, late: 1}, true},
		{"an agent dies and the data are lost", held, mishaps{wipe: 1, kill: 1}, true},
		{"a node joins and the data are lost", claiming, mishaps{join: 1, wipe: 1}, true},
		{"the Node object is made anew", func() *cluster { return newCluster("n1") }, mishaps{swap: 2}, false},
		{"a Node object of two is made anew", held, mishaps{swap: 1}, false},
		{"a Node object is made anew and an answer is lost", held, mishaps{swap: 1, lose: 1}, false},
		{"a Node object is made anew and the agent dies", held, mishaps{swap: 1, kill: 1}, true},
		{"a Node object is made anew and a request is late", held, mishaps{swap: 1, late: 1}, true},
		{"a Node object is made anew and the data are lost", held, mishaps{swap: 1, wipe: 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && os.Getenv("VPPDRILL_SEARCH") != "whole" {
				t.Skip("the large spaces are searched with VPPDRILL_SEARCH=whole")
			}
			search(t, branch{cluster: c.prepare(), left: c.left})
		})
	}
}

// held is a cluster in which n2 has the first ID, and n1, which comes before it by name, is new.
func held() *cluster {
	c := newCluster("n1", "n2")
	n1, n2 := c.nodes[0], c.nodes[1]
	n1.uid = ""
	c.start(n2)
	c.settle()
	n1.uid = "uid-n1"
	c.step(n2, NodeSeen{"n1", "uid-n1"})
	return c
}

// claiming is a cluster in which n2 is about to take the first ID; n1 does not exist yet.
func claiming() *cluster {
	c := newCluster("n1", "n2")
	n1, n2 := c.nodes[0], c.nodes[1]
	n1.uid = ""
	c.start(n2)
	for len(n2.up) == 0 || n2.up[0].Key != recordKey(1) {
		if len(n2.down) > 0 {
			c.deliver(n2)
		} else {
			c.request(n2, false)
		}
	}
	return c
}

func search(t *testing.T, from branch) {
	seed := maphash.MakeSeed()
	seen := map[uint64]bool{}
	todo := []branch{from}
	ends := 0
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if why := b.broken(); why != "" {
			t.Fatalf("%s, after\n%s", why, strings.Join(b.path, "\n"))
		}
		next := b.next()
		if idle(b) {
			ends++
			if why := b.unfinished(); why != "" {
				t.Fatalf("%s, after\n%s", why, strings.Join(b.path, "\n"))
			}
		}
		for _, n := range next {
			if k := n.key(seed); !seen[k] {
				seen[k] = true
				todo = append(todo, n)
			}
		}
	}
	if ends == 0 {
		t.Error("the search never came to an end of anything")
	}
	t.Logf("%d states, %d of them ends", len(seen), ends)
}

// idle reports whether nothing more happens by itself.
func idle(b branch) bool {
	for _, n := range b.nodes {
		if n.m == nil || len(n.up)+len(n.down)+len(n.disk) > 0 {
			return false
		}
	}
	return b.due().IsZero() && len(b.late) == 0
}
