package probe

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// Stream is a one-way stream of numbered datagrams, one every Every, that shows each gap in a pod's traffic.
type Stream struct {
	Pair  Pair
	Every time.Duration

	client, server *net.UDPConn
	mu             sync.Mutex
	sent, received uint64
	highest        uint64
	last           time.Time
	gaps           []Gap
	twice          uint64
	seen           map[uint64]bool
	sender, wg     sync.WaitGroup
	cancel         context.CancelFunc
}

// Gap is a time in which nothing came, and the datagrams of it that never did.
type Gap struct {
	Begin time.Time
	Long  time.Duration
	Lost  uint64
}

// Report is what a stream has seen.
type Report struct {
	Sent, Received, Twice uint64
	// Gaps are those longer than ten times the pace, oldest first; Longest is the longest of all.
	Gaps    []Gap
	Longest time.Duration
}

// Lost counts datagrams that never came.
func (r Report) Lost() uint64 { return r.Sent - r.Received }

// StartStream starts to send. Stop ends it.
func StartStream(p Pair, every time.Duration) (*Stream, error) {
	s := &Stream{Pair: p, Every: every, seen: map[uint64]bool{}}
	var err error
	if s.server, err = listenUDP(p.To.Netns, p.To.Addr); err != nil {
		return nil, err
	}
	if s.client, err = listenUDP(p.From.Netns, p.From.Addr); err != nil {
		_ = s.server.Close()
		return nil, err
	}
	// A process that is not scheduled for a while must not lose what is on its way.
	_ = s.server.SetReadBuffer(4 << 20)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.last = time.Now()
	s.wg.Go(func() { s.receive() })
	s.sender.Go(func() { s.send(ctx) })
	return s, nil
}

// send keeps the pace on average: what a late timer missed is sent at once.
func (s *Stream) send(ctx context.Context) {
	to := s.server.LocalAddr().(*net.UDPAddr)
	begin := time.Now()
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	var packet [8]byte
	for n := uint64(1); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for due := uint64(now.Sub(begin) / s.Every); n <= due; n++ {
				binary.BigEndian.PutUint64(packet[:], n)
				s.mu.Lock()
				s.sent = n
				s.mu.Unlock()
				_, _ = s.client.WriteToUDP(packet[:], to) // an error is a lost datagram
			}
		}
	}
}

func (s *Stream) receive() {
	var buffer [64]byte
	for {
		n, _, err := s.server.ReadFromUDP(buffer[:])
		if err != nil {
			return // closed
		}
		if n != 8 {
			continue
		}
		s.arrived(binary.BigEndian.Uint64(buffer[:8]), time.Now())
	}
}

func (s *Stream) arrived(number uint64, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[number] {
		s.twice++
		return
	}
	s.seen[number] = true
	s.received++
	g := Gap{Begin: s.last, Long: now.Sub(s.last)}
	if number > s.highest {
		g.Lost = number - s.highest - 1
		s.highest = number
	}
	s.gaps = append(s.gaps, g)
	s.last = now
}

// Stop ends the stream and waits a moment for what is still on its way.
func (s *Stream) Stop() Report {
	s.cancel()
	s.sender.Wait() // what it sends after we have looked would count as lost
	for deadline := time.Now().Add(500 * time.Millisecond); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		all := s.received == s.sent
		s.mu.Unlock()
		if all {
			break
		}
	}
	_ = s.server.Close() // ends receive
	s.wg.Wait()
	_ = s.client.Close()
	r := Report{Sent: s.sent, Received: s.received, Twice: s.twice}
	for _, g := range s.gaps {
		r.Longest = max(r.Longest, g.Long)
		if g.Long > 10*s.Every {
			r.Gaps = append(r.Gaps, g)
		}
	}
	return r
}
