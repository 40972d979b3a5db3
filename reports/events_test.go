package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestEventLog goal: each line is JSON with the exact number, time and text. Method: a golden of the awkward cases.
func TestEventLog(t *testing.T) {
	var out bytes.Buffer
	l := NewEventLog(&out)
	l.Begin("a \"b\"", "sim", 18446744073709551615)
	l.Event(1, 0, []byte("start"))
	l.Event(2, 1500*time.Millisecond, []byte(`say "x\y"`))
	l.Event(3, time.Nanosecond, []byte("tab\tline\nbell\x07"))
	l.Event(4, -time.Second, []byte("é\xff"))
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `{"scenario":"a \"b\"","world":"sim","seed":18446744073709551615}
{"seq":1,"at":0,"line":"start"}
{"seq":2,"at":1.5,"line":"say \"x\\y\""}
{"seq":3,"at":0.000000001,"line":"tab\u0009line\u000abell\u0007"}
{"seq":4,"at":-1,"line":"é�"}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestEventLogAgainstEncodingJSON goal: the fast writer says what the slow, obviously right one says. Method: any line
// and time, decoded by encoding/json.
func TestEventLogAgainstEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.Byte()).Draw(t, "line")
		at := time.Duration(rapid.Int64().Draw(t, "at"))
		var out bytes.Buffer
		l := NewEventLog(&out)
		l.Event(7, at, text)
		if err := l.Flush(); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Seq  int64
			At   json.Number
			Line string
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v in %q", err, out.String())
		}
		if utf8.Valid(text) && got.Line != string(text) {
			t.Fatalf("line %q, want %q", got.Line, text)
		}
		// Digits alone: as nanoseconds they are the duration again.
		whole, fraction, _ := strings.Cut(strings.TrimPrefix(got.At.String(), "-"), ".")
		digits := strings.TrimLeft(whole+fraction+strings.Repeat("0", 9-len(fraction)), "0")
		if want := strings.TrimLeft(strconv.FormatInt(int64(at), 10), "-0"); digits != want {
			t.Fatalf("at %s has digits %s, want %s", at, digits, want)
		}
	})
}

// TestEventLogKeepsItsFirstError goal: a full disk is told once, at Flush. Method: a writer that always fails.
func TestEventLogKeepsItsFirstError(t *testing.T) {
	full := errors.New("disk full")
	l := NewEventLog(failing{full})
	for range 100000 {
		l.Event(1, 0, []byte("some line of some length"))
	}
	if err := l.Flush(); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// BenchmarkEventLog: the simulator makes a million events a second, so a line must cost well under a microsecond.
func BenchmarkEventLog(b *testing.B) {
	l := NewEventLog(io.Discard)
	line := []byte("node-12 vpp call ip_route_add_del table=1 prefix=10.1.12.34/32 via=10.1.12.34 -> ok")
	b.ReportAllocs()
	for i := range b.N {
		l.Event(int64(i), time.Duration(i)*1234567, line)
	}
}
