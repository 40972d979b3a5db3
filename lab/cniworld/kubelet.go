package cniworld

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
)

// cniTimeout is how long a kubelet waits for a plugin unless the scenario says.
const cniTimeout = 60 * time.Second

// kubelet runs the pods of one node: kubelet and container runtime in one.
type kubelet struct {
	n      *node
	config podworker.Config

	mu      sync.Mutex
	on      bool
	gone    bool
	workers map[string]*worker // by pod UID
	// past are owners of sandboxes that are gone.
	past []ipam.Owner
	// numbers are the pods' by their containers' IDs: what a runtime says of a pod stays the same until its last DEL.
	numbers map[string]int
	wg      sync.WaitGroup
	// running are the plugins' processes, those among them to which nobody listens.
	running sync.WaitGroup
	quit    chan struct{}
	// nudge is closed and replaced when trying again is worth it at once.
	nudge chan struct{}
	// still is closed when a kubelet that stands still goes on; nil while it runs. dead: it was killed.
	still chan struct{}
	dead  bool
}

func newKubelet(n *node) *kubelet {
	r := n.w.s.Config.Runtime
	return &kubelet{n: n, workers: map[string]*worker{}, numbers: map[string]int{}, quit: make(chan struct{}), nudge: make(chan struct{}),
		config: podworker.Config{Retry: 250 * time.Millisecond, RetryMax: 8 * time.Second, RepeatAdd: r.RepeatAdd, RepeatDel: r.RepeatDel,
			AddBeforeDel: r.AddBeforeDel}}
}

func (k *kubelet) runtime() scenarios.Runtime { return k.n.w.s.Config.Runtime }

func (k *kubelet) patience() time.Duration {
	if t := k.runtime().Timeout; t > 0 {
		return k.n.w.Wall(t)
	}
	return cniTimeout
}

// powerOn starts the kubelet; sandboxes of before the boot get their DEL, pods new ones.
func (k *kubelet) powerOn() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gone || k.dead {
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
	k.on, k.dead = false, false
	k.goOn()
	for _, w := range k.inOrder() {
		w.PowerOff()
		for _, s := range w.Old() {
			s.exists, s.dead = false, true
		}
	}
	close(k.nudge)
	k.nudge = make(chan struct{})
	k.mu.Unlock()
	k.running.Wait()
	for _, w := range k.all() {
		for _, s := range w.owed() {
			k.n.w.Fail(s.drop())
		}
	}
}

// all are the workers in the order of their pods.
func (k *kubelet) all() []*worker {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.inOrder()
}

// killed ends runtime and kubelet: what they were waiting for is over, and nobody knows how it ended. Nothing begins
// until they start again.
func (k *kubelet) killed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.on {
		return
	}
	k.on, k.dead = false, true
	for _, w := range k.inOrder() {
		w.Forget()
	}
}

// started starts them again.
func (k *kubelet) started() {
	k.mu.Lock()
	was := k.dead
	k.dead = false
	k.mu.Unlock()
	if was && k.n.isUp() {
		k.powerOn()
	}
}

// pause stops the kubelet where it is, or lets it go on: it begins nothing and takes no answer.
func (k *kubelet) pause(pause bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !pause {
		k.goOn()
	} else if k.still == nil && k.on {
		k.still = make(chan struct{})
	}
}

// goOn ends a pause. k.mu is held.
func (k *kubelet) goOn() {
	if k.still != nil {
		close(k.still)
		k.still = nil
	}
}

