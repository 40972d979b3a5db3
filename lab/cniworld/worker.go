package cniworld

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	current "github.com/containernetworking/cni/pkg/types/100"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// sandbox is one pod's sandbox: a namespace, and what the plugins answered for it.
type sandbox struct {
	pod   *pod
	owner ipam.Owner
	// netns is its namespace, "" when it is not there any more.
	netns string
	// exists: its processes would be there. asked: an ADD has been sent, so that a DEL is owed. dead: that its processes
	// ended has been told.
	exists, asked, dead bool
	addrs               []netip.Prefix
	gateway             netip.Addr
}

// addr is its address of the n-th family.
func (s *sandbox) addr(n int) netip.Addr {
	if n < len(s.addrs) {
		return s.addrs[n].Addr()
	}
	return netip.Addr{}
}

// drop removes its namespace.
func (s *sandbox) drop() error {
	path := s.netns
	s.netns = ""
	if path == "" {
		return nil
	}
	return fabric.Remove(filepath.Base(path))
}

func (s *sandbox) attachment() attachment {
	return attachment{container: s.owner.ContainerID, ifName: s.owner.IfName, netns: s.netns, args: s.pod.cniArgs(s.owner.ContainerID), number: s.pod.number}
}

// worker brings one pod up and down, on a goroutine of its own while there is something to do; what comes next
// podworker decides. kubelet.mu guards it.
type worker struct {
	podworker.Worker[*sandbox]
	k   *kubelet
	pod *pod
	// busy: its goroutine runs. again is the container ID that the next sandbox has, "" for one of its own.
	busy  bool
	again string
	// why is what keeps the worker from getting on, refusal what the last ADD that failed was answered with.
	why, refusal string
}

// owed are the sandboxes that there are to tear down some time. k.mu is held.
func (w *worker) owed() []*sandbox {
	list := append([]*sandbox(nil), w.Old()...)
	if s, has := w.Has(); has && s != nil {
		list = append(list, s)
	}
	return list
}

// wake starts the worker's goroutine where there is something to do. k.mu is held.
func (w *worker) wake() {
	if w.busy || !w.k.on {
		return
	}
	if step, _ := w.Plan(); step.Do != podworker.Nothing {
		w.busy = true
		w.k.wg.Go(w.run)
	}
}

// now is the time by which workers wait.
func (k *kubelet) now() time.Duration { return time.Since(k.n.w.started) }

// run does one thing after the other, each when its time has come.
func (w *worker) run() {
	k := w.k
	ctx, cancel := k.within()
	defer cancel()
	for {
		k.mu.Lock()
		k.stands()
		step, _ := w.Plan()
		if step.Do == podworker.Nothing || !k.on {
			w.busy = false
			k.mu.Unlock()
			return
		}
		wait, nudge := step.After-k.now(), k.nudge
		begun := wait <= 0 && w.Begin(step.Op)
		k.mu.Unlock()
		if begun {
			w.do(ctx, step)
			continue
		}
		select {
		case <-ctx.Done():
		case <-nudge:
		case <-time.After(wait):
		}
	}
}

// do does what has begun. Outcomes of before the machine lost its power are nobody's any more.
func (w *worker) do(ctx context.Context, step podworker.Step) {
	switch step.Do {
	case podworker.Add:
		w.add(ctx, step.Op)
	case podworker.Again:
		w.k.mu.Lock()
		s := w.Subject()
		w.k.mu.Unlock()
		w.ask(ctx, step.Op, s)
	case podworker.Del:
		w.del(ctx, step.Op)
	case podworker.Remove:
		w.k.n.w.podStopped(w.pod)
		w.k.mu.Lock()
		defer w.k.mu.Unlock()
		if w.Live(step.Op) {
			w.Removed(w.k.now(), true)
			delete(w.k.workers, w.pod.uid)
		}
	}
}

