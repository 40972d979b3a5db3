package nodeipam

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

const (
	// maxRouteRequests is upstream's maxConcurrentRouteOperations.
	maxRouteRequests = 200
	// routeIDs is where the IDs of RouteController's requests begin, so that it can share a driver with an allocator.
	routeIDs = 1 << 63
	// reasonRouteFailed and the messages are upstream's.
	reasonRouteFailed   = "FailedToCreateRoute"
	messageRouteCreated = "RouteController created a route"
	messageRouteFailed  = "RouteController failed to create a route"
)

// RouteController is Kubernetes' route controller (k8s.io/cloud-provider, controllers/route): it keeps a route of the
// cloud's network for each pod CIDR of each node, and says in the node's condition NetworkUnavailable whether they are
// there, for as long as which the scheduler gives a node no pods.
//
// It works in passes, which begin a period apart: it lists the routes, deletes what it should not keep, then creates
// what is missing, then sets conditions. What fails waits for the next pass. It deletes routes of its own cluster, by
// name and within the cluster's CIDRs, whose machine is gone, or whose node is, or has another CIDR or UID. It differs
// from upstream on purpose:
//   - Names carry the node's UID, and a route of an earlier node of the name is replaced: a late request of a deposed
//     leader to delete it can no longer hit the later node's. (Upstream keeps it, by node name and CIDR.)
//   - A route of a node that the watch does not show is deleted when a consistent read does not show the node either.
//   - Deletions come before creations: a CIDR that went from one node to another is one destination. (Upstream does both
//     at once, and creates what collides a period later.)
//   - A CIDR outside of the cluster's, or one that two nodes have, gets no route, or one; who goes without is
//     unavailable. (Upstream creates them, and never deletes the former.)
//   - A node without pod CIDRs is unavailable. (Upstream says so of nodes that had a route.)
//   - Addresses of nodes are not compared: a route leads to a machine.
//
// It is not safe for concurrent use.
type RouteController struct {
	cfg   RouteConfig
	nodes map[string]*KubeNode
	// listed: every node has been told once. Before that nothing is known to be gone.
	listed bool
	until  time.Time
	now    time.Time
	// due is when the next pass begins.
	due   time.Time
	told  time.Time // last WakeAt
	phase routePhase
	pass  routePass
	// queue are requests of this phase that were not sent yet, asked those that were.
	queue  []routeRequest
	asked  map[uint64]routeRequest
	lastID uint64
	out    []Effect
	why    error
}

// routePhase is what a pass is at; the phases follow one another.
type routePhase uint8

const (
	routesIdle routePhase = iota
	routesListing
	routesLooking
	routesDeleting
	routesCreating
	routesMarking
)

// routePass is what one pass knows.
type routePass struct {
	// routes are those that are this controller's to keep or delete.
	routes []Route
	// gone are nodes of routes that a consistent read does not show.
	gone map[string]bool
	// there are the destinations with a route of the right node.
	there map[netip.Prefix]string
}

// routeRequest is one of a pass; which fields are set follows from the phase.
type routeRequest struct {
	route    Route
	node     *KubeNode
	cidr     netip.Prefix
	name     string
	routable bool
}

// NewRouteController returns one that knows no node. It asks for no list of them: its driver tells it all.
func NewRouteController(cfg RouteConfig) (*RouteController, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.Period == 0 {
		cfg.Period = DefaultRoutePeriod
	}
	cfg.CIDRs = slices.Clone(cfg.CIDRs)
	for i := range cfg.CIDRs {
		cfg.CIDRs[i] = space.Normal(cfg.CIDRs[i])
	}
	return &RouteController{cfg: cfg, nodes: make(map[string]*KubeNode), asked: make(map[uint64]routeRequest), lastID: routeIDs}, nil
}

