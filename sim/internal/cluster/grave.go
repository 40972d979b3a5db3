package cluster

import "time"

const (
	// graveTime is how long a runtime lists a dead sandbox: kubelets collect garbage every minute.
	graveTime = time.Minute
	// syncTime is until a kubelet looks at a pod again.
	syncTime = time.Second
)

// grave is what a container runtime still lists of a pod's dead sandboxes. A kubelet takes the sandbox with the latest
// stamp for the pod's present one (podSandboxChanged: "the ready sandbox is not the latest one"): where the wall clock
// was set back, that is a dead one, and the living one goes.
type grave struct {
	// latest is the latest stamp among the dead, until when that one is listed.
	latest, until time.Duration
	// doubted is a living sandbox that the kubelet is about to replace.
	doubted *Sandbox
}

// bury notes that a sandbox of the pod has died.
func (w *worker) bury(s *Sandbox) {
	now := w.k.clock.Now()
	if s.Created >= w.latest || now >= w.until {
		w.latest, w.until = s.Created, now+graveTime
	}
	if w.doubted == s {
		w.doubted = nil
	}
}

// compare has the kubelet look whether a sandbox that is up is the pod's latest.
func (w *worker) compare(s *Sandbox) {
	if k := w.k; k.Config.NewestByClock && s.Created < w.latest && k.clock.Now() < w.until {
		w.doubted = s
		k.clock.After(syncTime, &comparison{w, s})
	}
}

// comparison is the event in which a kubelet finds that a pod's sandbox is not the latest.
type comparison struct {
	w *worker
	s *Sandbox
}

func (c *comparison) due() bool {
	s, runs := c.w.Current()
	return c.w.doubted == c.s && !c.w.ended && runs && s == c.s
}

func (c *comparison) AppendText(b []byte) []byte {
	b = c.w.k.appendName(b)
	if !c.due() {
		b = append(b, "leaves "...)
	}
	b = c.w.k.appendStill(b)
	b = append(b, "replace "...)
	b = c.w.pod.Key().AppendText(b)
	return append(b, ": not the latest by the clock"...)
}

func (c *comparison) Fire() {
	if c.w.k.paused {
		c.w.k.hold(c.Fire)
		return
	}
	w, due := c.w, c.due()
	if w.doubted == c.s {
		w.doubted = nil
	}
	if due && w.k.running {
		w.replace()
	}
	w.account()
}
