package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// lab drives agents with everything they ask for answered in the order in which it was asked: a store, journals, modelled
// VPPs and hosts. Time moves only by pass. What goes wrong is switched on by the tests.
type lab struct {
	t     testing.TB
	now   time.Time
	store *fakeStore
	boxes map[string]*box
	names []string
	pools Pools
	jobs  []job
	out   strings.Builder
	// effects counts performed effects; crash is asked before and after each and may kill the agent.
	effects int
	crash   func(b *box, e Effect, after bool) bool
	answers map[string]Answer // by node/request
	// mishap, where set, is asked about each dataplane call or dump and each store request; nil is none.
	mishap func(b *box, what string) mishap
	// callsFirst answers dataplane calls before anything else that is under way, so that a trail does not depend on how
	// many of them there are.
	callsFirst bool
}

// mishap is what happens to one request: not done and no answer, done and no answer, or refused.
type mishap uint8

const (
	fine mishap = iota
	requestLost
	replyLost
	refused
)

func (l *lab) fate(b *box, what string) mishap {
	if l.mishap == nil {
		return fine
	}
	return l.mishap(b, what)
}

// job is one thing under way; it is dropped when the agent that asked for it has died.
type job struct {
	b    *box
	life int
	do   func()
}

// box is one machine.
type box struct {
	l         *lab
	name, uid string
	hidden    bool // from lists of nodes
	cfg       Config
	cidrs     []netip.Prefix
	agent     *Agent
	life      int
	boot      int
	host      *hostmodel.Host
	vpp       *vppmodel.VPP
	pid       uint32
	journal   []string
	diskBad   bool
	wake      time.Time
	requests  uint64
	told      map[uint64]string // open requests' names
	errors    []string
	calls     bool // the last printed line was about calls
	writes    int64
	asked     func(Hook) // told of each Hook, where set
}

func newLab(t testing.TB) *lab {
	return &lab{t: t, now: time.Unix(1000, 0).UTC(), store: newFakeStore(), boxes: map[string]*box{}, answers: map[string]Answer{},
		pools: testPools(1, "10.1.0.0/16", 24)}
}

func testPools(generation int64, pods string, length int) Pools {
	return Pools{
		Generation: generation,
		PodSubnet:  netip.MustParsePrefix(pods), PodSubnetOneNodePrefixLen: length,
		VPPHostSubnet: netip.MustParsePrefix("172.30.0.0/16"), VPPHostSubnetOneNodeLen: 24,
		NodeInterconnect: netip.MustParsePrefix("192.168.16.0/24"), VXLAN: netip.MustParsePrefix("192.168.30.0/24"),
		Service: netip.MustParsePrefix("10.96.0.0/12"),
	}
}

func testConfig(name string) Config {
	return Config{NodeName: name, TCPstackDisabled: true, TCPChecksumOffloadDisabled: true, MTUSize: 1450, ClaimPatience: -1}
}

// box adds a machine with a running VPP and no agent.
func (l *lab) box(name string) *box {
	host, err := hostmodel.New(hostmodel.Config{ID: uint64(len(l.names) + 1)})
	if err != nil {
		l.t.Fatal(err)
	}
	b := &box{l: l, name: name, uid: "uid-" + name, cfg: testConfig(name), host: host, told: map[uint64]string{}}
	l.boxes[name] = b
	l.names = append(l.names, name)
	b.startVPP()
	return b
}

func (b *box) startVPP() {
	b.pid++
	b.vpp = vppmodel.New(vppmodel.Config{PID: b.pid, Host: b.host, NoNamespace: vppwire.ErrNoNamespace})
	b.writes = 0
	b.step(VPPUp{PID: b.pid})
}

func (b *box) killVPP() {
	b.vpp.Kill()
	b.vpp = nil
	b.host.DropTaps()
	b.step(VPPDown{})
}

// start begins an agent's life: its journal, its machine, what the API server has.
func (b *box) start() {
	alloc, err := contiv.New(contiv.Config{External: b.l.pools.External})
	if err != nil {
		b.l.t.Fatal(err)
	}
	if b.agent, err = New(b.cfg, alloc); err != nil {
		b.l.t.Fatal(err)
	}
	b.life++
	var records []Record
	for _, text := range b.journal {
		r, err := ParseRecord(text)
		if err != nil {
			b.l.t.Fatal(err)
		}
		records = append(records, r)
	}
	b.step(Restored{Records: records, Boot: "boot-" + strconv.Itoa(b.boot)})
	if b.vpp != nil {
		b.step(VPPUp{PID: b.pid})
	}
	b.step(PoolsChanged{Pools: b.l.pools})
}

