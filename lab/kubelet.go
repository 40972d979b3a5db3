package lab

import (
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/podloop"
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
	*podloop.Loop[*worker]
	n      *node
	config podworker.Config

	// changes counts what may have made room for a pod that waits for an address.
	changes int64
	// past are owners of sandboxes that are gone.
	past []ipam.Owner
	// gate holds requests back while a restarted agent's leases are read.
	gate sync.RWMutex
}

func newKubelet(n *node) *kubelet {
	return &kubelet{Loop: podloop.New[*worker](n.w.since), n: n, config: podloop.Config(n.w.scenario().Config.Runtime)}
}

// powerOn starts the kubelet; sandboxes of before the boot get their DEL, pods new ones.
func (k *kubelet) powerOn() {
	k.Lock()
	defer k.Unlock()
	k.Start()
}

// powerOff ends every sandbox without a word.
func (k *kubelet) powerOff() {
	k.Lock()
	defer k.Unlock()
	k.On = false
	k.GoOn()
	for _, w := range k.InOrder() {
		w.PowerOff()
		for _, s := range w.Old() {
			s.exists, s.bare, s.dead, s.addr, s.second = false, true, true, netip.Addr{}, netip.Addr{}
		}
	}
}

// see tells the kubelet of a pod that is bound to its node, or that such a pod is to go.
func (k *kubelet) see(p *pod) {
	k.See(p.uid, p.deleting.Load(), func() *worker { return &worker{Worker: podworker.New[*sandbox](&k.config), k: k, pod: p} })
}

// replace retires a pod's sandbox; false when it has none with an address.
func (k *kubelet) replace(p *pod) bool { return !p.deleting.Load() && k.Replace(p.uid) }

// lose takes a pod's sandbox away without a DEL: the runtime has forgotten everything. False when it has none with an address.
func (k *kubelet) lose(p *pod, how scenarios.LoseSandboxes) bool {
	k.Lock()
	w := k.Workers[p.uid]
	if w == nil {
		k.Unlock()
		return false
	}
	s, lost := w.Lose()
	if lost && how.SameID {
		w.container = s.owner.ContainerID
	}
	k.Unlock()
	if !lost {
		return false
	}
	w.dispose(s)
	k.Lock()
	defer k.Unlock()
	k.n.forgetPod(p.name, s)
	if how.Gone {
		w.Vanish()
	}
	k.Wake(w)
	return true
}

// endings are sandboxes whose DEL was asked for and not answered.
type endings struct {
	owner ipam.Owner
	addr  netip.Addr
}

func (k *kubelet) ending() []endings {
	k.Lock()
	defer k.Unlock()
	var out []endings
	for _, w := range k.InOrder() {
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
	k.Lock()
	defer k.Unlock()
	k.changes++
	for _, w := range k.Workers { //vppdrill:unordered each by itself
		w.Hurry()
	}
	k.Nudge()
}

// sandboxes are those that exist, in owner order.
func (k *kubelet) sandboxes() []fact.PodState {
	k.Lock()
	defer k.Unlock()
	var out []fact.PodState
	for _, w := range k.InOrder() {
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
	k.Lock()
	defer k.Unlock()
	for _, w := range k.Workers { //vppdrill:unordered one at most has it
		s, has := w.Has()
		if has && s.owner == owner && s.exists && !s.bare {
			s.bare = true
			return k.n.machine.RemovePod(s.netns)
		}
	}
	return nil
}

// waiting counts the pods that wait for any address; wanted is what others wait for.
func (k *kubelet) waiting() (n int, wanted [][]netip.Addr) {
	k.Lock()
	defer k.Unlock()
	for _, w := range k.InOrder() {
		switch {
		case !w.Waiting() || w.Stopping():
		case len(w.pod.wanted) > 0:
			wanted = append(wanted, w.pod.wanted)
		default:
			n++
		}
	}
	return n, wanted
}

// starved reports whether a pod waits for an address.
func (k *kubelet) starved() bool {
	n, wanted := k.waiting()
	return n+len(wanted) > 0
}

// pending says what is still to do, "" when nothing is: pods that wait for an address, or for an ID of their node,
// while nothing has changed that could give them one are as quiet as they get.
func (k *kubelet) pending() string {
	k.Lock()
	defer k.Unlock()
	for _, w := range k.InOrder() {
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
