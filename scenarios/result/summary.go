package result

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Summary is what a run amounts to beside its verdict.
type Summary struct {
	Adds         int64 `json:"adds"`
	Dels         int64 `json:"dels"`
	VPPCalls     int64 `json:"vppCalls"`
	LinuxCalls   int64 `json:"linuxCalls"`
	StoreOps     int64 `json:"storeOps"`
	JournalBytes int64 `json:"journalBytes"`
	Faults       int64 `json:"faults"`
	// PodsCreated counts the API server's Pod objects; 0 in a world without the evidence of pods' lives.
	PodsCreated int64 `json:"podsCreated"`
	// PodsWaited counts pods of which an ADD was refused because no address was free. Their wait lasts from then until they have
	// an address; of those that never got one, until they are deleted or the run ends.
	PodsWaited         int64   `json:"podsWaited"`
	LongestWaitSeconds float64 `json:"longestWaitSeconds"`
	TotalWaitSeconds   float64 `json:"totalWaitSeconds"`
	// StartP50Seconds and StartP99Seconds are quantiles of the time from a pod's creation until it has an address; of pods that
	// never got one, until they are deleted or the run ends.
	StartP50Seconds float64 `json:"startP50Seconds"`
	StartP99Seconds float64 `json:"startP99Seconds"`
	// PodsNeverPlaced counts pods that never had an address. It is the sum of the next four.
	PodsNeverPlaced int64 `json:"podsNeverPlaced"`
	// PodsUnscheduled got no node, PodsNeverAnswered a node and no answer to an ADD, PodsWaiting still wait for an address at the
	// end, PodsRefused are the others: deleted while they waited, or refused for another reason.
	PodsUnscheduled   int64    `json:"podsUnscheduled"`
	PodsWaiting       int64    `json:"podsWaiting"`
	PodsRefused       int64    `json:"podsRefused"`
	PodsNeverAnswered int64    `json:"podsNeverAnswered"`
	Exhausted         []RanOut `json:"exhausted,omitempty"`
	// Reused counts addresses given out a second time; ShortestReuseSeconds is the shortest gap, -1 without any.
	Reused               int64   `json:"reused"`
	ShortestReuseSeconds float64 `json:"shortestReuseSeconds"`
	// ShortestReuseLeases is the smallest number of leases given in the whole cluster between an address's release and its next
	// lease, that one included; -1 without any.
	ShortestReuseLeases int64 `json:"shortestReuseLeases"`
	// APIWrites counts writes to what the address management keeps its state in: node records, Node objects, resources,
	// ledgers, EC2.
	APIWrites int64 `json:"apiWrites"`
	// LeakedAddresses are held at the end by no pod: leases without a sandbox, and blocks of nodes that are gone.
	LeakedAddresses int64 `json:"leakedAddresses"`
	// WastedAddresses is how many addresses of nodes' blocks no pod held, on average over the run.
	WastedAddresses float64 `json:"wastedAddresses"`
	// PeakPods is the largest number of attached pods at one time.
	PeakPods int64 `json:"peakPods"`
}

// RanOut says that a node had no free address from AtSeconds on, while pods waited.
type RanOut struct {
	Node        string  `json:"node"`
	AtSeconds   float64 `json:"atSeconds"`
	PodsWaited  int64   `json:"podsWaited"`
	WaitSeconds float64 `json:"waitSeconds"`
}

// tally makes a run's Summary of its facts, in every world alike. Facts of different nodes may come out of the order of their
// times; those of one node do not.
type tally struct {
	out   Summary
	nodes map[string]*tallied
	// attached counts the pods with an answered address.
	attached int64
	reuse    reuse
	lives    lives
	waste    waste
	reached  reached
}

// tallied is what facts have told of one node.
type tallied struct {
	// pods are the node's sandboxes and leases.
	pods map[ipam.Owner]attachment
	// agent: it runs; left: the node is no member any more.
	agent, left bool
	assigned    []ipam.Block
	holding     holding
	// ranOut is nil before a pod of the node has waited.
	ranOut *ranOut
	// lives counts the lives of its agent. wired: a pod of it was wired once.
	lives int
	wired bool
	// returner: its machine has lost power before.
	returner bool
}

