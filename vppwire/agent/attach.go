package agent

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/linkname"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// podAdd takes a CNI ADD: address, journal, wiring, hooks, answer, in this order. The same sandbox gets the same answer
// again; another sandbox of the same pod has the older one removed first.
func (a *Agent) podAdd(e PodAdd) {
	s := e.Sandbox
	switch {
	case !s.Owner.Valid():
		a.refuse(e.Request, CodeInvalidEnv, "attachment %q: network, container ID and interface name are needed", s.Owner)
		return
	case !path.IsAbs(s.Netns):
		a.refuse(e.Request, CodeInvalidEnv, "network namespace %q: an absolute path is needed", s.Netns)
		return
	}
	if err := linkname.Check(s.Owner.IfName); err != nil {
		a.refuse(e.Request, CodeInvalidEnv, "interface name: %v", err)
		return
	}
	t := a.pods.byOwner[s.Owner]
	switch {
	case t == nil:
		t = a.begin(s, e)
	case t.removing():
		t = a.beginAgain(t, s, e)
	case t.stale || t.sandbox.Netns != s.Netns:
		a.remove(t) // the container has a new namespace: nothing of the old wiring can stay
		if a.pods.byOwner[s.Owner] == nil {
			t = a.begin(s, e)
		} else {
			t = a.beginAgain(t, s, e)
		}
	}
	t.adds = append(t.adds, e.Request)
	a.pods.requests[e.Request] = t
	if t.phase == phaseUp {
		a.answerIfDone(t)
	}
}

// begin files a new attachment, to be admitted before the Step ends.
func (a *Agent) begin(s Sandbox, e PodAdd) *attachment {
	t := &attachment{sandbox: s, external: e.External}
	a.pods.add(t)
	a.pods.waiting = append(a.pods.waiting, t)
	a.todo |= todoPods
	return t
}

// beginAgain files an attachment behind the removal of one with the same owner.
func (a *Agent) beginAgain(t *attachment, s Sandbox, e PodAdd) *attachment {
	if t.again == nil {
		t.again = &attachment{}
	}
	t.again.sandbox, t.again.external = s, e.External
	return t.again
}

// admitPods goes through waiting ADDs in their order.
func (a *Agent) admitPods() {
	if len(a.pods.waiting) == 0 || a.notReady() != "" {
		return
	}
	for _, t := range slices.Clone(a.pods.waiting) {
		if t.phase == phaseWaiting && a.pods.byOwner[t.sandbox.Owner] == t {
			a.admit(t)
		}
	}
}

// notReady says why no address can be given out; empty when one can.
func (a *Agent) notReady() string {
	switch {
	case !a.restored:
		return "the journal has not been read"
	case a.ids.Removed():
		return "the Node object is gone"
	case a.ids.Trouble() != "":
		return a.ids.Trouble()
	case !a.ranges.known:
		return "no address ranges are known"
	case a.ids.Claim().ID == 0 && a.ids.Waiting() != "":
		return a.ids.Waiting()
	case a.ids.Acting() == 0:
		return "no node ID yet"
	case a.node.ID == 0 && a.ranges.mineOK:
		return "the node's address is not known"
	case len(a.alloc.Blocks()) == 0 && !a.ranges.blocked:
		return "no block of addresses yet"
	}
	return ""
}

// admit gives an ADD its address, unless older sandboxes of its pod have to go first.
func (a *Agent) admit(t *attachment) {
	if k, ok := t.pod(); ok {
		older := slices.Clone(a.pods.byPod[k])
		older = older[:slices.Index(older, t)]
		for _, o := range older {
			if !o.removing() {
				a.log(levelInfo, "pod %s/%s: sandbox %s replaces %s", k.namespace, k.name, t.sandbox.Owner.ContainerID, o.sandbox.Owner.ContainerID)
				a.remove(o)
			}
		}
		if a.pods.byPod[k][0] != t {
			return // erased calls back
		}
	}
	lease, records, err := a.allocate(t)
	if err == nil && !a.pods.takeNumber(t) {
		a.alloc.Release(a.now, t.sandbox.Owner)
		err = errTooMany
	}
	if err != nil {
		a.pods.remove(t)
		a.answerAdds(t, refusal(err))
		return
	}
	a.pods.waiting = without(a.pods.waiting, t)
	t.lease, t.phase = lease, phaseSaving
	list := append(ipamRecords(records), Record{Kind: RecordSandbox, Sandbox: t.sandbox, Number: t.number})
	a.persist(list, journalWaiter{what: stepAttach, att: t})
}

func (a *Agent) allocate(t *attachment) (ipam.Lease, []ipam.Record, error) {
	lease, records, err := a.alloc.Allocate(a.now, t.sandbox.Owner, ipam.Want{Addr: t.external})
	if errors.Is(err, ipam.ErrNoBlock) && a.ranges.waiting != "" {
		err = fmt.Errorf("%w: %s", err, a.ranges.waiting)
	}
	return lease, records, err
}

