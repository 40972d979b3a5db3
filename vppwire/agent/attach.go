package agent

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/linkname"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// podAdd takes a CNI ADD: address, journal, wiring, hooks, answer, in this order. The same sandbox gets the same answer
// again; another sandbox of the same pod has the older one removed first.
func (p *pods) podAdd(e PodAdd) {
	s := e.Sandbox
	switch {
	case !s.Owner.Valid():
		p.refuse(e.Request, CodeInvalidEnv, "attachment %q: network, container ID and interface name are needed", s.Owner)
		return
	case !path.IsAbs(s.Netns):
		p.refuse(e.Request, CodeInvalidEnv, "network namespace %q: an absolute path is needed", s.Netns)
		return
	}
	if err := linkname.Check(s.Owner.IfName); err != nil {
		p.refuse(e.Request, CodeInvalidEnv, "interface name: %v", err)
		return
	}
	if why := p.unsocketed(s); why != "" {
		p.refuse(e.Request, CodeInvalidConfig, "%s", why)
		return
	}
	t := p.byOwner[s.Owner]
	switch {
	case t == nil:
		t = p.begin(s, e)
	case t.removing():
		p.hasten(t)
		t = p.beginAgain(t, s, e)
	case t.stale || t.sandbox.Netns != s.Netns || t.sandbox.Memif != s.Memif:
		p.remove(t) // the container has a new namespace, or another wish: nothing of the old wiring can stay
		if p.byOwner[s.Owner] == nil {
			t = p.begin(s, e)
		} else {
			t = p.beginAgain(t, s, e)
		}
	case !t.grants(e.Wanted):
		p.refuse(e.Request, CodeInvalidEnv, WantedRefused+"%s: the attachment has, or is being given, another address", joined(e.Wanted))
		return
	}
	t.adds = append(t.adds, e.Request)
	p.requests[e.Request] = t
	if t.phase == phaseUp {
		p.answerIfDone(t)
		p.patience(t)
	}
}

// patience begins for an ADD that an earlier life began, whose attachment stands in the journal and perhaps nowhere
// else.
func (p *pods) patience(t *attachment) {
	if len(t.adds) == 0 || slices.Contains(p.underway, t) {
		return
	}
	t.since = p.now
	p.underway = append(p.underway, t)
	p.todo |= todoPods
	p.judgeWiring() // why it cannot succeed may be known already
}

// begin files a new attachment, to be admitted before the Step ends.
func (p *pods) begin(s Sandbox, e PodAdd) *attachment {
	t := &attachment{sandbox: s, external: [2]netip.Addr{e.External, e.ExternalSecond}, wanted: e.Wanted, since: p.now}
	p.add(t)
	p.waiting = append(p.waiting, t)
	p.todo |= todoPods
	if k, ok := t.pod(); ok {
		p.hasten(p.byPod[k][0])
	}
	return t
}

// beginAgain files an attachment behind the removal of one with the same owner.
func (p *pods) beginAgain(t *attachment, s Sandbox, e PodAdd) *attachment {
	if t.again == nil {
		t.again = &attachment{since: p.now}
	}
	t.again.sandbox, t.again.external, t.again.wanted = s, [2]netip.Addr{e.External, e.ExternalSecond}, e.Wanted
	return t.again
}

// admitPods goes through waiting ADDs in their order. What only people, or the end of another node, can end is not
// waited for.
func (p *pods) admitPods() {
	hopeless := p.rest.hopeless()
	if len(p.waiting) == 0 || p.rest.notReady() != "" && hopeless.Code == 0 {
		return
	}
	for _, t := range slices.Clone(p.waiting) {
		if t.phase != phaseWaiting || p.byOwner[t.sandbox.Owner] != t {
			continue
		}
		if hopeless.Code == 0 {
			p.admit(t)
			continue
		}
		p.forget(t)
		p.answerAdds(t, hopeless)
	}
}

// hopeless is what ADDs are answered that need not wait: there is no ID for the node, or no room for it in the address
// ranges. The zero Answer: there may be soon.
func (a *Agent) hopeless() Answer {
	switch why := a.unfit(); {
	case why != "":
		return Answer{Code: CodeInvalidConfig, Message: why}
	case a.ids.Full():
		return Answer{Code: CodeTryAgain, Message: a.ids.Waiting()}
	}
	return Answer{}
}