// Step implements Machine.
func (r *RouteController) Step(now time.Time, ev Event) []Effect {
	r.now = now
	switch ev := ev.(type) {
	case NodeAdded:
		r.nodes[ev.Node.Name] = &ev.Node
	case NodeUpdated:
		r.nodes[ev.Node.Name] = &ev.Node
	case NodeDeleted:
		if n := r.nodes[ev.Node.Name]; n != nil && n.uid() == ev.Node.uid() {
			delete(r.nodes, ev.Node.Name)
		}
	case Listed:
		if ev.Outcome == ipam.Done {
			r.listed = true
			clear(r.nodes)
			for i := range ev.Nodes {
				r.nodes[ev.Nodes[i].Name] = &ev.Nodes[i]
			}
		}
	case Routes:
		r.routes(ev)
	case Answered:
		r.answered(ev)
	case Leading:
		r.until = ev.Until
	case Woke, ClusterCIDRAdded, ClusterCIDRDeleted, ServiceCIDRs: // time passes in Run; the cluster's CIDRs are the command line's
	default:
		panic(fmt.Sprintf("nodeipam: unknown event %T", ev))
	}
	return r.Run(now)
}

// Run implements Machine.
func (r *RouteController) Run(now time.Time) []Effect {
	r.now = now
	leads := r.until.IsZero() || now.Before(r.until)
	for leads && r.listed {
		if r.phase == routesIdle {
			if now.Before(r.due) {
				break
			}
			r.due = now.Add(r.cfg.Period) // a pass that takes longer is followed by the next at once
			r.phase, r.pass, r.queue = routesListing, routePass{gone: map[string]bool{}, there: map[netip.Prefix]string{}}, []routeRequest{{}}
		}
		sent := min(len(r.queue), maxRouteRequests-len(r.asked))
		for _, q := range r.queue[:sent] {
			r.ask(q)
		}
		r.queue = r.queue[sent:]
		if len(r.queue) > 0 || len(r.asked) > 0 {
			break
		}
		r.proceed()
	}
	var wake time.Time // while requests are under way their answers say when to go on, and a lease's news when to begin
	if r.phase == routesIdle && r.due.After(now) {
		wake = r.due
	}
	if !wake.Equal(r.told) {
		r.told = wake
		r.out = append(r.out, WakeAt{wake})
	}
	out := r.out
	r.out = nil
	return out
}

// proceed begins the next phase.
func (r *RouteController) proceed() {
	switch r.phase++; r.phase {
	case routesLooking:
		for _, name := range r.strangers() {
			r.queue = append(r.queue, routeRequest{name: name})
		}
	case routesDeleting:
		for _, route := range r.pass.routes {
			if r.excess(route) {
				r.queue = append(r.queue, routeRequest{route: route})
			}
		}
	case routesCreating:
		r.create()
	case routesMarking:
		r.mark()
	default:
		r.phase = routesIdle
	}
}

// routes takes the list of them.
func (r *RouteController) routes(ev Routes) {
	if _, ok := r.take(ev.ID); !ok {
		return
	}
	if ev.Outcome != ipam.Done {
		r.phase, r.why = routesIdle, fmt.Errorf("error listing routes: %s", ev.Outcome.Because(ev.Why))
		return
	}
	r.why = nil
	for _, route := range ev.Routes {
		if _, ok := r.cfg.owns(route); ok {
			r.pass.routes = append(r.pass.routes, route)
		}
	}
	slices.SortStableFunc(r.pass.routes, func(a, b Route) int { return strings.Compare(a.Name, b.Name) })
}

