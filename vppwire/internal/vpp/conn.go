package vpp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"go.fd.io/govpp/adapter/socketclient"
	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/vpe"
	"go.fd.io/govpp/core"

	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Errors of Dial that callers branch on.
var (
	// ErrAbsent: nobody answers on the socket now; VPP may be starting.
	ErrAbsent = errors.New("VPP does not answer")
	// ErrForbidden: the socket may not be used.
	ErrForbidden = errors.New("permission denied")
	// ErrIncompatible: VPP lacks messages that are needed, and will go on lacking them.
	ErrIncompatible = errors.New("VPP is not one this program can drive")
)

// answerTime bounds each request of Dial. A VPP that is being configured from a file answers late; one that is stopped
// never.
const answerTime = 5 * time.Second

// Identity is who answers on a connection.
type Identity struct {
	// PID is VPP's own process ID, which tells one life from the next.
	PID uint32
	// Version is VPP's, as 25.10-release.
	Version string
	// NICs are VPP's names of its physical interfaces, in its order.
	NICs []string
	// Without are optional plugins that are not loaded.
	Without []string
}

// Conn is a connection to one life of VPP. It is what a vppwire.Call is performed on.
type Conn struct {
	*core.Connection

	who   Identity
	guard net.Conn
	gone  chan struct{}
	drop  sync.Once
}

// Dial connects to the VPP that listens on a unix socket and makes sure that it knows every message that is needed.
func Dial(ctx context.Context, socket string) (*Conn, error) {
	tune()
	guard, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, dialError(socket, err)
	}
	c := &Conn{guard: guard, gone: make(chan struct{})}
	go c.watch()
	if c.Connection, err = core.Connect(socketclient.NewVppClient(socket)); err != nil {
		_ = guard.Close() // nothing was sent on it
		return nil, fmt.Errorf("%s: %w: %w", socket, ErrAbsent, err)
	}
	if err := c.greet(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", socket, err)
	}
	return c, nil
}

func dialError(socket string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", socket, ErrForbidden)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w: there is no such socket", socket, ErrAbsent)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: %w: nobody listens", socket, ErrAbsent)
	}
	return fmt.Errorf("%s: %w: %w", socket, ErrAbsent, err)
}

// tune sets what govpp keeps for the whole process.
var tune = sync.OnceFunc(func() {
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)
	quiet.SetLevel(logrus.ErrorLevel)
	core.SetLogger(quiet)
	socketclient.SetLogger(quiet)
	// A detail that is not taken within this time is lost without a word, and what it would have told would count as gone.
	// As long as any call may take, so that the call is lost with it.
	core.ReplyChannelTimeout = time.Minute
	core.ReplyChanBufSize = 1024
})

// watch waits for the end of a second connection on which nothing is said: VPP's end of it closes when VPP dies, which
// the client that does the talking would not tell.
func (c *Conn) watch() {
	_, _ = io.Copy(io.Discard, c.guard) // any end is the end
	close(c.gone)
}

// Who tells who answers.
func (c *Conn) Who() Identity { return c.who }

// Gone is closed when the connection is of no use any more: VPP died, or somebody dropped it.
func (c *Conn) Gone() <-chan struct{} { return c.gone }

// Drop ends the connection without waiting for anything. Close it afterwards.
func (c *Conn) Drop() {
	c.drop.Do(func() { _ = c.guard.Close() }) // nothing was written to it
}

// Close lets the connection go. No call may be under way.
func (c *Conn) Close() {
	c.Drop()
	<-c.gone
	c.Disconnect()
}

// greet learns who is there.
func (c *Conn) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	// Whoever is asked first has to be known, so the version comes before the rest: it explains what is missing.
	var version vpe.ShowVersionReply
	if err := c.ask(ctx, &vpe.ShowVersion{}, &version, &version.Retval); err != nil {
		return err
	}
	c.who.Version = version.Version
	var err error
	if c.who.Without, err = lacks(c, c.who.Version); err != nil {
		return err
	}
	var ping memclnt.ControlPingReply
	if err := c.ask(ctx, &memclnt.ControlPing{}, &ping, &ping.Retval); err != nil {
		return err
	}
	c.who.PID = ping.VpePID
	var names []string
	names, err = c.interfaces(ctx)
	if err != nil {
		return err
	}
	c.who.NICs = mode.NICs(names)
	return nil
}

func (c *Conn) ask(ctx context.Context, req, reply api.Message, retval *int32) error {
	if _, err := c.GetMessageID(req); err != nil {
		return fmt.Errorf("%w: it does not know %s", ErrIncompatible, nameOf(req))
	}
	if err := c.Invoke(ctx, req, reply); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrAbsent, req.GetMessageName(), err)
	}
	if *retval != 0 {
		return fmt.Errorf("%s: %w", req.GetMessageName(), api.RetvalToVPPApiError(*retval))
	}
	return nil
}

// interfaces lists interfaces' names in VPP's order.
func (c *Conn) interfaces(ctx context.Context) ([]string, error) {
	lost := func(err error) error { return fmt.Errorf("%w: sw_interface_dump: %w", ErrAbsent, err) }
	stream, err := c.NewStream(ctx)
	if err != nil {
		return nil, lost(err)
	}
	defer func() { _ = stream.Close() }() // complete or lost by then
	for _, m := range [...]api.Message{&interfaces.SwInterfaceDump{SwIfIndex: ^interface_types.InterfaceIndex(0)}, &memclnt.ControlPing{}} {
		if err := stream.SendMsg(m); err != nil {
			return nil, lost(err)
		}
	}
	var names []string
	for {
		m, err := stream.RecvMsg()
		if err != nil {
			return nil, lost(err)
		}
		switch m := m.(type) {
		case *interfaces.SwInterfaceDetails:
			names = append(names, m.InterfaceName)
		case *memclnt.ControlPingReply:
			return names, nil
		}
	}
}
