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
	"github.com/vppdrill/vppdrill/lab/internal/podloop"
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

// isolated reports whether it was given no way to another sandbox: that is not in its subnet, and no gateway was named.
func (s *sandbox) isolated(other sandbox) bool {
	return !s.gateway.IsValid() && !s.addrs[0].Masked().Contains(other.addr(0))
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

// worker brings one pod up and down, on a goroutine of its own while there is something to do; what comes next
// podworker decides. The kubelet's lock guards it.
type worker struct {
	podworker.Worker[*sandbox]
	k   *kubelet
	pod *pod
	// again is the container ID that the next sandbox has, "" for one of its own.
	again string
	// why is what keeps the worker from getting on, refusal what the last ADD that failed was answered with.
	why, refusal string
}

// owed are the sandboxes that there are to tear down some time. k is locked.
func (w *worker) owed() []*sandbox {
	list := append([]*sandbox(nil), w.Old()...)
	if s, has := w.Has(); has && s != nil {
		list = append(list, s)
	}
	return list
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

// add makes the pod's sandbox and asks the plugins to connect it.
func (w *worker) add(ctx context.Context, op int) {
	k, n := w.k, w.k.n
	s := &sandbox{pod: w.pod, owner: ipam.Owner{Network: timeline.NetworkName, ContainerID: podloop.ContainerID(), IfName: timeline.IfName}}
	k.Lock()
	if !w.Live(op) {
		k.Unlock()
		return
	}
	if w.again != "" {
		s.owner.ContainerID, w.again = w.again, ""
	}
	old := append([]*sandbox(nil), w.Old()...)
	w.Adding(s)
	k.of[s.owner.ContainerID] = w.pod
	k.Unlock()
	for _, o := range old {
		w.died(o) // nobody adds a sandbox while the processes of another one live
	}
	path, err := n.makeNamespace("pod-" + s.owner.ContainerID[:12])
	k.Lock()
	live := w.Live(op)
	switch {
	case err == nil && live:
		s.netns, s.exists, s.asked = path, true, true
	case live:
		w.say("no namespace: " + err.Error())
		w.Added(k.n.w.since(), false, false)
	case err == nil:
		s.netns = path // the machine lost power meanwhile
		n.w.Fail(s.drop())
	}
	k.Unlock()
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
	n.tell(fact.Asked{Command: fact.AskedAdd, Owner: s.owner, Pod: w.pod.key(), PodUID: w.pod.uid, Netns: s.netns, Addr: netip.Addr{}, Wanted: nil}, "")
	res, err := k.bounded(ctx, cmdAdd, s)
	k.Lock()
	defer k.Unlock()
	k.Stands()
	if err == nil && len(res.IPs) == 0 {
		err = fmt.Errorf("the answer names no address")
	}
	switch {
	case !w.Live(op):
		// The machine lost power meanwhile; the sandbox gets its DEL.
	case err != nil:
		why := err.Error()
		w.Added(k.n.w.since(), false, false)
		w.refusal = why
		n.tell(fact.Refused{Owner: s.owner, Pod: w.pod.key(), PodUID: w.pod.uid, Why: why, Code: 0, Exhausted: exhausted(why), Wait: 0},
			n.name+" refused "+w.pod.key()+": "+why)
	default:
		s.addrs, s.gateway = answered(res)
		n.answered(s, res)
		w.Added(k.n.w.since(), true, false)
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

// say notes why a worker does not get on. k is locked.
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
	k.Lock()
	if !w.Live(op) {
		k.Unlock()
		return
	}
	s := w.Subject()
	k.Unlock()
	if k.runtime().NoNetns || len(n.w.o.Chain.dataDirs) == 0 {
		// Where no book says when an address is free, it is as soon as nothing uses it.
		if k.runtime().NoNetns {
			n.w.Fail(s.drop())
		}
		w.died(s)
	}
	if s.asked {
		n.tell(fact.Asked{Command: "Del", Owner: s.owner, Pod: "", PodUID: "", Netns: "", Addr: netip.Addr{}, Wanted: nil}, "")
		if k.runtime().TwiceDel {
			k.Group.Go(func() { _, _ = k.bounded(ctx, cmdDel, s) }) // nobody looks at what it says
		}
		_, err := k.bounded(ctx, cmdDel, s)
		k.Lock()
		k.Stands()
		if err != nil {
			if w.say("DEL: " + err.Error()); w.Live(op) {
				w.Deleted(k.n.w.since(), false)
			}
			k.Unlock()
			return
		}
		k.Unlock()
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
	k.Lock()
	defer k.Unlock()
	if s.asked {
		n.tell(fact.Deleted{Owner: s.owner, Pod: w.pod.key()}, n.name+" deleted "+w.pod.key())
		if s.addr(1).IsValid() {
			n.tell(fact.Deleted{Owner: s.owner.Second(), Pod: w.pod.key()}, "")
		}
	}
	if !w.Live(op) || !w.Deleted(k.n.w.since(), true) {
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
	w.k.Lock()
	tell := s.asked && !s.dead
	s.exists, s.dead = false, true
	w.k.Unlock()
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
	k.Lock()
	netns := s.netns
	k.Unlock()
	a := k.attachment(s.owner, netns)
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
	k.Group.Go(func() {
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