// add makes the pod's sandbox and asks the plugins to connect it.
func (w *worker) add(ctx context.Context, op int) {
	k, n := w.k, w.k.n
	s := &sandbox{pod: w.pod, owner: ipam.Owner{Network: timeline.NetworkName, ContainerID: containerID(), IfName: timeline.IfName}}
	k.mu.Lock()
	if !w.Live(op) {
		k.mu.Unlock()
		return
	}
	if w.again != "" {
		s.owner.ContainerID, w.again = w.again, ""
	}
	old := append([]*sandbox(nil), w.Old()...)
	w.Adding(s)
	k.numbers[s.owner.ContainerID] = w.pod.number
	k.mu.Unlock()
	for _, o := range old {
		w.died(o) // nobody adds a sandbox while the processes of another one live
	}
	path, err := n.makeNamespace("pod-" + s.owner.ContainerID[:12])
	k.mu.Lock()
	live := w.Live(op)
	switch {
	case err == nil && live:
		s.netns, s.exists, s.asked = path, true, true
	case live:
		w.say("no namespace: " + err.Error())
		w.Added(k.now(), false, false)
	case err == nil:
		s.netns = path // the machine lost power meanwhile
		n.w.Fail(s.drop())
	}
	k.mu.Unlock()
	if err == nil && live {
		n.adding(s.owner)
		w.ask(ctx, op, s)
	}
}

// makeNamespace makes a pod's namespace.
func (n *node) makeNamespace(name string) (string, error) {
	full := n.w.place.namespace(name)
	if err := fabric.Create(full); err != nil {
		return "", err
	}
	return fabric.Path(full), fabric.Loopback(fabric.Path(full))
}

// ask asks the plugins to connect a sandbox.
func (w *worker) ask(ctx context.Context, op int, s *sandbox) {
	k, n := w.k, w.k.n
	n.tell(fact.Asked{Command: fact.AskedAdd, Owner: s.owner, Pod: w.pod.key(), PodUID: w.pod.uid, Netns: s.netns, Addr: netip.Addr{}}, "")
	res, err := k.bounded(ctx, cmdAdd, s)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stands()
	if err == nil && len(res.IPs) == 0 {
		err = fmt.Errorf("the answer names no address")
	}
	switch {
	case !w.Live(op):
		// The machine lost power meanwhile; the sandbox gets its DEL.
	case err != nil:
		why := err.Error()
		w.Added(k.now(), false, false)
		w.refusal = why
		n.tell(fact.Refused{Owner: s.owner, Pod: w.pod.key(), PodUID: w.pod.uid, Why: why, Code: 0, Exhausted: exhausted(why), Wait: 0},
			n.name+" refused "+w.pod.key()+": "+why)
	default:
		s.addrs, s.gateway = answered(res)
		n.answered(s, res)
		w.Added(k.now(), true, false)
		w.why, w.refusal = "", ""
		n.tell(fact.Answered{Owner: s.owner, Pod: w.pod.key(), PodUID: w.pod.uid, Addr: s.addr(0), Netns: s.netns}, n.name+" answered "+w.pod.key()+" "+s.addr(0).String())
		if s.addr(1).IsValid() {
			n.tell(fact.Answered{Owner: s.owner.Second(), Pod: w.pod.key(), PodUID: w.pod.uid, Addr: s.addr(1), Netns: s.netns},
				n.name+" answered "+w.pod.key()+" "+s.addr(1).String())
		}
	}
}

// answered are the addresses of an answer, the first gateway among them.
func answered(res *current.Result) (addrs []netip.Prefix, gateway netip.Addr) {
	for _, ip := range res.IPs {
		if a, ok := netip.AddrFromSlice(ip.Address.IP); ok {
			ones, _ := ip.Address.Mask.Size()
			addrs = append(addrs, netip.PrefixFrom(a.Unmap(), ones))
		}
		if g, ok := netip.AddrFromSlice(ip.Gateway); ok && !gateway.IsValid() {
			gateway = g.Unmap()
		}
	}
	return addrs, gateway
}

