package socket

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	// headerSize is that of VPP's msgbuf_t: 8 bytes that mean nothing on a socket, the length of the data, and 4 more
	// that mean nothing. All numbers on the wire are big endian.
	headerSize = 16
	// frameMax is the longest message that is read, in bytes. VPP has no limit; its longest messages, routes with 255
	// paths and classifier tables, stay below 64 KiB.
	frameMax = 1 << 20
)

// errFrame says that what arrives is not the binary API; there is no way to find the next message.
type errFrame struct{ length uint32 }

func (e errFrame) Error() string {
	return fmt.Sprintf("a message of %d bytes, the longest is %d", e.length, frameMax)
}

// readFrame reads one message into buf, which grows as needed. io.EOF is an end between messages; io.ErrUnexpectedEOF
// within one.
func readFrame(r io.Reader, buf []byte) ([]byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return buf[:0], err
	}
	n := binary.BigEndian.Uint32(header[8:12])
	if n > frameMax {
		return buf[:0], errFrame{n}
	}
	if uint32(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return buf[:0], err
	}
	return buf, nil
}

// appendFrame appends a message with its header.
func appendFrame(out, message []byte) []byte {
	var header [headerSize]byte
	binary.BigEndian.PutUint32(header[8:12], uint32(len(message)))
	return append(append(out, header[:]...), message...)
}
