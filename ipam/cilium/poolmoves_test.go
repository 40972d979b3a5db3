package cilium

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func (w *pWorld) move(t *testing.T, rng *rand.Rand) string {
	name := string(rune('a' + rng.IntN(3)))
	n := w.nodes[name]
	switch m := rng.IntN(40); {
	case m < 8:
		pool := [...]string{"default", "default", "blue"}[rng.IntN(3)]
		return name + " pod comes " + w.podComes(t, n, pool)
	case m < 12:
		for _, ip := range sortedAddrs(n.pods) {
			if n.restored && rng.IntN(2) == 0 {
				n.agent.ReleaseIP(n.pods[ip], ip)
				delete(n.pods, ip)
			}
		}
		return name + " pods go"
	case m < 17:
		n.see(t)
		return name + " sees"
	case m < 22:
		w.sync(n)
		return name + " syncs"
	case m < 23:
		w.startAgent(t, n)
		return name + " agent restarts"
	case m < 25:
		if !n.restored {
			w.restore(t, n)
		}
		return name + " restores"
	case m < 26:
		w.now = w.now.Add(2 * time.Minute)
		return "time"
	case m < 27:
		w.elect(t)
		return "election"
	case m < 32:
		if len(w.agentWrites) > 0 {
			i := rng.IntN(len(w.agentWrites))
			x := w.agentWrites[i]
			w.agentWrites = slices.Delete(w.agentWrites, i, i+1)
			w.write(x)
		}
		return "agent's write arrives"
	}
	l := w.leaders[rng.IntN(len(w.leaders))]
	switch rng.IntN(3) {
	case 0:
		l.seen[name] = n.api
		return "operator sees " + name
	case 1:
		w.reconcile(l, name)
		return "operator reconciles " + name
	}
	w.send(l)
	return "operator writes"
}

func (w *pWorld) podComes(t *testing.T, n *pNode, pool string) string {
	if !n.restored || len(n.pods) > 24 {
		return "not"
	}
	r, err := n.agent.AllocateNext(w.now, pool, IPv4, fmt.Sprint("pod", len(n.pods)))
	var notReady PoolNotReadyError
	if err != nil && !errors.As(err, &notReady) {
		t.Fatal(err)
	}
	if err != nil {
		return "in vain"
	}
	n.pods[r.IP] = pool
	return r.IP.String()
}