// attachment is what there is of one pod on its node.
type attachment struct {
	// sandbox: its runtime has it; answered: with an address; leased: the agent has leased one to it.
	sandbox, answered, leased bool
}

func newTally() *tally {
	return &tally{out: Summary{ShortestReuseSeconds: -1, ShortestReuseLeases: -1}, nodes: map[string]*tallied{}, reuse: newReuse(), lives: newLives()}
}

func (t *tally) node(name string) *tallied {
	n := t.nodes[name]
	if n == nil {
		n = &tallied{pods: map[ipam.Owner]attachment{}}
		t.nodes[name] = n
	}
	return n
}

// observe adds one fact.
func (t *tally) observe(f *fact.Fact) {
	switch f.Kind {
	case fact.FactLeased:
		t.reuse.leased(&t.out, f)
		t.change(f, func(a *attachment) { a.leased = true })
	case fact.FactReleased:
		t.reuse.released(f)
		t.change(f, func(a *attachment) { a.leased = false })
	case fact.FactAsked:
		if f.Text == fact.AskedAdd {
			t.change(f, func(a *attachment) { a.sandbox = true })
		}
	case fact.FactAnswered:
		t.out.Adds++
		t.lives.answered(f)
		t.change(f, func(a *attachment) { a.sandbox, a.answered = true, true })
		t.out.PeakPods = max(t.out.PeakPods, t.attached)
	case fact.FactRefused:
		t.lives.refused(t, f)
	case fact.FactPod:
		t.lives.pod(f)
	case fact.FactDeleted:
		t.out.Dels++
		t.change(f, func(a *attachment) { a.answered = false })
	case fact.FactSandboxGone:
		t.change(f, func(a *attachment) { a.sandbox, a.answered = false, false })
	case fact.FactAgentUp:
		t.agentUp(f)
	case fact.FactAgentDown:
		n := t.node(f.Node)
		n.agent = false
		t.forgetLeases(n)
	case fact.FactAssigned:
		t.node(f.Node).assigned = f.Blocks
	case fact.FactNodeGone:
		t.nodeGone(f)
	case fact.FactCounted:
		t.count(*f.Counts)
	}
	t.waste.observe(t, f)
	t.reached.observe(t, f)
}

// change brings one pod's attachment up to date.
func (t *tally) change(f *fact.Fact, do func(*attachment)) {
	pods := t.node(f.Node).pods
	before := pods[f.Owner]
	now := before
	do(&now)
	if now == before {
		return
	}
	if now.answered != before.answered {
		t.attached += map[bool]int64{true: 1, false: -1}[now.answered]
	}
	if now == (attachment{}) {
		delete(pods, f.Owner)
		return
	}
	pods[f.Owner] = now
}

func (t *tally) agentUp(f *fact.Fact) {
	n := t.node(f.Node)
	n.agent, n.left = true, false
	t.forgetLeases(n)
	for i := range f.Leases {
		a := n.pods[f.Leases[i].Owner]
		a.leased = true
		n.pods[f.Leases[i].Owner] = a
	}
}

func (t *tally) forgetLeases(n *tallied) {
	for o, a := range n.pods { //vppdrill:unordered each by itself
		if a.leased = false; a == (attachment{}) {
			delete(n.pods, o)
		} else {
			n.pods[o] = a
		}
	}
}

func (t *tally) nodeGone(f *fact.Fact) {
	n := t.node(f.Node)
	for _, a := range n.pods { //vppdrill:unordered it is a count
		if a.answered {
			t.attached--
		}
	}
	clear(n.pods)
	n.agent = false
	if f.Text == fact.NodeLeft {
		n.left, n.ranOut = true, nil
	}
}

func (t *tally) count(c fact.Counts) {
	t.out.VPPCalls += c.VPPCalls
	t.out.LinuxCalls += c.LinuxCalls
	t.out.StoreOps += c.StoreOps
	t.out.JournalBytes += c.JournalBytes
	t.out.APIWrites += c.APIWrites
	t.out.Faults += c.Faults
}

// summary is what the run amounts to at a time.
func (t *tally) summary(now time.Duration) Summary {
	out := t.out
	t.lives.sum(&out, t.nodes, now)
	out.WastedAddresses = t.waste.mean(now)
	out.LeakedAddresses = leaked(t.nodes)
	return out
}
