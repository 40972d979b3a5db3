package vppwire_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// yes is a dataplane that performs everything at once and holds nothing: what is measured is the Session.
type yes struct {
	api.Connection
	next interfaces.SwInterfaceDetails
}

func (y *yes) Invoke(_ context.Context, _, reply api.Message) error {
	y.next.SwIfIndex++
	switch m := reply.(type) {
	case *interfaces.CreateLoopbackInstanceReply:
		m.SwIfIndex = y.next.SwIfIndex
	case *af_packet.AfPacketCreateV3Reply:
		m.SwIfIndex = y.next.SwIfIndex
	case *tapv2.TapCreateV3Reply:
		m.SwIfIndex = y.next.SwIfIndex
	case *vxlan.VxlanAddDelTunnelV3Reply:
		m.SwIfIndex = y.next.SwIfIndex
	}
	return nil
}

func (y *yes) NewStream(context.Context, ...api.StreamOption) (api.Stream, error) {
	return emptyDump{}, nil
}

func (y *yes) Apply(vppwire.LinuxOp) error { return nil }

func (y *yes) Dump(string) (vppwire.LinuxState, error) { return vppwire.LinuxState{}, nil }

type emptyDump struct{ api.Stream }

func (emptyDump) SendMsg(api.Message) error { return nil }

func (emptyDump) RecvMsg() (api.Message, error) { return &memclnt.ControlPingReply{}, nil }

func (emptyDump) Close() error { return nil }

// converge performs calls until none is left, and returns how many there were.
func converge(b *testing.B, s *vppwire.Session, d vppwire.Dataplane) (calls int) {
	b.Helper()
	ctx, now := context.Background(), time.Unix(0, 0)
	for {
		c, ok := s.Next(now)
		if !ok {
			break
		}
		s.Feed(now, c.Do(ctx, d))
		calls++
	}
	if !s.Idle() {
		b.Fatal(s.Pending())
	}
	s.Changed()
	return calls
}

// BenchmarkSession measures the Session alone, on a dataplane that says yes to everything: "diff" is a node with 1,000
// objects from its first dump to the last call; "pod" is one pod that comes and goes on that node.
func BenchmarkSession(b *testing.B) {
	c := mode.Config{Pod: mode.PodVeth, Node: mode.NodeVXLAN, Host: mode.HostTap, MTU: 1450, PodTable: 1}
	self := nodeFacts(1)
	groups := map[string][]vppwire.Object{"node": c.NodeObjects(self)}
	names, count := []string{"node"}, len(groups["node"])
	for id := uint32(2); count < 1000; id++ {
		peer := mode.Peer{ID: id, Address: netip.AddrFrom4([4]byte{192, 168, 16, byte(id)}), VXLAN: netip.AddrFrom4([4]byte{192, 168, 30, byte(id)}),
			PodNetworks: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(id), 0}), 24)}}
		name := fmt.Sprintf("peer/%d", id)
		groups[name] = c.PeerObjects(self, peer)
		names, count = append(names, name), count+len(groups[name])
	}
	fill := func() (*vppwire.Session, vppwire.Dataplane) {
		y := &yes{}
		s := vppwire.NewSession()
		s.AllowDelete()
		for _, name := range names {
			s.Set(name, groups[name])
		}
		s.Connect(1)
		return s, vppwire.Dataplane{VPP: y, Linux: y}
	}
	b.Run("diff", func(b *testing.B) {
		b.ReportAllocs()
		calls := 0
		for b.Loop() {
			s, d := fill()
			calls += converge(b, s, d)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
	})
	b.Run("pod", func(b *testing.B) {
		b.ReportAllocs()
		s, d := fill()
		converge(b, s, d)
		pod := c.PodObjects(self, podFacts(1))
		calls := 0
		for b.Loop() {
			s.Set("pod", pod)
			calls += converge(b, s, d)
			s.Set("pod", nil)
			calls += converge(b, s, d)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
	})
	b.Run("restart", func(b *testing.B) {
		b.ReportAllocs()
		s, d := fill()
		converge(b, s, d)
		calls := 0
		for b.Loop() {
			s.Disconnect()
			s.Connect(1)
			calls += converge(b, s, d)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
	})
}
