package cilium

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// hsWorld is one state of the world. Steps change it in place, after clone.
type hsWorld struct {
	api     *CiliumNode
	version int
	cloud   map[netip.Addr]bool
	pods    map[netip.Addr]bool // live endpoints, which survive the agent
	agent   *NodeStore
	oper    *Operator
	flight  []hsMessage
	// crashes are how many each side has left.
	agentCrashes, operCrashes int
	lostReplies               int
}

// hsMessage is a call on its way.
type hsMessage struct {
	action Action // of the operator, unless by is the agent
	by     Actor
	// orphan says that its sender has crashed: nobody waits for the reply.
	orphan bool
}

const hsNode = "n1"

var hsAddrs = [...]netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")}

// nth is a Picker that always takes the same.
type nth int

func (p nth) Pick(_ string, n int) int { return min(int(p), n-1) }

func newHSWorld(t *testing.T) *hsWorld {
	w := &hsWorld{cloud: make(map[netip.Addr]bool), pods: make(map[netip.Addr]bool), agentCrashes: 1, operCrashes: 1, lostReplies: 1}
	w.api = &CiliumNode{Metadata: ObjectMeta{Name: hsNode}}
	w.api.Spec.IPAM.Watermarks = Watermarks{PreAllocate: 1}
	w.api.Spec.IPAM.Pool = make(AllocationMap)
	for _, a := range hsAddrs {
		w.cloud[a] = true
		w.api.Spec.IPAM.Pool[a] = AllocationIP{}
	}
	w.stored()
	w.startAgent(t)
	w.restore(t)
	w.startOperator(t)
	return w
}

func (w *hsWorld) stored() {
	w.version++
	w.api.Metadata.ResourceVersion = strconv.Itoa(w.version)
}

func (w *hsWorld) startAgent(t *testing.T) {
	var err error
	if w.agent, err = NewNodeStore(StoreConfig{Name: hsNode, Pick: nth(0), RefreshInterval: 1}); err != nil {
		t.Fatal(err)
	}
	w.check(t, w.agent.Update(w.api))
}

func (w *hsWorld) restore(t *testing.T) {
	for _, a := range sortedAddrs(w.pods) {
		if _, err := w.agent.allocate(a, "pod"); err != nil {
			t.Fatalf("restore of %s: %v in %s", a, err, w)
		}
	}
	w.agent.FinishRestore()
}

func (w *hsWorld) startOperator(t *testing.T) {
	var err error
	if w.oper, err = NewOperator(OperatorConfig{ReleaseExcessIPs: true}); err != nil {
		t.Fatal(err)
	}
	actions, err := w.oper.Update(epoch, w.api)
	w.check(t, err)
	w.send(actions)
	w.send(w.oper.Listed(epoch, hsNode, w.listing()))
}

func (w *hsWorld) listing() AllocationMap {
	m := make(AllocationMap)
	for a := range w.cloud {
		m[a] = AllocationIP{}
	}
	return m
}

func (w *hsWorld) check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v in %s", err, w)
	}
}

func (w *hsWorld) send(actions []Action) {
	for _, a := range actions {
		w.flight = append(w.flight, hsMessage{action: a, by: OperatorActor})
	}
}

func (w *hsWorld) orphan(by Actor) {
	for i := range w.flight {
		if w.flight[i].by == by {
			w.flight[i].orphan = true
		}
	}
}

// provide adds addresses to the cloud's side: the lowest that are not there. A cloud does not give an address whose
// release is still on its way; that is an assumption of the protocol.
func (w *hsWorld) provide(count int) AllocationMap {
	given := make(AllocationMap)
	for _, a := range hsAddrs {
		freeing := slices.ContainsFunc(w.flight, func(m hsMessage) bool { return m.action.Kind == ActFree && m.action.IP == a })
		if len(given) < count && !w.cloud[a] && !freeing {
			w.cloud[a] = true
			given[a] = AllocationIP{}
		}
	}
	return given
}

// write stores a resource if its version is the present one, and checks that the writer may do what it does.
func (w *hsWorld) write(t *testing.T, m hsMessage) {
	n := m.action.Resource
	if n.Metadata.ResourceVersion != w.api.Metadata.ResourceVersion {
		if !m.orphan && m.by == AgentActor {
			w.agent.Refused()
		} else if !m.orphan {
			w.oper.Refused(hsNode)
		}
		return
	}
	before, after := w.api.Status.IPAM.ReleaseIPs, n.Status.IPAM.ReleaseIPs
	for _, a := range hsAddrs {
		if before[a] != after[a] && !legal(before[a], after[a], m.by) {
			t.Fatalf("%s moves %s from %q to %q in %s", m.by, a, before[a], after[a], w)
		}
	}
	w.api = n.Clone()
	w.stored()
}

