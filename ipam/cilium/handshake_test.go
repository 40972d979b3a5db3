package cilium

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// Goal: whatever crashes when, and however late messages arrive, no pod's address is ever freed, each write is one that
// its side may do, and once things calm down no handshake entry, need or excess is left. Method: one agent, one
// operator, the API server (writes with a version as precondition), the cloud, and calls that arrive late or whose
// reply is lost; each side may crash. A breadth-first search takes every order of the first steps, comparing states by
// all that can matter later; seeded walks go on for long. At ends the world is driven to rest.

// step is one thing that can happen; it reports false when it cannot now.
type hsStep struct {
	name string
	do   func(t *testing.T, w *hsWorld) bool
}

func hsSteps() []hsStep {
	steps := []hsStep{
		{"agent sees", func(t *testing.T, w *hsWorld) bool { w.check(t, w.agent.Update(w.api)); return true }},
		{"agent publishes", hsPublish},
		{"pod goes", func(t *testing.T, w *hsWorld) bool {
			all := sortedAddrs(w.pods)
			if len(all) == 0 || !w.agent.restored {
				return false
			}
			w.check(t, w.agent.release(all[0]))
			delete(w.pods, all[0])
			return true
		}},
		{"operator sees", func(t *testing.T, w *hsWorld) bool {
			actions, err := w.oper.Update(epoch, w.api)
			w.check(t, err)
			w.send(actions)
			return true
		}},
		{"operator resyncs", func(_ *testing.T, w *hsWorld) bool { w.send(w.oper.Resync(epoch)); return true }},
		{"agent crashes", func(t *testing.T, w *hsWorld) bool {
			if w.agentCrashes == 0 {
				return false
			}
			w.agentCrashes--
			w.orphan(AgentActor)
			w.startAgent(t)
			return true
		}},
		{"agent restores", func(t *testing.T, w *hsWorld) bool {
			if w.agent.restored {
				return false
			}
			w.restore(t)
			return true
		}},
		{"operator crashes", func(t *testing.T, w *hsWorld) bool {
			if w.operCrashes == 0 {
				return false
			}
			w.operCrashes--
			w.orphan(OperatorActor)
			w.startOperator(t)
			return true
		}},
	}
	for i := range len(hsAddrs) {
		steps = append(steps, hsStep{fmt.Sprint("pod comes ", i), func(t *testing.T, w *hsWorld) bool { return w.podComes(t, i) }})
	}
	for i := range 3 {
		for _, lost := range [...]bool{false, true} {
			steps = append(steps, hsStep{fmt.Sprintf("message %d arrives, reply lost %v", i, lost),
				func(t *testing.T, w *hsWorld) bool { return w.arrives(t, i, lost) }})
		}
	}
	return steps
}

func hsPublish(_ *testing.T, w *hsWorld) bool {
	w.agent.written = time.Time{}
	n, ok := w.agent.Publish(epoch)
	if ok {
		w.flight = append(w.flight, hsMessage{action: Action{Kind: ActWrite, Node: hsNode, Resource: n}, by: AgentActor})
	}
	return ok
}

// podComes gives a pod the i-th free address.
func (w *hsWorld) podComes(t *testing.T, i int) bool {
	if !w.agent.restored || len(w.pods) == 2 || i >= len(w.agent.free[0]) {
		return false
	}
	w.agent.cfg.Pick = nth(i)
	r, err := w.agent.allocateNext(IPv4, "pod")
	w.agent.cfg.Pick = nth(0)
	w.check(t, err)
	w.pods[r.IP] = true
	return true
}

// arrives delivers a message, and its reply unless that is lost: then the sender is told of an error.
func (w *hsWorld) arrives(t *testing.T, i int, lost bool) bool {
	if i >= len(w.flight) || lost && (w.lostReplies == 0 || w.flight[i].action.Kind != ActFree || w.flight[i].orphan) {
		return false
	}
	m := w.flight[i]
	w.flight = slices.Delete(slices.Clone(w.flight), i, i+1)
	a := m.action
	switch a.Kind {
	case ActAllocate:
		given := w.provide(a.Count)
		if !m.orphan {
			w.send(w.oper.Allocated(epoch, hsNode, given, nil))
		}
	case ActFree:
		delete(w.cloud, a.IP)
		switch {
		case lost:
			w.lostReplies--
			w.send(w.oper.Freed(epoch, hsNode, a.IP, fmt.Errorf("timeout")))
		case !m.orphan:
			w.send(w.oper.Freed(epoch, hsNode, a.IP, nil))
		}
	case ActWrite:
		w.write(t, m)
	}
	return true
}

