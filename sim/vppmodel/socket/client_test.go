package socket_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.fd.io/govpp/adapter/socketclient"
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/mactime"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/vlib"
	"go.fd.io/govpp/binapi/vpe"
	"go.fd.io/govpp/core"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
)

const none = 1<<32 - 1

// serve starts a server of a fresh model. Its log is read after close.
func serve(t *testing.T) (path string, close func() []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "api.sock")
	var log []string
	s, err := socket.Listen(socket.Config{Path: path, Log: func(line string) { log = append(log, line) },
		VPP: vppmodel.New(vppmodel.Config{PID: 4711, NICs: []vppmodel.NIC{{Name: "GigabitEthernet0/8/0"}}})})
	if err != nil {
		t.Fatal(err)
	}
	once := sync.OnceValue(func() []string {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return log
	})
	t.Cleanup(func() { once() })
	return path, once
}

func connect(t *testing.T, path string) *core.Connection {
	t.Helper()
	conn, err := core.Connect(socketclient.NewVppClient(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Disconnect)
	return conn
}

// Goal: govpp's own client, unchanged, takes the model for a VPP. Method: what the examples of govpp's repository do,
// in each of its three styles: channels, streams, and generated clients.
func TestGovppClient(t *testing.T) {
	path, stop := serve(t)
	conn, ctx := connect(t, path), context.Background()
	ch, err := conn.NewAPIChannel()
	if err != nil {
		t.Fatal(err)
	}
	for name, messages := range map[string][]api.Message{"vpe": vpe.AllMessages(), "vlib": vlib.AllMessages()} {
		if err := ch.CheckCompatiblity(messages...); err != nil {
			t.Errorf("messages of %s, which govpp's examples and command line insist on: %v", name, err)
		}
	}
	for _, m := range vlib.AllMessages() { // whatever it is answered with, it is answered
		if reply, isRequest := map[string]api.Message{"cli": &vlib.CliReply{}, "show_threads": &vlib.ShowThreadsReply{}, "get_node_index": &vlib.GetNodeIndexReply{},
			"get_next_index": &vlib.GetNextIndexReply{}, "add_node_next": &vlib.AddNodeNextReply{}, "get_node_graph": &vlib.GetNodeGraphReply{},
			"get_f64_endian_value": &vlib.GetF64EndianValueReply{}, "get_f64_increment_by_one": &vlib.GetF64IncrementByOneReply{}}[m.GetMessageName()]; isRequest {
			if err := conn.Invoke(ctx, reflect.New(reflect.TypeOf(m).Elem()).Interface().(api.Message), reply); err != nil {
				t.Errorf("%s: %v", m.GetMessageName(), err)
			}
		}
	}
	version := &vpe.ShowVersionReply{}
	if err := ch.SendRequest(&vpe.ShowVersion{}).ReceiveReply(version); err != nil || version.Version != vppmodel.Version {
		t.Errorf("version %q, %v", version.Version, err)
	}
	loop := &interfaces.CreateLoopbackReply{}
	if err := ch.SendRequest(&interfaces.CreateLoopback{}).ReceiveReply(loop); err != nil || loop.SwIfIndex != 2 {
		t.Fatalf("loopback %d, %v", loop.SwIfIndex, err)
	}
	prefix := ip_types.AddressWithPrefix{Address: ip_types.NewAddress(net.IPv4(10, 10, 0, 1)), Len: 32}
	if err := ch.SendRequest(&interfaces.SwInterfaceAddDelAddress{SwIfIndex: 2, IsAdd: true, Prefix: prefix}).ReceiveReply(&interfaces.SwInterfaceAddDelAddressReply{}); err != nil {
		t.Error(err)
	}
	if err := ch.SendRequest(&interfaces.SwInterfaceAddDelAddress{SwIfIndex: 2, IsAdd: true, Prefix: prefix}).ReceiveReply(&interfaces.SwInterfaceAddDelAddressReply{}); !errors.Is(err, api.ADDRESS_IN_USE) {
		t.Errorf("the same address again: %v", err)
	}
	dump, addresses := ch.SendMultiRequest(&ip.IPAddressDump{SwIfIndex: 2}), 0
	for {
		d := &ip.IPAddressDetails{}
		if stop, err := dump.ReceiveReply(d); err != nil {
			t.Fatal(err)
		} else if stop {
			break
		} else if d.Prefix != prefix {
			t.Errorf("address %v", d)
		}
		addresses++
	}
	if addresses != 1 {
		t.Errorf("%d addresses", addresses)
	}

	stream, err := conn.NewStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []api.Message{&interfaces.SwInterfaceDump{SwIfIndex: none}, &memclnt.ControlPing{}} {
		if err := stream.SendMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for {
		m, err := stream.RecvMsg()
		if err != nil {
			t.Fatal(err)
		}
		if ping, done := m.(*memclnt.ControlPingReply); done {
			if ping.VpePID != 4711 {
				t.Errorf("PID %d", ping.VpePID)
			}
			break
		}
		names = append(names, m.(*interfaces.SwInterfaceDetails).InterfaceName)
	}
	if got := strings.Join(names, " "); got != "local0 GigabitEthernet0/8/0 loop0" {
		t.Errorf("interfaces %q", got)
	}
	if err := stream.SendMsg(&mactime.MactimeDump{}); err != nil {
		t.Error(err)
	} else if m, err := stream.RecvMsg(); err != nil || m.GetMessageName() != "mactime_dump_reply" {
		t.Error(m, err)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}

	placement, err := interfaces.NewServiceClient(conn).SwInterfaceTxPlacementGet(ctx, &interfaces.SwInterfaceTxPlacementGet{SwIfIndex: none})
	if err != nil {
		t.Fatal(err)
	}
	if d, _, err := placement.Recv(); err != nil || d.SwIfIndex != 1 {
		t.Errorf("placement %v, %v", d, err)
	}
	if _, r, err := placement.Recv(); !errors.Is(err, io.EOF) || r.Cursor != 1 {
		t.Errorf("end of placements %v, %v", r, err)
	}
	cli, err := vlib.NewServiceClient(conn).CliInband(ctx, &vlib.CliInband{Cmd: "show state"})
	if err != nil || !strings.Contains(cli.Reply, "10.10.0.1/32") {
		t.Errorf("command line: %+v, %v", cli, err)
	}
	for command, want := range map[string]vlib.CliInbandReply{
		"show frogs":         {Retval: -1, Reply: "show: unknown input `frogs'\n"},
		"":                   {Retval: -1, Reply: "unknown input `'\n"},
		"show":               {Retval: -1, Reply: "show: unknown input `'\n"},
		"show interface nil": {Retval: -1, Reply: "show interface: unknown input `nil'\n"},
		"show int loop0": {Reply: "              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count     \n" +
			"loop0                             2     down         9000/0/0/0     \n"},
	} {
		got := vlib.CliInbandReply{}
		if err := conn.Invoke(ctx, &vlib.CliInband{Cmd: command}, &got); err != nil || got != want {
			t.Errorf("command line: %q: %+v, %v", command, got, err)
		}
	}
	first := &memclnt.GetFirstMsgIDReply{}
	if err := conn.Invoke(ctx, &memclnt.GetFirstMsgID{Name: "acl_9cde599d"}, first); err != nil || first.Retval != 0 || first.FirstMsgID != 56 {
		t.Errorf("the first message of a module: %+v, %v", first, err)
	}
	if err := conn.Invoke(ctx, &memclnt.GetFirstMsgID{Name: "memclnt_b197c551"}, first); err != nil || first.Retval != int32(api.INVALID_VALUE) || first.FirstMsgID != 1<<16-1 {
		t.Errorf("the first message of no module: %+v, %v", first, err)
	}
	if _, err := vpe.NewServiceClient(conn).ShowVpeSystemTime(ctx, &vpe.ShowVpeSystemTime{}); err != nil {
		t.Error(err)
	}
	if _, err := acl.NewServiceClient(conn).MacipACLDel(ctx, &acl.MacipACLDel{}); err == nil || !strings.Contains(err.Error(), "macip_acl_del_ef34fea4") {
		t.Errorf("a message that the model has not: %v", err)
	}
	ch.Close()
	conn.Disconnect()
	if log := stop(); len(log) != 0 {
		t.Errorf("log: %q", log)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket after the end: %v", err)
	}
}

// Goal: several clients work on one VPP, and each gets its own answers and the events that it asked for. Method: four
// clients make a loopback each, over and over, while one of them watches all interfaces.
func TestSeveralClients(t *testing.T) {
	const clients, rounds = 4, 50
	path, _ := serve(t)
	ctx, watching := context.Background(), connect(t, path)
	w, err := watching.WatchEvent(ctx, (*interfaces.SwInterfaceEvent)(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := &interfaces.WantInterfaceEvents{EnableDisable: 1, PID: 99}
	if _, err := interfaces.NewServiceClient(watching).WantInterfaceEvents(ctx, want); err != nil {
		t.Fatal(err)
	}
	if _, err := interfaces.NewServiceClient(watching).WantInterfaceEvents(ctx, want); !errors.Is(err, api.INVALID_REGISTRATION) {
		t.Errorf("wanted twice: %v", err)
	}
	var group sync.WaitGroup
	for range clients {
		conn := connect(t, path)
		group.Go(func() {
			ifs := interfaces.NewServiceClient(conn)
			for range rounds {
				r, err := ifs.CreateLoopback(ctx, &interfaces.CreateLoopback{})
				if err == nil {
					_, err = ifs.DeleteLoopback(ctx, &interfaces.DeleteLoopback{SwIfIndex: r.SwIfIndex})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	// govpp drops events that its watcher has no room for, so how many come is no promise: each one must be right, and one
	// that happens when all others have been read must come.
	over := make(chan struct{})
	go func() { group.Wait(); close(over) }()
	deleted := 0
	look := func(e api.Message) bool {
		m := e.(*interfaces.SwInterfaceEvent)
		if m.PID != 99 {
			t.Errorf("event of PID %d", m.PID)
		}
		if m.Deleted {
			deleted++
		}
		return m.Deleted
	}
	for done := false; !done; {
		select {
		case e := <-w.Events():
			look(e)
		case <-over:
			done = true
		}
	}
	last := interfaces.NewServiceClient(watching)
	r, err := last.CreateLoopback(ctx, &interfaces.CreateLoopback{})
	if err != nil {
		t.Fatal(err)
	}
	for drained := false; !drained; {
		select {
		case e := <-w.Events():
			look(e)
		default:
			drained = true
		}
	}
	if deleted > clients*rounds {
		t.Errorf("%d deletions of %d", deleted, clients*rounds)
	}
	if _, err := last.DeleteLoopback(ctx, &interfaces.DeleteLoopback{SwIfIndex: r.SwIfIndex}); err != nil {
		t.Fatal(err)
	}
	for !look(<-w.Events()) {
	}
	group.Wait()
	w.Close()
	second := connect(t, path)
	ifs, err := interfaces.NewServiceClient(second).SwInterfaceDump(ctx, &interfaces.SwInterfaceDump{SwIfIndex: none})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		if _, err := ifs.Recv(); err != nil {
			break
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d interfaces are left, want local0 and the NIC", n)
	}
}

// Goal: a path that cannot become the socket is refused and left alone; a dead socket is replaced. Method: one of each.
func TestPath(t *testing.T) {
	dir := t.TempDir()
	listen := func(path string) error {
		s, err := socket.Listen(socket.Config{Path: path, VPP: vppmodel.New(vppmodel.Config{})})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	var exists *socket.Exists
	if err := listen(file); !errors.As(err, &exists) {
		t.Errorf("a file: %v", err)
	}
	if b, _ := os.ReadFile(file); string(b) != "mine" {
		t.Error("the file was changed")
	}
	used, _ := serve(t)
	if err := listen(used); !errors.As(err, &exists) {
		t.Errorf("a socket in use: %v", err)
	}
	connect(t, used)
	stale := filepath.Join(dir, "stale")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if err := listen(stale); err != nil {
		t.Errorf("a dead socket: %v", err)
	}
	for _, bad := range []string{"", filepath.Join(dir, "no", "such"), filepath.Join(dir, strings.Repeat("x", 108))} {
		if err := listen(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
