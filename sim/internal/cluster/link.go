package cluster

import (
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
)

// Link says how one direction between two endpoints behaves.
type Link struct {
	// DelayMin and DelayMax bound each message's delay. Equal bounds need no decision.
	DelayMin, DelayMax time.Duration
	// Loss is the probability in [0, 1] that a request or reply vanishes, or that a stream's segment must be sent again.
	Loss float64
	// Duplicate is the probability in [0, 1] that a request or reply arrives twice. Streams never repeat.
	Duplicate float64
}

type link struct {
	Link
	cut      bool
	cutSince time.Duration
	delay    string
	loss     string
	repeat   string
}

// own returns the direction's own link, which it creates with the default behaviour at first.
func (n *Network) own(from, to Endpoint) *link {
	l := n.links[direction{from, to}]
	if l == nil {
		way := n.names[from] + ">" + n.names[to]
		l = &link{Link: n.cfg.Default, delay: "delay " + way, loss: "lose " + way, repeat: "repeat " + way}
		n.links[direction{from, to}] = l
	}
	return l
}

// plain reports whether the direction needs no decision, and its delay then.
func (n *Network) plain(from, to Endpoint) (time.Duration, bool) {
	l := &n.cfg.Default
	if len(n.links) > 0 {
		if own := n.links[direction{from, to}]; own != nil {
			l = &own.Link
		}
	}
	return l.DelayMin, l.DelayMin == l.DelayMax && l.Loss <= 0 && l.Duplicate <= 0
}

// pass decides what becomes of one message: how often it arrives (0, 1, 2) and after which delays.
func (n *Network) pass(from, to Endpoint) (copies int, delays [2]time.Duration) {
	n.sent++
	if n.IsCut(from, to) {
		n.dropped++
		return 0, delays
	}
	if d, ok := n.plain(from, to); ok {
		delays[0] = d
		return 1, delays
	}
	l, p := n.own(from, to), picker{n.clock}
	if engine.Chance(p, l.loss, l.Loss) {
		n.dropped++
		return 0, delays
	}
	copies = 1
	if engine.Chance(p, l.repeat, l.Duplicate) {
		n.repeated++
		copies = 2
	}
	for i := range copies {
		delays[i] = engine.Duration(p, l.delay, l.DelayMin, l.DelayMax)
	}
	return copies, delays
}

// segmentDelay decides a stream segment's delay; loss means that it is sent again.
func (n *Network) segmentDelay(from, to Endpoint) time.Duration {
	if d, ok := n.plain(from, to); ok {
		return d
	}
	l, p := n.own(from, to), picker{n.clock}
	d := engine.Duration(p, l.delay, l.DelayMin, l.DelayMax)
	if engine.Chance(p, l.loss, l.Loss) {
		d += resendDelay
	}
	return d
}

func (n *Network) appendWay(b []byte, from, to Endpoint) []byte {
	b = append(b, n.names[from]...)
	b = append(b, '>')
	return append(b, n.names[to]...)
}
