package nodeid

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// cluster is some nodes' machines, their disks, and one linearizable store with watches. Nothing happens by itself:
// what is under way waits in queues, each in its own order, as connections and disks keep it. A cluster can be copied,
// so that a search can go on from the same point in several ways.
type cluster struct {
	now   time.Time
	store memStore
	nodes []*node
	// late are requests that their nodes will give up, and that reach the store all the same, or never.
	late []lateRequest
	// known is of all copies, too: states are told apart by it.
	known *Known
	// trail is what nodes asked for, line by line; nil: nobody reads it.
	trail *strings.Builder
}

// node is one machine with its disk.
type node struct {
	name, uid string
	// m is nil while no agent runs.
	m     *Machine
	saved Claim
	// up are requests on their way to the store, down events on their way back, disk claims on their way to the disk.
	up   []Request
	down []Event
	disk []Claim
}

type lateRequest struct {
	node string
	r    Request
}

const (
	testPatience   = time.Hour
	testQuarantine = 10 * time.Minute
)

// testPlan has room for a few IDs, with a block each; it is the whole of what a node has.
type testPlan struct {
	name string
	most uint32
}

func (p testPlan) IDs() (uint32, bool) { return p.most, true }

func (p testPlan) Block(id uint32) (netip.Prefix, bool) {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(id), 0}), 24), id >= 1 && id <= p.most
}

func (p testPlan) Regular(id uint32, networks []netip.Prefix) bool {
	block, ok := p.Block(id)
	return len(networks) == 0 || ok && len(networks) == 1 && networks[0] == block
}

func (p testPlan) Record(c Claim, _ *Record) (Record, bool) {
	block, ok := p.Block(c.ID)
	return Record{ID: c.ID, Name: p.name, UID: c.UID, PodNetworks: []netip.Prefix{block}}, ok
}

func newCluster(names ...string) *cluster {
	c := &cluster{now: time.Unix(1000, 0).UTC(), store: newMemStore(1), known: NewKnown()}
	for _, name := range names {
		c.nodes = append(c.nodes, &node{name: name, uid: "uid-" + name})
	}
	return c
}

func (c *cluster) node(name string) *node {
	i := slices.IndexFunc(c.nodes, func(n *node) bool { return n.name == name })
	if i < 0 {
		return nil
	}
	return c.nodes[i]
}

// copied is a cluster that goes on by itself from here.
func (c *cluster) copied() *cluster {
	to := *c
	to.store = c.store.copied()
	to.late = slices.Clone(c.late)
	to.nodes = make([]*node, len(c.nodes))
	for i, n := range c.nodes {
		other := *n
		other.up, other.down, other.disk = slices.Clone(n.up), slices.Clone(n.down), slices.Clone(n.disk)
		if n.m != nil {
			other.m = n.m.copied()
		}
		to.nodes[i] = &other
	}
	return &to
}

// copied leaves out only what Step gives away.
func (m *Machine) copied() *Machine {
	to := *m
	to.out = nil
	to.view.entries = slices.Clone(m.view.entries)
	to.barrier.others = maps.Clone(m.barrier.others)
	to.barrier.unregistered = maps.Clone(m.barrier.unregistered)
	s := &to.members
	s.nodes.list, s.gone, s.guessed, s.alive = slices.Clone(s.nodes.list), maps.Clone(s.gone), maps.Clone(s.guessed), maps.Clone(s.alive)
	s.stale = slices.Clone(s.stale)
	return &to
}

// start begins a life: the journal's claim, then the nodes.
func (c *cluster) start(n *node) {
	n.up, n.down, n.disk = nil, nil, nil
	n.m = New(Config{Name: n.name, Quarantine: testQuarantine, Patience: testPatience, Plan: testPlan{n.name, 3}})
	n.m.Share(c.known)
	if n.saved.ID != 0 {
		c.step(n, Restored(n.saved))
	}
	c.step(n, Act{})
	c.list(n)
}

func (c *cluster) list(n *node) {
	for _, other := range c.nodes {
		if other.uid != "" {
			c.step(n, NodeSeen{other.name, other.uid})
		}
	}
	c.step(n, NodesListed{})
}

// kill ends an agent. What it has under way may still arrive.
func (c *cluster) kill(n *node) {
	for _, r := range n.up {
		if r.Op != List && r.Op != Watch {
			c.late = append(c.late, lateRequest{n.name, r})
		}
	}
	n.m, n.up, n.down, n.disk = nil, nil, nil, nil
	delete(c.store.watches, n.name)
}

// step feeds one event, and then Act and Judge as long as they are wanted.
func (c *cluster) step(n *node, ev Event) {
	if n.m == nil {
		return
	}
	wants := c.perform(n, n.m.Step(c.now, ev))
	for wants != 0 {
		switch {
		case wants&WantsAct != 0:
			wants &^= WantsAct
			wants |= c.perform(n, n.m.Step(c.now, Act{}))
		default:
			wants = c.perform(n, n.m.Step(c.now, Judge{}))
		}
	}
}

