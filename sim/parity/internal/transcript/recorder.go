package transcript

import (
	"context"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"
)

// Recorder is an api.Connection that writes down what is said on another one. Pings that end dumps are left out. Like
// the connections that it was made for, it is used by one goroutine at a time.
type Recorder struct {
	conn  api.Connection
	steps []Step
}

var _ api.Connection = (*Recorder)(nil)

// NewRecorder records what is said on conn from now on.
func NewRecorder(conn api.Connection) *Recorder { return &Recorder{conn: conn} }

// Steps returns what was said so far.
func (r *Recorder) Steps() []Step { return r.steps }

// Heard adds an event to the last step; the receiver of events calls it.
func (r *Recorder) Heard(event api.Message) {
	if n := len(r.steps); n > 0 {
		r.steps[n-1].Events = append(r.steps[n-1].Events, Canonical(event))
	}
}

// Invoke passes a request on and records it with its reply. Without a reply only the request is there.
func (r *Recorder) Invoke(ctx context.Context, req, reply api.Message) error {
	step := Step{Request: Text(req)}
	err := r.conn.Invoke(ctx, req, reply)
	if err == nil {
		step.Answers = []string{Canonical(reply)}
	}
	r.steps = append(r.steps, step)
	return err
}

// WatchEvent passes on; see Heard.
func (r *Recorder) WatchEvent(ctx context.Context, event api.Message) (api.Watcher, error) {
	return r.conn.WatchEvent(ctx, event)
}

// NewStream returns a stream that is recorded.
func (r *Recorder) NewStream(ctx context.Context, options ...api.StreamOption) (api.Stream, error) {
	s, err := r.conn.NewStream(ctx, options...)
	if err != nil {
		return nil, err
	}
	return &stream{Stream: s, recorder: r}, nil
}

// stream records one stream. Answers come in the order of requests, so they belong to the first that is not done.
type stream struct {
	api.Stream
	recorder *Recorder
	waiting  []int // steps with incomplete answers
}

// dumped reports whether a request is a dump that a ping ends.
func dumped(request string) bool {
	x, known := exchanges[messageOf(request)]
	return known && x.Reply == nil
}

func (s *stream) SendMsg(m api.Message) error {
	_, ping := m.(*memclnt.ControlPing)
	steps := s.recorder.steps
	if ends := ping && len(s.waiting) > 0 && dumped(steps[s.waiting[len(s.waiting)-1]].Request); !ends {
		s.waiting = append(s.waiting, len(steps))
		s.recorder.steps = append(steps, Step{Request: Text(m)})
	}
	return s.Stream.SendMsg(m)
}

func (s *stream) RecvMsg() (api.Message, error) {
	m, err := s.Stream.RecvMsg()
	if err != nil || len(s.waiting) == 0 {
		return m, err
	}
	step := &s.recorder.steps[s.waiting[0]]
	_, pong := m.(*memclnt.ControlPingReply)
	isDump := dumped(step.Request)
	if !pong || !isDump {
		step.Answers = append(step.Answers, Canonical(m))
	}
	if pong || !isDump && isReply(messageOf(Canonical(m))) {
		if isDump {
			step.Answers = sorted(step.Answers)
		}
		s.waiting = s.waiting[1:]
	}
	return m, nil
}
