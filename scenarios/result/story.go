package result

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Story is the content of a run's page: the cluster's state at instants of the run, pods' waiting times, and the last
// events.
type Story struct {
	// Looks are in the order of time. The first names every node, each later one the changed nodes.
	Looks []Look `json:"looks,omitempty"`
	// Starts are quantiles of the seconds from pods' creation to their address, at Quantiles.
	Starts []float64 `json:"starts,omitempty"`
	// Base are the states of nodes before the first event of Events. Events are the last events, for the page's search, if
	// they were recorded.
	Base   map[string][]string `json:"base,omitempty"`
	Events []Told              `json:"events,omitempty"`
}

// Quantiles are those of Story.Starts, in percent.
func Quantiles() []int { return []int{0, 10, 25, 50, 75, 90, 95, 99, 100} }

// Told is one event with its changes to its node: removed and added lines of NodeState.Lines.
type Told struct {
	Event     int64    `json:"event"`
	AtSeconds float64  `json:"atSeconds"`
	Line      string   `json:"line"`
	Node      string   `json:"node,omitempty"`
	Went      []string `json:"went,omitempty"`
	Came      []string `json:"came,omitempty"`
}

// Look is the cluster's state at one instant.
type Look struct {
	AtSeconds float64  `json:"atSeconds"`
	Nodes     []Seen   `json:"nodes,omitempty"`
	Gone      []string `json:"gone,omitempty"`
}