// api tells the agent the cluster's nodes and this node's pods.
func (b *box) api(podUIDs ...string) {
	b.listNodes()
	b.step(PodsListed{UIDs: podUIDs})
}

// listNodes tells of every machine that has a Node object, except where the API server has a stale cache.
func (b *box) listNodes() {
	for _, name := range b.l.names {
		if other := b.l.boxes[name]; other.uid != "" && !other.hidden {
			b.step(other.seen())
		}
	}
	b.step(NodesListed{})
}

func (b *box) seen() NodeSeen {
	n := slices.Index(b.l.names, b.name) + 1
	return NodeSeen{Name: b.name, UID: b.uid, PodCIDRs: b.cidrs, Addresses: []netip.Addr{netip.AddrFrom4([4]byte{10, 20, 0, byte(n)})}}
}

func (b *box) kill() {
	b.agent = nil
	b.life++
	b.wake = time.Time{}
}

// step feeds one event and queues what comes of it.
func (b *box) step(ev Event) {
	if b.agent == nil {
		return
	}
	ev.AppendText(nil)
	life := b.life
	for _, e := range slices.Clone(b.agent.Step(b.l.now, ev)) {
		if b.l.crash != nil && b.l.crash(b, e, false) {
			b.kill()
			return
		}
		b.l.effects++
		b.perform(e)
		if b.l.crash != nil && b.l.crash(b, e, true) {
			// The effect has been started, and with it everything that does not need the agent is done.
			b.l.finish(b, life)
			b.kill()
			return
		}
	}
}

// finish performs what a dying agent has under way; nobody hears of it.
func (l *lab) finish(b *box, life int) {
	b.agent = nil
	mine := slices.DeleteFunc(slices.Clone(l.jobs), func(j job) bool { return j.b != b || j.life != life })
	l.jobs = slices.DeleteFunc(l.jobs, func(j job) bool { return j.b == b && j.life == life })
	for _, j := range mine {
		j.do()
	}
}

func (b *box) later(do func()) { b.l.jobs = append(b.l.jobs, job{b, b.life, do}) }

func (b *box) print(text string) {
	b.calls = false
	fmt.Fprintf(&b.l.out, "%s %s\n", b.name, text)
}

var errNoDisk = errors.New("no space left on device")

func (b *box) perform(e Effect) {
	text := string(e.AppendText(nil))
	switch e := e.(type) {
	case Persist:
		b.print(text)
		b.later(func() { b.persist(e) })
	case StoreRequest:
		b.print(text)
		b.later(func() { b.l.store.do(b, e) })
	case CallDataplane:
		if !b.calls {
			b.print("calls")
			b.calls = true
		}
		b.later(func() { b.call(e) })
		if last := len(b.l.jobs) - 1; b.l.callsFirst {
			b.l.jobs = slices.Insert(b.l.jobs[:last], 0, b.l.jobs[last])
		}
	case Answer:
		name := b.told[e.Request]
		if name == "" {
			b.l.t.Errorf("%s: answer to request %d, which is not open", b.name, e.Request)
		}
		delete(b.told, e.Request)
		b.l.answers[b.name+"/"+name] = e
		_, rest, _ := strings.Cut(text[len("answer "):], " ")
		if i := strings.Index(rest, " mac="); i >= 0 {
			rest = rest[:i]
		}
		b.print(strings.TrimSpace("answer " + name + " " + rest))
	case WakeAt:
		b.wake = e.At
	case Log:
		if e.Level >= levelError {
			b.errors = append(b.errors, e.Message)
		}
		b.print(text)
	case Hook:
		b.print(text)
		if b.asked != nil {
			b.asked(e)
		}
	case NodeAddress:
		b.print(text)
	case ListNodes:
		b.print(text)
		b.later(b.listNodes)
	default:
		b.l.t.Fatalf("effect %T", e)
	}
}

