package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/podloop"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// sandbox is one pod's sandbox: a namespace, and what the agent answered for it.
type sandbox struct {
	pod   *pod
	owner ipam.Owner
	netns string
	// exists: its namespace is there, and its processes would be.
	exists        bool
	addr, gateway netip.Addr
	// second and secondGateway are of the second address family; zero in clusters of one.
	second, secondGateway netip.Addr
	// asked: an ADD has been sent, so that a DEL is owed; refused: it was answered by a refusal, so that nothing is held;
	// ending: a DEL has been sent.
	asked, refused, ending bool
	// bare: its namespace is not there; dead: that its processes ended has been told.
	bare, dead bool
}

// worker brings one pod up and down, on a goroutine of its own while there is something to do; what comes next
// podworker decides. The kubelet's lock guards it.
type worker struct {
	podworker.Worker[*sandbox]
	k   *kubelet
	pod *pod
	// container is the ID that the next sandbox has, "" for one of its own.
	container string
	// refused is the node's change count when the last ADD was refused for want of an address,
	// or, where numberless, of a node ID.
	numberless bool
	refused    int64
	why        string
}

// Number implements podloop.Worker.
func (w *worker) Number() int { return w.pod.number }

// Do implements podloop.Worker. Outcomes of before the machine lost its power are nobody's any more.
func (w *worker) Do(ctx context.Context, step podworker.Step) {
	switch step.Do {
	case podworker.Add:
		w.add(ctx, step.Op)
	case podworker.Again:
		w.k.Lock()
		s := w.Subject()
		w.k.Unlock()
		w.ask(ctx, step.Op, s)
	case podworker.Del:
		w.del(ctx, step.Op)
	case podworker.Remove:
		w.k.n.w.podStopped(w.pod)
		w.k.Lock()
		defer w.k.Unlock()
		if w.Live(step.Op) {
			w.Removed(w.k.n.w.since(), true)
			delete(w.k.Workers, w.pod.uid)
		}
	}
}

// add makes the pod's sandbox and asks the agent to connect it.
func (w *worker) add(ctx context.Context, op int) {
	k, n := w.k, w.k.n
	fresh := podloop.ContainerID()
	k.Lock()
	if !w.Live(op) {
		k.Unlock()
		return
	}
	s := &sandbox{bare: true, pod: w.pod, owner: ipam.Owner{Network: timeline.NetworkName, ContainerID: cmp.Or(w.container, fresh), IfName: timeline.IfName}}
	w.container = ""
	for _, old := range w.Old() {
		w.died(old) // nobody adds a sandbox while the processes of another one live
	}
	w.Adding(s)
	k.Unlock()
	path, err := n.machine.CreatePod(fresh[:12])
	k.Lock()
	live := w.Live(op)
	if err == nil && live {
		s.netns, s.exists, s.asked, s.bare = path, true, true, false
	} else if live {
		if !errors.Is(err, ErrNotAlive) {
			w.say("no namespace: " + err.Error())
		}
		w.Added(k.n.w.since(), false, false)
	}
	k.Unlock()
	if err == nil && live {
		w.ask(ctx, op, s)
	}
}

// ask asks the agent to connect a sandbox.
func (w *worker) ask(ctx context.Context, op int, s *sandbox) {
	k, n := w.k, w.k.n
	k.Lock()
	changes := k.changes
	k.Unlock()
	req := wire.Request{Version: wire.Version, Command: wire.Add, Network: s.owner.Network, ContainerID: s.owner.ContainerID,
		IfName: s.owner.IfName, Netns: s.netns,
		Args: w.pod.cniArgs(s.owner.ContainerID), Wanted: w.pod.wanted}
	if n.w.scenario().Config.IPAM.UseExternalIPAM {
		req.Addr, req.SecondAddr = n.w.external.pick(n, s.owner)
	}
	if w.pod.pool != "" {
		n.askedPools.Store(s.owner, w.pod.pool)
	}
	r, err := k.plugin(ctx, "Add", s.owner, req)
	k.Lock()
	defer k.Unlock()
	k.Stands()
	s.refused = err == nil && r.Code != 0
	if s.refused {
		n.w.external.release(n, s.owner)
	}
	switch {
	case !w.Live(op):
		// The machine lost power meanwhile; the sandbox gets its DEL.
	case err != nil:
		w.refuse(s, err.Error(), false, changes)
	case s.refused || r.Result == nil || len(r.Result.IPs) == 0:
		w.refuse(s, r.Message, Exhausted(r.Message), changes)
	default:
		s.addr, s.gateway = r.Result.IPs[0].Address.Addr(), r.Result.IPs[0].Gateway
		if len(r.Result.IPs) > 1 {
			s.second, s.secondGateway = r.Result.IPs[1].Address.Addr(), r.Result.IPs[1].Gateway
		}
		w.Added(k.n.w.since(), true, false)
		n.notePod(w.pod.name, s)
		w.why = ""
		n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.Answered{Owner: s.owner, Pod: w.pod.key(), PodUID: w.pod.sandboxUID(), Addr: s.addr, Netns: s.netns}},
			n.name+" answered "+w.pod.key()+" "+s.addr.String())
		if s.second.IsValid() {
			n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.Answered{Owner: s.owner.Second(), Pod: w.pod.key(), PodUID: w.pod.sandboxUID(), Addr: s.second,
				Netns: s.netns}}, n.name+" answered "+w.pod.key()+" "+s.second.String())
		}
	}
}

