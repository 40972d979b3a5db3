package cluster

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// worker runs one pod. It does one thing at a time, and after each plans the next from what it knows: old sandboxes are
// torn down first, then a pod that stops is taken away, and one that does not gets a sandbox. Each thing is one event.
type worker struct {
	k   *Kubelet
	met int
	pod *Pod
	// gone: the object does not exist any more, so nobody waits for its removal.
	gone bool
	// current is the sandbox that the pod runs in, old those to be torn down, oldest first.
	current *Sandbox
	old     []*Sandbox
	next    *Sandbox // of a planned ADD
	attempt int

	doing doing
	begun bool // a planned thing has begun
	op    int  // numbers what is planned or under way; what belongs to an older number is ignored

	addBackOff, delBackOff time.Duration
	addAfter, delAfter     time.Duration // not before
	repeated               bool          // old[0] got its first successful DEL

	told        podStatus // what the API has acknowledged
	telling     bool
	tellLife    int
	tellBackOff time.Duration

	waiting   bool // for an address
	waitSince time.Duration
	settled   bool
	starved   bool // waiting, and counted as such
	ended     bool
}

type podStatus struct {
	phase Phase
	ip    netip.Addr
}

type doing uint8

const (
	doNothing doing = iota
	doAdd
	doDel
	doRemove
)

var doingNames = [...]string{doNothing: "rest", doAdd: "add", doDel: "del", doRemove: "remove"}

// stopping reports that the pod must go away.
func (w *worker) stopping() bool { return w.gone || w.pod.Deleting }

// plan decides what comes next, unless something has begun.
func (w *worker) plan() {
	if w.ended {
		return
	}
	if !w.begun && w.k.running && w.k.synced {
		what, after := w.decide()
		if what != w.doing || what == doNothing {
			w.schedule(what, after)
		}
		w.tell()
	}
	w.account()
}

// decide says what the pod needs, and when at the earliest.
func (w *worker) decide() (doing, time.Duration) {
	wantsSandbox := !w.stopping() && w.current == nil
	if len(w.old) > 0 && !(w.k.Config.AddBeforeDel && wantsSandbox) {
		return doDel, w.delAfter
	}
	if w.stopping() {
		if w.current != nil {
			w.retire()
			return doDel, w.delAfter
		}
		return doRemove, w.delAfter
	}
	if wantsSandbox {
		return doAdd, w.addAfter
	}
	return doNothing, 0
}

// schedule plans one thing; what was planned before is off.
func (w *worker) schedule(what doing, after time.Duration) {
	if w.doing != doNothing || what != doNothing {
		w.op++
	}
	w.doing, w.next = what, nil
	switch what {
	case doNothing:
		return
	case doAdd:
		w.next = newSandbox(w.pod, [2]int{w.k.number, w.met}, w.attempt+1, w.k.Config.Network, w.k.Config.IfName)
	case doRemove:
		if w.gone {
			w.end()
			return
		}
	}
	w.k.clock.After(max(0, after-w.k.clock.Now()), &workerStep{w, w.op, what})
}

// workerStep is the event in which a planned thing begins.
type workerStep struct {
	w    *worker
	op   int
	what doing
}

