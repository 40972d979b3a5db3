package check

import (
	"net/netip"
	"time"
)

// home records the prefixes that lead to a node from a time on. Prefixes that led to it before keep their time.
func (w *wiredWatcher) home(n *wiredNode, at time.Duration) {
	before := n.since
	n.since = nil
	if len(n.addrs) == 0 {
		return
	}
	n.since = map[netip.Prefix]time.Duration{}
	n.ways(func(p netip.Prefix) {
		w.homes[p] = n
		n.since[p] = at
		if since, led := before[p]; led {
			n.since[p] = since
		}
	})
}

func (w *wiredWatcher) unhome(n *wiredNode) {
	n.ways(func(p netip.Prefix) {
		if w.homes[p] == n {
			delete(w.homes, p)
		}
	})
}

func (n *wiredNode) ways(each func(netip.Prefix)) {
	for _, a := range n.addrs {
		each(netip.PrefixFrom(a, a.BitLen()))
	}
	for i := range n.blocks {
		each(n.blocks[i].Prefix)
	}
}
