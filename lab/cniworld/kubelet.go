package cniworld

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/podloop"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
)

// cniTimeout is how long a kubelet waits for a plugin unless the scenario says.
const cniTimeout = 60 * time.Second

// kubelet runs the pods of one node: kubelet and container runtime in one.
type kubelet struct {
	*podloop.Loop[*worker]
	n      *node
	config podworker.Config

	// past are owners of sandboxes that are gone.
	past []ipam.Owner
	// of are the pods by their containers' IDs: what a runtime says of a pod stays the same until its last DEL.
	of map[string]*pod
	// running are the plugins' processes, those among them to which nobody listens.
	running sync.WaitGroup
	// dead: it was killed.
	dead bool
}

func newKubelet(n *node) *kubelet {
	return &kubelet{Loop: podloop.New[*worker](n.w.since), n: n, config: podloop.Config(n.w.s.Config.Runtime), of: map[string]*pod{}}
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
	k.Lock()
	defer k.Unlock()
	if !k.dead {
		k.Start()
	}
}

// powerOff ends every sandbox without a word.
func (k *kubelet) powerOff() {
	k.Lock()
	k.On, k.dead = false, false
	k.GoOn()
	for _, w := range k.InOrder() {
		w.PowerOff()
		for _, s := range w.Old() {
			s.exists, s.dead = false, true
		}
	}
	k.Nudge()
	k.Unlock()
	k.running.Wait()
	for _, w := range k.all() {
		for _, s := range w.owed() {
			k.n.w.Fail(s.drop())
		}
	}
}

// all are the workers in the order of their pods.
func (k *kubelet) all() []*worker {
	k.Lock()
	defer k.Unlock()
	return k.InOrder()
}

// killed ends runtime and kubelet: what they were waiting for is over, and nobody knows how it ended. Nothing begins
// until they start again.
func (k *kubelet) killed() {
	k.Lock()
	defer k.Unlock()
	if !k.On {
		return
	}
	k.On, k.dead = false, true
	for _, w := range k.InOrder() {
		w.Forget()
	}
}

// started starts them again.
func (k *kubelet) started() {
	k.Lock()
	was := k.dead
	k.dead = false
	k.Unlock()
	if was && k.n.isUp() {
		k.powerOn()
	}
}

// stop ends the kubelet for good and returns when nothing of it runs any more.
func (k *kubelet) stop() {
	k.Stop()
	k.running.Wait()
}

// see tells the kubelet of a pod that is bound to its node, or that such a pod is to go.
func (k *kubelet) see(p *pod) {
	k.See(p.uid, p.deleting, func() *worker { return &worker{Worker: podworker.New[*sandbox](&k.config), k: k, pod: p} })
}

// replace retires a pod's sandbox; false when it has none with an address.
func (k *kubelet) replace(p *pod) bool { return !p.deleting && k.Replace(p.uid) }

// attachment is what the runtime says of a container, present or past.
func (k *kubelet) attachment(o ipam.Owner, netns string) attachment {
	a := attachment{container: o.ContainerID, ifName: o.IfName, netns: netns}
	k.Lock()
	defer k.Unlock()
	if p := k.of[o.ContainerID]; p != nil {
		a.args, a.number, a.pod = p.cniArgs(o.ContainerID), p.number, p.key()
	}
	return a
}

// lose forgets a pod's sandbox: no DEL is owed for it, its namespace is gone.
func (k *kubelet) lose(p *pod, how scenarios.LoseSandboxes) bool {
	k.Lock()
	w := k.Workers[p.uid]
	if w == nil {
		k.Unlock()
		return false
	}
	s, ok := w.Lose()
	if !ok {
		k.Unlock()
		return false
	}
	if how.SameID {
		w.again = s.owner.ContainerID
	}
	s.exists = false
	k.past = append(k.past, s.owner)
	k.Unlock()
	k.n.w.Fail(s.drop())
	w.died(s)
	if !how.SameID {
		k.n.forgotten(s.owner)
	}
	k.Lock()
	defer k.Unlock()
	if how.Gone {
		w.Vanish()
	}
	k.Wake(w)
	return true
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
	k.Lock()
	defer k.Unlock()
	for _, w := range k.InOrder() {
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
	k.Lock()
	defer k.Unlock()
	for _, w := range k.InOrder() {
		if s, has := w.Has(); has && s.owner == o && s.exists {
			return s.drop()
		}
	}
	return nil
}

// pending says what is still to do, "" when nothing is.
func (k *kubelet) pending() string {
	k.Lock()
	defer k.Unlock()
	for _, w := range k.InOrder() {
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
