package vppmodel

import (
	"context"

	"go.fd.io/govpp/api"
)

var _ api.Connection = (*VPP)(nil)

// UnknownMessageError says that VPP has no such message, or not with this CRC. Its text is govpp's.
type UnknownMessageError struct{ Name, CRC string }

func (e *UnknownMessageError) Error() string { return "unknown message: " + e.Name + "_" + e.CRC }

func unknown(m api.Message) error { return &UnknownMessageError{m.GetMessageName(), m.GetCrcString()} }

// Invoke performs a request at once and fills the reply, which must be of the request's reply type. A refusal by VPP is
// the reply's Retval. Errors: ErrKilled, the context's, *UnknownMessageError, or a reply of the wrong type.
func (v *VPP) Invoke(ctx context.Context, req, reply api.Message) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	_, err := v.perform(req, reply)
	return err
}

func (v *VPP) usable(ctx context.Context) error {
	if v.killed {
		return ErrKilled
	}
	return ctx.Err()
}

// perform answers a plain request. A nil reply is made.
func (v *VPP) perform(req, reply api.Message) (api.Message, error) {
	m := row(req)
	if m == nil || m.answer == nil {
		return nil, unknown(req)
	}
	if v.crash != nil {
		if trigger := m.predict(v, req); trigger != "" {
			v.crash(trigger, req)
		}
	}
	reply, err := m.answer(v, req, reply)
	if err == nil && v.asked != nil && m.class == changes {
		v.asked(req, reply)
	}
	return reply, err
}

// dump returns a dump's details; false for a message that is no dump. Like VPP it answers an impossible filter with
// nothing.
func (v *VPP) dump(req api.Message) ([]api.Message, bool) {
	m := row(req)
	if m == nil || m.dump == nil {
		return nil, false
	}
	return m.dump(v, req), true
}
