package cluster

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/podworker"
)

// KubeletConfig configures kubelets.
type KubeletConfig struct {
	// Network and IfName complete the sandboxes' owners; defaults "vppdrill" and "eth0".
	Network, IfName string
	// Timeout is how long a CNI plugin may take; default 60 s. It is fixed when the kubelet is made.
	Timeout time.Duration
	// Orphans: plugins that took too long are not killed and go on by themselves.
	Orphans bool
	// TwiceDel: each DEL is sent twice at the same time; NoNetns: the namespace goes before DEL.
	TwiceDel, NoNetns bool
	// NewestByClock: a sandbox whose stamp is older than that of a dead one is taken for a former one, and replaced.
	NewestByClock bool
	// Clocks are the machine's; the run's own where nil.
	Clocks MachineClocks
	// Config is what pods' workers follow; Retry and RetryMax default to 1 s and 30 s.
	podworker.Config
}

func (c KubeletConfig) withDefaults() KubeletConfig {
	c.Network = cmp.Or(c.Network, "vppdrill")
	c.IfName = cmp.Or(c.IfName, "eth0")
	c.Timeout = orDefault(c.Timeout, 60*time.Second)
	c.Retry = orDefault(c.Retry, time.Second)
	c.RetryMax = orDefault(c.RetryMax, 30*time.Second)
	return c
}

// Kubelet runs the pods of one node: kubelet and container runtime in one. It has a worker per pod (worker.go) and no
// timers of its own: an idle kubelet costs no events.
type Kubelet struct {
	// Pods is the informer of the node's own pods.
	Pods *Informer
	// Config may be changed between events; it holds for what starts later.
	Config KubeletConfig

	api     *API
	clock   Clock
	wall    func() time.Duration
	node    string
	at      Endpoint
	machine Machine
	hooks   *Hooks
	workers map[string]*worker // by pod UID
	met     int
	number  int // among the kubelets of the run
	// running is the process, powered the machine; synced that the pods have been listed since the process's start.
	running, powered, synced, removed bool
	// paused: the process stands still; held is what it will hear when it goes on.
	paused             bool
	held               []func()
	unsettled, starved int
	alive              func() // called when the process starts or ends
	timeout            time.Duration
	deadlines          []deadline // ascending
	armed              bool
	sandboxes          []*Sandbox // what exists, in owner order when sorted
	sorted             bool
}

// NewKubelet returns the kubelet of a machine that is off: PowerOn starts it.
func (a *API) NewKubelet(node string, at Endpoint, m Machine, hooks *Hooks, cfg KubeletConfig) *Kubelet {
	a.kubelets++
	k := &Kubelet{
		number: a.kubelets,
		api:    a, clock: a.clock, wall: a.clock.Now, node: node, at: at, machine: m, hooks: hooks, Config: cfg.withDefaults(),
		workers: make(map[string]*worker),
	}
	k.timeout = k.Config.Timeout
	if m := cfg.Clocks; m != nil {
		k.clock, k.wall = m, m.Wall
	}
	k.Pods = a.NewInformer(InformerConfig{Name: "kubelet", At: at, Kind: KindPod, Node: node, Handler: k})
	return k
}

// Node is the machine's name.
func (k *Kubelet) Node() string { return k.node }

// Running reports whether the kubelet's process runs; Powered whether its machine does.
func (k *Kubelet) Running() bool { return k.running }
func (k *Kubelet) Powered() bool { return k.powered }

// PowerOn boots the machine and starts the kubelet. Sandboxes of before the boot are dead: each gets its DEL, and pods
// that still exist get new ones.
func (k *Kubelet) PowerOn() {
	if !k.powered && !k.removed {
		k.powered = true
		k.Start()
	}
}

// PowerOff stops everything at once, as a crash does: no DEL, no goodbye.
func (k *Kubelet) PowerOff() {
	if !k.powered {
		return
	}
	k.Stop()
	k.powered = false
	k.deadlines = nil
	for _, w := range k.inOrder() {
		w.powerOff()
	}
}

// Start starts the process; it lists its pods and goes on with the sandboxes that it finds.
func (k *Kubelet) Start() {
	if k.powered && !k.running {
		k.running = true
		k.Pods.Start()
		k.tellAlive()
	}
}

// Stop ends the process only. Sandboxes live on, and plugins that run finish.
func (k *Kubelet) Stop() {
	if !k.running {
		return
	}
	k.running, k.synced = false, false
	k.drop()
	k.Pods.Stop()
	for _, w := range k.inOrder() {
		w.forget()
	}
	k.tellAlive()
}

func (k *Kubelet) tellAlive() {
	if k.alive != nil {
		k.alive()
	}
}

// Remove ends the node for good: everything on it is gone, nothing is cleaned up.
func (k *Kubelet) Remove() {
	k.PowerOff()
	k.removed = true
	for _, w := range k.inOrder() {
		w.end()
	}
}

// ReplaceSandbox makes a new sandbox for a pod whose old one died: DEL for the old, ADD with another container ID. An
// error when the pod has no sandbox with an address here.
func (k *Kubelet) ReplaceSandbox(pod Key) error {
	for _, w := range k.inOrder() {
		if w.pod.Key() == pod && w.replace() {
			return nil
		}
	}
	return fmt.Errorf("replace sandbox of %s on %s: no such sandbox", pod, k.node)
}

