package ipam_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

// Goal: a RecordReader reads what ParseRecord reads, with the same errors, whatever it has read before, and keeps
// nothing of its lines. Method: ParseRecord is the twin; the line's memory is spoilt before records are compared.

// shared is text that reads as memory does which is used again.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func sameRead(t *testing.T, p *ipam.RecordReader, line string) {
	t.Helper()
	want, wantErr := ipam.ParseRecord(line)
	r := ipam.Record{Op: ipam.OpDrop, Owner: ipam.Owner{Network: "left over"}, Addr: want.Addr.Next()}
	memory := []byte(line)
	err := p.Read(&r, shared(memory))
	for i := range memory {
		memory[i] = '?'
	}
	if r != want || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("%q is %+v %v, want %+v %v", line, r, err, want, wantErr)
	}
}

// odd are lines that the quick way must leave to ParseRecord, and such that look like it.
var odd = []string{
	"", " ", "lease", "lease ", "lease - - -", "lease - - - 1 2", "lend - - - 1", "lease a/b - - 1", "lease a//c - - 1", "lease //c - - 1",
	"lease a/b/c/d - - 1", "lease a/b/ - - 1", "lease a/b\t/c - - 1", "lease a\n/b/c - - 1", "lease a/b/c\r - - 1", "lease a/b/c  - 1",
	"lease - 10.1 - 1", "lease - 10.1.1.256 - 1", "lease - 10.1.1.01 - 1", "lease - 10.1.1.00 - 1", "lease - 010.1.1.1 - 1",
	"lease - 10.1.1.0.1 - 1", "lease - .1.1.1 - 1", "lease - 10..1.1 - 1", "lease - 1.1.1. - 1", "lease - 0.0.0.0 - 1", "lease - 255.255.255.255 - 1",
	"lease - fe80::1%eth0 - 1", "lease - ::ffff:1.2.3.4 - 1", "lease - - 10.1/16 1", "lease - - 10.1.1.1/24 1", "lease - -  1",
	"lease - - - soon", "lease - - - 1e9", "lease - - - +1", "lease - - - -1", "lease - - - 9223372036854775807", "lease - - - 9223372036854775808",
	"lease - - - 00000000000000000001", "lease - - - 99999999999999999999", "lease - - - ", "lease - 1.2.3.4 ::/0 1",
}

func TestRecordReader(t *testing.T) {
	lines := append(append([]string{
		"lease k8s/c0ffee/eth0 10.1.1.2 10.1.1.0/24 1", "lease k8s/c0ffee/net1 10.1.1.3 10.1.1.0/24 1", "lease blue/c0ffee/net1 10.2.1.3 10.2.0.0/16 1",
		"lease k8s/" + strings.Repeat("long", 10_000) + "/eth0 10.1.1.4 10.1.1.0/24 1",
	}, recordLines...), odd...)
	random := rand.New(rand.NewPCG(1, 1))
	var p ipam.RecordReader
	for range 20_000 {
		line := lines[random.IntN(len(lines))]
		if random.IntN(4) == 0 && line != "" {
			b := []byte(line)
			b[random.IntN(len(b))] = "/ .-0195:ac\t\x00"[random.IntN(13)]
			line = string(b)
		}
		sameRead(t, &p, line)
	}
}

// TestRecordReaderKeeps: records that were read stay as they are while many more are read.
func TestRecordReaderKeeps(t *testing.T) {
	var p ipam.RecordReader
	var lines []string
	var records []ipam.Record
	for n := range 5000 {
		line := strings.Replace(recordLines[0], "c0ffee", strings.Repeat("x", n%100+1), 1)
		var r ipam.Record
		if err := p.Read(&r, shared([]byte(line))); err != nil {
			t.Fatal(err)
		}
		lines, records = append(lines, line), append(records, r)
	}
	for i, r := range records {
		if r.String() != lines[i] {
			t.Fatalf("%q has become %q", lines[i], r)
		}
	}
}

func FuzzRecordReader(f *testing.F) {
	for _, line := range append(append([]string{}, recordLines...), odd...) {
		f.Add(recordLines[0], line)
	}
	f.Fuzz(func(t *testing.T, before, line string) {
		var p ipam.RecordReader
		sameRead(t, &p, before)
		sameRead(t, &p, line)
	})
}

func BenchmarkRecordReader(b *testing.B) {
	yardstick.Beside(b)
	line := "lease k8s-pod-network/" + strings.Repeat("0123456789abcdef", 4) + "/eth0 10.1.1.2 10.0.0.0/12 1700000000000000000"
	var p ipam.RecordReader
	var r ipam.Record
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Read(&r, line); err != nil {
			b.Fatal(err)
		}
	}
}