// refuse notes a failed ADD. k is locked.
func (w *worker) refuse(s *sandbox, message string, exhausted bool, changes int64) {
	n := w.k.n
	w.numberless = strings.HasPrefix(message, nodeid.NoneFree)
	full := strings.HasPrefix(message, vppwire.ErrNoRoom.Error()) // until another pod goes
	w.Added(w.k.n.w.since(), false, exhausted || full || strings.HasPrefix(message, agent.WantedRefused) || w.numberless && n.w.numberless())
	w.refused, w.why = changes, message
	n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.Refused{Owner: s.owner, Pod: w.pod.key(), PodUID: w.pod.sandboxUID(), Why: message, Code: 0, Exhausted: exhausted, Wait: 0}},
		n.name+" refused "+w.pod.key()+": "+message)
}

// say notes why a worker does not get on. k is locked.
func (w *worker) say(why string) {
	if w.why != why {
		w.why = why
		w.k.n.w.Record.Note(w.k.n.name + " " + w.pod.key() + ": " + why)
	}
}

// del asks the agent to disconnect a sandbox and removes it. Kubelets end a pod's processes first, so nothing in the
// sandbox needs its address any more.
func (w *worker) del(ctx context.Context, op int) {
	k, n := w.k, w.k.n
	k.Lock()
	if !w.Live(op) {
		k.Unlock()
		return
	}
	s := w.Subject()
	s.ending = s.asked
	bare := s.exists && k.runtime().NoNetns
	k.Unlock()
	if bare {
		w.dispose(s)
	}
	if s.asked {
		req := wire.Request{Version: wire.Version, Command: wire.Del, Network: s.owner.Network,
			ContainerID: s.owner.ContainerID, IfName: s.owner.IfName, Netns: s.netns}
		if bare {
			req.Netns = ""
		}
		if k.runtime().TwiceDel {
			k.Group.Go(func() { _, _ = k.plugin(ctx, "Del", s.owner, req) }) // nobody looks at what it says
		}
		r, err := k.plugin(ctx, "Del", s.owner, req)
		k.Lock()
		k.Stands()
		k.Unlock()
		if err != nil {
			r.Code, r.Message = 1, err.Error()
		}
		if r.Code != 0 {
			k.Lock()
			defer k.Unlock()
			w.say("DEL: " + r.Message)
			if w.Live(op) {
				w.Deleted(k.n.w.since(), false)
			}
			return
		}
		n.w.external.release(n, s.owner)
	}
	if w.gone(s, op) {
		w.dispose(s)
	}
}

// dispose removes a sandbox's namespace.
func (w *worker) dispose(s *sandbox) {
	n := w.k.n
	w.k.Lock()
	bare := s.bare
	s.bare = true
	w.k.Unlock()
	if !bare {
		n.w.Fail(n.machine.RemovePod(s.netns))
	}
	w.k.Lock()
	defer w.k.Unlock()
	w.died(s)
}

// died tells once that a sandbox's processes have ended. k is locked.
func (w *worker) died(s *sandbox) {
	if s.asked && !s.dead {
		w.k.n.w.Record.Tell(fact.Fact{Node: w.k.n.name, What: fact.SandboxGone{Owner: s.owner, Pod: w.pod.key()}}, "")
		if s.second.IsValid() {
			w.k.n.w.Record.Tell(fact.Fact{Node: w.k.n.name, What: fact.SandboxGone{Owner: s.owner.Second(), Pod: w.pod.key()}}, "")
		}
	}
	s.exists, s.dead = false, true
}

// plugin runs the CNI plugin for as long as the runtime waits for it; one that takes too long is killed, or goes on by
// itself.
func (k *kubelet) plugin(ctx context.Context, name string, owner ipam.Owner, req wire.Request) (wire.Response, error) {
	patience := k.patience()
	if !k.runtime().Orphans {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return k.n.cni(ctx, name, owner, req)
	}
	type outcome struct {
		r   wire.Response
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := k.n.cni(context.WithoutCancel(ctx), name, owner, req)
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.r, o.err
	case <-ctx.Done():
		return wire.Response{}, ctx.Err()
	case <-time.After(patience):
		return wire.Response{}, fmt.Errorf("the plugin has not ended within %s", patience)
	}
}

// gone notes a DEL that succeeded; true when what is left of the sandbox has to go.
func (w *worker) gone(s *sandbox, op int) bool {
	k, n := w.k, w.k.n
	k.Lock()
	defer k.Unlock()
	if s.asked {
		n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.Deleted{Owner: s.owner, Pod: w.pod.key()}}, n.name+" deleted "+w.pod.key())
		if s.second.IsValid() {
			n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.Deleted{Owner: s.owner.Second(), Pod: w.pod.key()}}, "")
		}
	}
	if !w.Live(op) {
		return false // the machine lost power meanwhile; the DEL is repeated
	}
	if removed := w.Deleted(k.n.w.since(), true); !removed {
		return false
	}
	s.addr, s.second = netip.Addr{}, netip.Addr{}
	n.forgetPod(w.pod.name, s)
	w.why = ""
	if s.asked && !s.refused {
		k.changes++ // its address may be free
	}
	if s.asked {
		k.past = append(k.past, s.owner)
	}
	return true
}
