package vpp

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// recorder notes which messages are sent.
type recorder struct {
	api.Connection
	sent map[string]bool
}

func (r recorder) Invoke(ctx context.Context, req, reply api.Message) error {
	r.sent[nameOf(req)], r.sent[nameOf(reply)] = true, true
	return r.Connection.Invoke(ctx, req, reply)
}

func (r recorder) NewStream(ctx context.Context, o ...api.StreamOption) (api.Stream, error) {
	s, err := r.Connection.NewStream(ctx, o...)
	return recordedStream{s, r}, err
}

type recordedStream struct {
	api.Stream
	r recorder
}

func (s recordedStream) SendMsg(m api.Message) error {
	s.r.sent[nameOf(m)] = true
	return s.Stream.SendMsg(m)
}

func (s recordedStream) RecvMsg() (api.Message, error) {
	m, err := s.Stream.RecvMsg()
	if err == nil {
		s.r.sent[nameOf(m)] = true
	}
	return m, err
}

// Goal: whatever vppwire sends is looked for when VPP is dialed, so that a VPP without it is refused and not met
// midway. Method: wire and unwire nodes, peers and pods of every mode on the model and note the messages.
func TestEveryMessageIsLookedFor(t *testing.T) {
	known := map[string]bool{}
	for _, p := range parts() {
		for _, m := range p.Messages {
			known[nameOf(m)] = true
		}
	}
	sent := map[string]bool{}
	for _, pod := range []mode.PodMode{mode.PodVeth, mode.PodTap} {
		for _, nodes := range []mode.NodeMode{mode.NodeVXLAN, mode.NodeL2} {
			for _, hosts := range []mode.HostMode{mode.HostVeth, mode.HostTap} {
				exercise(t, mode.Config{Pod: pod, Node: nodes, Host: hosts, MTU: 1450, PodTable: 1, ScanNeighbors: true, StaleMinutes: 4}, sent)
			}
		}
	}
	if len(sent) < 50 {
		t.Errorf("only %d messages were seen", len(sent))
	}
	for name := range sent {
		if !known[name] {
			t.Errorf("%s is sent and not looked for", name)
		}
	}
}

func exercise(t *testing.T, cfg mode.Config, sent map[string]bool) {
	t.Helper()
	kernel, err := hostmodel.New(hostmodel.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := kernel.CreateNamespace("/run/netns/p"); err != nil {
		t.Fatal(err)
	}
	d := vppwire.Dataplane{VPP: recorder{vppmodel.New(vppmodel.Config{Host: kernel}), sent}, Linux: kernel}
	s := vppwire.NewSession()
	s.Connect(1)
	s.AllowDelete()
	prefix, addr := netip.MustParsePrefix, netip.MustParseAddr
	n := mode.Node{ID: 1, Address: prefix("192.168.16.1/24"), VXLAN: prefix("192.168.30.1/24"),
		PodSubnets: []netip.Prefix{prefix("10.1.0.0/16")}, HostSubnets: []netip.Prefix{prefix("172.30.0.0/16")},
		HostSubnet: prefix("172.30.1.0/24"), HostVPP: addr("172.30.1.1"), HostLinux: addr("172.30.1.2"),
		Gateways: []netip.Prefix{prefix("10.1.1.1/24")}}
	s.Set("node", cfg.NodeObjects(n))
	s.Set("peer", cfg.PeerObjects(n, mode.Peer{ID: 2, Address: addr("192.168.16.2"), VXLAN: addr("192.168.30.2"),
		PodNetworks: []netip.Prefix{prefix("10.1.2.0/24")}, HostSubnet: prefix("172.30.2.0/24")}))
	s.Set("pod", cfg.PodObjects(n, mode.Pod{Container: "c", IfName: "eth0", Netns: "/run/netns/p", Addr: addr("10.1.1.2"), Gateway: addr("10.1.1.1"), Number: 1}))
	now := time.Unix(0, 0)
	converge := func() {
		for {
			call, ok := s.Next(now)
			if !ok {
				if at, later := s.WakeAt(); later && at.Sub(time.Unix(0, 0)) < time.Hour {
					now = at
					continue
				}
				return
			}
			s.Feed(now, call.Do(context.Background(), d))
		}
	}
	converge()
	s.Doubt(nil)
	converge()
	for _, group := range []string{"pod", "peer", "node"} {
		s.Set(group, nil)
		converge()
	}
	if why := s.Pending(); why != "" {
		t.Fatal(why)
	}
}
