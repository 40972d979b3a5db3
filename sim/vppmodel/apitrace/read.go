package apitrace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/codec"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// ErrDamaged says that bytes are no trace of VPP's.
var ErrDamaged = errors.New("no API trace of VPP's, or a damaged one")

// UnknownError is a message of a trace that this program has no bindings of, or not with this CRC: of another VPP release, most likely.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return "message " + e.Name + " is not known here: is the trace of another VPP release?"
}

// Read takes a trace apart, as Bytes or `api trace save` wrote it, in the order of its requests. Errors: ErrDamaged, *UnknownError.
func Read(trace []byte) (all []api.Message, err error) {
	if len(trace) < 9 {
		return nil, ErrDamaged
	}
	count, size := binary.BigEndian.Uint32(trace), binary.BigEndian.Uint32(trace[4:])
	rest := trace[9:]
	if uint64(size) > uint64(len(rest)) || size < 4 {
		return nil, ErrDamaged
	}
	names, err := readTable(rest[:size])
	if err != nil {
		return nil, err
	}
	known := vppmodel.Bound()
	rest = rest[size:]
	for range count {
		if len(rest) < 4 || uint64(binary.BigEndian.Uint32(rest)) > uint64(len(rest)-4) || binary.BigEndian.Uint32(rest) < 2 {
			return nil, ErrDamaged
		}
		data := rest[4 : 4+binary.BigEndian.Uint32(rest)]
		rest = rest[4+len(data):]
		name := names[binary.BigEndian.Uint16(data)]
		kind, bound := known[name]
		if !bound {
			return nil, &UnknownError{name}
		}
		m := reflect.New(reflect.TypeOf(kind).Elem()).Interface().(api.Message)
		if err := codec.DefaultCodec.DecodeMsg(data, m); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// readTable reads the names by their numbers.
func readTable(b []byte) (map[uint16]string, error) {
	count, names := binary.BigEndian.Uint32(b), map[uint16]string{}
	b = b[4:]
	for range count {
		var number, size uint32
		var whole bool
		if number, b, whole = small(b); !whole {
			return nil, ErrDamaged
		}
		if size, b, whole = small(b); !whole || uint64(size) > uint64(len(b)) {
			return nil, ErrDamaged
		}
		names[uint16(number)] = string(b[:size])
		b = b[size:]
	}
	return names, nil
}

// small is the opposite of appendSmall; false where the number is cut short or a long one.
func small(b []byte) (n uint32, rest []byte, whole bool) {
	switch {
	case len(b) > 0 && b[0]&1 != 0:
		return uint32(b[0] >> 1), b[1:], true
	case len(b) > 1 && b[0]&2 != 0:
		return uint32(binary.LittleEndian.Uint16(b)>>2) + 1<<7, b[2:], true
	}
	return 0, nil, false
}