// unfit says why the node's ID has no room in the address ranges; empty when it has, or had in older ones that are
// known.
func (a *Agent) unfit() string {
	if a.node.ID != 0 || a.ids.Acting() == 0 || !a.ranges.known || a.ranges.mineOK {
		return ""
	}
	return a.ranges.unfit
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
	case a.unfit() != "":
		return a.unfit()
	case a.node.ID == 0 && a.ranges.mineOK && a.unstolen() != "":
		return a.unstolen()
	case a.node.ID == 0 && a.ranges.mineOK && a.unleased() != "":
		return a.unleased()
	case a.node.ID == 0 && a.ranges.mineOK:
		return "the node's address is not known"
	case len(a.alloc.Blocks()) == 0 && !a.ranges.blocked:
		return "no block of addresses yet"
	}
	return ""
}

// admit gives an ADD its address, unless older sandboxes of its pod, or whoever had the address that it brings, have to
// go first.
func (p *pods) admit(t *attachment) {
	if k, ok := t.pod(); ok {
		older := slices.Clone(p.byPod[k])
		older = older[:slices.Index(older, t)]
		for _, o := range older {
			if !o.removing() {
				p.log(levelInfo, "pod %s/%s: sandbox %s replaces %s", k.namespace, k.name, t.sandbox.Owner.ContainerID, o.sandbox.Owner.ContainerID)
				p.remove(o)
			}
		}
		if p.byPod[k][0] != t {
			return // erased calls back
		}
	}
	records, err := p.allocate(t)
	if err == nil {
		if err = p.number(t); err != nil {
			p.release(t)
		}
	}
	if errors.Is(err, ipam.ErrTaken) && t.external[0].IsValid() {
		return // the plugin that gave the address has taken it back from whoever has it here, whose DEL is under way
	}
	if err != nil {
		p.forget(t)
		p.answerAdds(t, refusal(err))
		return
	}
	p.waiting = without(p.waiting, t)
	t.phase = phaseSaving
	list := ipamRecords(records)
	if t.sandbox.Memif != 0 {
		list = append(list, Record{Kind: RecordFormat, Format: formatMemif})
	}
	list = append(list, Record{Kind: RecordSandbox, Sandbox: t.sandbox, Number: t.number})
	p.journal.persist(list, journalWaiter{what: stepAttach, att: t})
}

// allocate gives t an address of each family, or none. The family that had none last is asked first: an address of the
// other one that is given back would cool, and after some tries there would be none of either.
func (p *pods) allocate(t *attachment) (records []ipam.Record, err error) {
	pools := p.rest.pools()
	want, err := t.wants(pools)
	if err != nil {
		return nil, err
	}
	order := [...]int{0, 1}
	if p.scarce {
		order = [...]int{1, 0}
	}
	for _, k := range order {
		if k >= len(pools) {
			continue
		}
		owner, lease := t.sandbox.Owner, &t.lease
		if k == 1 {
			owner, lease = owner.Second(), &t.second
		}
		var list []ipam.Record
		if *lease, list, err = p.alloc.Allocate(p.now, owner, ipam.Want{Addr: want[k], Pool: pools[k]}); err != nil {
			if len(records) > 0 {
				p.release(t)
			}
			if p.scarce = k == 1; len(pools) > 1 {
				err = fmt.Errorf("%s: %w", pools[k], err)
			}
			err = t.unmet(want[k], err)
			break
		}
		if k == 1 {
			records = append(records, list...)
		} else {
			records = append(list, records...)
		}
	}
	if errors.Is(err, ipam.ErrNoBlock) && p.rest.awaitedBlocks() != "" {
		err = fmt.Errorf("%w: %s", err, p.rest.awaitedBlocks())
	}
	return records, err
}

// release gives t's addresses back.
func (p *pods) release(t *attachment) []ipam.Record {
	released := p.alloc.Release(p.now, t.sandbox.Owner)
	if t.second.Addr.IsValid() {
		released = append(released, p.alloc.Release(p.now, t.second.Owner)...)
	}
	return released
}

// pools are the pools of a pod's addresses, the primary first.
func (a *Agent) pools() []string {
	plan := &a.ranges.plan
	if plan.Second == nil {
		return onePool
	}
	return plan.FamilyPools()
}

