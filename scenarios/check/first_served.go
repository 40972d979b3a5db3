package check

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

const firstServedName = "first-served"

// firstServed: of ADDs that wait on one node for an address, who asked first gets one first: nobody gets one before another that has asked earlier and gets
// its own only later. Who is refused instead is not judged: why it was may be over a moment later.
//
// So it is with the nodes that wait for a block where a controller has none left: as one comes free, the node gets it for which it found none first.
//
// Who brings an address waits for nobody but who had it. Who waits for an older sandbox of its pod lets others go ahead: an ADD is not judged where its pod had a sandbox on the node whose DEL was not answered
// before it asked. Leases of one instant are in order only as far as the world knows. A new life of the agent is asked anew. A snapshot has no history.
func firstServed() scenarios.Law {
	return scenarios.Law{
		Name:  firstServedName,
		Why:   "A pod that is passed over by those that come later waits for as long as others come, and gets none where addresses are few.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Leases, scenarios.Sandboxes, scenarios.Refusals, scenarios.Lines, scenarios.AssignedBlocks},
		Watch: func() scenarios.Watcher { return &queueWatcher{nodes: map[string]*queue{}, lines: map[string]*line{}} },
	}
}

// queue is who waits on a node for an address.
type queue struct {
	// waiting are in the order in which they asked.
	waiting []waitingAdd
	// of is which pod's a sandbox is of which the agent may hold something, many how many a pod has.
	of   map[ipam.Owner]podInterface
	many map[podInterface]int
	// ending are the sandboxes whose DEL has no answer yet, true for those whose ADD came behind it, from a plugin that nobody waits for any more.
	ending map[ipam.Owner]bool
}

// waitingAdd is an ADD without an address.
type waitingAdd struct {
	owner ipam.Owner
	asked time.Duration
	// passed is when by was leased addr, the first that had asked later; 0 for never. number is its place among those of that moment.
	passed time.Duration
	number uint32
	by     ipam.Owner
	addr   netip.Addr
}

// line is the nodes for which a life of a controller has found no block, in that order.
type line struct {
	life  uint32
	nodes []string
}

type queueWatcher struct {
	nodes map[string]*queue
	// lines are those of controllers, by program.
	lines  map[string]*line
	checks int64
}

func (w *queueWatcher) Checks() int64 { return w.checks }

func (w *queueWatcher) Observe(f *scenarios.Fact) error {
	switch f.Kind {
	case scenarios.FactInLine:
		return w.inLine(f)
	case scenarios.FactAssigned: // whoever gave it one, or it is gone
		for _, l := range w.lines { //vppdrill:unordered each by itself
			l.leave(f.Node)
		}
		return nil
	}
	q := w.nodes[f.Node]
	if q == nil {
		if f.Kind != scenarios.FactAsked {
			return nil
		}
		q = &queue{of: map[ipam.Owner]podInterface{}, many: map[podInterface]int{}, ending: map[ipam.Owner]bool{}}
		w.nodes[f.Node] = q
	}
	switch f.Kind {
	case scenarios.FactAsked:
		switch _, ends := q.ending[f.Owner]; {
		case f.Text == scenarios.AskedAdd:
			if q.ask(f); ends {
				q.ending[f.Owner] = true
			}
		case f.Text == "Del" && !ends:
			q.ending[f.Owner] = false
		}
	case scenarios.FactLeased:
		return w.leased(q, f)
	case scenarios.FactRefused, scenarios.FactAnswered, scenarios.FactSandboxGone:
		q.leave(f.Owner)
	case scenarios.FactDeleted:
		q.leave(f.Owner)
		if !q.ending[f.Owner] {
			q.forget(f.Owner)
		}
		delete(q.ending, f.Owner)
	case scenarios.FactAgentDown, scenarios.FactAgentUp:
		q.waiting = q.waiting[:0]
	case scenarios.FactNodeGone: // what its journal holds is there again with its machine
		q.waiting = q.waiting[:0]
		if f.Text == scenarios.NodeLeft {
			delete(w.nodes, f.Node)
		}
	}
	return nil
}

// ask puts an ADD behind the others.
func (q *queue) ask(f *scenarios.Fact) {
	q.leave(f.Owner)
	p := podInterface{f.Pod, f.PodUID, f.Owner.IfName}
	_, again := q.of[f.Owner]
	q.forget(f.Owner)
	first := q.many[p] == 0
	q.of[f.Owner] = p
	q.many[p]++
	if first && !again && !f.Addr.IsValid() {
		q.waiting = append(q.waiting, waitingAdd{owner: f.Owner, asked: f.At})
	}
}

// forget notes that the agent holds nothing of a sandbox.
func (q *queue) forget(o ipam.Owner) {
	p, known := q.of[o]
	if !known {
		return
	}
	delete(q.of, o)
	if q.many[p]--; q.many[p] == 0 {
		delete(q.many, p)
	}
}

// place is where an owner waits, -1 for nowhere.
func (q *queue) place(o ipam.Owner) int {
	return slices.IndexFunc(q.waiting, func(a waitingAdd) bool { return a.owner == o })
}

func (q *queue) leave(o ipam.Owner) {
	if i := q.place(o); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
}

func (w *queueWatcher) leased(q *queue, f *scenarios.Fact) error {
	at := q.place(f.Owner)
	if at < 0 {
		return nil
	}
	w.checks++
	a := q.waiting[at]
	q.waiting = slices.Delete(q.waiting, at, at+1)
	if a.passed != 0 && (a.passed < f.At || a.number != 0 && f.Number > a.number) {
		return broken(firstServedName, f.At, f.Node, "%s asked at %s and gets its address only now; %s, which asked later, got %s at %s: look at the order of those who wait",
			f.Owner, a.asked, a.by, a.addr, a.passed)
	}
	for i := range q.waiting[:at] {
		if b := &q.waiting[i]; b.passed == 0 {
			b.passed, b.number, b.by, b.addr = f.At, f.Number, f.Owner, f.Addr
		}
	}
	return nil
}

func (l *line) leave(node string) {
	l.nodes = slices.DeleteFunc(l.nodes, func(name string) bool { return name == node })
}

func (w *queueWatcher) inLine(f *scenarios.Fact) error {
	l := w.lines[f.Broken]
	if l == nil {
		l = &line{}
		w.lines[f.Broken] = l
	}
	if f.Number > l.life {
		*l = line{life: f.Number}
	}
	at := slices.Index(l.nodes, f.Node)
	switch {
	case f.Number < l.life: // it has been deposed, and one-leader judges it
	case f.Text == scenarios.LineJoined:
		l.leave(f.Node)
		l.nodes = append(l.nodes, f.Node)
	case at > 0:
		w.checks++
		return broken(firstServedName, f.At, f.Node, "%s gives %s a block, and %s has waited for one for longer: look at the order of those who wait", f.Broken, f.Node, l.nodes[0])
	case at == 0:
		w.checks++
		l.leave(f.Node)
	}
	return nil
}
