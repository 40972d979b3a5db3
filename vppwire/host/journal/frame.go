package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// A frame is one header line and the lines of its records:
//
//	frame 2 143 5f0a9c31
//	ipam lease …
//	sandbox …
//
// The numbers are records and bytes behind the header line, both decimal; the checksum covers them and the payload.
const (
	frameWord = "frame "
	// headerMax is the longest header: the word, two numbers of 19 digits, 8 of checksum, blanks and the line's end.
	headerMax = len(frameWord) + 19 + 1 + 19 + 1 + 8 + 1
	// frameRecords is how many records of a rewriting share a frame, so that damage to one of them costs less than all.
	frameRecords = 256
)

// layoutWord begins the first line of a file that is laid out in a way of later versions, with a number behind it.
// Nothing that a crash leaves of a file of ours begins so.
const layoutWord = "journal "

// readable refuses a file of a layout that only a later version knows: taken for damage, it would be cut.
func readable(f io.ReaderAt, size int64) error {
	head := make([]byte, min(size, int64(len(layoutWord))))
	if err := readFull(f, head, 0); err != nil {
		return err
	}
	if string(head) == layoutWord {
		return fmt.Errorf("%w, in another layout", agent.ErrNewer)
	}
	return nil
}

// castagnoli is CRC-32C: it finds every burst of up to 32 wrong bits, and processors compute it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends one frame with these records. A record that is not one line is refused, and b returned as it was.
func appendFrame(b []byte, records []agent.Record) ([]byte, error) {
	start := len(b)
	for range headerMax {
		b = append(b, 0)
	}
	payload := len(b)
	for i := range records {
		b = records[i].AppendText(b)
		b = append(b, '\n')
	}
	if bytes.Count(b[payload:], newline) != len(records) {
		return b[:start], errLines
	}
	var room [headerMax]byte
	head := append(room[:0], frameWord...)
	head = strconv.AppendUint(head, uint64(len(records)), 10)
	head = append(head, ' ')
	head = strconv.AppendUint(head, uint64(len(b)-payload), 10)
	head = append(head, ' ')
	head = appendSum(head, sum(head, b[payload:]))
	head = append(head, '\n')
	copy(b[start:], head)
	end := start + len(head) + copy(b[start+len(head):], b[payload:])
	return b[:end], nil
}

// sum covers the header up to the checksum, and the payload.
func sum(head, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, payload)
}

func appendSum(b []byte, s uint32) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, digits[s>>shift&15])
	}
	return b
}

// Why bytes are no frame. errShort: the file ends before the frame does, as it does when a write was cut off.
var (
	errShort  = errors.New("the file ends within a frame")
	errFrame  = errors.New("not a frame")
	errSum    = errors.New("a frame's checksum is wrong")
	errLines  = errors.New("a record's text has more than one line")
	errAmount = errors.New("a frame holds another number of records than it says")
)

// nextFrame finds the frame at the start of data: its records' lines, their number, and its whole length.
func nextFrame(data []byte) (payload []byte, records, size int, err error) {
	end := bytes.IndexByte(data[:min(len(data), headerMax)], '\n')
	if end < 0 {
		if len(data) < headerMax && headerLike(data) {
			return nil, 0, 0, errShort
		}
		return nil, 0, 0, errFrame
	}
	records, length, check, ok := parseHeader(data[:end])
	if !ok {
		return nil, 0, 0, errFrame
	}
	if length > len(data)-end-1 {
		return nil, 0, 0, errShort
	}
	payload = data[end+1 : end+1+length]
	if sum(data[:end-8], payload) != check {
		return nil, 0, 0, errSum
	}
	if bytes.Count(payload, newline) != records || records > 0 && payload[length-1] != '\n' {
		return nil, 0, 0, errAmount
	}
	return payload, records, end + 1 + length, nil
}

var newline = []byte{'\n'}

// headerLike reports whether data may be the start of a header.
func headerLike(data []byte) bool {
	n := min(len(data), len(frameWord))
	if string(data[:n]) != frameWord[:n] {
		return false
	}
	return bytes.IndexFunc(data[n:], func(r rune) bool { return !strings.ContainsRune("0123456789abcdef ", r) }) < 0
}

// parseHeader reads a header line without its end. Numbers have one spelling only.
func parseHeader(line []byte) (records, length int, check uint32, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(frameWord))
	if !ok || len(rest) < 8 {
		return 0, 0, 0, false
	}
	rest, third := rest[:len(rest)-8], rest[len(rest)-8:]
	records, rest, ok1 := parseNumber(rest)
	length, rest, ok2 := parseNumber(rest)
	check, ok3 := parseSum(third)
	return records, length, check, ok1 && ok2 && ok3 && len(rest) == 0
}

// parseNumber reads a number of up to 63 bits and the blank behind it.
func parseNumber(text []byte) (n int, rest []byte, ok bool) {
	for i, c := range text {
		switch {
		case c == ' ':
			return n, text[i+1:], i > 0
		case c < '0' || c > '9' || i > 0 && n == 0 || n > (math.MaxInt-int(c-'0'))/10:
			return 0, nil, false
		}
		n = 10*n + int(c-'0')
	}
	return 0, nil, false
}

// parseSum reads what appendSum wrote.
func parseSum(text []byte) (s uint32, ok bool) {
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, false
		}
		s = s<<4 | uint32(c)
	}
	return s, true
}

// lines calls each with every line of a payload. The text shares the payload's memory, which must not change any more.
func lines(payload []byte, each func(line string)) {
	text := unsafe.String(unsafe.SliceData(payload), len(payload))
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		each(line)
		text = rest
	}
}
