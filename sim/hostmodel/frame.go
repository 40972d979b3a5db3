package hostmodel

import (
	"encoding/binary"
	"hash/crc32"
	"iter"
)

// A frame is one journal entry on disk: the payload's length and a CRC, four little-endian bytes each, then the
// payload. The CRC (Castagnoli) covers length and payload, so that neither a torn frame nor a stretch of zeros, which a
// crash may leave where data had been promised, passes for a frame.
const (
	frameHeader = 8
	// FramePayloadMax is the longest payload in bytes: far above a journal's largest entry, low enough that a damaged
	// length is not believed.
	FramePayloadMax = 1 << 26
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendFrame appends the frame of a payload to b. A payload above FramePayloadMax is a broken caller and panics.
func AppendFrame(b, payload []byte) []byte {
	if len(payload) > FramePayloadMax {
		panic("hostmodel: journal entry above FramePayloadMax")
	}
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = append(b, 0, 0, 0, 0)
	b = append(b, payload...)
	binary.LittleEndian.PutUint32(b[start+4:], frameSum(b[start:]))
	return b
}

// CutFrame takes the first frame off data. The payload is part of data. False when data starts with no whole frame:
// what there is, is torn or damaged, and nothing behind it can be trusted.
func CutFrame(data []byte) (payload, rest []byte, ok bool) {
	if len(data) < frameHeader {
		return nil, data, false
	}
	n := binary.LittleEndian.Uint32(data)
	if n > FramePayloadMax || int(n) > len(data)-frameHeader {
		return nil, data, false
	}
	end := frameHeader + int(n)
	if binary.LittleEndian.Uint32(data[4:]) != frameSum(data[:end]) {
		return nil, data, false
	}
	return data[frameHeader:end:end], data[end:], true
}

// Frames yields the payloads of the whole frames that data starts with, in order, as parts of data.
func Frames(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for {
			payload, rest, ok := CutFrame(data)
			if !ok || !yield(payload) {
				return
			}
			data = rest
		}
	}
}

// frameSum is the CRC of a frame's length and payload, the CRC's own bytes left out.
func frameSum(frame []byte) uint32 {
	return crc32.Update(crc32.Checksum(frame[:4], castagnoli), castagnoli, frame[frameHeader:])
}
