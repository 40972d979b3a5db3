package socket_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.fd.io/govpp"
	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/vpe"

	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
)

// Goal: a program on govpp meets the errors of VPP that a test asks for, and no others. Method: its client with a fault of each kind.
func TestFaults(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	path := socket.Start(t, func(c *socket.Config) {
		c.Faults = []string{"(Request create_loopback (First 1 (Refuse -68)))", "(Request create_loopback (First 2 Duplicate))",
			"(Request show_version (First 1 Mute))", "(Request sw_interface_dump (Delay 1ms))"}
		c.Requests = func(line string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
		}
	})
	conn, err := govpp.Connect(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Disconnect()
	ctx := context.Background()
	client := interfaces.NewServiceClient(conn)
	var refused api.VPPApiError
	if _, err := client.CreateLoopback(ctx, &interfaces.CreateLoopback{}); !errors.As(err, &refused) || refused != -68 {
		t.Errorf("the first loopback: %v, want VPP's error -68", err)
	}
	if r, err := client.CreateLoopback(ctx, &interfaces.CreateLoopback{}); err != nil || r.SwIfIndex != 2 {
		t.Errorf("the second loopback, made twice: %+v, %v; want the second interface", r, err)
	}
	dump, err := client.SwInterfaceDump(ctx, &interfaces.SwInterfaceDump{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := dump.Recv(); err == nil; _, err = dump.Recv() {
		n++
	}
	if n != 3 {
		t.Errorf("%d interfaces, want local0 and two loopbacks", n)
	}
	short, cancel := context.WithCancel(ctx)
	cancel() // the answer never comes, so that nobody has to wait for it
	if _, err := vpe.NewServiceClient(conn).ShowVersion(short, &vpe.ShowVersion{}); err == nil {
		t.Error("a lost answer arrived")
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"create_loopback (Refuse -68): create_loopback_reply, retval -68", "sw_interface_dump (Delay 1ms): 3 answers"} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("no line has %q:\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// What a served VPP cannot have is refused by name, and words that are none with the nearest.
func TestFaultsRefused(t *testing.T) {
	for text, want := range map[string]string{"(Nth 2 CrashAfter)": "a served VPP has no CrashAfter", "(Requst x Mute)": "Requst"} {
		if _, err := socket.Listen(socket.Config{Path: t.TempDir() + "/s", Faults: []string{text}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