func (b *box) persist(e Persist) {
	if b.diskBad {
		b.step(Persisted{Seq: e.Seq, Err: errNoDisk})
		return
	}
	if e.Replace {
		b.journal = nil
	}
	for _, r := range e.Records {
		text := r.String()
		if back, err := ParseRecord(text); err != nil || back.String() != text {
			b.l.t.Errorf("record %q reads back as %q, %v", text, back, err)
		}
		b.journal = append(b.journal, text)
	}
	b.step(Persisted{Seq: e.Seq})
}

func (b *box) call(e CallDataplane) {
	if b.vpp == nil {
		return
	}
	what := "call"
	if e.Call.Verb() == vppwire.VerbDump {
		what = "dump"
	}
	fate := b.l.fate(b, what)
	var r vppwire.Result
	switch fate {
	case requestLost:
		r = e.Call.Unanswered()
	case refused:
		r = e.Call.Refused(errRefused)
	default:
		r = e.Call.Do(context.Background(), vppwire.Dataplane{VPP: b.vpp, Linux: b.host})
	}
	if fate == replyLost {
		r = e.Call.Unanswered()
	}
	b.step(Called{Result: r})
}

var errRefused = errors.New("refused by the test")

// settle performs everything under way, in order.
func (l *lab) settle() {
	for n := 0; len(l.jobs) > 0; n++ {
		if n > 1e6 {
			l.t.Fatal("does not become quiet:\n" + l.out.String()[max(0, l.out.Len()-4000):])
		}
		j := l.jobs[0]
		l.jobs = l.jobs[1:]
		if j.life == j.b.life {
			j.do()
		}
	}
}

// pass lets time go by, alarms included.
func (l *lab) pass(d time.Duration) {
	end := l.now.Add(d)
	for {
		l.settle()
		var first *box
		for _, name := range l.names {
			if b := l.boxes[name]; !b.wake.IsZero() && !b.wake.After(end) && (first == nil || b.wake.Before(first.wake)) {
				first = b
			}
		}
		if first == nil {
			l.now = end
			return
		}
		if first.wake.After(l.now) {
			l.now = first.wake
		}
		first.wake = time.Time{}
		first.step(Woke{})
	}
}

func (b *box) request(name string) uint64 {
	b.requests++
	b.told[b.requests] = name
	return b.requests
}

func owner(container string) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: container, IfName: "eth0"}
}

func netns(container string) string { return "/run/netns/" + container }

// add asks for a pod's sandbox; the runtime makes its namespace first.
func (b *box) add(pod, container string) { b.addAt(pod, container, netip.Addr{}) }

func (b *box) addAt(pod, container string, external netip.Addr) {
	_ = b.host.CreateNamespace(netns(container)) // a repeated ADD finds it there
	b.step(PodAdd{Request: b.request("add " + container), External: external, Sandbox: Sandbox{Owner: owner(container),
		Netns: netns(container), PodNamespace: "default", PodName: pod, PodUID: "uid-" + pod}})
}

func (b *box) del(container string) {
	b.step(PodDel{Request: b.request("del " + container), Owner: owner(container)})
}

// fakeStore is a linearizable store with watches.
type fakeStore struct {
	revision int64
	identity uint64 // of the data
	items    map[string]StoreItem
	history  []StoreItem // every change, in order
	watches  map[*box]*fakeWatch
	// off: requests are answered with unavailable. loseReply: the next one is done and not answered. loseRequest: the
	// next one is neither.
	off, loseReply, loseRequest bool
}

type fakeWatch struct {
	id   uint64
	life int
}

func newFakeStore() *fakeStore {
	return &fakeStore{revision: 1, identity: 1, items: map[string]StoreItem{}, watches: map[*box]*fakeWatch{}}
}