func (w *hsWorld) clone() *hsWorld {
	c := *w
	c.cloud, c.pods, c.flight = maps.Clone(w.cloud), maps.Clone(w.pods), slices.Clone(w.flight)
	c.api = w.api.Clone()
	agent := *w.agent
	agent.used, agent.place = maps.Clone(agent.used), maps.Clone(agent.place)
	agent.free = [2][]netip.Addr{slices.Clone(agent.free[0]), slices.Clone(agent.free[1])}
	c.agent = &agent
	oper := *w.oper
	oper.nodes = make(map[string]*managed)
	for name, m := range w.oper.nodes {
		x := *m
		x.cloud, x.excess, x.freeing = maps.Clone(m.cloud), maps.Clone(m.excess), maps.Clone(m.freeing)
		oper.nodes[name] = &x
	}
	c.oper = &oper
	return &c
}

var versionText = regexp.MustCompile(`"resourceVersion":"(\d+)"`)

// String tells all that can matter later. Of versions only their equality matters: they are numbered by appearance.
func (w *hsWorld) String() string {
	text := fmt.Sprintf("%v\ncloud %v\npods %v\nagent %v %s\noperator %s\nleft %d %d %d\n", w.api, sortedAddrs(w.cloud), sortedAddrs(w.pods),
		w.agent.changed, w.agent.dump(), w.oper.dump(hsNode), w.agentCrashes, w.operCrashes, w.lostReplies)
	for _, m := range w.flight {
		text += fmt.Sprintf("%s %v %v %v\n", m.by, m.orphan, m.action, m.action.Resource)
	}
	numbers := make(map[string]string)
	return versionText.ReplaceAllStringFunc(text, func(s string) string {
		if numbers[s] == "" {
			numbers[s] = fmt.Sprintf("v%d", len(numbers))
		}
		return numbers[s]
	})
}

// safe checks what must hold in every state.
func (w *hsWorld) safe(t *testing.T, how string) {
	for a := range w.pods {
		if !w.cloud[a] || w.api.Status.IPAM.ReleaseIPs[a] == Released {
			t.Fatalf("%s is in use and released, after %s:\n%s", a, how, w)
		}
	}
}

// rest drives the world until nothing moves any more; nobody crashes, no pod comes or goes.
func (w *hsWorld) rest(t *testing.T, how string) {
	if !w.agent.restored {
		w.restore(t)
	}
	last := ""
	for round := 0; ; round++ {
		for calls := 0; len(w.flight) > 0; calls++ {
			if calls > 100 {
				t.Fatalf("messages make messages after %s:\n%s", how, w)
			}
			w.arrives(t, 0, false)
			w.safe(t, how)
		}
		w.check(t, w.agent.Update(w.api))
		actions, err := w.oper.Update(epoch, w.api)
		w.check(t, err)
		w.send(actions)
		// A crashed operator's call may have brought addresses that its successor has not heard of.
		w.send(w.oper.Listed(epoch, hsNode, w.listing()))
		w.send(w.oper.Resync(epoch))
		hsPublish(t, w)
		now := w.String()
		if now == last {
			break
		}
		if last = now; round > 60 {
			t.Fatalf("the world does not come to rest after %s:\n%s", how, w)
		}
	}
	s, _ := w.oper.Get(hsNode)
	pool := w.api.Spec.IPAM.Pool
	if len(w.api.Status.IPAM.ReleaseIPs) > 0 || s.Excess > 0 || s.Error != "" || s.Needed > 0 && len(w.cloud) < len(hsAddrs) ||
		!slices.Equal(sortedAddrs(pool), sortedAddrs(w.cloud)) {
		t.Fatalf("at rest after %s: %+v\n%s", how, s, w)
	}
}

// legal reports whether by may move an entry from one state to another; the empty state is an entry's absence.
func legal(from, to HandshakeState, by Actor) bool {
	switch by {
	case AgentActor:
		return from == MarkedForRelease && (to == ReadyForRelease || to == DoNotRelease) || from == Released && to == ""
	case OperatorActor:
		switch from {
		case "":
			return to == MarkedForRelease
		case MarkedForRelease, DoNotRelease:
			return to == ""
		case ReadyForRelease:
			// Taking back is legal only while no call to the cloud is on its way.
			return to == Released || to == ""
		}
	}
	return false
}
