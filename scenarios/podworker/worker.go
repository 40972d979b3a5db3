package podworker

import "time"

// Do is one thing that a kubelet does with a pod.
type Do uint8

// What a kubelet does.
const (
	Nothing Do = iota
	// Add makes a sandbox and asks the CNI plugin to connect it; Del asks it to disconnect one, which then goes.
	Add
	Del
	// Again asks the plugin a second time to connect a sandbox that it has connected.
	Again
	// Remove takes the pod's object out of the API.
	Remove
)

var names = [...]string{Nothing: "rest", Add: "add", Del: "del", Again: "add again", Remove: "remove"}

// String is one word.
func (d Do) String() string { return names[d] }

// Config is how a kubelet behaves.
type Config struct {
	// Retry and RetryMax bound the backoff after failures, which doubles.
	Retry, RetryMax time.Duration
	// RepeatAdd sends each ADD a second time after it succeeded, as runtimes do that lost the answer.
	RepeatAdd bool
	// RepeatDel sends each DEL a second time after it succeeded, as kubelets do that restart at a bad moment.
	RepeatDel bool
	// AddBeforeDel makes a replacement's ADD start before the old sandbox's DEL, as some runtimes do. After an ADD that failed the old
	// sandboxes go first.
	AddBeforeDel bool
}

// Backoff is the next wait after one of d: Retry, then doubling up to RetryMax.
func (c *Config) Backoff(d time.Duration) time.Duration {
	if d <= 0 {
		return c.Retry
	}
	return min(2*d, c.RetryMax)
}

// Step is one planned thing.
type Step struct {
	Do Do
	// After is when it may begin at the earliest.
	After time.Duration
	// Op is its number: what belongs to an older number is over.
	Op int
}

// Worker tends one pod. S is what the driver calls a sandbox.
type Worker[S any] struct {
	config *Config
	// deleting: the pod is to go; gone: its object does not exist any more, so nobody waits for its removal.
	deleting, gone, ended bool
	// current is the sandbox that the pod has or gets, old those to be torn down, oldest first.
	current       S
	has, answered bool
	old           []S
	attempt       int

	step  Step
	begun bool
	op    int

	addBackoff, delBackoff time.Duration
	addAfter, delAfter     time.Duration
	repeated               bool // old[0] got its first successful DEL
	readded                bool // current got its second ADD
	waiting                bool // for an address
}

// New returns the worker of a pod that has nothing yet. The configuration may change between calls; it holds for what begins later.
func New[S any](c *Config) Worker[S] { return Worker[S]{config: c} }

// See tells that the pod's object exists, and whether it is to go. Vanish tells that it does not exist any more.
func (w *Worker[S]) See(deleting bool) { w.deleting, w.gone = deleting, false }
func (w *Worker[S]) Vanish()           { w.gone = true }

// Stopping reports that the pod must go away; Ended that the worker has nothing to do any more.
func (w *Worker[S]) Stopping() bool { return w.gone || w.deleting }
func (w *Worker[S]) Ended() bool    { return w.ended }

// Repeated reports that the DEL of the oldest sandbox has succeeded once and is sent again.
func (w *Worker[S]) Repeated() bool { return w.repeated }

// Attempt counts the pod's sandboxes so far.
func (w *Worker[S]) Attempt() int { return w.attempt }

// Planned is what was planned last, Begun whether it is under way.
func (w *Worker[S]) Planned() Step { return w.step }
func (w *Worker[S]) Begun() bool   { return w.begun }

// Plan decides what comes next, unless something is under way. fresh: it was not planned before.
func (w *Worker[S]) Plan() (step Step, fresh bool) {
	if w.ended || w.begun {
		return w.step, false
	}
	do, after := w.decide()
	if do == w.step.Do && do != Nothing {
		return w.step, false
	}
	if do != Nothing || w.step.Do != Nothing {
		w.op++
	}
	w.step = Step{Do: do, After: after, Op: w.op}
	if do == Remove && w.gone {
		w.End()
		return w.step, false
	}
	return w.step, do != Nothing
}

// decide says what the pod needs: old sandboxes are torn down first, mostly, then a pod that stops is taken away, and one that does not
// gets a sandbox.
func (w *Worker[S]) decide() (Do, time.Duration) {
	wants := !w.Stopping() && !w.has
	switch {
	case len(w.old) > 0 && !(w.config.AddBeforeDel && wants && w.addBackoff == 0):
		return Del, w.delAfter
	case w.Stopping() && w.has:
		w.retire()
		return Del, w.delAfter
	case w.Stopping():
		return Remove, w.delAfter
	case wants:
		return Add, w.addAfter
	case w.config.RepeatAdd && w.answered && !w.readded:
		return Again, 0
	}
	return Nothing, 0
}

// Begin reports that a planned thing is still wanted, and is under way from now on.
func (w *Worker[S]) Begin(op int) bool {
	if w.op != op || w.begun || w.step.Do == Nothing {
		return false
	}
	w.begun = true
	return true
}