func (c *cluster) perform(n *node, effects []Effect) (wants Changed) {
	for _, e := range slices.Clone(effects) { // listing the nodes steps the machine again
		line := ""
		switch e := e.(type) {
		case Request:
			line = strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Op, e.Key, e.Value))
			n.up = append(n.up, e)
		case Save:
			line = fmt.Sprintf("save %d %s", e.ID, e.UID)
			n.disk = append(n.disk, Claim(e))
		case ListNodes:
			line = "list-nodes"
			c.list(n) // it takes no time here
		case Log:
			line = fmt.Sprintf("log %+d %s", e.Level, e.Message)
		case RecordChanged, MemberChanged:
		case Changed:
			wants = e & (WantsAct | WantsJudge)
			if e&ActingBegan != 0 {
				line = fmt.Sprintf("acts on %d", n.m.Acting())
			}
		}
		if c.trail != nil && line != "" {
			fmt.Fprintf(c.trail, "%s %s\n", n.name, line)
		}
	}
	return wants
}

// request lets the oldest request reach the store; with lost its answer does not come back.
func (c *cluster) request(n *node, lost bool) {
	r := n.up[0]
	n.up = n.up[1:]
	if r.Op == Watch {
		c.store.watches[n.name] = r.ID
	}
	reply, changes := c.store.do(r)
	if r.Op == Watch {
		for _, item := range changes {
			n.down = append(n.down, StoreChanged{Watch: r.ID, Revision: item.ModRevision, Items: []Item{item}})
		}
	} else {
		c.tell(changes)
	}
	if !lost {
		n.down = append(n.down, reply)
	}
}

// arrive lets a late request reach the store. Its node has given it up.
func (c *cluster) arrive(i int) {
	r := c.late[i].r
	c.late = slices.Delete(c.late, i, i+1)
	_, changes := c.store.do(r)
	c.tell(changes)
}

func (c *cluster) tell(changes []Item) {
	for _, n := range c.nodes {
		if id, ok := c.store.watches[n.name]; ok {
			for _, item := range changes {
				n.down = append(n.down, StoreChanged{Watch: id, Revision: item.ModRevision, Items: []Item{item}})
			}
		}
	}
}

func (c *cluster) deliver(n *node) {
	ev := n.down[0]
	n.down = n.down[1:]
	c.step(n, ev)
}

func (c *cluster) save(n *node) {
	n.saved = n.disk[0]
	n.disk = n.disk[1:]
	c.step(n, Saved(n.saved))
}

// wipe empties the store for good, and ends every watch.
func (c *cluster) wipe() {
	for _, n := range c.nodes {
		if id, ok := c.store.watches[n.name]; ok {
			n.down = append(n.down, StoreWatchLost{id})
		}
	}
	c.store = newMemStore(c.store.identity + 1)
}

// due is the earliest time that a machine waits for.
func (c *cluster) due() time.Time {
	var first time.Time
	for _, n := range c.nodes {
		if n.m == nil {
			continue
		}
		if at := n.m.Due(c.now); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

func (c *cluster) wake(at time.Time) {
	c.now = at
	for _, n := range c.nodes {
		c.step(n, Woke{})
	}
}

// settle performs everything under way, node by node.
func (c *cluster) settle() {
	for moved := true; moved; {
		moved = false
		for _, n := range c.nodes {
			switch {
			case len(n.disk) > 0:
				c.save(n)
			case len(n.down) > 0:
				c.deliver(n)
			case len(n.up) > 0:
				c.request(n, false)
			default:
				continue
			}
			moved = true
		}
	}
}

// memStore is a linearizable store.
type memStore struct {
	identity uint64
	revision int64
	items    map[string]Item
	history  []Item
	watches  map[string]uint64
}

func newMemStore(identity uint64) memStore {
	return memStore{identity: identity, revision: 1, items: map[string]Item{}, watches: map[string]uint64{}}
}

func (s *memStore) copied() memStore {
	to := *s
	to.items, to.watches, to.history = maps.Clone(s.items), maps.Clone(s.watches), slices.Clone(s.history)
	return to
}

// do performs a request; changes are what watches see of it, or for a watch what it begins with.
func (s *memStore) do(r Request) (reply StoreReply, changes []Item) {
	reply = StoreReply{ID: r.ID, Store: s.identity}
	present, exists := s.items[r.Key]
	switch {
	case r.Op == List:
		for _, key := range slices.Sorted(maps.Keys(s.items)) {
			reply.Items = append(reply.Items, s.items[key])
		}
	case r.Op == Watch:
		for _, item := range s.history {
			if item.ModRevision > r.Revision {
				changes = append(changes, item)
			}
		}
	case r.Op == Create && exists, r.Op != Create && (!exists || present.ModRevision != r.Revision):
		reply.Err, reply.Items = Conflict, []Item{{Key: r.Key, Deleted: true}} // as etcd's answer becomes
		if exists {
			reply.Items = []Item{present}
		}
	default:
		s.revision++
		item := Item{Key: r.Key, Value: r.Value, ModRevision: s.revision, Deleted: r.Op == Delete}
		if item.Deleted {
			delete(s.items, r.Key)
		} else {
			s.items[r.Key] = item
		}
		s.history = append(s.history, item)
		changes = []Item{item}
	}
	reply.Revision = s.revision
	return reply, changes
}
