package vpp

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
)

func serve(t *testing.T, path string) *socket.Server {
	t.Helper()
	s, err := socket.Listen(socket.Config{Path: path, VPP: vppmodel.New(vppmodel.Config{PID: 42, NICs: []vppmodel.NIC{{Name: "eth9"}}})})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Goal: who answers is known, and the end of VPP is noticed without asking. Method: the modelled VPP on a socket.
func TestDial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.sock")
	s := serve(t, path)
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if who := c.Who(); who.PID != 42 || !slices.Equal(who.NICs, []string{"eth9"}) || who.Version == "" {
		t.Errorf("%+v", who)
	}
	select {
	case <-c.Gone():
		t.Error("gone at once")
	default:
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Gone():
	case <-time.After(time.Minute):
		t.Fatal("nobody noticed")
	}
	c.Close()

	s = serve(t, path)
	if c, err = Dial(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	c.Drop()
	c.Drop()
	c.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Goal: each way in which nobody answers is told apart.
func TestAbsent(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "left.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	closing := filepath.Join(dir, "closing.sock")
	door, err := net.Listen("unix", closing)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = door.Close() }()
	go func() {
		for {
			c, err := door.Accept()
			if err != nil {
				return
			}
			_ = c.Close() // a VPP that dies while it is greeted
		}
	}()
	for path, text := range map[string]string{filepath.Join(dir, "none.sock"): "no such socket", left: "nobody listens", closing: ""} {
		_, err := Dial(context.Background(), path)
		if !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if os.Getuid() == 0 {
		t.Log("permission is not tried: root may use any socket")
		return
	}
	if err := os.Chmod(closing, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(context.Background(), closing); !errors.Is(err, ErrForbidden) {
		t.Errorf("%v", err)
	}
}

// table knows every message but some.
type table []string

func (lacking table) GetMessageID(m api.Message) (uint16, error) {
	if slices.ContainsFunc(lacking, func(p string) bool { return strings.HasPrefix(m.GetMessageName(), p) }) {
		return 0, errors.New("unknown")
	}
	return 1, nil
}

// Goal: what a VPP lacks is one line that says what to do.
func TestLacks(t *testing.T) {
	for _, test := range []struct {
		lacking table
		want    string
	}{
		{nil, ""},
		{table{"af_packet"}, "runs without its af_packet plugin (af_packet_plugin.so): enable it"},
		{table{"vxlan"}, "runs without its vxlan plugin"},
		{table{"nat44_", "nat_set_"}, ""},
		{table{"af_packet_create_v3"}, "does not know af_packet_create_v3_"},
		{table{"ip_"}, "and "},
	} {
		_, err := lacks(test.lacking, "25.10-release")
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, ErrIncompatible) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("without %v: %v", test.lacking, err)
		}
	}
}
