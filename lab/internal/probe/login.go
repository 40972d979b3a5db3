package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// LoginPort is the port of a host that Logins serve: SSH's.
const LoginPort = 22

// Logins is a host's server of connections that stay, as those of administrators do: it sends back each byte.
type Logins struct {
	listener net.Listener
	wg       sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]bool // nil: closed
}

// ServeLogins begins to serve at every address of the host whose namespace is at this path.
func ServeLogins(netns string) (*Logins, error) {
	l := &Logins{conns: map[net.Conn]bool{}}
	if err := spawn.Inside(netns, func() (err error) {
		l.listener, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp4", fmt.Sprintf(":%d", LoginPort))
		return err
	}); err != nil {
		return nil, fmt.Errorf("serve logins in %s: %w", netns, err)
	}
	l.wg.Go(func() {
		for {
			c, err := l.listener.Accept()
			if err != nil {
				return // closed
			}
			l.mu.Lock()
			if l.conns == nil {
				_ = c.Close() // nobody has been answered
			} else {
				l.conns[c] = true
				l.wg.Go(func() { l.serve(c) })
			}
			l.mu.Unlock()
		}
	})
	return l, nil
}

func (l *Logins) serve(c net.Conn) {
	_, _ = io.Copy(c, c) // its end is the client's to see
	drop(c)
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
}

// Close ends the server and its connections.
func (l *Logins) Close() {
	_ = l.listener.Close() // ends Accept
	l.mu.Lock()
	for c := range l.conns { //vppdrill:unordered each by itself
		drop(c)
	}
	l.conns = nil
	l.mu.Unlock()
	l.wg.Wait()
}

// Login is a connection with a host's Logins that somebody keeps and says a byte over at each pace.
type Login struct {
	conn   net.Conn
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	last   time.Time
	end    error
}

// OpenLogin connects somebody with a host, and returns when the host has taken the connection.
func OpenLogin(from Place, to netip.Addr, pace, patience time.Duration) (*Login, error) {
	ctx, cancel := context.WithCancel(context.Background())
	conn, err := dial(ctx, from.Netns, net.Dialer{Timeout: patience, KeepAlive: -1, LocalAddr: &net.TCPAddr{IP: from.Addr.AsSlice()}}, "tcp4",
		netip.AddrPortFrom(to, LoginPort).String())
	if err != nil {
		cancel()
		return nil, err
	}
	l := &Login{conn: conn, last: time.Now(), cancel: cancel}
	l.wg.Go(func() { l.speak(ctx, pace) })
	l.wg.Go(l.hear)
	return l, nil
}

func (l *Login) speak(ctx context.Context, pace time.Duration) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := l.conn.Write([]byte{'.'}); err != nil {
			l.ended(err)
			return
		}
	}
}

func (l *Login) hear() {
	var b [64]byte
	for {
		if _, err := l.conn.Read(b[:]); err != nil {
			l.ended(err)
			return
		}
		l.mu.Lock()
		l.last = time.Now()
		l.mu.Unlock()
	}
}

func (l *Login) ended(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end == nil {
		l.end = err
	}
}

// Answered is when the host last answered. An error says that the connection has ended, though nobody has ended it.
func (l *Login) Answered() (last time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.end, net.ErrClosed) {
		return l.last, nil
	}
	return l.last, l.end
}

// Close ends the connection.
func (l *Login) Close() {
	l.cancel()
	drop(l.conn)
	l.wg.Wait()
}
