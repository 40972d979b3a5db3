package agent_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire"
	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// BenchmarkStep measures what the agent itself costs for each event of pods that come and go: ns/event over all Steps
// of an ADD and DEL cycle (requests, journal answers, dataplane calls), with the model's and the journal's time left
// out ("ns/op" has it in).
func BenchmarkStep(b *testing.B) {
	l := story.New(b)
	x := l.Machine("n1")
	x.Start()
	x.Tell()
	l.Settle()
	d := vppwire.Dataplane{VPP: x.VPP, Linux: x.Host}
	a := x.Agent
	_ = x.Host.CreateNamespace(story.Netns("c1"))
	sandbox := Sandbox{Owner: story.Owner("c1"), Netns: story.Netns("c1"), PodNamespace: "default", PodName: "web-0"}
	queue := make([]Event, 0, 16)
	events, request, spent := 0, uint64(100), time.Duration(0)
	cycle := func(ev Event) {
		queue = append(queue[:0], ev)
		for len(queue) > 0 {
			next := queue[0]
			queue = queue[1:]
			began := time.Now()
			out := a.Step(l.Now, next)
			spent += time.Since(began)
			events++
			for _, e := range out {
				switch e := e.(type) {
				case Persist:
					queue = append(queue, Persisted{Seq: e.Seq})
				case CallDataplane:
					queue = append(queue, Called{Result: e.Call.Do(context.Background(), d)})
				case Answer:
					if e.Code != CodeOK {
						b.Fatal(e.Message)
					}
				}
			}
		}
	}
	for b.Loop() {
		request += 2
		cycle(PodAdd{Request: request, Sandbox: sandbox})
		cycle(PodDel{Request: request + 1, Owner: sandbox.Owner})
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(events)/float64(b.N), "events/cycle")
}

// BenchmarkCalled measures the commonest Step of all: an answer of VPP that leads to the next call.
func BenchmarkCalled(b *testing.B) {
	l := story.New(b)
	x := l.Machine("n1")
	x.Start()
	x.Tell()
	l.Settle()
	a := x.Agent
	// A thousand peers at once leave seven calls each to make; the model is replaced by an answer that is always "done".
	n := 0
	var call vppwire.Call
	step := func(ev Event) {
		for _, e := range a.Step(l.Now, ev) {
			if c, ok := e.(CallDataplane); ok {
				call = c.Call
			}
		}
	}
	d := vppwire.Dataplane{VPP: x.VPP, Linux: x.Host}
	more := func() {
		n++
		var items []StoreItem
		for id := uint32(2); id < 250; id++ {
			info := peerInfo(id, n)
			items = append(items, StoreItem{Key: info.Key(), Value: info.String(), ModRevision: int64(1000*n) + int64(id)})
		}
		call = vppwire.Call{}
		step(StoreChanged{Watch: l.Store.Watch(x), Revision: int64(1000 * (n + 1)), Items: items})
	}
	more()
	spent := time.Duration(0)
	for range b.N {
		for call == (vppwire.Call{}) {
			more()
		}
		r := call.Do(context.Background(), d)
		call = vppwire.Call{}
		began := time.Now()
		step(Called{Result: r})
		spent += time.Since(began)
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/event")
}

func peerInfo(id uint32, address int) nodeid.Record {
	return nodeid.Record{
		ID: id, Name: fmt.Sprintf("node-%d", id), UID: fmt.Sprintf("uid-%d", id),
		Address:     netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, 16 + byte(address%8), byte(id)}), 21),
		Management:  []netip.Addr{netip.AddrFrom4([4]byte{10, 20, 1, byte(id)})},
		PodNetworks: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(id), 0}), 24)},
		HostNetwork: netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 30, byte(id), 0}), 24),
		VXLAN:       netip.AddrFrom4([4]byte{192, 168, 30, byte(id)}),
	}
}

// BenchmarkRecordSeen measures the news of one node record, new or changed, without the calls that follow from it.
func BenchmarkRecordSeen(b *testing.B) {
	l := story.New(b)
	x := l.Machine("n1")
	x.Start()
	x.Tell()
	l.Settle()
	a := x.Agent
	values := make([]StoreItem, 0, 500)
	for n := range 2 {
		for id := uint32(2); id < 250; id++ {
			info := peerInfo(id, n)
			values = append(values, StoreItem{Key: info.Key(), Value: info.String()})
		}
	}
	revision := int64(1000)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		item := values[i%len(values)]
		revision++
		item.ModRevision = revision
		a.Step(l.Now, StoreChanged{Watch: l.Store.Watch(x), Revision: revision, Items: []StoreItem{item}})
	}
}

func BenchmarkParseNodeRecord(b *testing.B) {
	text := peerInfo(7, 1).String()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nodeid.ParseRecord(text); err != nil {
			b.Fatal(err)
		}
	}
}
