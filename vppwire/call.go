package vppwire

import (
	"context"
	"errors"
	"fmt"

	"go.fd.io/govpp/adapter"
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"
)

// Dataplane is what calls are performed on: one VPP and the Linux host around it.
type Dataplane struct {
	VPP   api.Connection
	Linux Linux
}

// Verb is what a Call does to its object.
type Verb uint8

// Verbs. A VerbSet changes an object in place.
const (
	VerbDump Verb = iota + 1
	VerbCreate
	VerbSet
	VerbDelete
)

var verbNames = [...]string{VerbDump: "dump", VerbCreate: "add", VerbSet: "set", VerbDelete: "del"}

// Call is one request that a Session wants performed. It borrows the Session's message buffers: it is valid until the
// next Feed or Disconnect, and at most one is outstanding.
type Call struct{ p *request }

// request is the Session's one reusable call.
type request struct {
	seq   uint64
	verb  Verb
	name  string
	entry uint32
	obj   Object
	step  dumpStep

	req, reply api.Message
	retval     *int32
	// number is where a reply holds the number that comes with success, as the index of a created interface.
	number *uint32
	// A change of Linux, or a dump of one of its namespaces.
	op    LinuxOp
	linux bool
	netns string
}

func (r *request) invoke(req, reply api.Message, retval *int32) {
	r.name, r.req, r.reply, r.retval = req.GetMessageName(), req, reply, retval
}

func (r *request) apply(name string, op LinuxOp) { r.name, r.op = name, op }

func (r *request) dump(req api.Message) { r.name, r.req = req.GetMessageName(), req }

// Name is the binary API message's name (ip_route_add_del_v2) or, for Linux, the operation's (linux_route_set).
func (c Call) Name() string { return c.p.name }

// Verb tells what the call does.
func (c Call) Verb() Verb { return c.p.verb }

// Writes reports whether the call may change anything.
func (c Call) Writes() bool { return c.p.verb != VerbDump }

// Object is what the call is about, nil for dumps.
func (c Call) Object() Object { return c.p.obj }

// Key is that object's; the zero Key for dumps.
func (c Call) Key() Key {
	if c.p.obj == nil {
		return Key{}
	}
	return c.p.obj.Key()
}

// Request is the binary API message that is sent, nil for Linux; LinuxOp the operation on Linux, nil for VPP and for
// dumps.
func (c Call) Request() api.Message { return c.p.req }

// LinuxOp is described at Request.
func (c Call) LinuxOp() LinuxOp { return c.p.op }

// String is the canonical line: message, verb, object.
func (c Call) String() string { return string(c.AppendText(nil)) }

// AppendText appends what String returns.
func (c Call) AppendText(b []byte) []byte {
	b = append(b, c.p.name...)
	b = append(b, ' ')
	b = append(b, verbNames[c.p.verb]...)
	if c.p.obj != nil {
		b = append(b, ' ')
		return c.p.obj.AppendText(b)
	}
	return c.p.step.appendText(b)
}

// Result is the outcome of a Call.
type Result struct {
	seq uint64
	// Err is what VPP or Linux refused the call with; a VPP retval stays api.VPPApiError in the chain.
	Err error
	// Lost: no answer came. Whether the call was performed is unknown.
	Lost bool

	number uint32
	shown  *shown // what a dump shows
}

// shown is a dump's content. Results travel with every call and dumps are rare, so it is apart.
type shown struct {
	details []api.Message
	linux   LinuxState
}

// Unanswered is the Result of a call whose answer did not come; the driver calls it after its deadline.
func (c Call) Unanswered() Result { return Result{seq: c.p.seq, Lost: true} }

// Refused is the Result of a call that the driver knows was not performed, for reason err.
func (c Call) Refused(err error) Result { return Result{seq: c.p.seq, Err: err} }

// Do performs the call. An error of the connection itself is an unknown outcome.
func (c Call) Do(ctx context.Context, d Dataplane) Result {
	p := c.p
	r := Result{seq: p.seq}
	switch {
	case p.op != nil:
		r.Err = d.Linux.Apply(p.op)
	case p.linux:
		r.shown = &shown{}
		r.shown.linux, r.Err = d.Linux.Dump(p.netns)
	case p.verb == VerbDump && p.reply == nil:
		details, err := collect(ctx, d.VPP, p.req)
		if err != nil {
			r.Lost = true
			break
		}
		r.shown = &shown{details: details}
	default:
		if err := d.VPP.Invoke(ctx, p.req, p.reply); err != nil {
			if unknownMessage(err) {
				r.Err = err
			} else {
				r.Lost = true
			}
			break
		}
		if *p.retval != 0 {
			r.Err = fmt.Errorf("%s: %w", p.name, api.RetvalToVPPApiError(*p.retval))
		}
		if p.number != nil {
			r.number = *p.number
		}
		if p.verb == VerbDump {
			r.shown = &shown{details: []api.Message{p.reply}}
		}
	}
	return r
}

// unknownMessage reports whether a request was not sent because VPP has no such message.
func unknownMessage(err error) bool {
	var unknown *adapter.UnknownMsgError
	return errors.As(err, &unknown)
}

// collect runs one dump: the request, a control ping, and details until the ping's reply.
func collect(ctx context.Context, conn api.Connection, req api.Message) ([]api.Message, error) {
	stream, err := conn.NewStream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // the dump is complete or lost by then; closing tells nothing more
	if err := stream.SendMsg(req); err != nil {
		return nil, err
	}
	if err := stream.SendMsg(&memclnt.ControlPing{}); err != nil {
		return nil, err
	}
	var details []api.Message
	for {
		m, err := stream.RecvMsg()
		if err != nil {
			return nil, err
		}
		if _, done := m.(*memclnt.ControlPingReply); done {
			return details, nil
		}
		details = append(details, m)
	}
}
