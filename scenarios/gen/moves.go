package gen

import (
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// move is one kind of thing that a timeline does.
type move struct {
	name string
	// weight is how often it comes beside the others when it is on.
	weight int
	draw   func(d drawer, st *state) scenarios.Action
}

// state is what draws need to know about the timeline so far.
type state struct {
	profile Profile
	// nodes is how many nodes there are if every action worked.
	nodes int
	// racers counts the nodes that joined under names of their own.
	racers int
}

// moves lists every kind, in the order of the actions' documentation. Nodes are always "any": which one is left to the run,
// where the chooser knows who is alive.
var moves = []move{
	{"create pods", 2, func(d drawer, st *state) scenarios.Action {
		if d.coin("static pods", 8) {
			return scenarios.CreatePods{Count: 1, Node: scenarios.AnyNode, Static: true}
		}
		return scenarios.CreatePods{Count: 1 + d.c.Pick("pods", st.profile.PodsPerNodeMax)}
	}},
	{"delete pods", 3, func(d drawer, st *state) scenarios.Action {
		if d.coin("all pods", 6) {
			return scenarios.DeletePods{All: true, Node: scenarios.AnyNode}
		}
		del := scenarios.DeletePods{Count: 1 + d.c.Pick("pods", 2*st.profile.PodsPerNodeMax)}
		del.Force = d.coin("by force", 3)
		del.Again = del.Force && d.coin("again", 2)
		return del
	}},
	{"replace sandbox", 2, func(d drawer, _ *state) scenarios.Action {
		return scenarios.ReplaceSandbox{Node: scenarios.AnyNode, Count: 1 + d.c.Pick("sandboxes", 4)}
	}},
	{"lose sandboxes", 1, func(d drawer, _ *state) scenarios.Action {
		lose := scenarios.LoseSandboxes{Node: scenarios.AnyNode, Count: 1 + d.c.Pick("sandboxes", 3), Gone: d.coin("pods gone", 2)}
		lose.SameID = !lose.Gone && d.coin("same ID", 2)
		if !lose.Gone && d.coin("no garbage collection", 3) { // with pods that are gone it would be a leak
			lose.GC = scenarios.NoGarbage
		}
		return lose
	}},
	{"repeat del", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.RepeatDel{Node: scenarios.AnyNode, Count: 1 + d.c.Pick("sandboxes", 4)}
	}},
	{"check pods", 1, func(drawer, *state) scenarios.Action { return scenarios.CheckPods{Node: scenarios.AnyNode} }},
	{"gc", 1, func(d drawer, _ *state) scenarios.Action {
		gc := scenarios.GC{Node: scenarios.AnyNode}
		if d.coin("old list", 2) {
			gc.Age = d.between("age", time.Millisecond, 30*time.Second)
		}
		return gc
	}},
	{"poll status", 1, func(d drawer, _ *state) scenarios.Action { return scenarios.PollStatus{Node: d.someNodes()} }},
	{"break wiring", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.BreakWiring{What: one(d, "breakage", scenarios.Breakages()...), Node: scenarios.AnyNode, Count: 1 + d.c.Pick("sandboxes", 3)}
	}},

	{"add or remove node", 2, drawNodes},
	{"joiners race", 1, drawRace},
	{"crash node", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.CrashNode{Node: scenarios.AnyNode, For: d.span()}
	}},
	{"crash disk", 2, func(drawer, *state) scenarios.Action { return scenarios.CrashDisk{Node: scenarios.AnyNode} }},
	{"reboot node", 1, func(drawer, *state) scenarios.Action { return scenarios.RebootNode{Node: scenarios.AnyNode} }},
	{"recreate node", 1, func(drawer, *state) scenarios.Action { return scenarios.RecreateNode{Node: scenarios.AnyNode} }},
	{"roll nodes", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.RollNodes{Every: d.between("roll every", 5*time.Second, time.Minute), Count: 1 + d.c.Pick("rolled at once", 2)}
	}},

	{"kill agent", 2, func(d drawer, _ *state) scenarios.Action {
		return scenarios.KillAgent{Node: d.someNodes(), For: d.span()}
	}},
	{"restart agent", 3, func(d drawer, _ *state) scenarios.Action { return scenarios.RestartAgent{Node: d.someNodes()} }},
	{"change version", 2, func(d drawer, _ *state) scenarios.Action {
		return scenarios.ChangeVersion{Node: d.someNodes(), Version: one(d, "version", scenarios.Present, scenarios.Next), Every: d.between("change every", 0, 20*time.Second)}
	}},
	{"kill vpp", 2, func(d drawer, _ *state) scenarios.Action {
		return scenarios.KillVPP{Node: d.someNodes(), For: d.span()}
	}},
	{"restart vpp", 3, func(d drawer, _ *state) scenarios.Action { return scenarios.RestartVPP{Node: d.someNodes()} }},
	{"pause agent", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.PauseAgent{Node: d.someNodes(), For: d.span()}
	}},
	{"pause vpp", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.PauseVPP{Node: scenarios.AnyNode, For: d.span()}
	}},
	{"pause kubelet", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.PauseKubelet{Node: d.someNodes(), For: d.span()}
	}},
	{"set clock", 1, drawClock},
	{"restart both", 2, func(d drawer, _ *state) scenarios.Action { return scenarios.RestartBoth{Node: d.someNodes()} }},

	{"stop store", 1, func(d drawer, _ *state) scenarios.Action { return scenarios.StopStore{For: d.span()} }},
	{"wipe store", 1, func(drawer, *state) scenarios.Action { return scenarios.WipeStore{} }},
	{"compact store", 1, func(drawer, *state) scenarios.Action { return scenarios.CompactStore{} }},
	{"stop api", 1, func(d drawer, _ *state) scenarios.Action { return scenarios.StopAPI{For: d.span()} }},
	{"stale watch", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.StaleWatch{Node: scenarios.AnyNode, For: d.span()}
	}},
	{"gap watch", 1, func(d drawer, _ *state) scenarios.Action { return scenarios.GapWatch{Node: d.someNodes()} }},
	{"duplicate watch", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.DuplicateWatch{Node: scenarios.AnyNode, Count: 1 + d.c.Pick("changes", 20)}
	}},

	{"change cidr", 2, drawChange},
	{"partition", 2, func(d drawer, _ *state) scenarios.Action {
		return scenarios.Partition{Between: d.ends(), OneWay: d.coin("one way", 3), For: d.span()}
	}},
	{"slow link", 1, func(d drawer, _ *state) scenarios.Action {
		return scenarios.SlowLink{Between: d.ends(), Delay: d.between("link delay", 10*time.Millisecond, 5*time.Second),
			Loss: float64(d.c.Pick("loss", 5)) / 10, Duplicate: float64(d.c.Pick("duplicate", 3)) / 10, For: d.span()}
	}},
	{"inject", 3, func(d drawer, _ *state) scenarios.Action {
		return scenarios.Inject{Fault: d.fault(), Node: scenarios.AnyNode, For: d.span()}
	}},
}

