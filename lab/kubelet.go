package lab

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

const (
	// cniTimeout is how long a kubelet waits for a plugin; containerd's is longer, so that a hanging agent shows sooner.
	cniTimeout = 60 * time.Second
	// retryFirst and retryMost bound a kubelet's back-off, which doubles. Kubernetes waits longer at first.
	retryFirst = 250 * time.Millisecond
	retryMost  = 8 * time.Second
)

// PodLink is the pods' interface.
const PodLink = timeline.IfName

// sandbox is one pod's sandbox: a namespace, and what the agent answered for it.
type sandbox struct {
	pod   *pod
	owner ipam.Owner
	netns string
	// exists: its namespace is there, and its processes would be.
	exists        bool
	addr, gateway netip.Addr
	// asked: an ADD has been sent, so that a DEL is owed; ending: a DEL has.
	asked, ending bool
}

// worker brings one pod up and down.
type worker struct {
	k   *kubelet
	pod *pod
	// current is the sandbox that the pod has or gets, old those that have to go.
	current *sandbox
	old     []*sandbox
	// busy: its goroutine runs. refused is the node's change count when the last ADD was refused for want of an address.
	busy    bool
	refused int64
	starved bool
	why     string
}

// kubelet runs the pods of one node: kubelet and container runtime in one.
type kubelet struct {
	n *node

	mu      sync.Mutex
	on      bool
	gone    bool
	workers map[string]*worker // by pod UID
	// changes counts what may have made room for a pod that waits for an address.
	changes int64
	// past are owners of sandboxes that are gone.
	past []ipam.Owner
	wg   sync.WaitGroup
	quit chan struct{}
	// nudge is closed and replaced when trying again is worth it at once.
	nudge chan struct{}
	// gate holds requests back while a restarted agent's books are read.
	gate sync.RWMutex
}

func newKubelet(n *node) *kubelet {
	return &kubelet{n: n, workers: map[string]*worker{}, quit: make(chan struct{}), nudge: make(chan struct{})}
}

// powerOn starts the kubelet; sandboxes of before the boot get their DEL, pods new ones.
func (k *kubelet) powerOn() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gone {
		return
	}
	k.on = true
	for _, w := range k.inOrder() {
		w.wake()
	}
}

// powerOff ends every sandbox without a word.
func (k *kubelet) powerOff() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.on = false
	for _, w := range k.inOrder() {
		if s := w.current; s != nil {
			w.current = nil
			if s.asked {
				w.old = append(w.old, s)
			}
		}
		for _, s := range w.old {
			s.exists, s.addr = false, netip.Addr{}
		}
	}
}

// stop ends the kubelet for good and returns when nothing of it runs any more.
func (k *kubelet) stop() {
	k.mu.Lock()
	if !k.gone {
		k.gone, k.on = true, false
		close(k.quit)
	}
	k.mu.Unlock()
	k.wg.Wait()
}

// see tells the kubelet of a pod that is bound to its node, or that such a pod is to go.
func (k *kubelet) see(p *pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gone {
		return
	}
	w := k.workers[p.uid]
	if w == nil {
		w = &worker{k: k, pod: p}
		k.workers[p.uid] = w
	}
	w.wake()
}

// replace retires a pod's sandbox; false when it has none with an address.
func (k *kubelet) replace(p *pod) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.workers[p.uid]
	if w == nil || w.current == nil || !w.current.addr.IsValid() || p.deleting.Load() {
		return false
	}
	w.old = append(w.old, w.current)
	w.current = nil
	w.wake()
	return true
}

// inOrder are the workers in the order of their pods. k.mu is held.
func (k *kubelet) inOrder() []*worker {
	out := make([]*worker, 0, len(k.workers))
	for _, w := range k.workers { //vppdrill:unordered sorted below
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b *worker) int { return cmp.Compare(a.pod.number, b.pod.number) })
	return out
}

// wake starts the worker's goroutine where there is something to do. k.mu is held.
func (w *worker) wake() {
	if w.busy || !w.k.on || w.next() == nil {
		return
	}
	w.busy = true
	w.k.wg.Go(w.run)
}

// step is one thing that a worker does; it reports whether it was done.
type step func(context.Context) bool

