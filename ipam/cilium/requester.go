package cilium

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Requester is the part of a node's agent that asks for blocks of pools in the node's resource, and gives back those
// that the node does not need: first the agent drops a block, is done with it and has told the other nodes, then the
// resource shows it no more. It is one life of it, a machine like PoolTerm.
type Requester struct {
	node string
	// listed, looked: resource and agent are known. uid is the node's own Node object's, known once node is.
	listed, looked, known bool
	uid                   string
	view                  Object
	agent                 AgentSeen
	// shown are the blocks that the resource shows, leaving those of them that the node gives back.
	shown, leaving []netip.Prefix
	// told are the blocks that the agent was told last, spoke: it was.
	told  []netip.Prefix
	spoke bool
	// last is the ID of the last request; writing: it is under way. behind: the resource has changed since it was made.
	last            uint64
	writing, behind bool
	// again is when to look again at what a request may have done, asked the time of the last WakeAt.
	again, asked time.Time

	now time.Time
	out []Effect
}

// NewRequester returns a Requester that has heard nothing.
func NewRequester(node string) *Requester { return &Requester{node: node} }

// Step takes one event and returns what is to be done, in order.
func (r *Requester) Step(now time.Time, ev Event) []Effect {
	r.now = now
	switch ev := ev.(type) {
	case Listed:
		r.list(ev.Objects)
	case Seen:
		r.see(ev.Object)
	case Gone:
		if r.view.exists() && r.view.Metadata.UID == ev.Object.Metadata.UID {
			r.see(Object{})
		}
	case NodeIs:
		r.uid, r.known = ev.UID, true
	case AgentSeen:
		r.agent, r.looked = ev, true
	case Wrote:
		if !r.wrote(ev) {
			return r.effects()
		}
	case Woke:
		r.wake()
	default:
		panic(fmt.Sprintf("cilium: a requester heard %T", ev))
	}
	r.evaluate()
	return r.effects()
}

func (r *Requester) say(e Effect) { r.out = append(r.out, e) }

// effects ends a step.
func (r *Requester) effects() []Effect {
	next := r.again
	if u := r.agent.Until; u.After(r.now) && (next.IsZero() || u.Before(next)) {
		next = u
	}
	if !next.Equal(r.asked) {
		r.asked = next
		r.say(WakeAt{next})
	}
	out := r.out
	r.out = nil
	return out
}

// list takes in the resource as it is now, or that there is none.
func (r *Requester) list(objects []Object) {
	first := !r.listed
	r.listed = true
	if len(objects) == 0 {
		r.see(Object{})
	}
	for _, x := range objects {
		r.see(x)
	}
	if first {
		r.say(LookAtAgent{})
	}
}

// see takes in a state of the resource, unless a later one is known.
func (r *Requester) see(x Object) {
	if !x.exists() || x.newer(r.view) {
		r.view, r.behind = x, true
	}
}

func (r *Requester) wake() {
	if !r.again.IsZero() && !r.now.Before(r.again) {
		r.again = time.Time{}
	}
	if u := r.agent.Until; !u.IsZero() && !r.now.Before(u) {
		r.say(LookAtAgent{})
	}
}

// evaluate tells the agent what the resource shows, and writes what the node needs and has given back.
func (r *Requester) evaluate() {
	if !r.listed || !r.looked || !r.known || r.view.Bad != nil || r.writing {
		return
	}
	if r.uid == "" {
		if !r.spoke {
			r.tell(nil)
		}
		return // there is no Node for a resource to belong to
	}
	// The resource of a former Node of this name is as good as none: its blocks go back to the pools with it, once the
	// garbage collector comes.
	former := r.view.formerOf(r.uid)
	r.shown = nil
	if r.view.exists() && !former {
		for _, a := range r.view.Spec.IPAM.Pools.Allocated {
			r.shown = append(r.shown, a.CIDRs...)
		}
	}
	r.choose()
	r.tell(slices.DeleteFunc(slices.Clone(r.shown), func(p netip.Prefix) bool { return slices.Contains(r.leaving, p) }))
	switch {
	case former:
	case !r.view.exists():
		x := Object{CiliumNode: &CiliumNode{Metadata: ObjectMeta{Name: r.node}}, Owner: r.uid}
		x.Spec.IPAM.Pools.Requested = r.agent.Requests
		r.request(func(id uint64) Effect { return CreateResource{id, x} })
	default:
		r.publish()
	}
}

