package probe

import (
	"context"
	"net"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// dial connects from a namespace with one address. The dialer's own goroutines would be in another namespace: it tries once, on this thread.
func dial(ctx context.Context, netns string, d net.Dialer, network, at string) (c net.Conn, err error) {
	d.FallbackDelay = -1
	err = spawn.Inside(netns, func() (err error) { c, err = d.DialContext(ctx, network, at); return err })
	return c, err
}

// drop ends a TCP connection, nil for none, of which nothing is to stay in a namespace that goes.
func drop(c net.Conn) {
	if t, is := c.(*net.TCPConn); is {
		_ = t.SetLinger(0)
		_ = t.Close() // perhaps for the second time
	}
}
