package host_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/internal/vpp"
)

// Goal: one node lives through everything that may be restarted: pods keep their addresses, a restarted agent changes
// nothing, a restarted VPP gets everything back, a deleted pod leaves nothing. Method: real journal, etcd and sockets;
// modelled VPP and kernel.
func TestLives(t *testing.T) {
	n := newNode(t)
	n.startVPP()
	n.startAgent(nil)
	first := address(t, n.add(n.sandbox(1)))
	second := address(t, n.add(n.sandbox(2)))
	if first == second || !netip.MustParsePrefix("10.1.1.0/24").Contains(first.Addr()) {
		t.Fatalf("addresses %s and %s", first, second)
	}
	n.settled()

	n.stopAgent()
	vppWrites, linuxWrites := n.writes()
	n.startAgent(nil)
	if again := address(t, n.add(n.sandbox(1))); again != first {
		t.Fatalf("asked again: %s, then %s", first, again)
	}
	n.settled()
	if v, l := n.writes(); v != vppWrites || l != linuxWrites {
		t.Fatalf("a restarted agent wrote: VPP %d, then %d; Linux %d, then %d", vppWrites, v, linuxWrites, l)
	}

	n.killVPP()
	until(t, func() bool { return !n.connected() }, func() string { return "nobody noticed that VPP is gone" })
	n.startVPP()
	until(t, n.connected, func() string { return "VPP is not found again" })
	n.settled()
	if v := n.vpp.Writes(); v == 0 {
		t.Fatal("a new VPP was left empty")
	}

	for k := 1; k <= 2; k++ {
		if a := n.del(n.sandbox(k)); a.Code != agent.CodeOK {
			t.Fatalf("%+v", a)
		}
	}
	n.settled()
	n.stopAgent()
	if s, err := n.linux.Dump("/run/netns/1"); err != nil || len(s.Links) != 0 {
		t.Fatalf("left: %+v, %v", s, err)
	}
}

// connected asks the agent whether it would take a pod.
func (n *node) connected() bool {
	a, err := n.driver.Request(n.t.Context(), func(r uint64) agent.Event { return agent.PodStatus{Request: r} })
	must(n.t, err)
	return a.Code == agent.CodeOK
}

// Goal: a call without an answer counts as unknown and costs the connection; what it did is found out and the pod is
// wired all the same. Method: a connection in between that swallows one answer.
func TestLostAnswer(t *testing.T) {
	n := newNode(t)
	n.startVPP()
	mute := &muted{inner: host.Socket(n.socket()), name: "af_packet_create_v3"}
	n.startAgent(func(c *host.Config) {
		c.VPP, c.CallTimeout = mute, 50*time.Millisecond
	})
	address(t, n.add(n.sandbox(1)))
	n.settled()
	mute.mu.Lock()
	defer mute.mu.Unlock()
	if mute.lost != 1 || mute.dials < 2 {
		t.Fatalf("%d answers lost, %d connections", mute.lost, mute.dials)
	}
}

// Goal: a VPP that holds its sockets and answers nothing is found out while nobody asks anything of it, and told as
// silent. Method: a connection in between that swallows the answer to one ping.
func TestSilentVPP(t *testing.T) {
	n := newNode(t)
	n.startVPP()
	mute := &muted{inner: host.Socket(n.socket()), name: "control_ping"}
	var log lockedBuffer
	n.startAgent(func(c *host.Config) {
		c.VPP, c.CallTimeout, c.Log = mute, 50*time.Millisecond, slog.New(slog.NewTextHandler(&log, nil))
	})
	address(t, n.add(n.sandbox(1)))
	until(t, func() bool {
		mute.mu.Lock()
		defer mute.mu.Unlock()
		return mute.lost == 1 && mute.dials > 1
	}, func() string { return "nobody noticed" })
	n.settled()
	if text := log.String(); !strings.Contains(text, agent.ReasonSilent) {
		t.Errorf("no event of reason %s:\n%s", agent.ReasonSilent, text)
	}
}

// Goal: a VPP that hangs in a dump is found out as soon as in any call, and one whose dump goes on for longer is left alone. Method: a
// connection in between that swallows one dump's answer, or has each message of dumps come late.
func TestHangingDump(t *testing.T) {
	for name, late := range map[string]time.Duration{"sw_interface_dump": 0, "": 80 * time.Millisecond} {
		n := newNode(t)
		n.startVPP()
		mute := &muted{inner: host.Socket(n.socket()), name: name, late: late}
		n.startAgent(func(c *host.Config) {
			c.VPP, c.CallTimeout = mute, 250*time.Millisecond
		})
		address(t, n.add(n.sandbox(1)))
		n.settled()
		mute.mu.Lock()
		if lost := mute.dials > 1; lost != (name != "") || mute.lost != mute.dials-1 {
			t.Errorf("%q: %d answers lost, %d connections", name, mute.lost, mute.dials)
		}
		mute.mu.Unlock()
		n.stopAgent()
	}
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// muted loses the first answer to one message, and has dumps' messages come late.
type muted struct {
	inner host.VPP
	name  string
	late  time.Duration

	mu          sync.Mutex
	lost, dials int
}

func (m *muted) Dial(ctx context.Context) (host.Conn, error) {
	c, err := m.inner.Dial(ctx)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.dials++
	m.mu.Unlock()
	return &mutedConn{c, m}, nil
}

type mutedConn struct {
	host.Conn
	m *muted
}

// loses reports whether the answer to a request is to be lost.
func (m *muted) loses(req api.Message) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	lose := req.GetMessageName() == m.name && m.lost == 0
	if lose {
		m.lost++
	}
	return lose
}