// tell tells the agent its blocks, where they are other ones.
func (r *Requester) tell(blocks []netip.Prefix) {
	if !r.spoke || !slices.Equal(blocks, r.told) {
		r.told, r.spoke = blocks, true
		r.say(TellAgent{slices.Clone(blocks)})
	}
}

// choose decides which blocks leave. One that a pod got meanwhile stays.
func (r *Requester) choose() {
	r.leaving = slices.DeleteFunc(r.leaving, func(p netip.Prefix) bool {
		return !slices.Contains(r.shown, p) || slices.Contains(r.agent.Used, p)
	})
	for _, p := range r.agent.Excess {
		if slices.Contains(r.shown, p) && !slices.Contains(r.leaving, p) {
			r.leaving = append(r.leaving, p)
		}
	}
}

// publish writes what is needed, and leaves out the blocks that the agent has dropped for good.
func (r *Requester) publish() {
	left := func(p netip.Prefix) bool {
		return slices.Contains(r.leaving, p) && r.agent.Idle && !slices.Contains(r.agent.Held, p)
	}
	x := r.view
	x.CiliumNode = r.view.Clone()
	pools := &x.Spec.IPAM.Pools
	pools.Requested, pools.Allocated = r.agent.Requests, nil
	for _, a := range r.view.Spec.IPAM.Pools.Allocated {
		if a.CIDRs = slices.DeleteFunc(slices.Clone(a.CIDRs), left); len(a.CIDRs) > 0 {
			pools.Allocated = append(pools.Allocated, a)
		}
	}
	old := r.view.Spec.IPAM.Pools
	if slices.Equal(pools.Requested, old.Requested) && slices.EqualFunc(pools.Allocated, old.Allocated, PoolAllocation.equal) {
		return
	}
	r.request(func(id uint64) Effect { return WriteResource{id, x} })
}

func (r *Requester) request(e func(id uint64) Effect) {
	r.last++
	r.writing, r.behind = true, false
	r.say(e(r.last))
}

// wrote takes in what became of a write, and reports whether there is something to look at.
func (r *Requester) wrote(ev Wrote) bool {
	if !r.writing || ev.ID != r.last {
		return false // a second answer
	}
	r.writing = false
	behind := r.behind
	switch ev.Outcome {
	case ipam.Done:
		r.see(ev.Object)
		return true
	case ipam.Conflict:
		// The watch brings what is there, or has while this was under way.
		return behind
	}
	r.say(Note{fmt.Sprintf("the node's demand is not written: %s", ev.Outcome.Because(ev.Why))})
	r.again = r.now.Add(again)
	return behind
}

// Blocks are what the agent should have, for its present Node: what a former one had may be another node's by now.
func (r *Requester) Blocks() []netip.Prefix {
	if !r.view.exists() || r.view.formerOf(r.uid) {
		return nil
	}
	return r.told
}

// Leaving are the blocks that the node gives back. While there are none, nobody has to know whether the agent is idle.
func (r *Requester) Leaving() []netip.Prefix { return r.leaving }

// Pending says what is under way, empty when nothing is.
func (r *Requester) Pending() string {
	switch {
	case !r.listed || !r.view.exists():
		return "its CiliumNode resource is not known"
	case r.writing || !r.again.IsZero():
		return "its CiliumNode resource is being written"
	case len(r.leaving) > 0:
		return "it gives CIDRs back"
	}
	return ""
}