// Seen is one node's state at a look.
type Seen struct {
	Name string `json:"name"`
	// Up has a letter for each running part: m the machine, a its agent, v its VPP.
	Up      string `json:"up"`
	ID      uint32 `json:"id,omitempty"`
	Address string `json:"address,omitempty"`
	// Blocks are its pod ranges. Held, Resting and Free count their addresses, Waiting pods that wait for one.
	Blocks  []string `json:"blocks,omitempty"`
	Held    int      `json:"held"`
	Resting int      `json:"resting,omitempty"`
	Free    int      `json:"free"`
	Waiting int      `json:"waiting,omitempty"`
	Pods    int      `json:"pods,omitempty"`
	// Tables are VPP's tables with their numbers of routes: "0: 12 routes". Tunnels counts tunnels. Missing names nodes
	// with an address but without a tunnel from here, at most missingMost, if the cluster has tunnels.
	Tables  []string `json:"tables,omitempty"`
	Tunnels int      `json:"tunnels,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

const (
	// looksMost limits the looks of a story: at this number every second one is dropped.
	looksMost   = 96
	missingMost = 12
	// looksWanted is the approximate number of looks taken while time passes without actions.
	looksWanted = 40
)

// looking takes the looks of a run.
type looking struct {
	story Story
	// every is the distance of looks without another reason.
	every time.Duration
	last  time.Duration
	seen  map[string]Seen
}

func newLooking(s *scenarios.Scenario) *looking {
	return &looking{every: max(s.BreakEnd()/looksWanted, time.Second), last: -1, seen: map[string]Seen{}}
}

// at takes a look. Two looks at one instant are one. The error is that of a world that panicked during the look.
func (x *looking) at(s fact.Snapshot) (err error) {
	if s.Recover != nil {
		defer s.Recover(&err)
	}
	look := Look{AtSeconds: s.At.Seconds()}
	peers := map[string]string{} // names by tunnel address
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Address.IsValid() {
			peers[n.Address.Addr().String()] = n.Name
		}
	}
	now := map[string]Seen{}
	meshed := false
	for i := range s.Nodes {
		n := see(&s.Nodes[i], peers)
		now[n.Name] = n
		meshed = meshed || n.Tunnels > 0
	}
	for i := range s.Nodes {
		n := now[s.Nodes[i].Name]
		if !meshed {
			n.Missing = nil
			now[n.Name] = n
		}
		if old, known := x.seen[n.Name]; !known || !same(old, n) {
			look.Nodes = append(look.Nodes, n)
		}
	}
	for name := range x.seen { //vppdrill:unordered sorted below
		if _, still := now[name]; !still {
			look.Gone = append(look.Gone, name)
		}
	}
	slices.Sort(look.Gone)
	x.seen = now
	looks := &x.story.Looks
	if n := len(*looks); n > 0 && x.last == s.At {
		(*looks)[n-1] = joined((*looks)[n-1], look)
	} else {
		*looks = append(*looks, look)
	}
	x.last = s.At
	if len(*looks) > looksMost {
		x.thin()
	}
	return nil
}

// thin halves the frequency of looks.
func (x *looking) thin() { x.story.Looks, x.every = halfLooks(x.story.Looks), 2*x.every }

// FewerLooks are at most most of a story's looks. At their instants they show the same state as all looks do.
func FewerLooks(looks []Look, most int) []Look {
	for len(looks) > max(most, 1) {
		looks = halfLooks(looks)
	}
	return looks
}

// halfLooks joins pairs of looks.
func halfLooks(looks []Look) (out []Look) {
	for pair := range slices.Chunk(looks, 2) {
		look := pair[0]
		if len(pair) == 2 {
			look = joined(look, pair[1])
		}
		out = append(out, look)
	}
	return out
}

// joined is a look with the state of the second of two, as changes since before the first.
func joined(a, b Look) Look {
	out := Look{AtSeconds: b.AtSeconds, Nodes: b.Nodes, Gone: b.Gone}
	for _, n := range a.Nodes {
		if !slices.Contains(b.Gone, n.Name) && !slices.ContainsFunc(b.Nodes, func(x Seen) bool { return x.Name == n.Name }) {
			out.Nodes = append(out.Nodes, n)
		}
	}
	for _, name := range a.Gone {
		if !slices.Contains(out.Gone, name) && !slices.ContainsFunc(b.Nodes, func(x Seen) bool { return x.Name == name }) {
			out.Gone = append(out.Gone, name)
		}
	}
	return out
}

func same(a, b Seen) bool {
	return a.Up == b.Up && a.ID == b.ID && a.Address == b.Address && a.Held == b.Held && a.Resting == b.Resting &&
		a.Free == b.Free && a.Waiting == b.Waiting &&
		a.Pods == b.Pods && a.Tunnels == b.Tunnels && slices.Equal(a.Blocks, b.Blocks) && slices.Equal(a.Tables, b.Tables) &&
		slices.Equal(a.Missing, b.Missing)
}

// see is a look's view of a node.
func see(n *fact.NodeState, peers map[string]string) Seen {
	out := Seen{Name: n.Name, ID: n.ID, Resting: len(n.Resting), Waiting: n.Waiting, Pods: len(n.Pods)}
	for _, x := range [...]struct {
		up     bool
		letter string
	}{{n.MachineUp, "m"}, {n.AgentUp, "a"}, {n.VPPUp, "v"}} {
		if x.up {
			out.Up += x.letter
		}
	}
	if n.Address.IsValid() {
		out.Address = n.Address.String()
	}
	for _, b := range n.Blocks {
		name := b.Prefix.String()
		if b.Draining {
			name += " draining"
		}
		out.Blocks = append(out.Blocks, name)
	}
	size := count(n.Blocks)
	if n.Leases != nil {
		for range n.Leases() {
			out.Held++
		}
	}
	out.Free = max(0, int(size)-len(n.Reserved)-out.Held-out.Resting)
	if n.VPP == nil {
		return out
	}
	for t := range n.VPP.Tables() {
		routes := 0
		for range n.VPP.Routes(t) {
			routes++
		}
		out.Tables = append(out.Tables, strconv.Itoa(int(t))+": "+strconv.Itoa(routes)+" routes")
	}
	reached := map[string]bool{n.Name: true}
	for i := range n.VPP.Interfaces() {
		if i.Type == fact.TypeVXLAN {
			out.Tunnels++
			reached[peers[i.Dst.String()]] = true
		}
	}
	for _, name := range peers { //vppdrill:unordered sorted below
		if !reached[name] {
			out.Missing = append(out.Missing, name)
		}
	}
	slices.Sort(out.Missing)
	out.Missing = out.Missing[:min(len(out.Missing), missingMost)]
	return out
}

// picture takes a look at the current instant if the run has a story.
func (r *run) picture(ctx context.Context) {
	if r.looking == nil || r.err != nil {
		return
	}
	if s, err := r.world.Snapshot(ctx); err == nil { // other code judges a world without a snapshot
		r.broken(r.looking.at(s))
	}
}

// advance lets time pass, with looks in between in worlds with cheap time.
func (r *run) advance(ctx context.Context, to time.Duration) {
	if _, cheap := r.world.(Soaker); r.looking != nil && cheap {
		for !r.over() && r.world.Now()+r.looking.every < to {
			r.broken(r.world.Advance(ctx, r.world.Now()+r.looking.every))
			r.picture(ctx)
		}
	}
	if !r.over() && to > r.world.Now() {
		r.broken(r.world.Advance(ctx, to))
	}
}
