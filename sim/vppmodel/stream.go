package vppmodel

import (
	"context"
	"errors"
	"fmt"

	"go.fd.io/govpp/api"
)

// Errors of streams. A real stream would block where ErrNoReply is returned: nothing that was sent has an answer left.
var (
	ErrNoReply      = errors.New("no reply is due")
	ErrStreamClosed = errors.New("stream closed")
)

// stream keeps the answers of what was sent until they are received. A dump is a snapshot of the instant it was sent.
type stream struct {
	vpp    *VPP
	ctx    context.Context
	due    []api.Message
	closed bool
}

// NewStream takes no option: govpp's options apply to govpp's own streams only.
func (v *VPP) NewStream(ctx context.Context, options ...api.StreamOption) (api.Stream, error) {
	if len(options) > 0 {
		return nil, fmt.Errorf("new stream: %d options, none supported", len(options))
	}
	if err := v.usable(ctx); err != nil {
		return nil, err
	}
	return &stream{vpp: v, ctx: ctx}, nil
}

func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) Close() error {
	if s.closed {
		return ErrStreamClosed
	}
	s.closed, s.due = true, nil
	return nil
}

func (s *stream) usable() error {
	if s.closed {
		return ErrStreamClosed
	}
	return s.vpp.usable(s.ctx)
}

// SendMsg performs a request or a dump at once.
func (s *stream) SendMsg(m api.Message) error {
	if err := s.usable(); err != nil {
		return err
	}
	if details, isDump := s.vpp.dump(m); isDump {
		s.due = append(s.due, details...)
		return nil
	}
	r, err := s.vpp.perform(m, nil)
	if err != nil {
		return err
	}
	s.due = append(s.due, r)
	return nil
}

// RecvMsg returns the answers in the order of what was sent.
func (s *stream) RecvMsg() (api.Message, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if len(s.due) == 0 {
		return nil, ErrNoReply
	}
	m := s.due[0]
	s.due = s.due[1:]
	return m, nil
}
