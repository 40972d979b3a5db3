package parity

import (
	"context"
	"path/filepath"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/vlib"
)

// Packets are the probes of a model.
func Packets(s Subject) []Packet { return packets(s.(model).VPP) }

// Dumps are the requests that show all of a model.
func Dumps(ctx context.Context, s Subject) ([]api.Message, error) { return dumps(ctx, s) }

// Command is what a real VPP's command line answers.
func Command(ctx context.Context, s Subject, line string) (string, error) {
	r := &vlib.CliInbandReply{}
	err := s.(*connection).invoke(ctx, &vlib.CliInband{Cmd: line}, r)
	return r.Reply, err
}

// CrashReport is what VPP's output says of its end.
var CrashReport = crashReport

// StartVPP runs a VPP in a network namespace of its own and returns its API's socket and its command line's.
func StartVPP(ctx context.Context, path string) (api, cli string, stop func(), err error) {
	r, err := newTestbed()
	if err != nil {
		return "", "", nil, err
	}
	p, err := start(ctx, r, path, comparedHeap)
	if err != nil {
		r.close()
		return "", "", nil, err
	}
	return filepath.Join(p.dir, "api.sock"), filepath.Join(p.dir, "cli.sock"), func() { p.stop(); r.close() }, nil
}
