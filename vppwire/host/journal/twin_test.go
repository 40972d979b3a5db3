package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// reading is everything that bytes say.
type reading struct {
	content
	records []agent.Record
}

// readBytes reads as Open does, in pieces of that size.
func readBytes(t interface{ Fatal(...any) }, data []byte, piece int) reading {
	var r reading
	var err error
	r.content, err = read(bytes.NewReader(data), int64(len(data)), piece, func(h *agent.History) { r.records = h.AppendTo(r.records) })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// slowRead is the twin: one frame after the other, one line after the other, nothing shared.
func slowRead(data []byte) reading {
	var r reading
	for len(data) > int(r.whole) {
		rest := data[r.whole:]
		payload, size, err := slowFrame(rest)
		if err != nil {
			r.judge(rest, err)
			break
		}
		at := r.whole
		r.frames++
		r.whole += int64(size)
		for line := range strings.Lines(payload) {
			record, err := agent.ParseRecord(strings.TrimSuffix(line, "\n"))
			switch {
			case errors.Is(err, agent.ErrUnknownRecord):
				r.unknown = errors.Join(r.unknown, fmt.Errorf("at byte %d: left out: %w", at, err))
				continue
			case err != nil:
				r.damage = errors.Join(r.damage, fmt.Errorf("at byte %d: left out: %w", at, err))
				continue
			}
			r.records = append(r.records, record)
		}
	}
	return r
}

// slowFrame is nextFrame by the book: the header is written again and compared.
func slowFrame(data []byte) (payload string, size int, err error) {
	head, rest, ok := strings.Cut(string(data), "\n")
	if !ok {
		_, _, _, err := nextFrame(data) // which of two reasons is its affair
		return "", 0, err
	}
	f := strings.Split(head, " ")
	if len(f) != 4 || f[0] != "frame" {
		return "", 0, errFrame
	}
	records, err1 := strconv.ParseInt(f[1], 10, 64)
	length, err2 := strconv.ParseInt(f[2], 10, 64)
	check, err3 := strconv.ParseUint(f[3], 16, 32)
	if errors.Join(err1, err2, err3) != nil || head != fmt.Sprintf("frame %d %d %08x", records, length, check) || records < 0 || length < 0 {
		return "", 0, errFrame
	}
	if length > int64(len(rest)) {
		return "", 0, errShort
	}
	payload = rest[:length]
	if uint64(sum([]byte(head[:len(head)-8]), []byte(payload))) != check {
		return "", 0, errSum
	}
	if strings.Count(payload, "\n") != int(records) || records > 0 && !strings.HasSuffix(payload, "\n") {
		return "", 0, errAmount
	}
	return payload, len(head) + 1 + int(length), nil
}

// differs says in what two readings differ; empty for nothing.
func (r reading) differs(want reading) string {
	if r.frames != want.frames || r.whole != want.whole || r.torn != want.torn || fmt.Sprint(r.damage) != fmt.Sprint(want.damage) ||
		fmt.Sprint(r.unknown) != fmt.Sprint(want.unknown) {
		return fmt.Sprintf("read %+v\nwant %+v", r.content, want.content)
	}
	if !slices.Equal(r.records, want.records) {
		return fmt.Sprintf("read %v\nwant %v", r.records, want.records)
	}
	return ""
}

// anyRecord is a record of any kind.
func anyRecord(random *rand.Rand) agent.Record {
	n := random.IntN(1 << 16)
	switch random.IntN(10) {
	case 0:
		return sandbox(n)
	case 1:
		return agent.Record{Kind: agent.RecordGone, Sandbox: agent.Sandbox{Owner: owner(n)}}
	case 2:
		return agent.Record{Kind: agent.RecordBoot, Boot: strconv.Itoa(n)}
	case 3:
		r := lease(n)
		r.IPAM.Op, r.IPAM.Owner = ipam.OpRelease, ipam.Owner{}
		return r
	case 4:
		r := lease(n)
		r.IPAM.Owner.IfName, r.IPAM.Owner.Network = "net1", "blue"
		return r
	}
	return lease(n)
}

// anyJournal is a file with frames of many sizes, some of them with lines that cannot be read.
func anyJournal(random *rand.Rand) []byte {
	var data []byte
	for range random.IntN(40) {
		var records []agent.Record
		for range random.IntN(1 << random.IntN(8)) {
			records = append(records, anyRecord(random))
		}
		if random.IntN(12) == 0 {
			text := lease(1).String() + "\nfuture 1 2 3\n\nipam lease nobody\n" + lease(2).String() + "\n"
			data = append(data, rehead(5, text)...)
		}
		data, _ = appendFrame(data, records)
	}
	return data
}

// spoil does to a file what crashes and bad disks do.
func spoil(random *rand.Rand, data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	switch at := random.IntN(len(data)); random.IntN(6) {
	case 0: // a write was broken off
		return data[:at]
	case 1: // and the file had grown before
		return append(slices.Clone(data[:at]), make([]byte, random.IntN(300))...)
	case 2: // a bit fell over
		data = slices.Clone(data)
		data[at] ^= 1 << random.IntN(8)
	case 3: // a block was written elsewhere
		data = slices.Clone(data)
		copy(data[at:], data[random.IntN(len(data)):])
	case 4: // a frame says something else than it holds
		frame := rehead(random.IntN(4), lease(3).String()+"\n"+lease(4).String()+"\n")
		return append(append(slices.Clone(data), frame...), data...)
	}
	return data
}

// Goal: reading in pieces by several goroutines gives what reading one line after the other gives: the same records,
// the same end, the same verdict. Method: random files, whole, torn and damaged, in pieces from one byte up; the slow
// twin.
func TestReadAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		data := anyJournal(random)
		for range random.IntN(3) {
			data = spoil(random, data)
		}
		want := slowRead(data)
		for _, piece := range [...]int{1, headerMax, 1 + random.IntN(5000), pieceSize} {
			if d := readBytes(t, data, piece).differs(want); d != "" {
				t.Fatalf("in pieces of %d: %s", piece, d)
			}
		}
	})
}

