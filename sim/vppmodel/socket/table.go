package socket

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/codec"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// handshake are the messages that begin and end a client, which are no exchanges of a dataplane's.
var handshake = []vppmodel.Exchange{
	{Request: &memclnt.SockclntCreate{}, Reply: &memclnt.SockclntCreateReply{}},
	{Request: &memclnt.SockclntDelete{}, Reply: &memclnt.SockclntDeleteReply{}},
}

// table knows the number of every message that is spoken, both ways. It does not change once made.
type table struct {
	types   map[uint16]reflect.Type
	numbers map[reflect.Type]uint16
	asked   map[uint16]bool               // those that a client may send
	replies map[reflect.Type]reflect.Type // what ends the answer to a request, where something does
	// entries are sorted by name, the last one first: govpp takes the last name that begins with sockclnt_delete_ for that
	// message, and its reply begins so too. VPP's own order is that of a hash.
	entries []memclnt.MessageTableEntry
	// first is the first number of each module, by its name with its CRC.
	first map[string]uint16
	// names are of all numbers that VPP has, also of messages that nobody speaks here.
	names map[uint16]string
	// refused are the replies to requests that VPP has and the model has not, as far as their modules' bindings are in the program.
	refused map[uint16]reflect.Type
}

func name(m api.Message) string { return m.GetMessageName() + "_" + m.GetCrcString() }

// newTable gives messages the numbers that VPP gives them.
func newTable() *table {
	t := &table{types: map[uint16]reflect.Type{}, numbers: map[reflect.Type]uint16{}, asked: map[uint16]bool{}, replies: map[reflect.Type]reflect.Type{},
		first: map[string]uint16{}, names: map[uint16]string{}, refused: map[uint16]reflect.Type{}}
	numbers := map[string]uint16{}
	for _, m := range readModules() {
		if m.first > 1 { // memclnt is no module to VPP: who asks for it is refused
			t.first[m.name] = m.first
		}
		for i, name := range m.messages {
			numbers[name], t.names[m.first+uint16(i)] = m.first+uint16(i), name
		}
	}
	spoken := vppmodel.Events()
	exchanges := slices.Concat(handshake, vppmodel.Exchanges(), processExchanges)
	for _, x := range exchanges {
		for _, m := range []api.Message{x.Request, x.Details, x.Reply} {
			if m != nil {
				spoken = append(spoken, m)
			}
		}
	}
	for _, m := range spoken {
		number, known := numbers[m.GetMessageName()]
		if !known {
			panic("socket: numbers.txt has no " + m.GetMessageName())
		}
		if t.numbers[reflect.TypeOf(m)] == 0 {
			t.types[number], t.numbers[reflect.TypeOf(m)] = reflect.TypeOf(m).Elem(), number
			t.entries = append(t.entries, memclnt.MessageTableEntry{Index: number, Name: name(m)})
		}
	}
	slices.SortFunc(t.entries, func(a, b memclnt.MessageTableEntry) int { return cmp.Compare(b.Name, a.Name) })
	for _, x := range exchanges {
		t.asked[t.numbers[reflect.TypeOf(x.Request)]] = true
		if x.Reply != nil {
			t.replies[reflect.TypeOf(x.Request)] = reflect.TypeOf(x.Reply).Elem()
		}
	}
	t.refuse(numbers)
	return t
}

// refuse finds the replies that have a retval to say "unimplemented" with. They are in no list of names: a client that asks the list
// knows at once, and one that relies on numbers learns it by its reply.
func (t *table) refuse(numbers map[string]uint16) {
	registered := map[string]api.Message{}
	for _, m := range vppmodel.Bound() {
		registered[m.GetMessageName()] = m
	}
	for name, m := range registered {
		number, reply := numbers[name], registered[name+"_reply"]
		if number == 0 || t.types[number] != nil || m.GetMessageType() != api.RequestMessage || reply == nil || !retval(zero(reply)).IsValid() {
			continue
		}
		t.refused[number], t.numbers[reflect.TypeOf(reply)] = reflect.TypeOf(reply).Elem(), numbers[reply.GetMessageName()]
	}
}

