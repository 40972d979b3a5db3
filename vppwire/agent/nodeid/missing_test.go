package nodeid

import "testing"

// Goal: a write that finds nothing to write over is not asked for again as it was, or only when the records have been
// listed. Method: a node is about to take its announcement back; the answers that a store may give it then, while the
// watch says nothing, and what the node asks for next.
func TestMissing(t *testing.T) {
	const key = prefixAnnounced + "n1"
	gone := []Item{{Key: key, Deleted: true}}
	for _, tc := range []struct {
		name  string
		reply StoreReply
		want  Op // 0: nothing
	}{
		{"a key that was gone by a revision", StoreReply{Revision: 1000, Store: 1, Items: gone}, 0},
		{"a key that is gone, by a store that does not say as of when", StoreReply{Items: gone}, List},
		{"a key that is not there in other data", StoreReply{Revision: 1000, Store: 2, Items: gone}, List},
		{"nothing about any key", StoreReply{Revision: 1000, Store: 1}, List},
		{"a key that was written since", StoreReply{Revision: 1000, Store: 1, Items: []Item{{Key: key, Value: "u0", ModRevision: 999}}}, Delete},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster("n1", "n2")
			n := c.nodes[0]
			c.start(n)
			c.settle()
			c.wake(c.now.Add(testPatience))
			for len(n.up) == 0 || n.up[0].Op != Delete {
				switch {
				case len(n.disk) > 0:
					c.save(n)
				case len(n.down) > 0:
					c.deliver(n)
				default:
					c.request(n, false)
				}
			}
			asked := n.up[0]
			if n.up, n.down = nil, nil; asked.Key != key {
				t.Fatalf("asks for %s", asked.Key)
			}
			tc.reply.ID, tc.reply.Err = asked.ID, Conflict
			c.step(n, tc.reply)
			var got Op
			if len(n.up) > 0 {
				got = n.up[0].Op
			}
			if got != tc.want || len(n.up) > 1 || got == Delete && n.up[0].Revision != 999 {
				t.Errorf("asks for %v", n.up)
			}
		})
	}
}
