package cilium

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

const (
	// resync is how often an operator looks at every node (pkg/ipam/node_manager.go).
	resync = time.Minute
	// A call that the cloud has throttled is repeated after throttleFirst, then after twice as long each, throttleTries
	// times at most, as AWS' SDK does (standard retry mode; it repeats less often, and at random).
	throttleFirst = time.Second
	throttleTries = 5
)

// AddressTerm is one life of the elected operator in a mode whose CiliumNodes have a pool: it performs what an Operator
// wants, asks the cloud again for what it did not answer, and looks at every node once a minute. It is a machine like
// PoolTerm.
type AddressTerm struct {
	core *Operator
	// until is the end of the lease as last told, zero for none; begun: the first Leading has come.
	until time.Time
	begun bool
	// listed: the resources are known. views are they, by name.
	listed bool
	views  map[string]Object
	// unlisted are nodes of which the cloud's listing is under way or to be asked for again. relisted: the cloud was asked
	// for all of them again behind the start.
	unlisted map[string]bool
	relisted bool
	// calls are requests to the cloud that are under way or are to be made again, writes those to the API server.
	last   uint64
	calls  map[uint64]*cloudCall
	writes map[uint64]ObjectMeta

	// resyncs, assigned and unassigned are counted since the term began: looks at every node, and addresses that the cloud gave and took
	// back.
	resyncs, assigned, unassigned uint64

	alarms deadlines[termAlarm]
	woken  time.Time
	now    time.Time
	over   bool
	out    []Effect
}

// cloudCall is a request to the cloud for one incarnation of a node.
type cloudCall struct {
	node, uid string
	ask       func(id uint64) Effect
	then      func(CloudAnswered)
	tries     int
}

// termAlarm is what is due at a time: a look at every node, another listing of a node, or a call that was throttled.
type termAlarm struct {
	what string
	node string
	call uint64
}

// NewAddressTerm returns a term that does nothing before the first Leading.
func NewAddressTerm(c OperatorConfig) (*AddressTerm, error) {
	core, err := NewOperator(c)
	return &AddressTerm{core: core, views: make(map[string]Object), unlisted: make(map[string]bool), calls: make(map[uint64]*cloudCall),
		writes: make(map[uint64]ObjectMeta)}, err
}

// Step takes one event and returns what is to be done, in order.
func (t *AddressTerm) Step(now time.Time, ev Event) []Effect {
	if t.over {
		return nil
	}
	t.now = now
	switch ev := ev.(type) {
	case Leading:
		if t.until = ev.Until; !t.begun {
			t.begun = true
			t.say(Follow{})
			t.alarms.start(termAlarm{what: "resync"}, now.Add(resync))
		}
	case Listed:
		t.list(ev.Objects)
	case Seen:
		t.see(ev.Object)
	case Gone:
		if old := t.views[ev.Object.Metadata.Name]; old.exists() && old.Metadata.UID == ev.Object.Metadata.UID {
			t.drop(ev.Object.Metadata.Name)
		}
	case Wrote:
		t.wrote(ev)
	case CloudAnswered:
		t.answered(ev)
	case Woke:
	default:
		panic(fmt.Sprintf("cilium: an operator's term heard %T", ev))
	}
	for !t.over {
		a, ok := t.alarms.due(now)
		if !ok {
			break
		}
		t.ring(a)
	}
	t.wake()
	out := t.out
	t.out = nil
	return out
}

func (t *AddressTerm) say(e Effect) { t.out = append(t.out, e) }

// ring does what is due.
func (t *AddressTerm) ring(a termAlarm) {
	switch a.what {
	case "resync":
		t.alarms.start(a, t.now.Add(resync))
		t.resyncs++
		t.perform(t.core.Resync(t.now))
		// What a leader asked for that is none any more may have come since this one began.
		for _, name := range sortedKeys(t.views) {
			if !t.relisted {
				t.ask(name)
			}
		}
		t.relisted = t.relisted || len(t.views) > 0
	case "again":
		t.perform(t.core.Resync(t.now))
	case "list":
		delete(t.unlisted, a.node)
		t.ask(a.node)
	case "throttled":
		if t.calls[a.call] != nil {
			t.send(a.call)
		}
	}
}

func (t *AddressTerm) list(objects []Object) {
	t.listed = true
	there := make(map[string]bool, len(objects))
	for _, x := range objects {
		there[x.Metadata.Name] = true
		t.see(x)
	}
	for _, name := range sortedKeys(t.views) {
		if !there[name] {
			t.drop(name)
		}
	}
}

func (t *AddressTerm) drop(name string) {
	delete(t.views, name)
	delete(t.unlisted, name)
	t.core.Delete(name)
}

// see takes in a resource, unless it is older than what is known of it.
func (t *AddressTerm) see(x Object) {
	name := x.Metadata.Name
	old := t.views[name]
	if !x.newer(old) {
		return
	}
	t.views[name] = x
	err := x.Bad
	var actions []Action
	if err == nil {
		actions, err = t.core.Update(t.now, x.CiliumNode)
	}
	if err != nil {
		t.say(Note{fmt.Sprintf("%s is left alone: %v", name, err)})
		return
	}
	t.perform(actions)
	if !old.exists() || old.Metadata.UID != x.Metadata.UID {
		delete(t.unlisted, name)
		t.ask(name)
	}
}