func (s *fakeStore) do(b *box, r StoreRequest) {
	reply := StoreReply{ID: r.ID, Store: s.identity}
	fate := b.l.fate(b, "store")
	if s.loseRequest && r.Op != StoreWatch {
		s.loseRequest, fate = false, requestLost
	}
	if fate == requestLost {
		return
	}
	if s.off || fate == refused {
		reply.Err = StoreUnavailable
		b.step(reply)
		return
	}
	present, exists := s.items[r.Key]
	conflict := func() {
		reply.Err = StoreConflict
		if exists {
			reply.Items = []StoreItem{present}
		}
	}
	switch r.Op {
	case StoreList:
		for _, key := range s.keys() {
			reply.Items = append(reply.Items, s.items[key])
		}
	case StoreCreate:
		if exists {
			conflict()
		} else {
			s.put(r.Key, r.Value)
		}
	case StoreUpdate, StoreDelete:
		switch {
		case !exists || present.ModRevision != r.Revision:
			conflict()
		case r.Op == StoreUpdate:
			s.put(r.Key, r.Value)
		default:
			s.remove(r.Key)
		}
	case StoreWatch:
		s.watches[b] = &fakeWatch{id: r.ID, life: b.life}
		for _, item := range s.history {
			if item.ModRevision > r.Revision {
				s.send(b, item)
			}
		}
	}
	reply.Revision = s.revision
	if s.loseReply && r.Op != StoreWatch {
		s.loseReply, fate = false, replyLost
	}
	if fate != replyLost {
		b.step(reply)
	}
}

func (s *fakeStore) keys() []string {
	var keys []string
	for k := range s.items {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y string) int {
		a, _ := strconv.Atoi(strings.TrimPrefix(x, nodeid.Prefix)) // 0: no node record's
		b, _ := strconv.Atoi(strings.TrimPrefix(y, nodeid.Prefix))
		return cmp.Or(cmp.Compare(a, b), strings.Compare(x, y))
	})
	return keys
}

// wipe loses all data and ends every watch.
func (s *fakeStore) wipe() {
	watches := s.watches
	*s = fakeStore{revision: 1, identity: s.identity + 1, items: map[string]StoreItem{}, watches: map[*box]*fakeWatch{}}
	for _, b := range sortedBoxes(watches) {
		w := watches[b]
		b.l.jobs = append(b.l.jobs, job{b, w.life, func() { b.step(StoreWatchLost{Watch: w.id}) }})
	}
}

func sortedBoxes(watches map[*box]*fakeWatch) []*box {
	return slices.SortedFunc(maps.Keys(watches), func(x, y *box) int { return strings.Compare(x.name, y.name) })
}

func (s *fakeStore) put(key, value string) {
	s.revision++
	s.items[key] = StoreItem{Key: key, Value: value, ModRevision: s.revision}
	s.tell(s.items[key])
}

func (s *fakeStore) remove(key string) {
	s.revision++
	delete(s.items, key)
	s.tell(StoreItem{Key: key, ModRevision: s.revision, Deleted: true})
}

func (s *fakeStore) tell(item StoreItem) {
	s.history = append(s.history, item)
	for _, b := range sortedBoxes(s.watches) {
		s.send(b, item)
	}
}

func (s *fakeStore) send(b *box, item StoreItem) {
	w := s.watches[b]
	b.l.jobs = append(b.l.jobs, job{b, w.life, func() {
		b.step(StoreChanged{Watch: w.id, Revision: item.ModRevision, Items: []StoreItem{item}})
	}})
}

// text is the store's content, one record a line.
func (s *fakeStore) text() string {
	var out strings.Builder
	for _, k := range s.keys() {
		fmt.Fprintf(&out, "%s %s\n", k, s.items[k].Value)
	}
	return out.String()
}

// state is one node's allocation state in a few lines.
func (b *box) state() string {
	var out strings.Builder
	a := b.agent
	if a == nil {
		return b.name + " agent is down\n"
	}
	fmt.Fprintf(&out, "%s id %d address %s", b.name, a.ID(), a.Node().Address)
	for _, block := range a.Blocks() {
		out.WriteString(" block " + block.Prefix.String())
		if block.Draining {
			out.WriteString(" draining")
		}
	}
	out.WriteString("\n")
	for t := range a.Attachments() {
		fmt.Fprintf(&out, "%s pod %s %s %s up=%t removing=%t stale=%t\n", b.name, t.Sandbox.PodName, t.Sandbox.Owner.ContainerID, t.Lease.Addr, t.Up, t.Removing, t.Stale)
	}
	if p := a.Pending(); p != "" {
		out.WriteString(b.name + " pending: " + p + "\n")
	}
	return out.String()
}

// wrote reports whether VPP was written to since the last question.
func (b *box) wrote() string {
	n := b.vpp.Writes()
	defer func() { b.writes = n }()
	return b.name + " wrote to VPP: " + strconv.FormatBool(n != b.writes) + "\n"
}
