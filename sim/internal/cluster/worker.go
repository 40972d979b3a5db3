package cluster

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/podworker"
)

// worker runs one pod: what comes next podworker decides, each thing is one event.
type worker struct {
	podworker.Worker[*Sandbox]
	k    *Kubelet
	met  int
	pod  *Pod
	next *Sandbox // of a planned ADD
	// containerID is what the next sandbox has, "" for one of its own.
	containerID string

	told        podStatus // what the API has acknowledged
	telling     bool
	withdrawn   bool // the API has acknowledged that the pod has no address
	tellLife    int
	tellBackOff time.Duration

	settled, starved, ended bool // as counted
	grave                        // of the pod's former sandboxes
}

type podStatus struct {
	phase      Phase
	ip, second netip.Addr
}

// plan schedules what comes next, unless something has begun.
func (w *worker) plan() {
	if w.ended {
		return
	}
	if !w.Begun() && w.k.running && w.k.synced {
		_, had := w.Has()
		step, fresh := w.Plan()
		if _, has := w.Has(); had && !has {
			w.told.ip = netip.Addr{} // its sandbox is to go
		}
		if w.Ended() {
			w.end()
			return
		}
		if fresh {
			w.next = nil
			if step.Do == podworker.Add {
				w.next = newSandbox(w.pod, [2]int{w.k.number, w.met}, w.Attempt()+1, w.k.Config.Network, w.k.Config.IfName)
				if w.containerID != "" {
					w.next.Owner.ContainerID = w.containerID
				}
			}
			w.k.clock.After(max(0, step.After-w.k.clock.Now()), &workerStep{w, step})
		}
		w.tell()
	}
	w.account()
}

// workerStep is the event in which a planned thing begins.
type workerStep struct {
	w    *worker
	step podworker.Step
}

func (s *workerStep) AppendText(b []byte) []byte {
	w := s.w
	b = w.k.appendName(b)
	live := w.Planned().Op == s.step.Op
	if !live {
		b = append(b, "leaves "...)
	}
	b = w.k.appendStill(b)
	b = append(b, s.step.Do.String()...)
	b = append(b, ' ')
	b = w.pod.Key().AppendText(b)
	if !live {
		return b
	}
	switch s.step.Do {
	case podworker.Add:
		b = appendSandbox(b, w.next)
	case podworker.Again:
		b = appendSandbox(b, w.Subject())
	case podworker.Del:
		b = appendSandbox(b, w.Subject())
		if w.Repeated() {
			b = append(b, " again"...)
		}
	}
	return b
}

// appendSandbox appends the short container ID, as crictl prints it, and the attempt.
func appendSandbox(b []byte, s *Sandbox) []byte {
	b = append(b, ' ')
	b = append(b, s.Owner.ContainerID[:13]...)
	b = append(b, " attempt "...)
	return strconv.AppendInt(b, int64(s.Attempt), 10)
}

func (s *workerStep) Fire() {
	w := s.w
	if w.k.paused {
		w.k.hold(s.Fire)
		return
	}
	if !w.Begin(s.step.Op) {
		return
	}
	w.account()
	switch s.step.Do {
	case podworker.Add:
		w.add(s.step.Op)
	case podworker.Again:
		w.ask(s.step.Op)
	case podworker.Del:
		w.del(s.step.Op)
	case podworker.Remove:
		w.remove(s.step.Op)
	}
}

func (w *worker) add(op int) {
	k, s := w.k, w.next
	w.Adding(s)
	w.next, w.containerID = nil, ""
	for _, old := range w.Old() {
		k.vanished(old) // no sandbox is added while the processes of another one live
	}
	k.machine.CreateNetns(k.node, s.Netns)
	k.appeared(s)
	w.ask(op)
}

// ask runs the plugin for the present sandbox.
func (w *worker) ask(op int) {
	k, s := w.k, w.Subject()
	k.expect(w)
	req := CNIAdd{Owner: s.Owner, Netns: s.Netns, PodNamespace: s.Pod.Namespace, PodName: s.Pod.Name, PodUID: s.UID, Wanted: w.pod.Wanted, Interface: w.pod.Interface}
	k.machine.Add(k.node, req, func(r CNIResult) { w.answered(op, r, (*worker).added) })
}

// answered takes what a plugin printed, unless its caller has given it up.
func (w *worker) answered(op int, r CNIResult, take func(*worker, CNIResult)) {
	switch {
	case w.k.paused:
		w.k.hold(func() { w.answered(op, r, take) })
	case w.Live(op):
		take(w, r)
	}
}

// added takes the ADD's result.
func (w *worker) added(r CNIResult) {
	k, s := w.k, w.Subject()
	w.Added(k.clock.Now(), r.Code == 0, r.Exhausted || r.Crowded || r.Unmet)
	if r.Code != 0 {
		w.told.ip = netip.Addr{}
		if k.hooks.Refused != nil {
			k.hooks.Refused(k.node, s, r)
		}
		w.plan()
		return
	}
	s.Addr, s.Gateway = r.Addr, r.Gateway
	s.Second, s.SecondGateway = r.Second, r.SecondGateway
	w.compare(s)
	if k.hooks.Answered != nil {
		k.hooks.Answered(k.node, s)
	}
	w.plan()
}

