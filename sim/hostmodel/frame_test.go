package hostmodel

import (
	"bytes"
	"slices"
	"testing"
)

// Goal: whatever happens to a file, reading it gives payloads that were written, in order, from the first; intact
// Frames before the damage are all there. Method: fuzz payloads, a place and a kind of damage.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("one"), []byte("two"), []byte(""), uint16(9), byte(0))
	f.Add([]byte(""), []byte(""), []byte("\x00\x00\x00\x00\x00\x00\x00\x00"), uint16(12), byte(1))
	f.Add(bytes.Repeat([]byte("x"), 300), []byte("y"), []byte("z"), uint16(2), byte(0x80))
	f.Fuzz(func(t *testing.T, a, b, c []byte, at uint16, flip byte) {
		payloads := [][]byte{a, b, c}
		var data []byte
		var ends []int
		for _, p := range payloads {
			data = AppendFrame(data, p)
			ends = append(ends, len(data))
		}
		place := int(at) % len(data)
		intact := 0
		for intact < len(ends) && ends[intact] <= place {
			intact++
		}

		// Torn: the file ends at place.
		checkFrames(t, "torn", data[:place], payloads, intact)
		// Torn with zeros: the length reached the disk, the data did not.
		zeros := slices.Clone(data)
		clear(zeros[place:])
		checkPrefix(t, "zeros", zeros, payloads, intact)
		// Damaged: one byte differs. A CRC-32 finds every burst of up to 32 bits; a changed length, though, is trusted
		// only as far as the CRC of other bytes, which is why nothing behind damage is read.
		if flip != 0 {
			damaged := slices.Clone(data)
			damaged[place] ^= flip
			checkFrames(t, "damaged", damaged, payloads, intact)
		}
		checkFrames(t, "whole", data, payloads, 3)
		checkFrames(t, "with garbage behind", append(slices.Clone(data), c...), payloads, 3)
	})
}

// checkFrames wants exactly the first n payloads. Garbage may hold frames of its own, which were written in a sense.
func checkFrames(t *testing.T, what string, data []byte, payloads [][]byte, n int) {
	t.Helper()
	got := slices.Collect(Frames(data))
	if what == "with garbage behind" && len(got) > n {
		got = got[:n]
	}
	if !slices.EqualFunc(got, payloads[:n], bytes.Equal) {
		t.Errorf("%s: read %q, want the first %d of %q", what, got, n, payloads)
	}
}

// checkPrefix wants at least the first n payloads, and no other: a payload that ended in zeros may have survived them.
func checkPrefix(t *testing.T, what string, data []byte, payloads [][]byte, n int) {
	t.Helper()
	got := slices.Collect(Frames(data))
	if len(got) < n || len(got) > len(payloads) || !slices.EqualFunc(got, payloads[:len(got)], bytes.Equal) {
		t.Errorf("%s: read %q, want at least the first %d of %q", what, got, n, payloads)
	}
}

// Goal: reading garbage neither panics nor runs away. Method: fuzz; what is read must be written back as it was.
func FuzzCutFrame(f *testing.F) {
	f.Add(AppendFrame(nil, []byte("one")))
	f.Add(make([]byte, 64))
	f.Add([]byte("\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		payload, rest, ok := CutFrame(data)
		if !ok {
			if len(payload) != 0 || !bytes.Equal(rest, data) {
				t.Errorf("no frame, but %q and %q", payload, rest)
			}
			return
		}
		if again := append(AppendFrame(nil, payload), rest...); !bytes.Equal(again, data) {
			t.Errorf("%q became %q", data, again)
		}
	})
}

// Goal: a stretch of zeros, the classic leftover of a crash, holds no frame, an empty one neither. Method: a page of
// them.
func TestZerosAreNoFrame(t *testing.T) {
	if got := slices.Collect(Frames(make([]byte, 4096))); len(got) != 0 {
		t.Errorf("%d frames of zeros", len(got))
	}
}
