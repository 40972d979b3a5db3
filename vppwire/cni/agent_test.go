//go:build linux

package cni_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/cnisocket"
)

// fakeAgent answers as it is told, behind the real agent's end of the socket.
type fakeAgent struct {
	mu     sync.Mutex
	answer agent.Answer  // its Result is made up for each ADD unless Code is set
	silent bool          // never answers
	heard  []agent.Event // with request numbers 0
	last   byte
	socket string
	stop   func()
}

// start has the fake listen on a socket of its own.
func (f *fakeAgent) start(t testing.TB) {
	t.Helper()
	if f.socket == "" {
		f.socket = filepath.Join(t.TempDir(), "cni.sock")
	}
	s, err := cnisocket.Listen(f.socket, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(ctx) }()
	f.stop = func() { cancel(); <-done; _ = os.Remove(f.socket) }
	t.Cleanup(func() { f.stop() })
}

// Request implements cnisocket.Agent.
func (f *fakeAgent) Request(ctx context.Context, event func(uint64) agent.Event) (agent.Answer, error) {
	f.mu.Lock()
	ev, silent, answer := event(0), f.silent, f.answer
	f.heard = append(f.heard, ev)
	if add, ok := ev.(agent.PodAdd); ok && answer.Code == 0 {
		f.last++
		answer.Result = agent.Attachment{IfName: add.Sandbox.Owner.IfName, Netns: add.Sandbox.Netns,
			Addr: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, 1, 1 + f.last}), 32), Gateway: netip.MustParseAddr("10.1.1.1"),
			MAC: vppwire.MAC{2, 0, 0, 0, 0, f.last}, MTU: 1450}
		if add.External.IsValid() {
			answer.Result.Addr = netip.PrefixFrom(add.External, add.External.BitLen())
		}
	}
	f.mu.Unlock()
	if silent {
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}
	return answer, nil
}

// said returns what the agent was asked since the last time, one line each.
func (f *fakeAgent) said() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for _, ev := range f.heard {
		fmt.Fprintf(&b, "agent: %s\n", ev.AppendText(nil))
	}
	f.heard = nil
	return b.String()
}

// oddAgent is an agent's socket behind which each connection is handled by the next function; the last one stays.
func oddAgent(t testing.TB, handle ...func(*net.UnixConn)) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "cni.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for i := 0; ; i++ {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			handle[min(i, len(handle)-1)](c)
		}
	}()
	return socket
}
