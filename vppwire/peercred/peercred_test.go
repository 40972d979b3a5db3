package peercred_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/peercred"
)

// Goal: both ends of a connection know whose the other one is. Method: a socket of this process, of which both ends are asked.
func TestOf(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	near, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = near.Close() }()
	far, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	for _, c := range []*net.UnixConn{near, far} {
		peer, err := peercred.Of(c)
		if err != nil || int(peer.Pid) != os.Getpid() || int(peer.Uid) != os.Getuid() || int(peer.Gid) != os.Getgid() {
			t.Errorf("%+v, %v", peer, err)
		}
	}
	_ = far.Close() // a connection that is closed on this side has no other one
	if _, err := peercred.Of(far); err == nil {
		t.Error("a closed connection has another end")
	}
}
