package vppmodel

import (
	"fmt"
	"reflect"

	"go.fd.io/govpp/api"
)

// message is one row of the table: a request that the model answers.
type message struct {
	Exchange
	// answer performs a plain request, dump returns a dump's details with what ends a dump of the newer kind; one of them
	// is nil.
	answer func(v *VPP, req, reply api.Message) (api.Message, error)
	dump   func(v *VPP, req api.Message) []api.Message
	// trigger says what a real VPP would die of; nil: of nothing.
	trigger func(v *VPP, req api.Message) CrashTrigger
	// class says what it is about.
	class class
	// gaps are the message's known differences from VPP.
	gaps []string
}

// class says what a reply's retval of 0 means.
type class uint8

const (
	// reads: nothing has changed.
	reads class = iota
	// changes: the request is one that VPP's state depends on, and is counted (VPP.Writes).
	changes
)

// filled is a row for a request whose handler fills the whole reply, and returns its retval.
func filled[Q, R any](c class, handle func(*VPP, *Q, *R) int32) message {
	return message{
		Exchange: Exchange{Request: zero[Q](), Reply: zero[R]()},
		class:    c,
		answer: func(v *VPP, req, reply api.Message) (api.Message, error) {
			reply, r, err := into[R](reply)
			if err != nil {
				return nil, err
			}
			if retval := handle(v, any(req).(*Q), r); c == changes && retval == ok {
				v.writes++
			}
			return reply, nil
		},
	}
}

// into returns the reply as its own type, a new one for nil.
func into[R any](reply api.Message) (api.Message, *R, error) {
	if reply == nil {
		reply = zero[R]()
	}
	r, fits := any(reply).(*R)
	if !fits {
		return nil, nil, fmt.Errorf("reply is %s, want %s", reply.GetMessageName(), zero[R]().GetMessageName())
	}
	return reply, r, nil
}

// plain is what replies look like that hold a retval and nothing else.
type plain interface {
	~struct {
		Retval int32 `binapi:"i32,name=retval" json:"retval,omitempty"`
	}
}

// plainly is a row for a request whose reply is a retval and nothing else.
func plainly[R plain, Q any](c class, handle func(*VPP, *Q) int32) message {
	return message{
		Exchange: Exchange{Request: zero[Q](), Reply: zero[R]()},
		class:    c,
		answer: func(v *VPP, req, reply api.Message) (api.Message, error) {
			reply, r, err := into[R](reply)
			if err != nil {
				return nil, err
			}
			retval := handle(v, any(req).(*Q))
			*r = R{Retval: retval}
			if c == changes && retval == ok {
				v.writes++
			}
			return reply, nil
		},
	}
}

// dumped is a row for a dump that a control ping ends.
func dumped[D, Q any](handle func(*VPP, *Q) []api.Message) message {
	return message{
		Exchange: Exchange{Request: zero[Q](), Details: zero[D]()},
		dump:     func(v *VPP, req api.Message) []api.Message { return handle(v, any(req).(*Q)) },
	}
}

// ended is a row for a dump of the newer kind, whose last message is a reply.
func ended[D, R, Q any](handle func(*VPP, *Q) []api.Message) message {
	m := dumped[D](handle)
	m.Reply = zero[R]()
	return m
}

// dies adds what a real VPP would die of.
func dies[Q any](m message, trigger func(*VPP, *Q) CrashTrigger) message {
	m.trigger = func(v *VPP, req api.Message) CrashTrigger { return trigger(v, any(req).(*Q)) }
	return m
}

// but adds known differences from VPP, a sentence each.
func (m message) but(gaps ...string) message {
	m.gaps = gaps
	return m
}

func (m *message) predict(v *VPP, req api.Message) CrashTrigger {
	if m.trigger == nil {
		return ""
	}
	return m.trigger(v, req)
}

func zero[M any]() api.Message { return any(new(M)).(api.Message) }

// row is the row of a request, nil for none.
func row(req api.Message) *message { return rows[typeOf(req)] }

// rows are the table by the type of the request.
var rows = func() map[uintptr]*message {
	m := make(map[uintptr]*message, len(messages))
	for i := range messages {
		m[typeOf(messages[i].Request)] = &messages[i]
	}
	return m
}()

// typeOf identifies a message's type. A map finds a number in a third of the time that it needs for a reflect.Type, and
// every request of a simulated cluster is looked up.
func typeOf(m api.Message) uintptr { return reflect.ValueOf(reflect.TypeOf(m)).Pointer() }