// next is what to do, nil when the pod is as it should be. k.mu is held.
func (w *worker) next() step {
	deleting := w.pod.deleting.Load()
	if deleting && w.current != nil {
		w.old = append(w.old, w.current)
		w.current = nil
	}
	switch {
	case len(w.old) > 0:
		s := w.old[0]
		return func(ctx context.Context) bool { return w.end(ctx, s) }
	case deleting && w.k.workers[w.pod.uid] != w:
		return nil // forgotten already
	case deleting:
		return func(context.Context) bool { w.gone(); return true }
	case w.current == nil || !w.current.addr.IsValid():
		return w.begin
	}
	return nil
}

// run does one step after the other, with a back-off after failures.
func (w *worker) run() {
	k := w.k
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-k.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	wait := retryFirst
	for {
		k.mu.Lock()
		do := w.next()
		if do == nil || !k.on {
			w.busy = false
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		if do(ctx) {
			wait = retryFirst
			continue
		}
		k.mu.Lock()
		nudge := k.nudge
		k.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-nudge:
			wait = retryFirst
			continue
		case <-time.After(wait):
		}
		wait = min(2*wait, retryMost)
	}
}

// begin makes the pod's sandbox and asks the agent to connect it.
func (w *worker) begin(ctx context.Context) bool {
	k, n := w.k, w.k.n
	k.mu.Lock()
	s := w.current
	if s == nil {
		s = &sandbox{pod: w.pod, owner: ipam.Owner{Network: timeline.NetworkName, ContainerID: containerID(), IfName: timeline.IfName}}
		w.current = s
	}
	k.mu.Unlock()
	if !s.exists {
		path, err := n.machine.CreatePod(s.owner.ContainerID[:12])
		if err != nil {
			if !errors.Is(err, ErrNotAlive) {
				w.say("no namespace: " + err.Error())
			}
			return false
		}
		k.mu.Lock()
		s.netns, s.exists = path, true
		k.mu.Unlock()
	}
	req := wire.Request{Version: wire.Version, Command: wire.Add, Network: s.owner.Network, ContainerID: s.owner.ContainerID,
		IfName: s.owner.IfName, Netns: s.netns,
		Args: "K8S_POD_NAMESPACE=default;K8S_POD_NAME=" + w.pod.name + ";K8S_POD_INFRA_CONTAINER_ID=" + s.owner.ContainerID + ";K8S_POD_UID=" + w.pod.uid}
	if n.w.scenario().Config.IPAM.UseExternalIPAM {
		req.Addr = n.w.external.pick(n, s.owner)
	}
	k.mu.Lock()
	s.asked = true
	changes := k.changes
	k.mu.Unlock()
	r, err := n.cni(ctx, "Add", s.owner, req)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err != nil:
		w.refuse(s, err.Error(), false, changes)
		return false
	case r.Code != 0 || r.Result == nil || len(r.Result.IPs) == 0:
		w.refuse(s, r.Message, exhausted(r.Message), changes)
		n.w.external.release(n, s.owner)
		return false
	}
	if !s.exists {
		return false // the machine lost power meanwhile; the old sandbox gets its DEL
	}
	s.addr, s.gateway = r.Result.IPs[0].Address.Addr(), r.Result.IPs[0].Gateway
	n.notePod(w.pod.name, s)
	w.why, w.starved = "", false
	n.w.record.tell(scenarios.Fact{Kind: scenarios.FactAnswered, Node: n.name, Owner: s.owner, Pod: w.pod.key(), PodUID: w.pod.uid, Addr: s.addr},
		n.name+" answered "+w.pod.key()+" "+s.addr.String())
	return true
}

// refuse notes a failed ADD. k.mu is held.
func (w *worker) refuse(s *sandbox, message string, exhausted bool, changes int64) {
	n := w.k.n
	w.starved = exhausted
	w.refused, w.why = changes, message
	n.w.record.tell(scenarios.Fact{Kind: scenarios.FactRefused, Node: n.name, Owner: s.owner, Pod: w.pod.key(), PodUID: w.pod.uid, Text: message, Exhausted: exhausted},
		n.name+" refused "+w.pod.key()+": "+message)
}

// say notes why a worker does not get on.
func (w *worker) say(why string) {
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	if w.why != why {
		w.why = why
		w.k.n.w.record.note(w.k.n.name + " " + w.pod.key() + ": " + why)
	}
}

