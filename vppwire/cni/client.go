//go:build linux

package cni

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/containernetworking/cni/pkg/types"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/peercred"
)

// client asks the agent on one socket.
type client struct {
	socket string
	// wait is how long an agent that is away is waited for.
	wait time.Duration
}

// Pauses between attempts to reach an agent that is away, doubling.
const (
	pauseFirst = 10 * time.Millisecond
	pauseMost  = 500 * time.Millisecond
)

// away: nobody listens, or the agent was gone before it had answered. Asking again is right.
type away struct{ why error }

func (e away) Error() string { return e.why.Error() }

func isAway(err error) bool {
	var e away
	return errors.As(err, &e)
}

// ask returns the agent's response to the request, or why there is none. It asks again while the agent is away.
func (c client) ask(ctx context.Context, req wire.Request) (wire.Response, error) {
	req.Version = wire.Version
	patience := time.Now().Add(c.wait)
	for pause := pauseFirst; ; pause = min(2*pause, pauseMost) {
		resp, err := c.once(ctx, req)
		if !isAway(err) || !time.Now().Add(pause).Before(patience) {
			return resp, err
		}
		select {
		case <-ctx.Done():
			return resp, err
		case <-time.After(pause):
		}
	}
}

// errTooLong is of a GC that names more attachments than a node can have.
var errTooLong = fmt.Errorf("the request has %w", wire.ErrLong)

// once has one conversation.
func (c client) once(ctx context.Context, req wire.Request) (wire.Response, error) {
	var none wire.Response
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", c.socket)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ECONNREFUSED), errors.Is(err, unix.EAGAIN):
		return none, away{err}
	case err != nil:
		return none, err
	}
	defer func() { _ = conn.Close() }() // everything has been read, or nobody waits for the rest
	if err := trusted(conn); err != nil {
		return none, err
	}
	// The connection ends with the context: the agent sees that nobody waits any more.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	switch err := wire.Write(conn, req); {
	case errors.Is(err, wire.ErrLong):
		return none, errTooLong
	case err != nil:
		return none, lost(ctx, err)
	}
	resp, err := wire.ReadResponse(conn)
	if err != nil {
		return none, lost(ctx, err)
	}
	return resp, nil
}

// lost tells why a conversation broke off.
func lost(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE):
		return away{errors.New("it was gone before it had answered")}
	}
	return err
}

// trusted refuses a socket that another user listens on: what it answered would be wired into sandboxes.
func trusted(conn net.Conn) error {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("%T is no unix connection", conn)
	}
	peer, err := peercred.Of(u)
	if err != nil {
		return err
	}
	if peer.Uid != 0 && int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("user %d listens there, who is neither root nor this plugin's own", peer.Uid)
	}
	return nil
}

// request asks the agent and turns everything but success into an error document.
func (c client) request(ctx context.Context, req wire.Request) (wire.Response, *failure) {
	resp, err := c.ask(ctx, req)
	switch {
	case err == nil && resp.Code == 0:
		return resp, nil
	case err == nil:
		f := failed(uint(resp.Code), "%s", resp.Message)
		if f.Msg == "" {
			f.Msg = "the agent refused without a word"
		}
		if resp.Details != "" {
			f = f.more("%s", resp.Details)
		}
		f.answered = true
		return resp, f
	}
	again := uint(types.ErrTryAgainLater)
	if req.Command == wire.Status {
		again = types.ErrPluginNotAvailable
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return resp, failed(again, "the agent has not answered in time").more("%s; what was asked may still be done", c.socket)
	case errors.Is(err, context.Canceled):
		return resp, failed(again, "interrupted").more("%s; what was asked may still be done", c.socket)
	case isAway(err):
		return resp, failed(again, "the agent is not there").more("%s: %v", c.socket, err)
	case errors.Is(err, errTooLong):
		return resp, failed(types.ErrInvalidNetworkConfig, "%v", err)
	}
	return resp, failed(types.ErrIOFailure, "the agent cannot be asked").more("%s: %v", c.socket, err)
}
