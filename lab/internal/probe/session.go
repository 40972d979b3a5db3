package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Session is a TCP connection between two places that stays open.
type Session struct {
	Pair
	Port           uint16
	client, server net.Conn
	turns          int
}

// Hold opens a session with a port of a place, and tries it once. At even turns its server speaks first, at odd ones its client; turns is how
// many there have been.
func Hold(ctx context.Context, p Pair, port uint16, patience time.Duration, turns int) (_ *Session, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var l net.Listener
	to := netip.AddrPortFrom(p.To.Addr, port)
	if err := spawn.Inside(p.To.Netns, func() (err error) {
		l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", to.String())
		return err
	}); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // ends Accept
	defer func() { stop(); _ = l.Close() }()                 // perhaps for the second time
	s := &Session{Pair: p, Port: port, turns: turns}
	if s.client, err = dial(ctx, p.From.Netns, net.Dialer{Timeout: patience}, "tcp", to.String()); err != nil {
		return nil, err
	}
	if s.server, err = l.Accept(); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.Speak(patience); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Speak has both ends say something to the other one, another one first each time.
func (s *Session) Speak(patience time.Duration) error {
	s.turns++
	first, second, who := s.client, s.server, "client"
	if s.turns%2 == 0 {
		first, second, who = second, first, "server"
	}
	end := time.Now().Add(patience)
	if err := errors.Join(first.SetDeadline(end), second.SetDeadline(end)); err != nil {
		return err
	}
	for _, turn := range [...]struct{ from, to net.Conn }{{first, second}, {second, first}} {
		var b [1]byte
		if _, err := turn.from.Write([]byte{byte(s.turns)}); err != nil {
			return fmt.Errorf("the %s speaks first: %w", who, err)
		}
		if n, err := turn.to.Read(b[:]); err != nil || n != 1 || b[0] != byte(s.turns) {
			return fmt.Errorf("the %s speaks first: %d of one byte, %w", who, n, errors.Join(err, errSilent))
		}
	}
	return nil
}

// Close ends it.
func (s *Session) Close() {
	drop(s.client)
	drop(s.server)
}