func (s *workerStep) AppendText(b []byte) []byte {
	w := s.w
	b = w.k.appendName(b)
	if w.op != s.op {
		b = append(b, "leaves "...)
	}
	b = append(b, doingNames[s.what]...)
	b = append(b, ' ')
	b = w.pod.Key().AppendText(b)
	if w.op != s.op {
		return b
	}
	switch s.what {
	case doAdd:
		b = appendSandbox(b, w.next)
	case doDel:
		b = appendSandbox(b, w.old[0])
		if w.repeated {
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
	if w.op != s.op {
		return
	}
	w.begun = true
	w.account()
	switch s.what {
	case doAdd:
		w.add()
	case doDel:
		w.del()
	case doRemove:
		w.remove()
	}
}

func (w *worker) add() {
	k, s := w.k, w.next
	w.attempt++
	w.current, w.next = s, nil
	k.machine.CreateNetns(k.node, s.Netns)
	k.appeared(s)
	k.expect(w)
	op := w.op
	req := CNIAdd{Owner: s.Owner, Netns: s.Netns, PodNamespace: s.Pod.Namespace, PodName: s.Pod.Name, PodUID: s.UID}
	k.machine.Add(k.node, req, func(r CNIResult) {
		if w.op == op && w.begun {
			w.added(r)
		}
	})
}

// added takes the ADD's result.
func (w *worker) added(r CNIResult) {
	k, s := w.k, w.current
	w.rest()
	now := k.clock.Now()
	if r.Code != 0 {
		if r.Exhausted {
			w.starve(now)
		}
		w.addBackOff = backOff(w.addBackOff, k.Config.Retry, k.Config.RetryMax)
		w.addAfter = now + w.addBackOff
		w.retire()
		if k.hooks.Refused != nil {
			k.hooks.Refused(k.node, s, r)
		}
		w.plan()
		return
	}
	s.Addr, s.Gateway, s.answered = r.Addr, r.Gateway, true
	w.addBackOff, w.addAfter = 0, 0
	if w.waiting {
		w.waiting = false
		k.waits.placed(now - w.waitSince)
	}
	if k.hooks.Answered != nil {
		k.hooks.Answered(k.node, s)
	}
	w.plan()
}

// timeout gives up on a plugin that has not answered: its outcome is unknown.
func (w *worker) timeout() {
	k, what := w.k, w.doing
	if m, ok := k.machine.(Withdrawer); ok {
		m.Withdraw(k.node, w.subject())
	}
	late := CNIResult{Code: 100, Message: "timeout"} // 100 and above are a plugin's own (spec 1.1 section "Error")
	if what == doAdd {
		w.added(late)
	} else {
		w.deleted(late)
	}
}

// subject is the owner of the sandbox that a plugin works on.
func (w *worker) subject() ipam.Owner {
	if w.doing == doAdd {
		return w.current.Owner
	}
	return w.old[0].Owner
}

func (w *worker) del() {
	k, s := w.k, w.old[0]
	k.expect(w)
	op := w.op
	k.machine.Del(k.node, CNIDel{Owner: s.Owner, Netns: s.Netns}, func(r CNIResult) {
		if w.op == op && w.begun {
			w.deleted(r)
		}
	})
}

// deleted takes the DEL's result. The namespace is removed only after a DEL that succeeded, as containerd does.
func (w *worker) deleted(r CNIResult) {
	k, s := w.k, w.old[0]
	w.rest()
	if r.Code != 0 {
		w.delBackOff = backOff(w.delBackOff, k.Config.Retry, k.Config.RetryMax)
		w.delAfter = k.clock.Now() + w.delBackOff
		w.plan()
		return
	}
	w.delBackOff, w.delAfter = 0, 0
	if k.hooks.Deleted != nil {
		k.hooks.Deleted(k.node, s)
	}
	if k.Config.RepeatDel && !w.repeated {
		w.repeated = true
		w.plan()
		return
	}
	w.repeated = false
	w.old = w.old[1:]
	if s.exists {
		k.machine.RemoveNetns(k.node, s.Netns)
		k.vanished(s)
	}
	w.plan()
}

// remove takes the pod's object out of the API.
func (w *worker) remove() {
	op := w.op
	c := &podCall{api: w.k.api, verb: verbRemove, key: w.pod.Key(), uid: w.pod.UID}
	c.done = func(err error) {
		if w.op == op && w.begun {
			w.removed(err)
		}
	}
	c.send(w.k.at)
}

func (w *worker) removed(err error) {
	w.rest()
	switch err {
	case nil, ErrNotFound, ErrConflict: // a conflict: the name belongs to a later pod
		w.end()
		return
	}
	w.delBackOff = backOff(w.delBackOff, w.k.Config.Retry, w.k.Config.RetryMax)
	w.delAfter = w.k.clock.Now() + w.delBackOff
	w.plan()
}

// rest ends what is under way or planned.
func (w *worker) rest() {
	w.doing, w.begun, w.next = doNothing, false, nil
	w.op++
}

// retire makes the current sandbox one to be torn down.
func (w *worker) retire() {
	w.old = append(w.old, w.current)
	w.current = nil
	w.told.ip = netip.Addr{}
}

// starve notes that the pod waits for an address.
func (w *worker) starve(now time.Duration) {
	if !w.waiting {
		w.waiting, w.waitSince = true, now
		w.k.waits.begin(now)
	}
}

// forget drops what only the process remembers; plugins that run are the runtime's.
func (w *worker) forget() {
	if !w.begun || w.doing == doRemove {
		w.rest()
	}
	w.addBackOff, w.addAfter, w.delBackOff, w.delAfter = 0, 0, 0, 0
	w.telling, w.told = false, podStatus{}
	w.tellLife++
	w.account()
}

// powerOff ends every process of the pod.
func (w *worker) powerOff() {
	w.rest()
	if w.current != nil {
		w.retire()
	}
	for _, s := range w.old {
		w.k.vanished(s)
	}
	w.repeated = false
	w.account()
}

// end is the end of the worker.
func (w *worker) end() {
	if w.ended {
		return
	}
	w.ended = true
	w.rest()
	w.tellLife++
	if w.waiting {
		w.waiting = false
		w.k.waits.Never++
	}
	delete(w.k.workers, w.pod.UID)
	w.account()
}

// account keeps the kubelet's count of pods that are not where they should be.
func (w *worker) account() {
	up := w.doing == doNothing && len(w.old) == 0 && w.current != nil && w.current.answered && !w.stopping()
	settled := w.ended || up && !w.telling && w.told == w.status()
	if settled != w.settled {
		w.settled = settled
		if settled {
			w.k.countUnsettled(-1)
		} else {
			w.k.countUnsettled(1)
		}
	}
	// While a plugin runs, or a sandbox has to be torn down, more is under way than waiting.
	starved := w.waiting && !w.begun && len(w.old) == 0 && !w.stopping() && !w.ended
	if starved != w.starved {
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
	case !w.k.synced:
		b = append(b, "kubelet has not listed its pods"...)
	case w.doing == doNothing:
		b = append(b, "status not acknowledged"...)
	case w.begun:
		b = append(b, doingNames[w.doing]...)
		b = append(b, " has no answer"...)
	default:
		b = append(b, doingNames[w.doing]...)
		b = append(b, " comes next"...)
	}
	if w.waiting {
		b = append(b, ", waits for an address"...)
	}
	return b
}
