package lab

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

const (
	// cniTimeout is how long a kubelet waits for a plugin unless the scenario says; containerd's is longer, so that a
	// hanging agent shows sooner.
	cniTimeout = 60 * time.Second
	// agentWait is how long a plugin waits for an agent that is away, its default; agentPause is how long between two
	// attempts.
	agentWait  = 5 * time.Second
	agentPause = 100 * time.Millisecond
)

// podConfig is how a lab's kubelets behave. Kubernetes waits longer at first.
func podConfig(r scenarios.Runtime) podworker.Config {
	return podworker.Config{Retry: 250 * time.Millisecond, RetryMax: 8 * time.Second,
		RepeatAdd: r.RepeatAdd, RepeatDel: r.RepeatDel, AddBeforeDel: r.AddBeforeDel}
}

// runtime is how the scenario lets kubelets behave.
func (k *kubelet) runtime() scenarios.Runtime { return k.n.w.scenario().Config.Runtime }

// patience is how long a kubelet waits for a plugin.
func (k *kubelet) patience() time.Duration {
	if t := k.runtime().Timeout; t > 0 {
		return max(k.n.w.real(t), agentWait)
	}
	return cniTimeout
}

// PodLink is the pods' interface.
const PodLink = timeline.IfName

// kubelet runs the pods of one node: kubelet and container runtime in one.
type kubelet struct {
	n      *node
	config podworker.Config

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
	// still is closed when a kubelet that stands still goes on; nil while it runs.
	still chan struct{}
	// gate holds requests back while a restarted agent's leases are read.
	gate sync.RWMutex
}

func newKubelet(n *node) *kubelet {
	return &kubelet{n: n, config: podConfig(n.w.scenario().Config.Runtime), workers: map[string]*worker{}, quit: make(chan struct{}), nudge: make(chan struct{})}
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
	if k.still != nil {
		close(k.still)
		k.still = nil
	}
	for _, w := range k.inOrder() {
		w.PowerOff()
		for _, s := range w.Old() {
			s.exists, s.bare, s.dead, s.addr, s.second = false, true, true, netip.Addr{}, netip.Addr{}
		}
	}
}

// pause stops the kubelet where it is, or lets it go on: it begins nothing and takes no answer. Plugins that it has
// started go on.
func (k *kubelet) pause(pause bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case pause && k.still == nil && k.on:
		k.still = make(chan struct{})
	case !pause && k.still != nil:
		close(k.still)
		k.still = nil
	}
}

// stands waits while the kubelet stands still. k.mu is held, except while it waits.
func (k *kubelet) stands(ctx context.Context) {
	for still := k.still; still != nil && ctx.Err() == nil; still = k.still {
		k.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-still:
		}
		k.mu.Lock()
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
		w = &worker{Worker: podworker.New[*sandbox](&k.config), k: k, pod: p}
		k.workers[p.uid] = w
	}
	w.See(p.deleting.Load())
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
	if w == nil || p.deleting.Load() || !w.Replace() {
		return false
	}
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
		for _, s := range w.Old() {
			if s.ending {
				out = append(out, endings{s.owner, s.addr})
				if s.second.IsValid() {
					out = append(out, endings{s.owner.Second(), s.second})
				}
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
	for _, w := range k.workers { //vppdrill:unordered each by itself
		w.Hurry()
	}
	close(k.nudge)
	k.nudge = make(chan struct{})
}

// sandboxes are those that exist, in owner order.
func (k *kubelet) sandboxes() []fact.PodState {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []fact.PodState
	for _, w := range k.inOrder() {
		list := slices.Clone(w.Old())
		if s, has := w.Has(); has {
			list = append(list, s)
		}
		for _, s := range list {
			if !s.exists {
				continue
			}
			out = append(out, fact.PodState{Owner: s.owner, Pod: w.pod.key(), UID: w.pod.sandboxUID(), Netns: s.netns, Addr: s.addr, Gateway: s.gateway})
			if s.second.IsValid() {
				out = append(out, fact.PodState{Owner: s.owner.Second(), Pod: w.pod.key(), UID: w.pod.sandboxUID(), Netns: s.netns, Addr: s.second,
					Gateway: s.secondGateway})
			}
		}
	}
	slices.SortFunc(out, func(a, b fact.PodState) int { return strings.Compare(a.Owner.String(), b.Owner.String()) })
	return out
}

// strip removes the namespace of a sandbox that still exists.
func (k *kubelet) strip(owner ipam.Owner) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.workers { //vppdrill:unordered one at most has it
		s, has := w.Has()
		if has && s.owner == owner && s.exists && !s.bare {
			s.bare = true
			return k.n.machine.RemovePod(s.netns)
		}
	}
	return nil
}

// waiting counts the pods that wait for an address.
func (k *kubelet) waiting() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.workers { //vppdrill:unordered it is a count
		if w.Waiting() && !w.Stopping() {
			n++
		}
	}
	return n
}

// pending says what is still to do, "" when nothing is: pods that wait for an address, or for an ID of their node,
// while nothing has changed that could give them one are as quiet as they get.
func (k *kubelet) pending() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.inOrder() {
		if w.Plan(); w.Settled() || w.Starved() && w.refused == k.changes && (!w.numberless || k.n.w.numberless()) {
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
		if w.why != "" {
			text += " (" + w.why + ")"
		}
		return text
	}
	return ""
}

// Exhausted tells a refusal for want of an address by the allocators' own words: CNI has no code for it.
func Exhausted(message string) bool {
	return strings.Contains(message, ipam.ErrExhausted.Error()) || strings.Contains(message, ipam.ErrNoBlock.Error())
}