// ask asks the cloud what a node has; what is not answered is asked again.
func (t *AddressTerm) ask(node string) {
	if t.unlisted[node] || !t.views[node].exists() {
		return
	}
	t.unlisted[node] = true
	t.call(node, func(id uint64) Effect { return ListAddresses{id, node} }, func(r CloudAnswered) {
		if r.Err != nil {
			if a := (termAlarm{what: "list", node: node}); !t.alarms.has(a) {
				t.alarms.start(a, t.now.Add(again))
			}
			return
		}
		delete(t.unlisted, node)
		t.perform(t.core.Listed(t.now, node, r.Addresses))
	})
}

// call makes a request to the cloud. Of one for an incarnation that is gone the answer says nothing.
func (t *AddressTerm) call(node string, ask func(id uint64) Effect, then func(CloudAnswered)) {
	t.last++
	t.calls[t.last] = &cloudCall{node: node, uid: t.views[node].Metadata.UID, ask: ask, then: then}
	t.send(t.last)
}

// send makes a call, unless this process does not lead any more.
func (t *AddressTerm) send(id uint64) {
	if t.leads() {
		t.say(t.calls[id].ask(id))
	}
}

// leads ends the term where this process does not lead for certain.
func (t *AddressTerm) leads() bool {
	if !t.over && !t.until.IsZero() && !t.now.Before(t.until) {
		t.over = true
		t.say(End{errLeaseOver})
	}
	return !t.over
}

func (t *AddressTerm) answered(r CloudAnswered) {
	c := t.calls[r.ID]
	if c == nil {
		return // a second answer
	}
	if r.Throttled && c.tries < throttleTries {
		t.alarms.start(termAlarm{what: "throttled", call: r.ID}, t.now.Add(throttleFirst<<c.tries))
		c.tries++
		return
	}
	delete(t.calls, r.ID)
	if x := t.views[c.node]; x.exists() && x.Metadata.UID == c.uid {
		c.then(r)
	}
}

// perform asks for what the operator wants.
func (t *AddressTerm) perform(actions []Action) {
	for i := 0; i < len(actions) && !t.over; i++ {
		a := actions[i]
		switch a.Kind {
		case ActAllocate:
			t.call(a.Node, func(id uint64) Effect { return AssignAddresses{id, a.Node, a.Count} }, func(r CloudAnswered) {
				t.assigned += uint64(len(r.Addresses))
				t.perform(t.core.Allocated(t.now, a.Node, r.Addresses, r.Err))
				if r.Unknown { // they may be there all the same
					t.ask(a.Node)
				}
			})
		case ActFree:
			ips := []netip.Addr{a.IP}
			for i+1 < len(actions) && actions[i+1].Kind == ActFree && actions[i+1].Node == a.Node {
				i++
				ips = append(ips, actions[i].IP)
			}
			// After an error all of them are asked for again.
			t.call(a.Node, func(id uint64) Effect { return UnassignAddresses{id, a.Node, slices.Clone(ips)} }, func(r CloudAnswered) {
				if r.Err == nil {
					t.unassigned += uint64(len(ips))
				}
				for _, ip := range ips {
					t.perform(t.core.Freed(t.now, a.Node, ip, r.Err))
				}
			})
		case ActWrite:
			t.write(a)
		}
	}
}

func (t *AddressTerm) write(a Action) {
	x := t.views[a.Node]
	if !x.exists() || !t.leads() {
		return
	}
	x.CiliumNode = a.Resource
	t.last++
	t.writes[t.last] = a.Resource.Metadata
	t.say(WriteResource{t.last, x})
}

// wrote takes in what became of a write. What may have been written, or was refused, is looked at again.
func (t *AddressTerm) wrote(r Wrote) {
	version, known := t.writes[r.ID]
	if !known {
		return // a second answer
	}
	delete(t.writes, r.ID)
	if r.Outcome == ipam.Done {
		t.see(r.Object)
		return
	}
	t.core.Refused(version.Name)
	x := t.views[version.Name]
	if !x.exists() || x.Metadata != version || r.Outcome == ipam.Conflict || r.Outcome == ipam.NotFound {
		return // the watch brings what is there, or has
	}
	if a := (termAlarm{what: "again"}); !t.alarms.has(a) {
		t.alarms.start(a, t.now.Add(again))
	}
}

func (t *AddressTerm) wake() {
	if t.over {
		return
	}
	next, _ := t.alarms.next()
	if !next.Equal(t.woken) {
		t.woken = next
		t.say(WakeAt{next})
	}
}

// Names are the nodes that the operator knows, ascending, Get what it knows about one.
func (t *AddressTerm) Names() []string { return t.core.Names() }

// Get is Operator.Get.
func (t *AddressTerm) Get(node string) (NodeStats, bool) { return t.core.Get(node) }

// Pending says what is under way, empty when nothing is.
func (t *AddressTerm) Pending() string {
	switch {
	case !t.listed || len(t.unlisted) > 0:
		return "is starting"
	case len(t.calls) > 0 || len(t.writes) > 0:
		return "is at work"
	}
	for _, name := range t.core.Names() {
		// An entry of the handshake is on its way out, whoever's turn it is; but excess only ages.
		if s, _ := t.core.Get(name); s.Leaving > 0 {
			return "takes addresses of " + name + " back"
		}
	}
	return ""
}