// LoseSandbox makes the runtime forget a pod's sandbox: it is gone, and no DEL comes for it. False when the pod has no
// sandbox with an address here, or a plugin is busy with it.
//
// With gone the pod's object is about to go at once, and the kubelet gives it no new sandbox; with sameID its new one
// has the container ID of the lost one.
func (k *Kubelet) LoseSandbox(pod Key, gone, sameID bool) bool {
	for _, w := range k.inOrder() {
		if w.pod.Key() == pod && w.lose(gone, sameID) {
			return true
		}
	}
	return false
}

// Sandboxes yields the sandboxes that exist on the machine, in owner order.
func (k *Kubelet) Sandboxes() iter.Seq[*Sandbox] {
	if !k.sorted {
		slices.SortFunc(k.sandboxes, func(a, b *Sandbox) int {
			return cmp.Or(strings.Compare(a.Owner.Network, b.Owner.Network),
				strings.Compare(a.Owner.ContainerID, b.Owner.ContainerID), strings.Compare(a.Owner.IfName, b.Owner.IfName))
		})
		k.sorted = true
	}
	return slices.Values(k.sandboxes)
}

// countUnsettled and countStarved keep this kubelet's counts and those of all kubelets.
func (k *Kubelet) countUnsettled(d int) {
	k.unsettled += d
	k.api.unsettled += d
}

func (k *Kubelet) countStarved(d int) {
	k.starved += d
	k.api.starved += d
}

// Unsettled counts pods that are on their way up or down; Starved those among them that wait for an address,
// between two attempts.
func (k *Kubelet) Unsettled() int { return k.unsettled }
func (k *Kubelet) Starved() int   { return k.starved }

// StarvedPods are those that Starved counts, in the order in which the kubelet met them.
func (k *Kubelet) StarvedPods() (list []*Pod) {
	for _, w := range k.inOrder() {
		if w.starved {
			list = append(list, w.pod)
		}
	}
	return list
}

// Pending describes each unsettled pod in one line, in the order in which the kubelet met them.
func (k *Kubelet) Pending() (lines []string) {
	if len(k.held) > 0 {
		lines = append(lines, string(k.appendHeld(nil)))
	}
	for _, w := range k.inOrder() {
		if !w.settled {
			lines = append(lines, string(w.appendState(k.appendName(nil))))
		}
	}
	return lines
}

// Listed is called by the informer.
func (k *Kubelet) Listed(objects []Object, version int64) {
	if k.paused {
		k.hold(func() { k.Listed(objects, version) })
		return
	}
	k.synced = true
	present := make(map[string]bool, len(objects))
	for _, o := range objects {
		present[o.Common().UID] = true
		k.see(o.(*Pod))
	}
	for _, w := range k.inOrder() {
		if !present[w.pod.UID] {
			w.Vanish()
		}
		w.plan()
	}
}

// Changed is called by the informer.
func (k *Kubelet) Changed(c Change) {
	if k.paused {
		k.hold(func() { k.Changed(c) })
		return
	}
	pod := c.Object.(*Pod)
	if c.Type != Deleted {
		k.see(pod).plan()
	} else if w := k.workers[pod.UID]; w != nil {
		w.Vanish()
		w.plan()
	}
}

func (k *Kubelet) see(pod *Pod) *worker {
	w := k.workers[pod.UID]
	if w == nil {
		k.met++
		w = &worker{Worker: podworker.New[*Sandbox](&k.Config.Config), k: k, met: k.met, settled: true}
		k.workers[pod.UID] = w
	}
	w.pod = pod
	w.See(pod.Deleting) // a stale list may have missed it
	w.recheck()
	return w
}

// inOrder lists the workers in the order in which the kubelet met their pods.
func (k *Kubelet) inOrder() []*worker {
	return slices.SortedFunc(maps.Values(k.workers), func(a, b *worker) int { return cmp.Compare(a.met, b.met) })
}

// workerOf is the worker of the pod that a sandbox is or was of, nil when it has ended.
func (k *Kubelet) workerOf(s *Sandbox) *worker {
	return k.workers[strings.TrimPrefix(s.UID, staticPrefix)]
}

func (k *Kubelet) appendName(b []byte) []byte {
	b = append(b, "kubelet "...)
	b = append(b, k.node...)
	return append(b, ' ')
}

// appeared and vanished keep the container runtime's list.
func (k *Kubelet) appeared(s *Sandbox) {
	s.exists, s.netns, s.Created = true, true, k.wall()
	k.sandboxes = append(k.sandboxes, s)
	k.sorted = false
	if k.hooks.Created != nil {
		k.hooks.Created(k.node, s)
	}
}

func (k *Kubelet) vanished(s *Sandbox) {
	if !s.exists {
		return
	}
	s.exists = false
	if w := k.workerOf(s); w != nil {
		w.bury(s)
	}
	i := slices.Index(k.sandboxes, s)
	k.sandboxes = slices.Delete(k.sandboxes, i, i+1)
	if k.hooks.Gone != nil {
		k.hooks.Gone(k.node, s)
	}
}