var onePool = []string{""}

// number gives t a number, and with it an address of VPP's end where such are wanted.
func (p *pods) number(t *attachment) error {
	if !p.takeNumber(t) {
		return errTooMany
	}
	_, err := p.vppEnd(t)
	return err
}

// vppEnd is the address of VPP's end of a pod's interface, the zero Addr where it borrows one.
func (p *pods) vppEnd(t *attachment) (netip.Addr, error) {
	if !p.node.PodIf.IsValid() {
		return netip.Addr{}, nil
	}
	return contiv.Plan{PodIf: p.node.PodIf}.PodIfAddr(t.number)
}

// errTooMany: VPP has no tap number left.
var errTooMany = fmt.Errorf("a node can hold %d attachments and does", mode.PodNumberMax)

// refusal turns an allocator's error into an answer.
func refusal(err error) Answer {
	e := Answer{Code: CodeTryAgain, Message: err.Error()}
	switch {
	case errors.Is(err, ipam.ErrCooling): // another address would be free
	case errors.Is(err, ipam.ErrExhausted), errors.Is(err, ipam.ErrNoBlock):
		e.Exhausted = true
	case errors.Is(err, ipam.ErrNotInPool):
		e.Code = CodeInvalidConfig
	}
	return e
}

// attachWritten wires an attachment whose address is on disk.
func (p *pods) attachWritten(t *attachment) {
	if t.phase != phaseSaving {
		return // a DEL was faster
	}
	t.phase, t.since = phaseWiring, p.now
	p.underway = append(p.underway, t)
	p.todo |= todoPods | todoPolicies // the alarm for its patience
	p.wirePod(t)
}

// attachFailed undoes an attachment that could not be written; false when it is being removed already. It is forgotten
// when the disk has certainly forgotten it.
func (p *pods) attachFailed(t *attachment, err error) bool {
	if t.phase != phaseSaving {
		return false
	}
	for _, r := range p.release(t) { // the journal is rewritten as a whole
		p.journal.drop(&r, p.journal.seq+1)
	}
	p.answerAdds(t, Answer{Code: CodeIO, Message: "journal: " + err.Error()})
	t.phase = phaseErasing
	return true
}

// wirePod makes the Session want the attachment. Nothing is wanted before the node itself is: pods hang on its tables.
func (p *pods) wirePod(t *attachment) {
	if p.node.ID == 0 || t.stale {
		return
	}
	facts := t.facts()
	var err error
	if facts.VPPEnd, err = p.vppEnd(t); err != nil {
		p.log(levelError, "pod %s/%s is not wired anew: %v", t.sandbox.PodNamespace, t.sandbox.PodName, err)
		return
	}
	facts.Filter = p.rest.filter(t.sandbox.PodNamespace, t.sandbox.PodName)
	if name := p.wiring.PodInterface(facts); name != t.iface {
		t.iface = name
		p.changes++
	}
	p.wire.Set(t.group, p.wiring.PodObjects(p.node, facts))
}

// wirePods wires every attachment that should be, after a restart or a change that concerns them all.
func (p *pods) wirePods() {
	for _, t := range p.sorted() {
		if t.phase >= phaseWiring && t.phase <= phaseUnhooking {
			p.wirePod(t)
		}
	}
}

// standingFirst has a VPP that starts anew wired for pods that stand before it is for ADDs that were under way when the
// last one ended.
func (p *pods) standingFirst() {
	for _, t := range p.underway {
		p.wire.Behind(t.group, t.phase == phaseWiring)
	}
}

// groupDone goes on with the attachment whose group the Session has finished.
func (p *pods) groupDone(name string) {
	if len(name) < len(groupPods) || name[:len(groupPods)] != groupPods {
		return
	}
	t := p.byGroup[name]
	if t == nil {
		return
	}
	switch t.phase {
	case phaseWiring, phaseUp:
		p.answerIfDone(t)
	case phaseUnwiring:
		if done, _ := p.wire.Done(name); done && p.looked && !p.named {
			p.erase(t)
		}
	}
}