// stands waits while the kubelet stands still. k.mu is held, except while it waits.
func (k *kubelet) stands() {
	for still := k.still; still != nil; still = k.still {
		k.mu.Unlock()
		select {
		case <-k.quit:
		case <-still:
		}
		k.mu.Lock()
		if k.gone {
			return
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
	k.running.Wait()
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
		w = &worker{Worker: podworker.New[*sandbox](&k.config), k: k, pod: p}
		k.workers[p.uid] = w
	}
	w.See(p.deleting)
	w.wake()
}

// vanished tells the kubelet that a pod's object is not there any more.
func (k *kubelet) vanished(p *pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w := k.workers[p.uid]; w != nil {
		w.Vanish()
		w.wake()
	}
}

// replace retires a pod's sandbox; false when it has none with an address.
func (k *kubelet) replace(p *pod) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.workers[p.uid]
	if w == nil || p.deleting || !w.Replace() {
		return false
	}
	w.wake()
	return true
}

// numberOf is the number of the pod of a container, present or past.
func (k *kubelet) numberOf(container string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.numbers[container]
}

// lose forgets a pod's sandbox: no DEL is owed for it, its namespace is gone.
func (k *kubelet) lose(p *pod, how scenarios.LoseSandboxes) bool {
	k.mu.Lock()
	w := k.workers[p.uid]
	if w == nil {
		k.mu.Unlock()
		return false
	}
	s, ok := w.Lose()
	if !ok {
		k.mu.Unlock()
		return false
	}
	if how.SameID {
		w.again = s.owner.ContainerID
	}
	s.exists = false
	k.past = append(k.past, s.owner)
	k.mu.Unlock()
	k.n.w.Fail(s.drop())
	w.died(s)
	if !how.SameID {
		k.n.forgotten(s.owner)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if how.Gone {
		w.Vanish()
	}
	w.wake()
	return true
}

// inOrder are the workers in the order of their pods. k.mu is held.
func (k *kubelet) inOrder() []*worker {
	return slices.SortedFunc(maps.Values(k.workers), func(a, b *worker) int { return cmp.Compare(a.pod.number, b.pod.number) })
}

// containerID is 64 hexadecimal digits, as runtimes make them.
func containerID() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// sandboxes are those that exist, in owner order; of two families each of them twice.
func (k *kubelet) sandboxes() (out []fact.PodState) {
	for _, s := range k.known() {
		if !s.exists {
			continue
		}
		out = append(out, fact.PodState{Owner: s.owner, Pod: s.pod.key(), UID: s.pod.uid, Netns: s.netns, Addr: s.addr(0), Gateway: s.gateway})
		if s.addr(1).IsValid() {
			out = append(out, fact.PodState{Owner: s.owner.Second(), Pod: s.pod.key(), UID: s.pod.uid, Netns: s.netns, Addr: s.addr(1), Gateway: s.gateway})
		}
	}
	slices.SortFunc(out, func(a, b fact.PodState) int { return strings.Compare(a.Owner.String(), b.Owner.String()) })
	return out
}

// known are copies of all sandboxes that are the runtime's, those to be torn down among them.
func (k *kubelet) known() (out []sandbox) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.inOrder() {
		for _, s := range w.owed() {
			out = append(out, *s)
		}
	}
	return out
}

// find is a sandbox that exists.
func (k *kubelet) find(o ipam.Owner) (sandbox, bool) {
	first, _ := o.First()
	for _, s := range k.known() {
		if s.owner == first && s.exists {
			return s, true
		}
	}
	return sandbox{}, false
}

// strip removes the namespace of a sandbox that still exists.
func (k *kubelet) strip(o ipam.Owner) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.inOrder() {
		if s, has := w.Has(); has && s.owner == o && s.exists {
			return s.drop()
		}
	}
	return nil
}

// pending says what is still to do, "" when nothing is.
func (k *kubelet) pending() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.inOrder() {
		if w.Plan(); w.Settled() {
			continue
		}
		text := k.n.name + ": pod " + w.pod.key()
		switch {
		case w.Stopping():
			text += " is being deleted"
		case len(w.Old()) > 0:
			text += " has an old sandbox"
		default:
			text += " has no address yet"
		}
		if why := cmp.Or(w.why, w.refusal); why != "" {
			text += " (" + why + ")"
		}
		return text
	}
	return ""
}

// within is a context that ends with the kubelet.
func (k *kubelet) within() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-k.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