func (c *mutedConn) NewStream(ctx context.Context, options ...api.StreamOption) (api.Stream, error) {
	s, err := c.Conn.NewStream(ctx, options...)
	return &mutedStream{Stream: s, m: c.m, ctx: ctx}, err
}

type mutedStream struct {
	api.Stream
	m    *muted
	ctx  context.Context
	lose bool
}

func (s *mutedStream) SendMsg(req api.Message) error {
	s.lose = s.lose || s.m.loses(req)
	return s.Stream.SendMsg(req)
}

func (s *mutedStream) RecvMsg() (api.Message, error) {
	if s.lose {
		<-s.ctx.Done()
		return nil, s.ctx.Err()
	}
	select {
	case <-time.After(s.m.late):
	case <-s.ctx.Done():
	}
	return s.Stream.RecvMsg()
}

func (c *mutedConn) Invoke(ctx context.Context, req, reply api.Message) error {
	lose := c.m.loses(req)
	err := c.Conn.Invoke(ctx, req, reply)
	if lose {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// Goal: a VPP that cannot be driven, or does not come in time, ends the agent with that reason; one that comes late
// does not.
func TestNoVPP(t *testing.T) {
	n := newNode(t)
	for name, test := range map[string]struct {
		dial     dialer
		patience time.Duration
		want     error
	}{
		"incompatible": {func(int) error { return vpp.ErrIncompatible }, 0, vpp.ErrIncompatible},
		"forbidden":    {func(int) error { return vpp.ErrForbidden }, time.Hour, vpp.ErrForbidden},
		"absent":       {func(int) error { return vpp.ErrAbsent }, time.Nanosecond, vpp.ErrAbsent},
	} {
		n.startAgent(func(c *host.Config) { c.VPP, c.VPPPatience = test.dial, test.patience })
		until(t, func() bool {
			return errors.Is(n.driver.Ask(t.Context(), func(*agent.Agent) {}), host.ErrStopped)
		}, func() string { return name + ": it runs" })
		if err := n.stop(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
		n.stop = nil
	}
	n.startAgent(func(c *host.Config) { c.VPPPatience = 0 })
	n.startVPP()
	address(t, n.add(n.sandbox(1)))
}

// Goal: an agent that is slow to hear of a list does not take the nodes in it, its own among them, for ones that were
// told of before the list and are gone since. Method: an agent that stands still for longer than a list takes, behind
// each step of its start.
func TestSlowToHear(t *testing.T) {
	n := newNode(t)
	n.startVPP()
	var log lockedBuffer
	n.startAgent(func(c *host.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.Stepped = func(time.Time, *agent.Agent, []agent.Effect) { time.Sleep(20 * time.Millisecond) }
	})
	until(t, func() bool { return n.connected() || strings.Contains(log.String(), "is gone") }, func() string { return log.String() })
	if text := log.String(); strings.Contains(text, "is gone") {
		t.Fatal(text)
	}
}

// dialer fails each time, told how often it was asked before.
type dialer func(times int) error

func (d dialer) Dial(context.Context) (host.Conn, error) { return nil, d(0) }

// Goal: a request that nobody waits for any more leaves no request open, and one that the driver's end meets is told.
func TestWithdrawn(t *testing.T) {
	n := newNode(t)
	n.startAgent(nil) // no VPP: an ADD waits
	ctx, cancel := context.WithCancel(t.Context())
	s := n.sandbox(1)
	asked := make(chan error, 1)
	go func() {
		_, err := n.driver.Request(ctx, func(r uint64) agent.Event { return agent.PodAdd{Request: r, Sandbox: s} })
		asked <- err
	}()
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	go func() {
		_, err := n.driver.Request(context.Background(), func(r uint64) agent.Event { return agent.PodAdd{Request: r, Sandbox: s} })
		asked <- err
	}()
	must(t, n.driver.Ask(t.Context(), func(*agent.Agent) {}))
	n.stopAgent()
	if err := <-asked; !errors.Is(err, host.ErrStopped) {
		t.Fatal(err)
	}
}

// Goal: hooks run behind an addition and before a removal, and what they say changes nothing.
func TestHooks(t *testing.T) {
	n := newNode(t)
	n.startVPP()
	var mu sync.Mutex
	var heard []agent.Hook
	n.startAgent(func(c *host.Config) {
		c.Hooks = func(_ context.Context, h agent.Hook) error {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, h)
			return errors.New("no")
		}
	})
	address(t, n.add(n.sandbox(1)))
	n.del(n.sandbox(1))
	mu.Lock()
	defer mu.Unlock()
	if len(heard) != 2 || heard[0].Before || !heard[1].Before || heard[0].Sandbox.PodName != "pod-1" || !heard[1].Addr.IsValid() {
		t.Fatalf("%+v", heard)
	}
}
