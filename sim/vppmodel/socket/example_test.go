package socket_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.fd.io/govpp"
	"go.fd.io/govpp/binapi/vpe"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
)

// A program that speaks to VPP speaks to the model without a change.
func Example() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "vpp.sock")
	server, err := socket.Listen(socket.Config{Path: path, VPP: vppmodel.New(vppmodel.Config{PID: 1})})
	if err != nil {
		panic(err)
	}
	defer func() { _ = server.Close() }()

	conn, err := govpp.Connect(path)
	if err != nil {
		panic(err)
	}
	defer conn.Disconnect()
	reply, err := vpe.NewServiceClient(conn).ShowVersion(context.Background(), &vpe.ShowVersion{})
	if err != nil {
		panic(err)
	}
	fmt.Println(reply.Program)
	// Output: vpe
}