// strangers are nodes of routes that the watch does not show.
func (r *RouteController) strangers() (names []string) {
	for _, route := range r.pass.routes {
		if route.Node != "" && !route.Blackhole && r.nodes[route.Node] == nil {
			names = append(names, route.Node)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// excess reports whether a route has to go; the destination of one that stays is there.
func (r *RouteController) excess(route Route) bool {
	dst, _ := r.cfg.owns(route)
	if route.Blackhole || route.Node == "" {
		return true
	}
	n := r.nodes[route.Node]
	if n == nil {
		return r.pass.gone[route.Node]
	}
	wanted, _ := n.parseCIDRs()
	if !slices.Contains(wanted, dst) || r.pass.there[dst] != "" || route.Name != RouteName(r.cfg.Cluster, n.uid(), dst) {
		return true
	}
	r.pass.there[dst] = n.Name
	return false
}

// create asks for the routes that are missing.
func (r *RouteController) create() {
	for _, n := range r.sorted() {
		cidrs, _ := n.parseCIDRs()
		for _, p := range cidrs {
			if r.pass.there[p] == "" && r.cfg.within(p) {
				r.pass.there[p] = n.Name
				r.queue = append(r.queue, routeRequest{node: n, cidr: p,
					route: Route{Name: RouteName(r.cfg.Cluster, n.uid(), p), Destination: p.String(), Node: n.Name}})
			}
		}
	}
}

// mark says of each node whether its routes are there, where its object says something else.
func (r *RouteController) mark() {
	for _, n := range r.sorted() {
		cidrs, err := n.parseCIDRs()
		routable := err == nil && len(cidrs) > 0 && !slices.ContainsFunc(cidrs, func(p netip.Prefix) bool { return r.pass.there[p] != n.Name })
		want := ConditionTrue
		if routable {
			want = ConditionFalse
		}
		if n.NetworkUnavailable != want {
			r.queue = append(r.queue, routeRequest{node: n, routable: routable})
		}
	}
}

func (r *RouteController) sorted() []*KubeNode {
	return slices.SortedFunc(maps.Values(r.nodes), func(a, b *KubeNode) int { return strings.Compare(a.Name, b.Name) })
}

func (r *RouteController) ask(q routeRequest) {
	r.lastID++
	r.asked[r.lastID] = q
	var e Effect
	switch r.phase {
	case routesListing:
		e = ListRoutes{r.lastID, r.cfg.Cluster}
	case routesLooking:
		e = GetNode{r.lastID, q.name}
	case routesDeleting:
		e = DeleteRoute{r.lastID, q.route}
	case routesCreating:
		e = CreateRoute{r.lastID, q.node.ProviderID, q.route}
	case routesMarking:
		if e = (SetNetworkUnavailable{r.lastID, q.node.Name, messageRouteFailed, q.node.UID}); q.routable {
			e = SetNetworkAvailable{r.lastID, q.node.Name, messageRouteCreated, q.node.UID}
		}
	}
	r.out = append(r.out, e)
}

// take ends an outstanding request.
func (r *RouteController) take(id uint64) (routeRequest, bool) {
	q, ok := r.asked[id]
	delete(r.asked, id)
	return q, ok
}

func (r *RouteController) answered(ev Answered) {
	q, ok := r.take(ev.ID)
	switch {
	case !ok:
	case r.phase == routesLooking:
		r.pass.gone[q.name] = ev.Outcome == ipam.NotFound
	case ev.Outcome == ipam.Done || ev.Outcome == ipam.NotFound && r.phase != routesCreating:
	case r.phase == routesCreating:
		// It may be there after all, without an answer: the next list says so.
		r.why = fmt.Errorf("could not create route %s %s for node %s: %s", q.route.Name, q.cidr, q.node.Name, ev.Outcome.Because(ev.Why))
		delete(r.pass.there, q.cidr)
		r.out = append(r.out, RecordEvent{Name: q.node.Name, UID: q.node.UID, Type: eventWarning, Reason: reasonRouteFailed,
			Message: fmt.Sprintf("Could not create route %s %s for node %s: %s", q.route.Name, q.cidr, q.node.Name, ev.Outcome.Because(ev.Why))})
	case r.phase == routesDeleting:
		r.why = fmt.Errorf("could not delete route %s %s: %s", q.route.Name, q.route.Destination, ev.Outcome.Because(ev.Why))
	default:
		r.why = failure(q.node.Name, "set network condition", ev.Outcome, ev.Why)
	}
}

// Failure is what went wrong last in the present or last pass, nil when nothing did.
func (r *RouteController) Failure() error { return r.why }

// Busy reports whether requests are under way or waiting.
func (r *RouteController) Busy() bool { return r.phase != routesIdle }
