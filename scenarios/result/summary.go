package result

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Summary holds a run's figures.
type Summary struct {
	Adds         int64 `json:"adds"`
	Dels         int64 `json:"dels"`
	VPPCalls     int64 `json:"vppCalls"`
	LinuxCalls   int64 `json:"linuxCalls"`
	StoreOps     int64 `json:"storeOps"`
	JournalBytes int64 `json:"journalBytes"`
	Faults       int64 `json:"faults"`
	// PodsCreated counts the API server's Pod objects; 0 in a world without the evidence PodLives.
	PodsCreated int64 `json:"podsCreated"`
	// PodsWaited counts pods with an ADD that was refused because no address was free. Their wait lasts until they have an
	// address, are deleted, or the run ends.
	PodsWaited         int64   `json:"podsWaited"`
	LongestWaitSeconds float64 `json:"longestWaitSeconds"`
	TotalWaitSeconds   float64 `json:"totalWaitSeconds"`
	// StartP50Seconds and StartP99Seconds are quantiles of the time from a pod's creation until it has an address, is
	// deleted, or the run ends.
	StartP50Seconds float64 `json:"startP50Seconds"`
	StartP99Seconds float64 `json:"startP99Seconds"`
	// PodsNeverPlaced counts pods that never had an address. It is the sum of the next four.
	PodsNeverPlaced int64 `json:"podsNeverPlaced"`
	// PodsUnscheduled got no node. PodsNeverAnswered got a node but no answer to an ADD. PodsWaiting wait for an address
	// at the end. PodsRefused are the others: deleted while they waited, or refused for another reason.
	PodsUnscheduled   int64    `json:"podsUnscheduled"`
	PodsWaiting       int64    `json:"podsWaiting"`
	PodsRefused       int64    `json:"podsRefused"`
	PodsNeverAnswered int64    `json:"podsNeverAnswered"`
	Exhausted         []RanOut `json:"exhausted,omitempty"`
	// Reused counts addresses leased again; ShortestReuseSeconds is the shortest gap, -1 without any.
	Reused               int64   `json:"reused"`
	ShortestReuseSeconds float64 `json:"shortestReuseSeconds"`
	// ShortestReuseLeases is the smallest number of leases in the whole cluster between an address's release and its next
	// lease, that one included; -1 without any.
	ShortestReuseLeases int64 `json:"shortestReuseLeases"`
	// APIWrites counts writes to the IPAM system's state: node records, Node objects, resources, ledgers, EC2.
	APIWrites int64 `json:"apiWrites"`
	// LeakedAddresses counts addresses that are allocated at the end but held by no pod: leases without a sandbox, and
	// blocks of departed nodes.
	LeakedAddresses int64 `json:"leakedAddresses"`
	// WastedAddresses is the average number of addresses in nodes' blocks without a pod over the run.
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

// tally computes a run's Summary from its facts, in every world alike. Facts of one node come in the order of their
// times, facts of different nodes may not.
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

// tallied is one node's state according to facts.
type tallied struct {
	// pods are the node's sandboxes and leases.
	pods map[ipam.Owner]attachment
	// agent: it runs; left: the node left the cluster.
	agent, left bool
	assigned    []ipam.Block
	holding     holding
	// ranOut is nil until a pod of the node has waited.
	ranOut *ranOut
	// lives counts starts of its agent. wired: a pod of it was wired once.
	lives int
	wired bool
	// returner: its machine has lost power before.
	returner bool
}

// attachment is the state of one pod on its node.
type attachment struct {
	// sandbox: the runtime has it; answered: with an address; leased: the agent has leased it one.
	sandbox, answered, leased bool
}

func newTally() *tally {
	return &tally{out: Summary{ShortestReuseSeconds: -1, ShortestReuseLeases: -1}, nodes: map[string]*tallied{},
		reuse: newReuse(), lives: newLives()}
}

func (t *tally) node(name string) *tallied {
	n := t.nodes[name]
	if n == nil {
		n = &tallied{pods: map[ipam.Owner]attachment{}}
		t.nodes[name] = n
	}
	return n
}

// observe processes one fact.
func (t *tally) observe(f *fact.Fact) {
	switch x := f.What.(type) {
	case fact.Leased:
		t.reuse.leased(&t.out, f.At, x.Addr)
		t.change(f.Node, x.Owner, func(a *attachment) { a.leased = true })
	case fact.Released:
		t.reuse.released(f.At, x.Addr)
		t.change(f.Node, x.Owner, func(a *attachment) { a.leased = false })
	case fact.Asked:
		if x.Command == fact.AskedAdd {
			t.change(f.Node, x.Owner, func(a *attachment) { a.sandbox = true })
		}
	case fact.Answered:
		t.out.Adds++
		t.lives.answered(f.At, x.PodUID)
		t.change(f.Node, x.Owner, func(a *attachment) { a.sandbox, a.answered = true, true })
		t.out.PeakPods = max(t.out.PeakPods, t.attached)
	case fact.Refused:
		t.lives.refused(t, f, x)
	case fact.PodChanged:
		t.lives.pod(f.At, x)
	case fact.Deleted:
		t.out.Dels++
		t.change(f.Node, x.Owner, func(a *attachment) { a.answered = false })
	case fact.SandboxGone:
		t.change(f.Node, x.Owner, func(a *attachment) { a.sandbox, a.answered = false, false })
	case fact.AgentUp:
		t.agentUp(f.Node, x.Leases)
	case fact.AgentDown:
		n := t.node(f.Node)
		n.agent = false
		t.forgetLeases(n)
	case fact.Assigned:
		t.node(f.Node).assigned = x.Blocks
	case fact.NodeGone:
		t.nodeGone(f.Node, x.Left)
	case fact.Counted:
		t.count(x.Counts)
	}
	t.waste.observe(t, f)
	t.reached.observe(t, f)
}

// change updates one pod's attachment.
func (t *tally) change(node string, o ipam.Owner, do func(*attachment)) {
	pods := t.node(node).pods
	before := pods[o]
	now := before
	do(&now)
	if now == before {
		return
	}
	if now.answered != before.answered {
		t.attached += map[bool]int64{true: 1, false: -1}[now.answered]
	}
	if now == (attachment{}) {
		delete(pods, o)
		return
	}
	pods[o] = now
}

func (t *tally) agentUp(node string, leases []ipam.Lease) {
	n := t.node(node)
	n.agent, n.left = true, false
	t.forgetLeases(n)
	for i := range leases {
		a := n.pods[leases[i].Owner]
		a.leased = true
		n.pods[leases[i].Owner] = a
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

func (t *tally) nodeGone(node string, left bool) {
	n := t.node(node)
	for _, a := range n.pods { //vppdrill:unordered it is a count
		if a.answered {
			t.attached--
		}
	}
	clear(n.pods)
	n.agent = false
	if left {
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

// summary is the Summary up to a time.
func (t *tally) summary(now time.Duration) Summary {
	out := t.out
	t.lives.sum(&out, t.nodes, now)
	out.WastedAddresses = t.waste.mean(now)
	out.LeakedAddresses = leaked(t.nodes)
	return out
}
