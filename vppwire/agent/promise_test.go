package agent_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// TestNothingDeletedEarly: what nobody wants stays in VPP until the node list, the pod list, the node records and the
// address ranges have each reported. Method: a node loses its journal, and each source in turn is the one that is
// missing; only when it comes may the old pod's interface go.
func TestNothingDeletedEarly(t *testing.T) {
	sources := []struct {
		name string
		tell func(l *story.Lab, b *story.Machine)
	}{
		{"nodes", func(_ *story.Lab, b *story.Machine) { b.Step(b.Seen()); b.Step(NodesListed{}) }},
		{"pods", func(_ *story.Lab, b *story.Machine) { b.Step(PodsListed{}) }},
		{"records", func(l *story.Lab, _ *story.Machine) { l.Store.Off = false; l.Pass(time.Minute) }},
		{"ranges", func(l *story.Lab, b *story.Machine) { b.Step(PoolsChanged{Pools: l.Pools}) }},
	}
	interfaces := func(b *story.Machine) int {
		n := 0
		for i := range b.VPP.Interfaces() {
			if strings.HasPrefix(i.Name, "host-vd") {
				n++
			}
		}
		return n
	}
	for missing := range sources {
		l := story.New(t)
		b := l.Machine("n1")
		b.Config.PodInterconnect = PodInterconnectVeth // an interface for each pod
		b.Start()
		b.Tell()
		l.Settle()
		b.Add("web-0", "c1")
		l.Settle()
		b.Kill()
		b.Journal = nil
		l.Store.Off = true
		b.Agent, _ = New(b.Config, freshAllocator(t))
		b.Life++
		b.Step(Restored{Boot: "boot-0"})
		b.Step(VPPUp{PID: 1})
		for i, s := range sources {
			if i != missing {
				s.tell(l, b)
			}
		}
		l.Pass(time.Minute)
		if interfaces(b) != 1 {
			t.Errorf("without %s, the old pod's interface is deleted", sources[missing].name)
		}
		sources[missing].tell(l, b)
		l.Pass(time.Minute)
		if interfaces(b) != 0 {
			t.Errorf("with everything told, %s last, the old pod's interface is still there: %s", sources[missing].name, b.State())
		}
	}
}

// TestStaleDeliveries: a change that is older than what is known, or that comes twice, changes nothing; a deleted
// record is not brought back by a late delivery.
func TestStaleDeliveries(t *testing.T) {
	l := story.New(t)
	b := l.Machine("n1")
	b.Start()
	b.Tell()
	l.Settle()
	watch := l.Store.Watch(b)
	peer := func(address byte) string {
		n := peerInfo(9, 0)
		n.Address = netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, 16, address}), 24)
		return n.String()
	}
	deliver := func(rev int64, item StoreItem) {
		item.Key, item.ModRevision = "allocatedIDs/9", rev
		b.Step(StoreChanged{Watch: watch, Revision: rev, Items: []StoreItem{item}})
		l.Settle()
	}
	tunnelTo := func() string {
		for addr := byte(100); addr < 105; addr++ {
			if _, ok := b.VPP.Tunnel(netip.MustParseAddr("192.168.16.1"), netip.AddrFrom4([4]byte{192, 168, 16, addr}), 10); ok {
				return string('0' + addr - 100)
			}
		}
		return "-"
	}
	for i, c := range []struct {
		rev  int64
		item StoreItem
		want string
	}{
		{100, StoreItem{Value: peer(101)}, "1"},
		{102, StoreItem{Value: peer(102)}, "2"},
		{101, StoreItem{Value: peer(101)}, "2"},
		{102, StoreItem{Value: peer(103)}, "2"},
		{103, StoreItem{Deleted: true}, "-"},
		{102, StoreItem{Value: peer(102)}, "-"},
		{104, StoreItem{Value: peer(104)}, "4"},
		{104, StoreItem{Deleted: true}, "4"},
	} {
		if deliver(c.rev, c.item); tunnelTo() != c.want {
			t.Errorf("delivery %d: the tunnel leads to %s, not %s", i, tunnelTo(), c.want)
		}
	}
	// Past the contract:
	b.Agent.Step(l.Now, StoreChanged{Watch: watch + 1000, Revision: 200, Items: []StoreItem{{Key: "allocatedIDs/9", ModRevision: 200, Deleted: true}}})
	b.Agent.Step(l.Now, StoreReply{ID: 4711, Revision: 200})
	l.Settle()
	if tunnelTo() != "4" {
		t.Error("a watch that was never opened is believed")
	}
}

// TestNothingToldBeforeDisk: when one write fails, later writes that were under way are not believed either, whatever
// the driver says of them; an answer comes only when a write that holds everything is on disk.
func TestNothingToldBeforeDisk(t *testing.T) {
	l := story.New(t)
	b := l.Machine("n1")
	b.Start()
	b.Tell()
	l.Settle()
	b.Add("web-0", "c1")
	l.Settle()
	a := b.Agent
	l.Forget()
	add := func(request uint64, container string) Event {
		return PodAdd{Request: request, Sandbox: Sandbox{Owner: story.Owner(container), Netns: story.Netns(container)}}
	}
	answers := func(out []Effect) (codes []Code) {
		for _, e := range out {
			if e, ok := e.(Answer); ok {
				codes = append(codes, e.Code)
			}
		}
		return codes
	}
	a.Step(l.Now, add(101, "x1"))
	a.Step(l.Now, add(102, "x2"))
	first := a.JournalSeq() - 1
	if got := answers(a.Step(l.Now, Persisted{Seq: first, Err: errors.New("EIO")})); len(got) != 2 || got[0] != CodeIO || got[1] != CodeIO {
		t.Fatalf("answers are %v", got)
	}
	if got := answers(a.Step(l.Now, Persisted{Seq: first + 1})); len(got) != 0 {
		t.Fatalf("answers to what was given up: %v", got)
	}
	if a.JournalVerified() {
		t.Fatal("the journal is trusted again without having been rewritten")
	}
	replaced := false
	for _, e := range a.Step(l.Now.Add(time.Minute), Woke{}) {
		if p, ok := e.(Persist); ok {
			replaced = p.Replace
			a.Step(l.Now.Add(time.Minute), Persisted{Seq: p.Seq})
		}
	}
	if !replaced || !a.JournalVerified() {
		t.Error("the journal has not been rewritten")
	}
	a.Step(l.Now, Persisted{Seq: 1 << 40}) // never asked for: must not end the world
}
