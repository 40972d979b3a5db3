package check

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const withinBudgetName = "within-budget"

// withinBudget: a cluster's requests to its VPPs, its Linux hosts, its store and its API server are bounded by its
// events. Each occasion allows a number of requests (budgets.go), and time allows a few more. The budgets have a
// generous margin: another policy stays within them; a request storm, a loop, or an agent that forgot its own actions
// does not.
//
// A snapshot has no history.
func withinBudget() fact.Law {
	return fact.Law{
		Name: withinBudgetName,
		Rule: "Requests to VPP, Linux, store and API server stay within what the cluster's events account for.",
		Why: "An agent that repeats requests needlessly starves other clients of VPP, the store and the API server, and " +
			"wears out a disk.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.RequestCounts, fact.Sandboxes, fact.NodeIDs, fact.Blocks, fact.Disturbances},
		Watch: func() fact.Watcher {
			return &budgetWatcher{nodes: map[string]*spender{}, fronts: map[mapped]bool{}}
		},
	}
}

// Requests are counted in slots of slotTime. The last allowedSlots must allow those of the last spentSlots, because a
// request may follow from an earlier event.
const (
	slotTime     = 10 * time.Second
	spentSlots   = 6
	allowedSlots = 24
)

// spender is a node's state that decides the cost of an occasion.
type spender struct {
	pods map[ipam.Owner]bool
	id   uint32
}

type budgetWatcher struct {
	budget budget
	nodes  map[string]*spender
	// fronts are the addresses of services.
	fronts map[mapped]bool
	// slot is the number of the current slot, whose sums are at slot modulo allowedSlots.
	slot           int64
	spent, allowed [allowedSlots]spending
	checks         int64
}

func (w *budgetWatcher) Checks() int64 { return w.checks }

func (w *budgetWatcher) Observe(f *fact.Fact) error {
	w.advance(int64(f.At / slotTime))
	switch x := f.What.(type) {
	case fact.Configured:
		w.budget = budgetOf(x.Config)
	case fact.Asked:
		w.node(f.Node)
		w.allow(w.budget.pod, 1)
	case fact.Answered:
		w.attached(f.Node, x.Owner, true)
	case fact.Deleted, fact.SandboxGone:
		w.allow(w.budget.pod, 1)
		w.attached(f.Node, fact.OwnerOf(x), false)
	case fact.Refused, fact.CallRefused, fact.Abandoned:
		w.allow(w.budget.trouble, 1)
	case fact.NodeID:
		if n := w.node(f.Node); n.id != x.ID {
			n.id = x.ID
			w.allow(w.budget.peer, int64(len(w.nodes)))
		}
	case fact.NodeBlocks, fact.Addressed, fact.RecordChange, fact.Assigned:
		w.node(f.Node)
		w.allow(w.budget.peer, int64(len(w.nodes)))
	case fact.Served:
		w.served(x)
	case fact.AgentUp:
		w.restarted(f.Node)
	case fact.Disturbed:
		if x.By == fact.VPPUp {
			w.restarted(f.Node)
			break
		}
		for name := range w.nodes { //vppdrill:unordered it is a sum
			w.restarted(name)
		}
	case fact.NodeGone:
		w.gone(f.Node)
	case fact.Range:
		w.allow(w.budget.peer, int64(len(w.nodes)))
	case fact.Counted:
		return w.counted(f, x.Counts)
	}
	return nil
}

// advance begins the slots up to a number, each with its fixed allowance.
func (w *budgetWatcher) advance(slot int64) {
	if slot-w.slot > allowedSlots {
		w.slot = slot - allowedSlots
	}
	for w.slot < slot {
		w.slot++
		i := w.slot % allowedSlots
		w.spent[i] = spending{}
		w.allowed[i] = w.budget.slot.times(int64(len(w.nodes) + 1))
	}
}

func (w *budgetWatcher) allow(s spending, times int64) {
	w.allowed[w.slot%allowedSlots].add(s.times(times))
}

func (w *budgetWatcher) node(name string) *spender {
	n := w.nodes[name]
	if n == nil && name != "" {
		n = &spender{pods: map[ipam.Owner]bool{}}
		w.nodes[name] = n
		w.allow(w.budget.node, 1)
		w.allow(w.budget.peer, int64(len(w.nodes)))
	}
	return n
}

func (w *budgetWatcher) attached(node string, o ipam.Owner, is bool) {
	n := w.node(node)
	if is {
		n.pods[o] = true
	} else {
		delete(n.pods, o)
	}
}

func (w *budgetWatcher) served(x fact.Served) {
	m := mappedOf(x)
	if !x.Gone {
		w.fronts[m] = true
	} else {
		delete(w.fronts, m)
	}
	w.allow(w.budget.service, int64(len(w.nodes)))
}

// restarted allows the dumps and changes of a starting agent or VPP.
func (w *budgetWatcher) restarted(name string) {
	n := w.node(name)
	if n == nil {
		return
	}
	w.allow(w.budget.node, 1)
	w.allow(w.budget.peer, int64(len(w.nodes)))
	w.allow(w.budget.pod, int64(len(n.pods)))
	w.allow(w.budget.service, int64(len(w.fronts)))
}

func (w *budgetWatcher) gone(name string) {
	n := w.node(name)
	w.allow(w.budget.pod, int64(len(n.pods)))
	w.allow(w.budget.peer, int64(len(w.nodes)))
	delete(w.nodes, name)
}

// counted judges the requests since the last count.
func (w *budgetWatcher) counted(f *fact.Fact, c fact.Counts) error {
	w.allow(w.budget.trouble, c.Faults)
	w.spent[w.slot%allowedSlots].add(spending{c.VPPCalls + c.LinuxCalls, c.Writes, c.StoreOps, c.APIWrites,
		c.JournalBytes})
	w.checks++
	var spent, allowed spending
	for i := range w.spent {
		age := (w.slot - int64(i)%allowedSlots + allowedSlots) % allowedSlots
		if age < spentSlots {
			spent.add(w.spent[i])
		}
		allowed.add(w.allowed[i])
	}
	for i, name := range meters {
		if spent[i] > allowed[i] {
			return broken(withinBudgetName, f.At, f.Node,
				"%d %s within %s, but events on %d nodes within %s allow %d: check which requests repeat",
				spent[i], name, spentSlots*slotTime, len(w.nodes), allowedSlots*slotTime, allowed[i])
		}
	}
	return nil
}
