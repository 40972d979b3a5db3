package apitrace

import (
	"encoding/binary"
	"fmt"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/codec"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// Trace is what one VPP was asked since its start.
type Trace struct {
	vpp     *vppmodel.VPP
	numbers map[string]uint16 // by name with CRC; of this file alone
	names   []string
	count   uint32
	items   []byte
	err     error
	// made are the stand-ins so far, of AF_PACKET interfaces by their device.
	made  uint32
	below map[string]uint32
	stood map[uint32]bool
}

// New begins the trace of a VPP that has just started: its NICs come first.
func New(v *vppmodel.VPP) *Trace {
	t := &Trace{vpp: v, numbers: map[string]uint16{}, below: map[string]uint32{}, stood: map[uint32]bool{}}
	for i := range v.Interfaces() {
		if i.Kind == vppmodel.KindNIC {
			t.loopback(i.Index)
		}
	}
	return t
}

// Add appends a request that has been answered.
func (t *Trace) Add(request, reply api.Message) {
	if retval(reply) == 0 {
		t.standIn(request, reply)
	}
}

// Empty reports whether there is nothing to replay.
func (t *Trace) Empty() bool { return t.count == 0 }

// Bytes is the file as it is now. The error is that of a message that could not be encoded.
func (t *Trace) Bytes() ([]byte, error) {
	if t.err != nil {
		return nil, t.err
	}
	table := binary.BigEndian.AppendUint32(nil, uint32(len(t.names)))
	for i, name := range t.names {
		table = appendSmall(table, uint32(i+1))
		table = append(appendSmall(table, uint32(len(name))), name...)
	}
	b := binary.BigEndian.AppendUint32(nil, t.count)
	b = binary.BigEndian.AppendUint32(b, uint32(len(table)))
	b = append(b, 0) // it has not wrapped: it is whole
	b = append(append(b, table...), t.items...)
	if len(b)%page == 0 {
		b = append(b, 0) // VPP takes a file that fills its pages for a damaged one
	}
	return b, nil
}

const page = 4096

// put appends one request.
func (t *Trace) put(m api.Message) {
	name := m.GetMessageName() + "_" + m.GetCrcString()
	number, known := t.numbers[name]
	if !known {
		t.names = append(t.names, name)
		number = uint16(len(t.names))
		t.numbers[name] = number
	}
	data, err := codec.DefaultCodec.EncodeMsg(m, number)
	if err != nil {
		if t.err == nil {
			t.err = fmt.Errorf("%s: %w", m.GetMessageName(), err)
		}
		return
	}
	t.count++
	t.items = append(binary.BigEndian.AppendUint32(t.items, uint32(len(data))), data...)
}

// appendSmall writes a number as VPP's serialize_likely_small_unsigned_integer does (src/vppinfra/serialize.c): up to 16,511, which is more
// than a name's length and a file's messages.
func appendSmall(b []byte, n uint32) []byte {
	if n < 1<<7 {
		return append(b, byte(1+2*n))
	}
	return binary.LittleEndian.AppendUint16(b, uint16(4*(n-1<<7)+2))
}
