package host

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/internal/vpp"
)

// VPP dials the one VPP of this machine.
type VPP interface {
	// Dial returns a connection that has been tried, or an error; vpp.ErrAbsent where trying again is worth it.
	Dial(ctx context.Context) (Conn, error)
}

// Conn is a connection to one life of VPP.
type Conn interface {
	api.Connection
	// Who tells VPP's process ID, its version and its main physical interface.
	Who() vpp.Identity
	// Gone is closed when the connection is of no use any more; Drop makes it so; Close lets it go afterwards.
	Gone() <-chan struct{}
	Drop()
	Close()
}

// Pauses between attempts to reach VPP, doubling. A VPP that is started again listens within 0.3 s, pods wait for each
// pause, and an attempt at a socket that is not there costs a few microseconds.
const (
	dialPauseFirst = 10 * time.Millisecond
	dialPauseMost  = 40 * time.Millisecond
	// dialSettled is how long a connection has to last for the next pause to be the first again.
	dialSettled = 10 * time.Second
)

// keepConnected has the agent told of every life of VPP and every end of a connection.
func (d *Driver) keepConnected(ctx context.Context) {
	pause := dialPauseFirst
	begun, ever, told := time.Now(), false, ""
	for ctx.Err() == nil {
		conn, err := d.cfg.VPP.Dial(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			patient := ever || d.cfg.VPPPatience == 0 || time.Since(begun) < d.cfg.VPPPatience
			if !patient || !errors.Is(err, vpp.ErrAbsent) {
				d.fail(err)
				return
			}
			if told != err.Error() {
				told = err.Error()
				d.log.Warn("VPP is not there", "error", err)
			}
			pause = d.rest(ctx, pause)
			continue
		}
		ever, told = true, ""
		since := time.Now()
		d.keep(ctx, conn)
		if time.Since(since) > dialSettled {
			pause = dialPauseFirst
		} else if ctx.Err() == nil {
			pause = d.rest(ctx, pause)
		}
	}
}

// rest waits and returns the next pause.
func (d *Driver) rest(ctx context.Context, pause time.Duration) time.Duration {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
	return min(2*pause, dialPauseMost)
}

// connection is a Conn for the time that the agent uses it.
type connection struct {
	Conn
	// ctx ends with the connection, so that a call under way does too.
	ctx    context.Context
	unused chan struct{} // closed when the agent has been told that it is gone
	// silent: VPP holds the connection and has not answered in time. calling: a call of the agent's is under way.
	silent, calling atomic.Bool
}

// A VPP whose main thread hangs holds its sockets: only a question tells. Calls have a limit of their own, which is
// longer as VPP walks a full table before a dump's first message, and a ping behind one waits for it.
const (
	pingEvery    = 2 * time.Second
	pingPatience = 5 * time.Second
)

// ping asks until the connection ends, or drops it where VPP does not answer.
func (d *Driver) ping(c *connection) {
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-time.After(pingEvery):
		}
		if c.calling.Load() {
			continue
		}
		ctx, cancel := context.WithTimeout(c.ctx, min(pingPatience, d.cfg.CallTimeout))
		err := c.Invoke(ctx, &memclnt.ControlPing{}, &memclnt.ControlPingReply{})
		late := ctx.Err() != nil
		cancel()
		if c.ctx.Err() == nil && err != nil && late && !c.calling.Load() {
			c.silent.Store(true)
			c.Drop()
			return
		}
	}
}

// keep has the agent use a connection until it is gone, and returns when nobody uses it any more.
func (d *Driver) keep(ctx context.Context, conn Conn) {
	alive, end := context.WithCancel(ctx)
	c := &connection{Conn: conn, ctx: alive, unused: make(chan struct{})}
	d.inbox.put(func() { d.enter(c) })
	pinged := make(chan struct{})
	go func() { defer close(pinged); d.ping(c) }()
	select {
	case <-conn.Gone():
	case <-ctx.Done():
	}
	end()
	d.inbox.put(func() {
		if d.left = true; !d.calling {
			d.leave()
		}
	})
	select {
	case <-c.unused:
	case <-d.callsEnded: // with ctx: the agent is not asked any more
	}
	<-pinged
	conn.Close()
}

func (d *Driver) enter(c *connection) {
	who := c.Who()
	d.conn = c
	d.log.Info("VPP is up", "pid", who.PID, "version", who.Version, "nics", who.NICs)
	d.Metrics.vppUp.Set(1)
	d.step(agent.VPPUp{PID: who.PID, Version: who.Version, NICs: who.NICs, Without: who.Without})
}

// leave tells the agent that the connection is gone. No call is under way: its buffers belong to the agent again.
func (d *Driver) leave() {
	c := d.conn
	d.left, d.conn = false, nil
	d.log.Warn("VPP's connection is lost", "silent", c.silent.Load())
	d.Metrics.vppUp.Set(0)
	d.step(agent.VPPDown{Silent: c.silent.Load()})
	close(c.unused)
}

// Socket is a VPP that listens on a unix socket at this path.
type Socket string

// Dial implements VPP.
func (s Socket) Dial(ctx context.Context) (Conn, error) {
	c, err := vpp.Dial(ctx, string(s))
	if err != nil {
		return nil, err
	}
	return c, nil
}
