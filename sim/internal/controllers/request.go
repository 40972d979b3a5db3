package controllers

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// silence is until a controller takes a request for unanswered: client-go's and etcd's clients are given 10 s as a
// rule.
const silence = 10 * time.Second

// Programs are the controllers that requests come from beside nodes' own daemons, and RequestNames what they are
// called: the Node and the Name of operations of kind fault.KindControl.
var (
	Programs     = []string{operatorProgram, rangeProgram, tenderProgram}
	RequestNames = []string{ledgerRead, ledgerCheck, ledgerBegin, ledgerAppend, ledgerStrike, resourceWrite, resourceAsk, resourceMake, nodeList, nodeGet, nodeTouch, nodePatch, nodeCondition, aliasRead, aliasAdd, routeList, routeCreate, routeDelete,
		datastore.DescribeENIs.String(), datastore.ReadIMDS.String(), datastore.SetUpENI.String(), datastore.AssignUnits.String(),
		datastore.UnassignUnits.String(), datastore.CreateENI.String(), datastore.DeleteENI.String(),
		blockAssign, blockRelease, blockTend, listENIs, assignIPs, unassignIPs}
)

const (
	operatorProgram = "cilium-operator"
	rangeProgram    = "controller-manager"
	tenderProgram   = "calico-kube-controllers"

	ledgerRead    = "ledger-read"
	ledgerCheck   = "ledger-check" // where it begins
	ledgerBegin   = "ledger-begin"
	ledgerAppend  = "ledger-append"
	ledgerStrike  = "ledger-strike"
	resourceWrite = "resource-write" // by the operator
	resourceAsk   = "resource-ask"   // by an agent
	resourceMake  = "resource-make"
	nodeList      = "node-list"
	nodeGet       = "node-get"
	nodeTouch     = "node-touch"
	nodePatch     = "node-patch"
	nodeCondition = "node-condition"
	aliasRead     = "alias-read" // by the controller manager
	aliasAdd      = "alias-add"
	routeList     = "route-list"
	routeCreate   = "route-create"
	routeDelete   = "route-delete"
	listENIs      = "list-enis" // by Cilium's operator
	assignIPs     = "assign-ips"
	unassignIPs   = "unassign-ips"
	blockAssign   = "block-assign" // by a node
	blockRelease  = "block-release"
	blockTend     = "block-tend" // by the controllers
)

// changing are the requests of elected programs that change something.
var changing = []string{ledgerBegin, ledgerAppend, ledgerStrike, resourceWrite, nodeTouch, nodePatch, nodeCondition, aliasAdd, routeCreate, routeDelete, assignIPs, unassignIPs, blockTend}

// request is one request of a controller or of a node's daemon, which a fault may befall.
type request struct {
	// op is the caller, the operation and its object.
	op   fault.Op
	send func()
	// tell answers in the place of the server; silent: the result of the request is unknown, else it was refused.
	tell func(silent bool)
	// forget makes the true answer be ignored.
	forget func()
	// die ends the process that asks.
	die func()
	// outlives: the caller gives the request up after silence, and it arrives all the same. The API server's objects have
	// versions, which refuse such a request when it comes too late. A cloud has none, and its clients wait for their
	// requests.
	outlives bool
}

// request starts a request, or what befalls it.
func (e *Env) request(r request) {
	var v fault.Verdict
	r.op.Kind = fault.KindControl
	if e.Judge != nil {
		v = e.Judge(r.op)
	}
	switch v.Action {
	case fault.Refuse:
		e.Clock.After(time.Millisecond, &step{r.op.Node, "refused " + r.op.Name, func() { r.tell(false) }})
	case fault.Vanish, fault.Mute:
		if v.Action == fault.Mute {
			r.forget()
			r.send()
		}
		e.Clock.After(silence, &step{r.op.Node, "no answer to " + r.op.Name, func() { r.tell(true) }})
	case fault.Delay:
		if r.outlives && v.Delay > silence {
			r.forget()
			e.Clock.After(silence, &step{r.op.Node, "no answer to " + r.op.Name, func() { r.tell(true) }})
		}
		e.Clock.After(v.Delay, &step{r.op.Node, "late " + r.op.Name, r.send})
	case fault.CrashBefore:
		r.die()
	case fault.CrashAfter:
		r.send()
		r.die()
	default: // Duplicate too: a connection delivers once
		r.send()
	}
}

// call is a request to the API server by a client, sent by send.
func (e *Env) call(from *apiClient, op fault.Op, c *cluster.ResourceCall, send, die func()) {
	if from.changes != nil {
		from.changes(op)
	}
	then := c.Then
	e.request(request{op: op, outlives: true, send: func() { from.send(op.Name, send) }, die: die,
		forget: func() { c.Then = func(cluster.Object, error) {} },
		tell: func(silent bool) {
			if silent {
				then(nil, cluster.ErrNoAnswer)
				return
			}
			then(nil, cluster.ErrUnavailable)
		}})
}