// zero is a new message of the type of another.
func zero(m api.Message) api.Message {
	return reflect.New(reflect.TypeOf(m).Elem()).Interface().(api.Message)
}

// unmodelled is the reply to a request that VPP has and the model has not, and the request's name; nil where there is nothing to say it with.
func (t *table) unmodelled(data []byte) (reply api.Message, client, context uint32, name string) {
	if len(data) < 10 {
		return nil, 0, 0, ""
	}
	number := binary.BigEndian.Uint16(data)
	kind, known := t.refused[number]
	if !known {
		return nil, 0, 0, ""
	}
	reply = reflect.New(kind).Interface().(api.Message)
	retval(reply).SetInt(int64(api.UNIMPLEMENTED))
	return reply, binary.BigEndian.Uint32(data[2:]), binary.BigEndian.Uint32(data[6:]), t.names[number]
}

// request is a message as it came.
type request struct {
	message         api.Message
	client, context uint32
}

var (
	errNumber      = errors.New("unknown message number")
	errShort       = errors.New("message is too short")
	errNoAsked     = errors.New("this is no request")
	errNotModelled = errors.New("not modelled: message number")
)

// contextAt is where a kind of message has its context; those for clients alone have none (0).
func contextAt(m api.Message) int {
	switch m.GetMessageType() {
	case api.RequestMessage:
		return 6
	case api.ReplyMessage:
		return 2
	}
	return 0
}

// decode takes a message apart. Errors: errNumber, errNoAsked, errShort.
func (t *table) decode(data []byte) (request, error) {
	if len(data) < 2 {
		return request{}, errShort
	}
	number := binary.BigEndian.Uint16(data)
	kind, known := t.types[number]
	if !known {
		return request{}, t.unserved(number)
	}
	if !t.asked[number] { // before decoding: a reply may announce billions of elements
		return request{}, fmt.Errorf("message number %d: %w", number, errNoAsked)
	}
	r := request{message: reflect.New(kind).Interface().(api.Message)}
	at := contextAt(r.message)
	if at == 0 || len(data) < at+4 {
		return request{}, fmt.Errorf("%s: %w", r.message.GetMessageName(), errShort)
	}
	r.context = binary.BigEndian.Uint32(data[at:])
	if at == 6 {
		r.client = binary.BigEndian.Uint32(data[2:])
	}
	err := codec.DefaultCodec.DecodeMsg(data, r.message)
	// govpp's decoder takes what is missing for zeros; VPP counts, and so it is done here.
	sized, able := r.message.(codec.Marshaler)
	if err != nil || able && len(data) < at+4+sized.Size() {
		return request{}, fmt.Errorf("%s: %w", r.message.GetMessageName(), errShort)
	}
	return r, nil
}

// unserved says why a number is of no message that is spoken here. VPP's test client sends numbers that no table told it.
func (t *table) unserved(number uint16) error {
	if name := t.names[number]; name != "" {
		return fmt.Errorf("%w %d, VPP's %s", errNotModelled, number, name)
	}
	return fmt.Errorf("%w %d", errNumber, number)
}

// encode puts an answer together; for an event, context is the client's handle.
func (t *table) encode(m api.Message, context uint32) ([]byte, error) {
	number, known := t.numbers[reflect.TypeOf(m)]
	if !known {
		return nil, fmt.Errorf("%s: no number", m.GetMessageName())
	}
	data, err := codec.DefaultCodec.EncodeMsg(m, number)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.GetMessageName(), err)
	}
	at := contextAt(m)
	if m.GetMessageType() == api.EventMessage {
		at = 2
	}
	if at > 0 {
		binary.BigEndian.PutUint32(data[at:], context)
	}
	return data, nil
}
