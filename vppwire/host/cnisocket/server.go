package cnisocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// Agent answers requests: a host.Driver.
type Agent interface {
	Request(ctx context.Context, event func(number uint64) agent.Event) (agent.Answer, error)
}

// Server answers on one socket.
type Server struct {
	// Done is told of every request that was answered; nil: nobody.
	Done func(command string, code uint32, took time.Duration)

	path     string
	listener *net.UnixListener
	agent    Agent
	log      *slog.Logger
}

// requestTime is how long a connection may take to say what it wants.
const requestTime = 10 * time.Second

// Listen makes the socket, with mode 0600 from the first moment on. A socket that a dead agent left is taken over;
// ErrInUse where one lives.
func Listen(path string, a Agent, log *slog.Logger) (*Server, error) {
	l, err := Open(path)
	if err != nil {
		return nil, fmt.Errorf("CNI socket %s: %w", path, err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{path: path, listener: l, agent: a, log: log}, nil
}

// Serve answers until ctx ends, then takes the socket away and waits for open requests, whose connections end without a
// response.
func (s *Server) Serve(ctx context.Context) error {
	var open sync.WaitGroup
	defer open.Wait()
	stop := context.AfterFunc(ctx, func() {
		_ = os.Remove(s.path)  // plugins are told at once that no agent is there; a name that stays tells it too
		_ = s.listener.Close() // Accept tells
	})
	defer stop()
	for {
		c, err := s.listener.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("CNI socket %s: %w", s.path, err)
		case err != nil: // too many open files, mostly: it passes
			s.log.Warn("CNI socket", "error", err)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		open.Go(func() { s.converse(ctx, c) })
	}
}

// converse takes one request and answers it.
func (s *Server) converse(ctx context.Context, c *net.UnixConn) {
	defer func() { _ = c.Close() }() // the response is on its way, or nobody wants it
	begun := time.Now()
	if err := allowed(c); err != nil {
		s.log.Warn("CNI socket", "error", err)
		s.respond(c, wire.Response{Code: agent.CodeIO, Message: err.Error()})
		return
	}
	_ = c.SetReadDeadline(begun.Add(requestTime)) // it fails on a closed connection only, which reading tells
	req, err := wire.ReadRequest(c)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			s.respond(c, wire.Response{Code: codeDecoding, Message: "the agent did not understand the request: " + err.Error()})
		}
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	resp, answered := s.answer(ctx, c, req)
	if !answered {
		// What was asked may or may not have been done. No response says so: a plugin takes every code for "nothing is held"
		// and asks the next agent again when the connection just ends.
		s.log.Info("CNI", "command", req.Command, "container", req.ContainerID, "ifname", req.IfName, "message", "not answered")
		return
	}
	took := time.Since(begun)
	s.log.Info("CNI", "command", req.Command, "container", req.ContainerID, "ifname", req.IfName, "code", resp.Code,
		"message", resp.Message, "took", took)
	if s.Done != nil {
		s.Done(req.Command, resp.Code, took)
	}
	s.respond(c, resp)
}

// codeDecoding is the specification's "failed to decode content".
const codeDecoding = 6

func (s *Server) respond(c net.Conn, resp wire.Response) {
	_ = c.SetWriteDeadline(time.Now().Add(requestTime)) // as above
	if err := wire.Write(c, resp); err != nil {
		s.log.Debug("CNI: nobody takes the response", "error", err)
	}
}

// answer asks the agent, and withdraws the request when the other side closes. False: it was withdrawn, or the agent
// stopped.
func (s *Server) answer(ctx context.Context, c net.Conn, req wire.Request) (wire.Response, bool) {
	event, refusal := translate(req)
	if refusal != nil {
		return *refusal, true
	}
	waiting, leave := context.WithCancel(ctx)
	defer leave()
	go func() {
		var b [1]byte
		_, _ = c.Read(b[:]) // the end, or a byte too many: either way the other side does not wait
		leave()
	}()
	a, err := s.agent.Request(waiting, event)
	if err != nil {
		return wire.Response{}, false
	}
	return respond(req, a), true
}
