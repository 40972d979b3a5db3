package socket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/memclnt"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// Goal: a frame is read back as it was written, and what is no frame is told apart. Method: lengths around zero and the
// limit.
func TestFrame(t *testing.T) {
	for _, n := range []int{0, 1, 15, 4096, frameMax} {
		want := bytes.Repeat([]byte{7}, n)
		got, err := readFrame(bytes.NewReader(appendFrame(nil, want)), nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d back, %v", n, len(got), err)
		}
	}
	whole := appendFrame(nil, []byte("abc"))
	for n := range whole {
		_, err := readFrame(bytes.NewReader(whole[:n]), nil)
		if want := map[bool]error{true: io.EOF, false: io.ErrUnexpectedEOF}[n == 0]; !errors.Is(err, want) {
			t.Errorf("cut after %d: %v", n, err)
		}
	}
	binary.BigEndian.PutUint32(whole[8:], frameMax+1)
	var bad errFrame
	if _, err := readFrame(bytes.NewReader(whole), nil); !errors.As(err, &bad) {
		t.Errorf("too long: %v", err)
	}
}

// wire is a raw client: it knows the frames and nothing else.
type wire struct {
	t    *testing.T
	conn net.Conn
	tbl  *table
}

func (w wire) send(m api.Message, handle, context uint32) {
	w.t.Helper()
	data, err := w.tbl.encode(m, context)
	if err != nil {
		w.t.Fatal(err)
	}
	if m.GetMessageType() == api.RequestMessage {
		binary.BigEndian.PutUint32(data[2:], handle)
	}
	w.raw(appendFrame(nil, data))
}

func (w wire) raw(b []byte) {
	w.t.Helper()
	if _, err := w.conn.Write(b); err != nil {
		w.t.Fatal(err)
	}
}

// next returns the number and the context of the next answer.
func (w wire) next() (number uint16, context uint32, data []byte) {
	w.t.Helper()
	data, err := readFrame(w.conn, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return binary.BigEndian.Uint16(data), binary.BigEndian.Uint32(data[2:]), data
}

// Goal: what VPP drops is dropped with a line and nothing else happens: the next request is answered. Method: a raw
// client that sends every kind of nonsense, each followed by a ping.
func TestNonsense(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.sock")
	var log []string
	s, err := Listen(Config{Path: path, VPP: vppmodel.New(vppmodel.Config{}), Log: func(l string) { log = append(log, l) }})
	if err != nil {
		t.Fatal(err)
	}
	dial := func() wire {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return wire{t, conn, s.table}
	}
	w := dial()
	w.send(&memclnt.SockclntCreate{Name: "raw"}, 0, 5)
	_, _, data := w.next()
	handle := binary.BigEndian.Uint32(data[14:])
	if context := binary.BigEndian.Uint32(data[6:]); context != 5 || handle&handleBit == 0 {
		t.Fatalf("context %d, handle %#x", context, handle)
	}
	for i, nonsense := range [][]byte{
		{}, {9}, {0xff, 0xff}, {0, 0}, // no number, half of one, one that nobody has
		{0, 23}, {0, 23, 0, 0, 0, 1}, // a ping without context
		{0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, // a reply
		{0, 23, 0, 0, 0, 0, 0, 0, 0, 1},                         // a ping of nobody
		{0, 17, 0, 0, 0, 0, 0, 0, 0, 1},                         // the end of nobody, cut short
	} {
		w.raw(appendFrame(nil, nonsense))
		w.send(&memclnt.ControlPing{}, handle, uint32(100+i))
		if number, context, _ := w.next(); number != 24 || context != uint32(100+i) {
			t.Errorf("after % x: answer %d with context %d", nonsense, number, context)
		}
	}
	short, err := s.table.encode(&interfaces.SwInterfaceSetFlags{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(short[2:], handle)
	w.raw(appendFrame(nil, short[:len(short)-1]))
	w.send(&memclnt.SockclntDelete{Index: 77}, handle, 6)
	if _, context, data := w.next(); context != 6 || int32(binary.BigEndian.Uint32(data[6:])) != -1 {
		t.Errorf("somebody else's end: % x", data)
	}
	w.send(&memclnt.SockclntDelete{Index: handle}, handle, 7)
	if _, context, data := w.next(); context != 7 || binary.BigEndian.Uint32(data[6:]) != 1 {
		t.Errorf("the end: % x", data)
	}
	if _, err := readFrame(w.conn, nil); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}

	long := dial()
	long.raw([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	if _, err := readFrame(long.conn, nil); err == nil {
		t.Error("a frame of 4 GiB was awaited")
	}
	cut := dial()
	cut.raw([]byte{0, 0, 0})
	cut.conn.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := len(log); got < 11 || got > 12 { // the cut one may be seen by Close before it is read
		t.Errorf("%d lines: %s", got, strings.Join(log, "\n"))
	}
}

// FuzzConversation feeds a server whatever comes, as one client's bytes: it must neither panic nor stop to answer, and
// what it answers must be frames.
func FuzzConversation(f *testing.F) {
	tbl := newTable()
	for _, x := range vppmodel.Exchanges() {
		data, err := tbl.encode(x.Request, 1)
		if err != nil {
			f.Fatal(err)
		}
		binary.BigEndian.PutUint32(data[2:], 1|handleBit)
		f.Add(appendFrame(appendFrame(nil, data), data))
	}
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 70, 0, 0, 0, 0, 0, 15})
	a, b, err := pair(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	defer a.Close()
	defer b.Close()
	f.Fuzz(func(t *testing.T, in []byte) {
		s := newServer(Config{VPP: vppmodel.New(vppmodel.Config{})})
		p := newPeer(1|handleBit, a)
		s.peers[p.handle] = p
		r := bytes.NewReader(in)
		for {
			message, err := readFrame(r, nil)
			if err != nil || !s.perform(p, message) {
				break
			}
		}
		s.perform(p, []byte{0, 23, 0x80, 0, 0, 1, 0, 0, 0, 9})
		answers, last := bytes.NewReader(p.out), []byte(nil)
		for answers.Len() > 0 {
			m, err := readFrame(answers, nil)
			if err != nil {
				t.Fatalf("an answer is no frame: %v", err)
			}
			last = m
		}
		if !p.ending && (len(last) < 6 || binary.BigEndian.Uint16(last) != 24) {
			t.Fatalf("the last ping was answered with % x", last)
		}
	})
}

// pair returns two ends of a connection that nobody reads.
func pair(dir string) (a, b *net.UnixConn, err error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(filepath.Join(dir, "s"))
	defer l.Close()
	if a, err = net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr)); err != nil {
		return nil, nil, err
	}
	b, err = l.AcceptUnix()
	return a, b, err
}
