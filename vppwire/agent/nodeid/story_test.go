package nodeid

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestStories plays the files of testdata/stories. Goal: what a machine asks for, in which order, and when it acts on
// an ID stay as they were reviewed. Method: each block's lines act one after the other on a small cluster; the output
// is every effect in its order. Nothing that is under way happens before "settle", or a line that names it, says so.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		c := newCluster()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c.trail = &strings.Builder{}
			for _, text := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				if err := c.act(strings.Fields(text)); err != nil {
					t.Fatalf("%s: %q: %v", d.Pos, text, err)
				}
			}
			return c.trail.String()
		})
	})
}

// act performs one line of a story: a word, and for most words the node that it is about.
func (c *cluster) act(w []string) error {
	switch w[0] {
	case "settle":
		c.settle()
		return nil
	case "wipe":
		c.wipe()
		return nil
	case "pass":
		d, err := time.ParseDuration(w[1])
		c.pass(d)
		return err
	case "show":
		c.show()
		return nil
	case "node":
		c.nodes = append(c.nodes, &node{name: w[1]})
		return nil
	case "late-arrives":
		c.arrive(0)
		return nil
	}
	n := c.node(w[1])
	if n == nil {
		return fmt.Errorf("no node %q", w[1])
	}
	switch w[0] {
	case "start":
		c.start(n)
	case "kill":
		c.kill(n)
	case "object": // the API server has a Node object of this UID, and everybody hears of it
		n.uid = w[2]
		for _, other := range c.nodes {
			c.step(other, NodeSeen{n.name, n.uid})
		}
	case "unheard": // its Node object is there, and nobody else hears of it
		n.uid = w[2]
	case "left": // its Node object goes, and the others learn it by a list that was asked for after that
		n.uid = ""
		for _, other := range c.nodes {
			if other == n || other.uid == "" {
				continue
			}
			c.step(other, NodeSeen{other.name, other.uid})
			c.step(other, NodesListed{})
		}
	case "listed-late": // a list that was asked for a while ago, when this node was not there, reaches the others
		age, err := time.ParseDuration(w[2])
		if err != nil {
			return err
		}
		for _, other := range c.nodes {
			if other == n {
				continue
			}
			for _, told := range c.nodes {
				if told != n && told.uid != "" {
					c.step(other, NodeSeen{told.name, told.uid})
				}
			}
			c.step(other, NodesListed{Age: age})
		}
	case "gone":
		uid := n.uid
		n.uid = ""
		for _, other := range c.nodes {
			c.step(other, NodeGone{n.name, uid})
		}
	case "request", "lose":
		c.request(n, w[0] == "lose")
	case "late":
		c.late = append(c.late, lateRequest{n.name, n.up[0]})
		n.up = n.up[1:]
	case "told":
		c.deliver(n)
	case "save":
		c.save(n)
	case "peers": // whom the node would have others' wiring lead to
		for id := range n.m.IDs() {
			if r, _, ok := n.m.Peer(id); ok {
				fmt.Fprintf(c.trail, "%s reaches %s by ID %d\n", n.name, r.Name, id)
			}
		}
	default:
		return fmt.Errorf("unknown word")
	}
	return nil
}

// pass lets time go by, alarms included.
func (c *cluster) pass(d time.Duration) {
	end := c.now.Add(d)
	for {
		c.settle()
		at := c.due()
		if at.IsZero() || at.After(end) {
			c.now = end
			return
		}
		c.wake(at)
	}
}

// show prints the store and what each machine makes of itself.
func (c *cluster) show() {
	for _, key := range slices.Sorted(maps.Keys(c.store.items)) {
		fmt.Fprintf(c.trail, "%s %s\n", key, c.store.items[key].Value)
	}
	for _, n := range c.nodes {
		if n.m == nil {
			fmt.Fprintf(c.trail, "%s is down, saved %d\n", n.name, n.saved.ID)
			continue
		}
		fmt.Fprintf(c.trail, "%s acts on %d usable=%t", n.name, n.m.Acting(), n.m.Usable())
		for _, why := range []string{n.m.Trouble(), n.m.Waiting(), n.m.Unsettled(), n.m.Unreleased()} {
			if why != "" {
				fmt.Fprintf(c.trail, " (%s)", why)
			}
		}
		c.trail.WriteByte('\n')
	}
}
