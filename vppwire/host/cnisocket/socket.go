package cnisocket

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire/peercred"
)

// ErrInUse: another agent listens on the socket.
var ErrInUse = errors.New("another agent listens on it")

// Open makes a socket with mode 0600 from the first moment on. One that a dead agent left is taken over; ErrInUse where one
// lives. Its file stays when it is closed.
func Open(path string) (*net.UnixListener, error) {
	if err := clear(path); err != nil {
		return nil, err
	}
	// The mode a socket is born with is up to the process's mask, which all goroutines share: so it is made under another
	// name and gets its own when nobody else may open it any more.
	young := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.Remove(young); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: young, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(young, 0o600); err == nil {
		err = os.Rename(young, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(young))
	}
	return l, nil
}

// clear makes sure that nobody listens at path.
func clear(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return errors.New("there is a file of that name that is no socket")
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		return errors.Join(ErrInUse, c.Close())
	}
	if !errors.Is(err, unix.ECONNREFUSED) {
		return err
	}
	return nil // renaming over it takes it away
}

// Guarded is a listener that root and the agent's own user get through to; others are cut off.
type Guarded struct {
	*net.UnixListener
	Log *slog.Logger
}

// Accept implements net.Listener.
func (g Guarded) Accept() (net.Conn, error) {
	for {
		c, err := g.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if err := allowed(c); err == nil {
			return c, nil
		} else {
			g.Log.Warn("socket", "path", g.Addr(), "error", err)
		}
		_ = c.Close() // it was not let in
	}
}

// allowed refuses everybody but root and the agent's own user, whatever the socket's mode lets through.
func allowed(c *net.UnixConn) error {
	peer, err := peercred.Of(c)
	if err != nil {
		return err
	}
	return mayAsk(peer.Uid, uint32(os.Getuid()))
}

func mayAsk(uid, own uint32) error {
	if uid != 0 && uid != own {
		return fmt.Errorf("user %d may not ask this agent", uid)
	}
	return nil
}
