package agent

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/vppdrill/vppdrill/ipam"
)

// recordTexts are lines of every kind, good and bad.
var recordTexts = []string{
	"ipam lease k8s/c1/eth0 10.1.1.2 10.1.1.0/24 7", "sandbox k8s/c1/eth0 3 /run/netns/c1 default web-0 uid", "gone k8s/c1/eth0",
	`node 5 "a b" 192.168.16.5/24`, "boot -", "pools 1 10.1.0.0/16 24 - 0 - - - fd00::1 true", "ipam block - 10.1.1.1 10.1.1.0/24 1",
	"", "ipam", "ipam ", "ipam lease", "ipam  lease - - - 1", "node 1", "boot a b", "future 1 2", "ipam lease k8s/c1/eth0 10.1.1.2 10.1.1.1/24 7",
	"ipam release - 10.1.1.2 10.1.1.0/24 0",
}

// readsAsParsed reads lines into a History that may have been used before, and spoils their memory.
func readsAsParsed(t *testing.T, h *History, texts []string) {
	t.Helper()
	var want []Record
	h.Reset()
	for _, text := range texts {
		r, wantErr := ParseRecord(text)
		if wantErr == nil {
			want = append(want, r)
		}
		memory := []byte(text)
		err := h.Read(unsafe.String(unsafe.SliceData(memory), len(memory)))
		for i := range memory {
			memory[i] = '?'
		}
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%q: %v, want %v", text, err, wantErr)
		}
	}
	if have := h.AppendTo(nil); h.Len() != len(want) || !slices.Equal(have, want) {
		t.Fatalf("%q: %d records\n%v\nwant %v", texts, h.Len(), have, want)
	}
}

// Goal: a History holds what ParseRecord gives, in order, whatever it held before, and keeps nothing of its lines.
// Method: random rows of lines into the same History; the slow twin parses each.
func TestHistory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 7))
	var h History
	for range 3000 {
		var texts []string
		for range random.IntN(12) {
			texts = append(texts, recordTexts[random.IntN(len(recordTexts))])
		}
		readsAsParsed(t, &h, texts)
		for range h.Runs() {
			break // nobody has to look at all of them
		}
	}
}

// TestHistoryRuns: the allocator's records come side by side, and each other one behind those before it.
func TestHistoryRuns(t *testing.T) {
	var h History
	for _, i := range []int{1, 0, 6, 4, 4, 0} {
		if err := h.Read(recordTexts[i]); err != nil {
			t.Fatal(err)
		}
	}
	var runs []int
	for run, other := range h.Runs() {
		runs = append(runs, len(run))
		if (other == nil) != (len(runs) == 4) {
			t.Errorf("run %d ends with %v", len(runs), other)
		}
	}
	if !slices.Equal(runs, []int{0, 2, 0, 1}) {
		t.Errorf("runs of %v", runs)
	}
}

func FuzzHistory(f *testing.F) {
	for _, text := range recordTexts {
		f.Add(recordTexts[0], text, recordTexts[1])
	}
	f.Fuzz(func(t *testing.T, one, two, three string) {
		h := History{ipam: []ipam.Record{{Op: ipam.OpDrop}}}
		readsAsParsed(t, &h, []string{one, two, three, two})
		readsAsParsed(t, &h, []string{two, three, one})
	})
}
