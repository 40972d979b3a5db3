package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.fd.io/govpp/adapter/socketclient"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/core"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// Goal: the command serves a VPP until it is interrupted, says where, and leaves nothing behind. Method: govpp's client against
// the command, in both formats, and an interrupt while it is connected.
func TestVPPModel(t *testing.T) {
	for format, want := range map[string]string{"text": "modelled VPP " + vppmodel.Version + " on ", "json": `{"socket":"`} {
		path := filepath.Join(t.TempDir(), "api.sock")
		ctx, interrupt := context.WithCancel(context.Background())
		out, say := io.Pipe()
		ended := make(chan int)
		var errOut bytes.Buffer
		go func() {
			c := config(nil)
			c.Commands = append(c.Commands, &cobra.Command{Use: "lab"})
			c.Commands[0].AddCommand(ModelCommands()...)
			ended <- Execute(ctx, c, []string{"lab", "model", "--socket", path, "--nic", "eth9", "--format", format}, say, &errOut)
		}()
		line := make([]byte, 500)
		n, err := out.Read(line)
		if err != nil || !strings.HasPrefix(string(line[:n]), want) || !strings.Contains(string(line[:n]), path) {
			t.Fatalf("%s: %q, %v", format, line[:n], err)
		}
		conn, err := core.Connect(socketclient.NewVppClient(path))
		if err != nil {
			t.Fatal(err)
		}
		ping, err := memclnt.NewServiceClient(conn).ControlPing(ctx, &memclnt.ControlPing{})
		if err != nil || int(ping.VpePID) != os.Getpid() {
			t.Errorf("ping: %+v, %v", ping, err)
		}
		interrupt()
		if code := <-ended; code != cli.ExitHeld || errOut.Len() > 0 {
			t.Errorf("code %d, %q", code, errOut.String())
		}
		conn.Disconnect()
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket after the end: %v", err)
		}
	}
}