// Everything within a few steps, in every order.
func TestHandshakeSurvivesEveryOrder(t *testing.T) {
	const statesMax, sample = 2500, 20
	type state struct {
		w   *hsWorld
		how string
	}
	first := newHSWorld(t)
	queue, seen := []state{{w: first, how: "start"}}, map[string]bool{first.String(): true}
	for n := 0; n < len(queue) && n < statesMax; n++ {
		s := queue[n]
		queue[n] = state{}
		if n%sample == 0 {
			s.w.clone().rest(t, s.how)
		}
		for _, st := range hsSteps() {
			next := s.w.clone()
			if !st.do(t, next) || len(next.flight) > 3 {
				continue
			}
			how := s.how + ", " + st.name
			next.safe(t, how)
			if key := next.String(); !seen[key] {
				seen[key] = true
				queue = append(queue, state{w: next, how: how})
			}
		}
	}
}

// Long ways through the same world, with more crashes; the four states must all be common on them.
func TestHandshakeSurvivesLongWays(t *testing.T) {
	const walks, length = 1000, 80
	met := make(map[HandshakeState]int)
	steps := hsSteps()
	for walk := range walks {
		rng := rand.New(rand.NewPCG(uint64(walk), 1))
		w := newHSWorld(t)
		w.agentCrashes, w.operCrashes, w.lostReplies = rng.IntN(4), rng.IntN(4), rng.IntN(4)
		how := fmt.Sprintf("walk %d", walk)
		for range length {
			st := steps[rng.IntN(len(steps))]
			if len(w.flight) > 3 && (st.name == "agent publishes" || st.name == "operator resyncs") || !st.do(t, w) {
				continue
			}
			how += ", " + st.name
			w.safe(t, how)
			for _, h := range w.api.Status.IPAM.ReleaseIPs {
				met[h]++
			}
		}
		w.rest(t, how)
	}
	for _, h := range [...]HandshakeState{MarkedForRelease, ReadyForRelease, DoNotRelease, Released} {
		if met[h] < walks/10 {
			t.Errorf("state %s was met only %d times", h, met[h])
		}
	}
}

// What the agent has agreed to is freed although it is needed again: a call of an operator before this one may be on
// its way. A mark is taken back.
func TestOnlyMarksAreTakenBack(t *testing.T) {
	for state, want := range map[HandshakeState]string{
		ReadyForRelease:  "[n1 free 10.0.0.3 n1 allocate 1]",
		MarkedForRelease: "[n1 write pool of 3]",
	} {
		n := &CiliumNode{Metadata: ObjectMeta{Name: hsNode}}
		n.Spec.IPAM.PreAllocate = 1
		n.Spec.IPAM.Pool = AllocationMap{hsAddrs[0]: {}, hsAddrs[1]: {}, hsAddrs[2]: {}}
		n.Status.IPAM.Used = AllocationMap{hsAddrs[0]: {}, hsAddrs[1]: {}}
		n.Status.IPAM.ReleaseIPs = map[netip.Addr]HandshakeState{hsAddrs[2]: state}
		o, err := NewOperator(OperatorConfig{ReleaseExcessIPs: true})
		if err != nil {
			t.Fatal(err)
		}
		if actions, err := o.Update(epoch, n); err != nil || len(actions) > 0 {
			t.Fatalf("before the first listing: %v %v", actions, err)
		}
		if have := fmt.Sprint(o.Listed(epoch, hsNode, n.Spec.IPAM.Pool)); have != want {
			t.Errorf("%s: %s, want %s", state, have, want)
		}
	}
}

// Each state has one side whose turn it is, and only the operator may act out of turn, to take a mark back.
func TestLegalMoves(t *testing.T) {
	all := [...]HandshakeState{"", MarkedForRelease, ReadyForRelease, DoNotRelease, Released}
	for _, from := range all {
		for _, to := range all {
			for _, by := range [...]Actor{AgentActor, OperatorActor} {
				back := by == OperatorActor && to == "" && (from == MarkedForRelease || from == ReadyForRelease)
				if legal(from, to, by) && from.Next() != by && !back {
					t.Errorf("%s may move %q to %q out of turn", by, from, to)
				}
			}
		}
		if from.Valid() && !slices.ContainsFunc(all[:], func(to HandshakeState) bool { return legal(from, to, from.Next()) }) {
			t.Errorf("nobody can leave %q", from)
		}
		if legal(Released, from, OperatorActor) {
			t.Errorf("the operator leaves released for %q", from)
		}
	}
}