// exhausted tells a refusal for want of an address by host-local's words: CNI has no code for it.
func exhausted(why string) bool { return strings.Contains(why, "no IP addresses available") }

// say notes why a worker does not get on. k.mu is held.
func (w *worker) say(why string) {
	if w.why != why {
		w.why = why
		w.k.n.w.Note(w.k.n.name + " " + w.pod.key() + ": " + why)
	}
}

// del asks the plugins to disconnect a sandbox and removes it. Kubelets end a pod's processes first, so nothing in the
// sandbox needs its address any more.
func (w *worker) del(ctx context.Context, op int) {
	k, n := w.k, w.k.n
	k.mu.Lock()
	if !w.Live(op) {
		k.mu.Unlock()
		return
	}
	s := w.Subject()
	k.mu.Unlock()
	if k.runtime().NoNetns || len(n.w.o.Chain.dataDirs) == 0 {
		// Where no book says when an address is free, it is as soon as nothing uses it.
		if k.runtime().NoNetns {
			n.w.Fail(s.drop())
		}
		w.died(s)
	}
	if s.asked {
		n.tell(fact.Asked{Command: "Del", Owner: s.owner, Pod: "", PodUID: "", Netns: "", Addr: netip.Addr{}}, "")
		if k.runtime().TwiceDel {
			k.wg.Go(func() { _, _ = k.bounded(ctx, cmdDel, s) }) // nobody looks at what it says
		}
		_, err := k.bounded(ctx, cmdDel, s)
		k.mu.Lock()
		k.stands()
		if err != nil {
			if w.say("DEL: " + err.Error()); w.Live(op) {
				w.Deleted(k.now(), false)
			}
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
	}
	if !w.gone(s, op) {
		return
	}
	n.w.Fail(s.drop())
	w.died(s)
	if s.asked {
		n.forgotten(s.owner)
	}
}

// gone notes a DEL that succeeded; true when what is left of the sandbox has to go.
func (w *worker) gone(s *sandbox, op int) bool {
	k, n := w.k, w.k.n
	k.mu.Lock()
	defer k.mu.Unlock()
	if s.asked {
		n.tell(fact.Deleted{Owner: s.owner, Pod: w.pod.key()}, n.name+" deleted "+w.pod.key())
		if s.addr(1).IsValid() {
			n.tell(fact.Deleted{Owner: s.owner.Second(), Pod: w.pod.key()}, "")
		}
	}
	if !w.Live(op) || !w.Deleted(k.now(), true) {
		return false // the machine lost power meanwhile, or the DEL is repeated
	}
	w.why = ""
	if s.asked {
		k.past = append(k.past, s.owner)
	}
	return true
}

// died tells once that a sandbox's processes have ended.
func (w *worker) died(s *sandbox) {
	w.k.mu.Lock()
	tell := s.asked && !s.dead
	s.exists, s.dead = false, true
	w.k.mu.Unlock()
	if !tell {
		return
	}
	w.k.n.tell(fact.SandboxGone{Owner: s.owner, Pod: w.pod.key()}, "")
	if s.addr(1).IsValid() {
		w.k.n.tell(fact.SandboxGone{Owner: s.owner.Second(), Pod: w.pod.key()}, "")
	}
}

// bounded calls the chain for as long as the runtime waits for it; plugins that take too long are killed, or go on by
// themselves.
func (k *kubelet) bounded(ctx context.Context, command string, s *sandbox) (*current.Result, error) {
	k.mu.Lock()
	a := s.attachment()
	k.mu.Unlock()
	patience := k.patience()
	if !k.runtime().Orphans {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return k.n.call(ctx, command, "", a, nil)
	}
	type outcome struct {
		res *current.Result
		err error
	}
	done := make(chan outcome, 1)
	k.wg.Go(func() {
		res, err := k.n.call(ctx, command, "", a, nil)
		done <- outcome{res, err}
	})
	select {
	case o := <-done:
		return o.res, o.err
	case <-time.After(patience):
		return nil, fmt.Errorf("the plugins have not ended within %s", patience)
	}
}
