package reports

import (
	"bufio"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// EventLog writes events.jsonl: for each run one opening line {"scenario","world","seed"}, then one line
// {"seq","at","line"} per event, where at is virtual seconds to the nanosecond. It is made for a million lines a
// second: no reflection, one reused buffer. The first error stops all writing and is returned by Flush. Not for
// concurrent use.
type EventLog struct {
	w    *bufio.Writer
	line []byte
	err  error
}

// NewEventLog starts a log on w. The caller closes w after Flush.
func NewEventLog(w io.Writer) *EventLog {
	return &EventLog{w: bufio.NewWriterSize(w, 1<<18), line: make([]byte, 0, 512)}
}

// Begin opens a run; the lines that follow belong to it.
func (l *EventLog) Begin(scenario, world string, seed uint64) {
	b := append(l.line[:0], `{"scenario":`...)
	b = appendQuoted(b, scenario)
	b = append(b, `,"world":`...)
	b = appendQuoted(b, world)
	b = append(b, `,"seed":`...)
	b = strconv.AppendUint(b, seed, 10)
	l.write(append(b, '}', '\n'))
}

// Event writes one event. line is not kept.
func (l *EventLog) Event(seq int64, at time.Duration, line []byte) {
	b := append(l.line[:0], `{"seq":`...)
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, `,"at":`...)
	b = appendSeconds(b, at)
	b = append(b, `,"line":`...)
	b = appendQuoted(b, line)
	l.write(append(b, '}', '\n'))
}

// Flush hands everything to the underlying writer and returns the first error of the log's life.
func (l *EventLog) Flush() error {
	if l.err == nil {
		l.err = l.w.Flush()
	}
	return l.err
}

func (l *EventLog) write(b []byte) {
	l.line = b
	if l.err == nil {
		_, l.err = l.w.Write(b)
	}
}

// appendSeconds appends a duration as exact decimal seconds without trailing zeros.
func appendSeconds(b []byte, d time.Duration) []byte {
	n := uint64(d)
	if d < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendUint(b, n/1e9, 10)
	nanos := n % 1e9
	if nanos == 0 {
		return b
	}
	b = append(b, '.')
	for digit := uint64(1e8); nanos > 0; digit /= 10 {
		b = append(b, byte('0'+nanos/digit))
		nanos %= digit
	}
	return b
}

// appendQuoted appends text as a JSON string (RFC 8259, section 7). Bytes that are no UTF-8 become U+FFFD.
func appendQuoted[T string | []byte](b []byte, text T) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			b = utf8.AppendRune(b, r) // RuneError is U+FFFD
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}
