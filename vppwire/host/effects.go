package host

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// perform starts one effect.
func (d *Driver) perform(now time.Time, e agent.Effect) {
	switch e := e.(type) {
	case agent.CallDataplane:
		d.calling = true
		d.calls <- plannedCall{e.Call, d.conn}
	case agent.Persist:
		d.persist(now, e)
	case agent.StoreRequest:
		d.cfg.Store.Do(e, d.Tell)
	case agent.Answer:
		if r, ok := d.requests[e.Request]; ok {
			delete(d.requests, e.Request)
			r.answer <- e
			if e.Exhausted {
				d.tellPeople(agent.Log{Level: 4, Reason: ReasonExhausted, Message: e.Message, Namespace: r.namespace, PodName: r.pod})
			}
		}
	case agent.WakeAt:
		d.wakeAt(now, e)
	case agent.Hook:
		d.runHook(e)
	case agent.Log:
		if e.Reason == "" {
			d.log.Log(context.Background(), slog.Level(e.Level), e.Message)
			break
		}
		d.tellPeople(e)
		d.log.Log(context.Background(), slog.Level(e.Level), e.Message, "reason", e.Reason, "namespace", e.Namespace, "pod", e.PodName)
	case agent.HealthChecks:
		d.healthChecks.set(e.List)
	case agent.ListNodes:
		d.cfg.Cluster.Relist()
	case agent.NodeAddress:
		d.log.Info("node address", "address", e.Addr)
	case agent.ChangeLinux:
		op := vppwire.Undoing(e.Undo)
		go func() { d.Tell(agent.LinuxChanged{Seq: e.Seq, Err: d.cfg.Linux.Apply(op)}) }()
	case agent.NICReturned:
		close(d.nicReturned)
	default:
		panic(fmt.Sprintf("host: unknown effect %T", e))
	}
}

// ReasonExhausted: a pod was refused as no address was free. An event of the driver's own, as the agent answers it and
// logs nothing.
const ReasonExhausted = "NoFreeAddress"

// tellPeople counts an event and hands it on.
func (d *Driver) tellPeople(e agent.Log) {
	d.Metrics.events.WithLabelValues(e.Reason).Inc()
	if d.cfg.Events != nil {
		d.cfg.Events(e)
	}
}

func (d *Driver) persist(now time.Time, e agent.Persist) {
	d.cfg.Journal.Persist(e, func(err error) {
		d.Metrics.persisted(now, err)
		d.Tell(agent.Persisted{Seq: e.Seq, Err: err})
	})
}

// wakeAt sets the alarm, of which there is one.
func (d *Driver) wakeAt(now time.Time, e agent.WakeAt) {
	d.alarm.Stop()
	if !e.At.IsZero() {
		d.alarm.Reset(max(0, e.At.Sub(now)))
	}
}

// timerFired: one alarm too many does no harm, as the agent looks at the time itself.
func (d *Driver) timerFired() { d.Tell(agent.Woke{}) }

// plannedCall is a call with the connection that it was asked for on.
type plannedCall struct {
	call vppwire.Call
	conn *connection
}

// callLoop performs calls, one after the other, away from the agent's goroutine.
func (d *Driver) callLoop(ctx context.Context) {
	defer close(d.callsEnded)
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-d.calls:
			begin := time.Now()
			r := d.call(c)
			d.Metrics.called(c.call, r, time.Since(begin))
			d.inbox.put(func() { d.called(c, r) })
		}
	}
}

// call performs one call as long as VPP is not silent for too long, or until its connection is gone.
func (d *Driver) call(c plannedCall) vppwire.Result {
	c.conn.calling.Store(true)
	defer c.conn.calling.Store(false)
	ctx, cancel := context.WithCancel(c.conn.ctx)
	defer cancel()
	silence := time.AfterFunc(d.cfg.CallTimeout, cancel)
	defer silence.Stop()
	heard := heard{c.conn, func() { silence.Reset(d.cfg.CallTimeout) }}
	do := func() vppwire.Result { return c.call.Do(ctx, vppwire.Dataplane{VPP: heard, Linux: d.cfg.Linux}) }
	if d.cfg.Between != nil {
		return d.cfg.Between.Call(ctx, c.call, do)
	}
	return do()
}

// heard is a connection that reports each message of a dump.
type heard struct {
	api.Connection
	report func()
}

func (h heard) NewStream(ctx context.Context, options ...api.StreamOption) (api.Stream, error) {
	s, err := h.Connection.NewStream(ctx, options...)
	return heardStream{s, h.report}, err
}

type heardStream struct {
	api.Stream
	report func()
}

func (s heardStream) RecvMsg() (api.Message, error) {
	m, err := s.Stream.RecvMsg()
	if err == nil {
		s.report()
	}
	return m, err
}

// called tells the agent what came of a call. One without an answer costs the connection: a late answer must not be
// taken for another call's. The agent then hears VPPDown instead, as the same would come of the next call.
func (d *Driver) called(c plannedCall, r vppwire.Result) {
	d.calling = false
	switch {
	case d.left:
		d.leave()
		return
	case r.Lost:
		d.log.Warn("no answer", "call", c.call)
		c.conn.silent.Store(true)
		c.conn.Drop() // keep has the agent told
		return
	case r.Err != nil:
		d.log.Debug("refused", "call", c.call, "error", r.Err)
	case c.call.Writes():
		d.log.Debug("done", "call", c.call)
	}
	d.step(agent.Called{Result: r})
}