// Goal: a disk that fails while it is read, or a file that becomes shorter, ends the reading with an error and leaves
// no goroutine at work. Method: the failing read is every one in turn; the race detector and the runner see what is
// left over.
func TestReadFails(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var data []byte
	for len(data) < 40_000 {
		data = append(data, anyJournal(random)...)
	}
	for reads := 0; ; reads++ {
		f := &failingReader{Reader: *bytes.NewReader(data), left: reads}
		_, err := read(f, int64(len(data)), 1000, func(*agent.History) {})
		if err == nil {
			if reads < 20 {
				t.Fatalf("%d reads were enough", reads)
			}
			return
		}
		if !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
		_, err = read(bytes.NewReader(data[:reads*100]), int64(len(data)), 1000, func(*agent.History) {})
		if err == nil {
			t.Fatal("the file was shorter, and nobody was told")
		}
	}
}

// failingReader reads so many times.
type failingReader struct {
	bytes.Reader
	left int
}

func (f *failingReader) ReadAt(b []byte, off int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errDisk
	}
	return f.Reader.ReadAt(b, off)
}

// FuzzRead: any bytes at all are read without a panic and as the slow twin reads them, and what counts of them reads
// the same alone.
func FuzzRead(f *testing.F) {
	var data []byte
	for n := range 3 {
		data, _ = appendFrame(data, []agent.Record{lease(n), sandbox(n)})
	}
	f.Add(data, uint16(1))
	f.Add(data[:len(data)-5], uint16(300))
	f.Add([]byte("frame 0 0 00000000\n"), uint16(0))
	f.Add([]byte("frame 1 9223372036854775807 00000000\nx"), uint16(0))
	f.Add([]byte("frame 1 9223372036854775808 00000000\nx"), uint16(0))
	f.Add(append([]byte("frame 01 3 00000000\n"), data...), uint16(40))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		c := readBytes(t, data, int(piece))
		if d := c.differs(slowRead(data)); d != "" {
			t.Fatal(d)
		}
		again := readBytes(t, slices.Clone(data[:c.whole]), pieceSize)
		if again.frames != c.frames || again.whole != c.whole || len(again.records) != len(c.records) {
			t.Fatalf("%+v, then %+v", c, again)
		}
		if c.whole < int64(len(data)) && !c.torn && c.damage == nil {
			t.Fatal("cut without a word")
		}
	})
}