// end asks the agent to disconnect a sandbox and removes it. Kubelets end a pod's processes first, so nothing in the
// sandbox needs its address any more.
func (w *worker) end(ctx context.Context, s *sandbox) bool {
	k, n := w.k, w.k.n
	if s.asked {
		k.mu.Lock()
		s.ending = true
		k.mu.Unlock()
		r, err := n.cni(ctx, "Del", s.owner, wire.Request{Version: wire.Version, Command: wire.Del, Network: s.owner.Network,
			ContainerID: s.owner.ContainerID, IfName: s.owner.IfName, Netns: s.netns})
		if err != nil || r.Code != 0 {
			if err != nil {
				r.Message = err.Error()
			}
			w.say("DEL: " + r.Message)
			return false
		}
		n.w.external.release(n, s.owner)
	}
	k.mu.Lock()
	s.addr = netip.Addr{}
	if s.asked {
		n.w.record.tell(scenarios.Fact{Kind: scenarios.FactDeleted, Node: n.name, Owner: s.owner, Pod: w.pod.key()}, n.name+" deleted "+w.pod.key())
	}
	existed := s.exists
	s.exists = false
	n.forgetPod(w.pod.name, s)
	w.old = slices.DeleteFunc(w.old, func(x *sandbox) bool { return x == s })
	w.why = ""
	k.changes++
	if s.asked {
		k.past = append(k.past, s.owner)
	}
	k.mu.Unlock()
	if existed {
		n.w.fail(n.machine.RemovePod(s.netns))
		n.w.record.tell(scenarios.Fact{Kind: scenarios.FactSandboxGone, Node: n.name, Owner: s.owner, Pod: w.pod.key()}, "")
	}
	return true
}

// gone tells the API server that a deleted pod has ended.
func (w *worker) gone() {
	w.k.mu.Lock()
	n := w.k.n
	delete(w.k.workers, w.pod.uid)
	w.k.on = w.k.on && !w.k.gone
	w.k.mu.Unlock()
	n.w.podStopped(w.pod)
}

// containerID is 64 hexadecimal digits, as runtimes make them.
func containerID() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// endings are sandboxes whose DEL was asked for and not answered.
type endings struct {
	owner ipam.Owner
	addr  netip.Addr
}

func (k *kubelet) ending() []endings {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []endings
	for _, w := range k.inOrder() {
		for _, s := range w.old {
			if s.ending {
				out = append(out, endings{s.owner, s.addr})
			}
		}
	}
	return out
}

// changed says that something may have made room for pods that wait for an address.
func (k *kubelet) changed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changes++
	close(k.nudge)
	k.nudge = make(chan struct{})
}

// sandboxes are those that exist, in owner order.
func (k *kubelet) sandboxes() []scenarios.PodState {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []scenarios.PodState
	for _, w := range k.inOrder() {
		for _, s := range append(slices.Clone(w.old), w.current) {
			if s == nil || !s.exists {
				continue
			}
			out = append(out, scenarios.PodState{Owner: s.owner, Pod: w.pod.key(), UID: w.pod.uid, Netns: s.netns, Addr: s.addr, Gateway: s.gateway})
		}
	}
	slices.SortFunc(out, func(a, b scenarios.PodState) int { return strings.Compare(a.Owner.String(), b.Owner.String()) })
	return out
}

// waiting counts the pods that wait for an address.
func (k *kubelet) waiting() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.workers { //vppdrill:unordered it is a count
		if w.starved && !w.pod.deleting.Load() {
			n++
		}
	}
	return n
}

// pending says what is still to do, "" when nothing is: pods that wait for an address while nothing has changed that could
// give them one are as quiet as they get.
func (k *kubelet) pending() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.inOrder() {
		if w.next() == nil || w.starved && w.refused == k.changes {
			continue
		}
		text := k.n.name + ": pod " + w.pod.key()
		switch {
		case w.pod.deleting.Load():
			text += " is being deleted"
		case len(w.old) > 0:
			text += " has an old sandbox"
		default:
			text += " has no address yet"
		}
		if w.why != "" {
			text += " (" + w.why + ")"
		}
		return text
	}
	return ""
}

// exhausted tells a refusal for want of an address by the allocators' own words: CNI has no code for it.
func exhausted(message string) bool {
	return strings.Contains(message, ipam.ErrExhausted.Error()) || strings.Contains(message, ipam.ErrNoBlock.Error())
}
