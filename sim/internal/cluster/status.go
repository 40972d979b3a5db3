package cluster

// status is what the API should say about the pod.
func (w *worker) status() podStatus {
	s, runs := w.Current()
	if !runs {
		return podStatus{}
	}
	return podStatus{Running, s.Addr.Addr(), s.Second.Addr()}
}

// recheck compares what the API shows with what it has acknowledged: a late copy of an earlier report may have
// overtaken the last one. What it shows may also be old; then the report that follows changes nothing.
func (w *worker) recheck() {
	if !w.telling && !w.Stopping() && w.told == w.status() && w.told != (podStatus{w.pod.Phase, w.pod.IP, w.pod.Second}) {
		w.told = podStatus{}
	}
}

// stranded reports that the API shows an address of a pod that has lost it and waits for the next one. Endpoints made
// from that address would lead nowhere for as long as the pod waits.
func (w *worker) stranded() bool {
	return !w.ended && !w.withdrawn && w.Starved() && w.pod.IP.IsValid()
}

// tell reports the pod's status until the API acknowledges it. A pod that loses its address is not reported as long as
// the next address is on its way.
func (w *worker) tell() {
	want := w.status()
	if want != (podStatus{}) {
		w.withdrawn = false
	}
	if w.telling || w.ended || !w.stranded() && (want == w.told || want == (podStatus{})) {
		return
	}
	if want == (podStatus{w.pod.Phase, w.pod.IP, w.pod.Second}) {
		w.told = want // a kubelet that restarts finds that it has been said
		return
	}
	w.telling = true
	life := w.tellLife
	c := &podCall{api: w.k.api, verb: verbStatus, key: w.pod.Key(), uid: w.pod.UID, phase: want.phase, ip: want.ip, second: want.second}
	c.done = func(err error) { w.heard(life, want, err) }
	c.send(w.k.at)
}

// heard takes the API's answer.
func (w *worker) heard(life int, sent podStatus, err error) {
	if w.k.paused {
		w.k.hold(func() { w.heard(life, sent, err) })
		return
	}
	if w.tellLife != life {
		return
	}
	switch err {
	case nil:
		w.told, w.telling, w.tellBackOff = sent, false, 0
		w.withdrawn = sent == (podStatus{})
		w.plan() // the address may be another by now
	case ErrNotFound, ErrConflict:
		w.told, w.telling, w.tellBackOff = sent, false, 0 // the watch brings the end of the pod
	default:
		w.tellBackOff = w.k.Config.Backoff(w.tellBackOff)
		w.k.clock.After(w.tellBackOff, &tellAgain{w, w.tellLife})
	}
	w.account()
}

type tellAgain struct {
	w    *worker
	life int
}

func (t *tellAgain) AppendText(b []byte) []byte {
	return t.w.pod.Key().AppendText(append(t.w.k.appendStill(t.w.k.appendName(b)), "repeats status "...))
}

func (t *tellAgain) Fire() {
	if t.w.k.paused {
		t.w.k.hold(t.Fire)
		return
	}
	if t.w.tellLife == t.life {
		t.w.telling = false
		t.w.plan()
	}
}
