package cluster

import "strconv"

// Pause stops the kubelet's process where it is, or lets it go on. What comes for it meanwhile waits, and is heard in
// order then: sockets and pipes keep it. Plugins that it has started go on, and their machine; timers that ran out fire
// when it goes on.
func (k *Kubelet) Pause(pause bool) {
	if k.paused == pause || !k.running {
		return
	}
	k.paused = pause
	k.tellAlive()
	for !k.paused && len(k.held) > 0 {
		next := k.held[0]
		k.held = k.held[1:]
		k.countUnsettled(-1)
		next()
	}
}

// Paused reports whether the kubelet stands still.
func (k *Kubelet) Paused() bool { return k.paused }

// hold keeps what comes for a kubelet that stands still; the node is not settled until it was heard.
func (k *Kubelet) hold(next func()) {
	k.held = append(k.held, next)
	k.countUnsettled(1)
}

// drop ends a process that stands still, with what it never heard.
func (k *Kubelet) drop() {
	k.countUnsettled(-len(k.held))
	k.paused, k.held = false, nil
}

// appendHeld says how much waits for a kubelet that stands still.
func (k *Kubelet) appendHeld(b []byte) []byte {
	b = k.appendName(b)
	b = append(b, "stands still before "...)
	b = strconv.AppendInt(b, int64(len(k.held)), 10)
	return append(b, " events"...)
}

// appendStill says of an event's line that its subject has to wait.
func (k *Kubelet) appendStill(b []byte) []byte {
	if k.paused {
		return append(b, "stands still before "...)
	}
	return b
}
