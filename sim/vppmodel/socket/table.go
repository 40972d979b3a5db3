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

// fixedNumbers are those of VPP's own messages, which a client must know before it has a table: their places in
// src/vlibmemory/memclnt.api, from 1.
var fixedNumbers = []struct {
	number  uint16
	message api.Message
}{
	{15, &memclnt.SockclntCreate{}}, {16, &memclnt.SockclntCreateReply{}},
	{17, &memclnt.SockclntDelete{}}, {18, &memclnt.SockclntDeleteReply{}},
	{21, &memclnt.MemclntKeepalive{}}, {22, &memclnt.MemclntKeepaliveReply{}},
	{23, &memclnt.ControlPing{}}, {24, &memclnt.ControlPingReply{}},
}

// firstNumber is where the others begin.
const firstNumber = 101

// table knows the number of every message that is spoken, both ways. It does not change once made.
type table struct {
	types   map[uint16]reflect.Type
	numbers map[reflect.Type]uint16
	asked   map[uint16]bool               // those that a client may send
	replies map[reflect.Type]reflect.Type // what ends the answer to a request, where something does
	// entries are sorted by name, the last one first: govpp takes the last name that begins with sockclnt_delete_ for that
	// message, and its reply begins so too. VPP's own order is that of a hash.
	entries []memclnt.MessageTableEntry
}

func name(m api.Message) string { return m.GetMessageName() + "_" + m.GetCrcString() }

// newTable gives messages numbers: the fixed ones theirs, the others in the order of their names.
func newTable() *table {
	t := &table{types: map[uint16]reflect.Type{}, numbers: map[reflect.Type]uint16{}, asked: map[uint16]bool{}, replies: map[reflect.Type]reflect.Type{}}
	for _, f := range fixedNumbers {
		t.add(f.number, f.message)
	}
	rest := vppmodel.Events()
	for _, x := range slices.Concat(vppmodel.Exchanges(), processExchanges) {
		for _, m := range []api.Message{x.Request, x.Details, x.Reply} {
			if m != nil {
				rest = append(rest, m)
			}
		}
	}
	slices.SortFunc(rest, func(a, b api.Message) int { return cmp.Compare(name(a), name(b)) })
	next := uint16(firstNumber)
	for _, m := range rest {
		if _, known := t.numbers[reflect.TypeOf(m)]; !known {
			t.add(next, m)
			next++
		}
	}
	slices.SortFunc(t.entries, func(a, b memclnt.MessageTableEntry) int { return cmp.Compare(b.Name, a.Name) })
	t.asked[t.numbers[reflect.TypeFor[*memclnt.SockclntCreate]()]] = true
	t.asked[t.numbers[reflect.TypeFor[*memclnt.SockclntDelete]()]] = true
	for _, x := range slices.Concat(vppmodel.Exchanges(), processExchanges) {
		t.asked[t.numbers[reflect.TypeOf(x.Request)]] = true
		if x.Reply != nil {
			t.replies[reflect.TypeOf(x.Request)] = reflect.TypeOf(x.Reply).Elem()
		}
	}
	return t
}

func (t *table) add(number uint16, m api.Message) {
	t.types[number], t.numbers[reflect.TypeOf(m)] = reflect.TypeOf(m).Elem(), number
	t.entries = append(t.entries, memclnt.MessageTableEntry{Index: number, Name: name(m)})
}

// request is a message as it came.
type request struct {
	message         api.Message
	client, context uint32
}

var (
	errNumber  = errors.New("unknown message number")
	errShort   = errors.New("message is too short")
	errNoAsked = errors.New("this is no request")
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
		return request{}, fmt.Errorf("%w %d", errNumber, number)
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