// timeout gives up on a plugin that has not answered: its outcome is unknown.
func (w *worker) timeout() {
	k := w.k
	if m, ok := k.machine.(Withdrawer); ok && !k.Config.Orphans {
		m.Withdraw(k.node, w.Subject().Owner)
	}
	late := CNIResult{Code: 100, Message: "timeout"} // 100 and above are a plugin's own (spec 1.1 section "Error")
	if w.Planned().Do == podworker.Del {
		w.deleted(late)
	} else {
		w.added(late)
	}
}

func (w *worker) del(op int) {
	k, s := w.k, w.Subject()
	k.expect(w)
	if k.Config.NoNetns {
		w.dispose(s)
	}
	if k.Config.TwiceDel {
		k.machine.Del(k.node, CNIDel{Owner: s.Owner, Pod: s.Pod, Netns: s.Netns}, func(CNIResult) {})
	}
	k.machine.Del(k.node, CNIDel{Owner: s.Owner, Pod: s.Pod, Netns: s.Netns}, func(r CNIResult) { w.answered(op, r, (*worker).deleted) })
}

// deleted takes the DEL's result.
func (w *worker) deleted(r CNIResult) {
	k, s := w.k, w.Subject()
	removed := w.Deleted(k.clock.Now(), r.Code == 0)
	if r.Code == 0 && k.hooks.Deleted != nil {
		k.hooks.Deleted(k.node, s)
	}
	if removed {
		w.dispose(s)
	}
	w.plan()
}

// dispose removes a sandbox's namespace, once.
func (w *worker) dispose(s *Sandbox) {
	if s.netns {
		s.netns = false
		w.k.machine.RemoveNetns(w.k.node, s.Netns)
	}
	w.k.vanished(s)
}

// remove takes the pod's object out of the API.
func (w *worker) remove(op int) {
	c := &podCall{api: w.k.api, verb: verbRemove, key: w.pod.Key(), uid: w.pod.UID}
	c.done = func(err error) { w.removed(op, err) }
	c.send(w.k.at)
}

// removed takes the API's answer.
func (w *worker) removed(op int, err error) {
	if w.k.paused {
		w.k.hold(func() { w.removed(op, err) })
		return
	}
	if !w.Live(op) {
		return
	}
	// A conflict: the name belongs to a later pod.
	w.Removed(w.k.clock.Now(), err == nil || err == ErrNotFound || err == ErrConflict)
	if w.Ended() {
		w.end()
	} else {
		w.plan()
	}
}

// replace makes a new sandbox for the pod.
func (w *worker) replace() bool {
	if !w.Replace() {
		return false
	}
	w.told.ip = netip.Addr{}
	w.plan()
	return true
}

// lose takes the pod's sandbox away without a DEL; with gone the pod is no more.
func (w *worker) lose(gone, sameID bool) bool {
	s, ok := w.Lose()
	if !ok {
		return false
	}
	w.told.ip = netip.Addr{}
	if s.again = sameID; sameID {
		w.containerID = s.Owner.ContainerID
	}
	w.dispose(s)
	if gone {
		w.Vanish()
	}
	w.plan()
	return true
}

// forget drops what only the process remembers.
func (w *worker) forget() {
	w.Forget()
	w.telling, w.told = false, podStatus{}
	w.tellLife++
	w.account()
}

// powerOff ends every process of the pod.
func (w *worker) powerOff() {
	w.PowerOff()
	w.told.ip = netip.Addr{}
	for _, s := range w.Old() {
		s.netns = false
		w.k.vanished(s)
	}
	w.account()
}

// end is the end of the worker.
func (w *worker) end() {
	if w.ended {
		return
	}
	w.ended = true
	w.End()
	w.tellLife++
	delete(w.k.workers, w.pod.UID)
	w.account()
}

// account keeps the kubelet's count of pods that are not where they should be.
func (w *worker) account() {
	settled := w.Ended() || w.Settled() && w.doubted == nil && !w.telling && w.told == w.status()
	if settled != w.settled {
		w.settled = settled
		if settled {
			w.k.countUnsettled(-1)
		} else {
			w.k.countUnsettled(1)
		}
	}
	if starved := w.Starved() && !w.telling && !w.stranded(); starved != w.starved {
		w.starved = starved
		if starved {
			w.k.countStarved(1)
		} else {
			w.k.countStarved(-1)
		}
	}
}

// appendState describes an unsettled pod for people.
func (w *worker) appendState(b []byte) []byte {
	b = w.pod.Key().AppendText(b)
	b = append(b, ": "...)
	switch {
	case !w.k.powered:
		b = append(b, "machine is off"...)
	case !w.k.running:
		b = append(b, "kubelet is down"...)
	case w.k.paused:
		b = append(b, "kubelet stands still"...)
	case !w.k.synced:
		b = append(b, "kubelet has not listed its pods"...)
	case w.Planned().Do == podworker.Nothing:
		b = append(b, "status not acknowledged"...)
	case w.Begun():
		b = append(b, w.Planned().Do.String()...)
		b = append(b, " has no answer"...)
	default:
		b = append(b, w.Planned().Do.String()...)
		b = append(b, " comes next"...)
	}
	if w.Waiting() {
		b = append(b, ", waits for an address"...)
	}
	return b
}