// errTooMany: VPP has no tap number left.
var errTooMany = fmt.Errorf("a node can hold %d attachments and does", mode.PodNumberMax)

// refusal turns an allocator's error into an answer.
func refusal(err error) Answer {
	e := Answer{Code: CodeTryAgain, Message: err.Error()}
	switch {
	case errors.Is(err, ipam.ErrExhausted), errors.Is(err, ipam.ErrNoBlock):
		e.Exhausted = true
	case errors.Is(err, ipam.ErrNotInPool):
		e.Code = CodeInvalidConfig
	}
	return e
}

// attachWritten wires an attachment whose address is on disk.
func (a *Agent) attachWritten(t *attachment) {
	if t.phase != phaseSaving {
		return // a DEL was faster
	}
	t.phase, t.since = phaseWiring, a.now
	a.pods.wiring = append(a.pods.wiring, t)
	a.todo |= todoPods // the alarm for its patience
	a.wirePod(t)
}

// attachFailed undoes an attachment that could not be written.
func (a *Agent) attachFailed(t *attachment, err error) {
	if t.phase != phaseSaving {
		return
	}
	a.alloc.Release(a.now, t.sandbox.Owner) // the journal is rewritten as a whole: no records
	a.answerAdds(t, Answer{Code: CodeIO, Message: "journal: " + err.Error()})
	a.erased(t)
}

// wirePod makes the Session want the attachment. Nothing is wanted before the node itself is: pods hang on its tables.
func (a *Agent) wirePod(t *attachment) {
	if a.node.ID == 0 || t.stale {
		return
	}
	facts := t.facts()
	t.iface = a.wiring.PodInterface(facts)
	a.wire.Set(t.group, a.wiring.PodObjects(a.node, facts))
}

// wirePods wires every attachment that should be, after a restart or a change that concerns them all.
func (a *Agent) wirePods() {
	for _, t := range a.pods.sorted() {
		if t.phase >= phaseWiring && t.phase <= phaseUnhooking {
			a.wirePod(t)
		}
	}
}

// groupDone goes on with the attachment whose group the Session has finished.
func (a *Agent) groupDone(name string) {
	if len(name) < len(groupPods) || name[:len(groupPods)] != groupPods {
		return
	}
	t := a.pods.byGroup[name]
	if t == nil {
		return
	}
	switch t.phase {
	case phaseWiring, phaseUp:
		a.answerIfDone(t)
	case phaseUnwiring:
		if done, _ := a.wire.Done(name); done && a.looked {
			a.erase(t)
		}
	}
}

// answerIfDone ends an ADD whose wiring stands.
func (a *Agent) answerIfDone(t *attachment) {
	if t.stale || a.node.ID == 0 || t.iface == "" {
		return
	}
	if done, _ := a.wire.Done(t.group); !done || !a.looked {
		return
	}
	if t.phase == phaseUp {
		a.answerAdds(t, Answer{Result: a.result(t)})
		return
	}
	a.pods.wiring = without(a.pods.wiring, t)
	a.todo |= todoPods
	if a.hookAfter(t) {
		t.phase = phaseHooking
		return
	}
	a.attached(t)
}

func (a *Agent) attached(t *attachment) {
	t.phase = phaseUp
	a.answerAdds(t, Answer{Result: a.result(t)})
}

// judgeWiring fails ADDs that cannot succeed: at once when the sandbox's namespace is gone, otherwise when VPP or Linux
// have gone on refusing for longer than AddPatience. Both are undone.
func (a *Agent) judgeWiring() {
	for _, t := range slices.Clone(a.pods.wiring) {
		done, err := a.wire.Done(t.group)
		switch {
		case done || err == nil:
		case errors.Is(err, vppwire.ErrNoNamespace):
			a.fail(t, CodeUnknownContainer, err)
		case !a.now.Before(t.since.Add(a.cfg.AddPatience)):
			a.fail(t, CodeTryAgain, err)
		}
		if t.phase == phaseWiring && !a.now.Before(t.since.Add(a.cfg.AddPatience)) {
			// Nobody refuses: VPP is away, or the runtime waits no more. The runtime decides how long that may take.
			a.pods.wiring = without(a.pods.wiring, t)
			a.todo |= todoPods
		}
	}
}

func (a *Agent) fail(t *attachment, code Code, err error) {
	a.log(levelWarn, "pod %s/%s: %v", t.sandbox.PodNamespace, t.sandbox.PodName, err)
	a.answerAdds(t, Answer{Code: code, Message: err.Error()})
	a.remove(t)
}

// answerAdds answers every open ADD of the attachment.
func (a *Agent) answerAdds(t *attachment, e Answer) {
	for _, request := range t.adds {
		e.Request = request
		delete(a.pods.requests, request)
		a.emit(e)
	}
	t.adds = nil
}

func (a *Agent) refuse(request uint64, code Code, format string, args ...any) {
	a.emit(Answer{Request: request, Code: code, Message: fmt.Sprintf(format, args...)})
}
