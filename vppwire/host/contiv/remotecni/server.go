//go:build linux

package remotecni

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"google.golang.org/grpc"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/cnisocket"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/cni"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/lookup"
)

// Agent is what is served: a contiv.Plugin.
type Agent interface {
	Ask(ctx context.Context, look func(*agent.Agent)) error
	GetContainerIndex() containeridx.Reader
	WatchNodeIP(subscriber chan string)
	UnwatchNodeIP(subscriber chan string)
}

// Server serves on one socket.
type Server struct {
	path     string
	listener cnisocket.Guarded
	server   *grpc.Server
}

// Listen makes the socket at path, with mode 0600. ADDs and DELs go to the agent's CNI socket at cniSocket. A socket that a dead
// agent left is taken over; cnisocket.ErrInUse where one lives.
func Listen(path, cniSocket string, a Agent, log *slog.Logger) (*Server, error) {
	l, err := cnisocket.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gRPC socket %s: %w", path, err)
	}
	s := &Server{path: path, listener: cnisocket.Guarded{UnixListener: l, Log: log}, server: grpc.NewServer()}
	cni.RegisterRemoteCNIServer(s.server, remote{socket: cniSocket})
	lookup.RegisterLookupServer(s.server, &lookups{agent: a})
	return s, nil
}

// Serve answers until ctx ends, then takes the socket away. Calls that are open then end without an answer.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		_ = os.Remove(s.path) // as of the CNI socket: a name that stays tells as well that nobody is there
		s.server.Stop()
	})
	defer stop()
	if err := s.server.Serve(s.listener); ctx.Err() == nil {
		return fmt.Errorf("gRPC socket %s: %w", s.path, err)
	}
	return nil
}
