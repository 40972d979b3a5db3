package cluster

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios/podworker"
)

// deadline is the end of a worker's operation, unless that has ended.
type deadline struct {
	at time.Duration
	w  *worker
	op int
}

// expect sets a deadline for a worker's present operation. Deadlines of one kubelet share one event at a time, so that
// a thousand plugins that answer cost a few events a minute and not a thousand.
func (k *Kubelet) expect(w *worker) {
	k.deadlines = append(k.deadlines, deadline{k.clock.Now() + k.timeout, w, w.Planned().Op})
	k.armDeadline()
}

func (k *Kubelet) armDeadline() {
	for len(k.deadlines) > 0 && !k.deadlines[0].open() {
		k.deadlines = k.deadlines[1:]
	}
	if !k.armed && len(k.deadlines) > 0 {
		k.armed = true
		k.clock.After(max(0, k.deadlines[0].at-k.clock.Now()), (*deadlineCheck)(k))
	}
}

func (d deadline) open() bool {
	return d.w.Live(d.op) && d.w.Planned().Do != podworker.Remove
}

type deadlineCheck Kubelet

func (c *deadlineCheck) AppendText(b []byte) []byte {
	return append((*Kubelet)(c).appendStill((*Kubelet)(c).appendName(b)), "checks plugins"...)
}

func (c *deadlineCheck) Fire() {
	k := (*Kubelet)(c)
	if k.paused {
		k.hold(c.Fire)
		return
	}
	k.armed = false
	now := k.clock.Now()
	for len(k.deadlines) > 0 && k.deadlines[0].at <= now {
		d := k.deadlines[0]
		k.deadlines = k.deadlines[1:]
		if d.open() {
			d.w.timeout()
		}
	}
	k.armDeadline()
}