// drawRace lets a node join whose name comes before all others: whoever has joined a moment before and has a slow way to the store
// left it no room, and both claim one ID.
func drawRace(d drawer, st *state) scenarios.Action {
	if st.nodes >= st.profile.NodesMax || d.coin("slow way to the store", 2) {
		return scenarios.Inject{Fault: "(Kind store (Jitter 1 3s))", Node: scenarios.AnyNode, For: d.between("slow for", time.Second, time.Minute)}
	}
	st.nodes++
	st.racers++
	return scenarios.AddNode{Count: 1, Name: "early-" + strconv.Itoa(st.racers)}
}

// drawNodes keeps the number of nodes within the profile.
func drawNodes(d drawer, st *state) scenarios.Action {
	if d.coin("Node object anew", 6) {
		return scenarios.UnregisterNode{Node: scenarios.AnyNode, For: d.between("unregistered for", time.Second, 2*time.Minute)}
	}
	grow := st.nodes <= st.profile.NodesMin || st.nodes < st.profile.NodesMax && d.coin("node joins", 2)
	if grow {
		st.nodes++
		return scenarios.AddNode{Count: 1}
	}
	st.nodes--
	remove := scenarios.RemoveNode{Node: scenarios.AnyNode}
	if d.coin("behind a finalizer", 4) {
		remove.Finalizer = d.between("finalizer", time.Second, 2*time.Minute)
	}
	return remove
}

// drawChange changes one part of the address plan. Ranges are drawn so that each combination is a valid plan.
func drawChange(d drawer, _ *state) scenarios.Action {
	switch d.c.Pick("what changes", 4) {
	case 0:
		return scenarios.ChangeCIDR{PodSubnetOneNodePrefixLen: one(d, "prefix length", 24, 25, 26, 27, 28)}
	case 1:
		return scenarios.ChangeCIDR{
			VPPHostSubnetCIDR: scenarios.CIDR(one(d, "host range", hostRanges[:]...)), VPPHostSubnetOneNodePrefixLen: one(d, "host length", 24, 28, 30),
		}
	case 2:
		return scenarios.ChangeCIDR{
			PodSubnetCIDR: scenarios.CIDR(one(d, "pod range", podRanges[:]...)), PodSubnetOneNodePrefixLen: one(d, "prefix length", 24, 26, 28),
		}
	default:
		return scenarios.ChangeCIDR{PodSubnetCIDR: scenarios.CIDR(one(d, "pod range", podRanges[:]...))}
	}
}

// span is how long something lasts: mostly seconds, sometimes minutes, rarely until everything is healed.
func (d drawer) span() time.Duration {
	switch d.c.Pick("span", 8) {
	case 0:
		return 0
	case 1, 2:
		return d.between("minutes", time.Minute, 10*time.Minute)
	default:
		return d.between("seconds", 100*time.Millisecond, 30*time.Second)
	}
}

// someNodes is one node mostly, all of them sometimes.
func (d drawer) someNodes() scenarios.NodeRef {
	if d.coin("all nodes", 6) {
		return scenarios.AllNodes
	}
	return scenarios.AnyNode
}

// ends are a node and a part of the control plane, in either order.
func (d drawer) ends() [2]scenarios.Endpoint {
	ends := [2]scenarios.Endpoint{scenarios.Endpoint(scenarios.AnyNode), one(d, "far end", scenarios.APIServer, scenarios.Store)}
	if d.coin("towards node", 3) {
		ends[0], ends[1] = ends[1], ends[0]
	}
	return ends
}