// Adding names the sandbox of an Add that has begun. From now on a DEL for it is owed.
func (w *Worker[S]) Adding(s S) {
	w.attempt++
	w.current, w.has, w.answered, w.readded = s, true, false, false
}

// Subject is the sandbox that the present Add, Again or Del is about.
func (w *Worker[S]) Subject() S {
	if w.step.Do == Del {
		return w.old[0]
	}
	return w.current
}

// Current is the sandbox in which the pod runs; false while it has none.
func (w *Worker[S]) Current() (s S, runs bool) { return w.current, w.has && w.answered }

// Has is the sandbox that the pod has or gets; Old are those to be torn down.
func (w *Worker[S]) Has() (s S, has bool) { return w.current, w.has }
func (w *Worker[S]) Old() []S             { return w.old }

// Live reports whether an outcome of this number is awaited.
func (w *Worker[S]) Live(op int) bool { return w.op == op && w.begun }

// Added tells the outcome of an Add or Again; exhausted: it was refused for want of what others have to give back first. A sandbox whose ADD failed, or got no answer, is torn down: its outcome is unknown.
func (w *Worker[S]) Added(now time.Duration, ok, exhausted bool) {
	w.readded = w.step.Do == Again
	w.clear()
	if !ok {
		w.waiting = w.waiting || exhausted
		w.addBackoff = w.config.Backoff(w.addBackoff)
		w.addAfter = now + w.addBackoff
		w.retire()
		return
	}
	w.answered, w.waiting = true, false
	w.addBackoff, w.addAfter = 0, 0
}

// Deleted tells the outcome of a Del; removed reports that the sandbox goes now: its namespace is removed only after a DEL that
// succeeded, as containerd does.
func (w *Worker[S]) Deleted(now time.Duration, ok bool) (removed bool) {
	w.clear()
	if !ok {
		w.backDel(now)
		return false
	}
	w.delBackoff, w.delAfter = 0, 0
	if w.config.RepeatDel && !w.repeated {
		w.repeated = true
		return false
	}
	w.repeated = false
	w.old = w.old[1:]
	return true
}

// Removed tells the outcome of a Remove.
func (w *Worker[S]) Removed(now time.Duration, ok bool) {
	w.clear()
	if ok {
		w.End()
		return
	}
	w.backDel(now)
}

func (w *Worker[S]) backDel(now time.Duration) {
	w.delBackoff = w.config.Backoff(w.delBackoff)
	w.delAfter = now + w.delBackoff
}

// clear ends what is under way or planned.
func (w *Worker[S]) clear() {
	w.op++
	w.step, w.begun = Step{Op: w.op}, false
}

// retire makes the current sandbox one to be torn down.
func (w *Worker[S]) retire() {
	var none S
	w.old = append(w.old, w.current)
	w.current, w.has, w.answered = none, false, false
}

// Replace retires a sandbox that has died; false when the pod has none with an address, or is to go, or a plugin is busy with it.
func (w *Worker[S]) Replace() bool {
	if w.begun && w.step.Do == Again || !w.has || !w.answered || w.Stopping() {
		return false
	}
	w.retire()
	return true
}

// Lose takes the sandbox away of which the runtime has forgotten everything: no DEL is owed for it. False when the pod has none with an
// address, or a plugin is busy.
func (w *Worker[S]) Lose() (lost S, ok bool) {
	if w.begun || !w.has || !w.answered {
		return lost, false
	}
	lost = w.current
	var none S
	w.current, w.has, w.answered = none, false, false
	w.clear()
	return lost, true
}

// Hurry forgets how long an ADD should wait: something has changed for which it is worth trying again.
func (w *Worker[S]) Hurry() {
	w.addBackoff, w.addAfter = 0, 0
	if w.step.Do == Add && !w.begun {
		w.step.After = 0
	}
}

// Forget drops what only the kubelet's process remembers when it ends; plugins that run are the runtime's.
func (w *Worker[S]) Forget() {
	if !w.begun || w.step.Do == Remove {
		w.clear()
	}
	w.addBackoff, w.addAfter, w.delBackoff, w.delAfter = 0, 0, 0, 0
}

// PowerOff ends every process of the pod: what was under way is forgotten, and every sandbox owes its DEL.
func (w *Worker[S]) PowerOff() {
	w.clear()
	if w.has {
		w.retire()
	}
	w.repeated = false
}

// End is the end of the worker.
func (w *Worker[S]) End() {
	if !w.ended {
		w.ended, w.waiting = true, false
		w.clear()
	}
}

// Settled reports that the pod is as it should be and nothing is planned.
func (w *Worker[S]) Settled() bool {
	return w.ended || w.step.Do == Nothing && len(w.old) == 0 && w.has && w.answered && !w.Stopping()
}

// Waiting reports that the last ADD was refused for want of an address; Starved that nothing else is to do: while a plugin runs, or
// a sandbox has to be torn down, more is under way than waiting.
func (w *Worker[S]) Waiting() bool { return w.waiting }
func (w *Worker[S]) Starved() bool {
	return w.waiting && !w.begun && len(w.old) == 0 && !w.Stopping() && !w.ended
}