// answerIfDone ends an ADD whose wiring stands.
func (p *pods) answerIfDone(t *attachment) {
	if t.stale || p.node.ID == 0 || t.iface == "" {
		return
	}
	if done, _ := p.wire.Done(t.group); !done || !p.looked {
		return
	}
	p.underway = without(p.underway, t)
	if t.phase == phaseUp && !(t.unhooked && len(t.adds) > 0) {
		p.answerAdds(t, Answer{Result: p.result(t)})
		return
	}
	p.todo |= todoPods
	t.wired = true
	p.changes++
	if p.hookAfter(t) {
		t.phase = phaseHooking
		return
	}
	p.attached(t)
}

func (p *pods) attached(t *attachment) {
	t.phase, p.failing = phaseUp, ""
	p.changes++
	p.wire.Behind(t.group, false)
	p.answerAdds(t, Answer{Result: p.result(t)})
}

// judgeWaiting refuses ADDs that have waited for AddPatience: the runtime learns why.
func (p *pods) judgeWaiting() {
	for _, t := range slices.Clone(p.waiting) {
		if p.now.Before(t.since.Add(p.cfg.AddPatience)) {
			continue
		}
		why := cmp.Or(p.rest.notReady(), "an older sandbox of the pod, or one with its address, is still being removed")
		p.forget(t)
		p.answerAdds(t, Answer{Code: CodeTryAgain, Message: why})
	}
}

// judgeWiring fails ADDs that cannot succeed: at once when the sandbox's namespace is gone or somebody else's file is where its socket should be, otherwise when VPP or Linux
// have gone on refusing for longer than AddPatience. Both are undone.
func (p *pods) judgeWiring() {
	for _, t := range slices.Clone(p.underway) {
		done, err := p.wire.Done(t.group)
		switch {
		case done || err == nil:
		case errors.Is(err, vppwire.ErrNoNamespace):
			p.fail(t, CodeUnknownContainer, err)
		case errors.Is(err, vppwire.ErrForeignFile):
			p.fail(t, CodeInvalidConfig, err)
		case !p.now.Before(t.since.Add(p.cfg.AddPatience)):
			p.failing = wiringTrouble(t, err)
			p.fail(t, CodeTryAgain, err)
		}
		if !t.removing() && !p.now.Before(t.since.Add(p.cfg.AddPatience)) {
			if why := p.rest.notReady(); p.node.ID == 0 && t.phase == phaseUp && why != "" {
				// An earlier life gave the address, and in this one the node itself is not wired. The runtime's DEL will take it
				// back.
				p.answerAdds(t, Answer{Code: CodeTryAgain, Message: why})
			}
			// Nobody refuses: VPP is away, or the runtime waits no more. The runtime decides how long that may take.
			p.underway = without(p.underway, t)
			p.todo |= todoPods
		}
	}
}

// judgeRoom fails every ADD that VPP has no room for: others have to go first, and nobody knows when. An ADD that an
// earlier life began is one of them when the runtime repeats it.
func (p *pods) judgeRoom() {
	for _, t := range p.sorted() {
		if t.phase != phaseWiring && (t.phase != phaseUp || len(t.adds) == 0) {
			continue
		}
		if _, err := p.wire.Done(t.group); errors.Is(err, vppwire.ErrNoRoom) {
			p.emit(Log{Level: levelWarn, Reason: ReasonNoRoom, Namespace: t.sandbox.PodNamespace, PodName: t.sandbox.PodName, Message: err.Error()})
			p.underway = without(p.underway, t)
			p.fail(t, CodeTryAgain, err)
		}
	}
}

func (p *pods) fail(t *attachment, code Code, err error) {
	p.log(levelWarn, "pod %s/%s: %v", t.sandbox.PodNamespace, t.sandbox.PodName, err)
	p.answerAdds(t, Answer{Code: code, Message: err.Error()})
	p.remove(t)
}

// answerAdds answers every open ADD of the attachment.
func (p *pods) answerAdds(t *attachment, e Answer) {
	for _, request := range t.adds {
		e.Request = request
		delete(p.requests, request)
		p.emit(e)
	}
	t.adds = nil
}

func (p *pods) refuse(request uint64, code Code, format string, args ...any) {
	p.emit(refused(request, code, format, args...))
}

func refused(request uint64, code Code, format string, args ...any) Answer {
	return Answer{Request: request, Code: code, Message: fmt.Sprintf(format, args...)}
}
