package ipam

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Goal: looking at eight bytes at a time sees what looking at each one sees. Method: every byte at every place of short
// texts, then random ones; the slow twin looks at each byte.
func TestVisible(t *testing.T) {
	check := func(text string) {
		t.Helper()
		want := text != ""
		for i := range len(text) {
			want = want && text[i] > ' ' && text[i] != '/'
		}
		if visible(text) != want {
			t.Fatalf("visible %q: %v", text, !want)
		}
		if want := text != "" && !strings.ContainsAny(text, "/ \t\r\n"); plain(text) != want {
			t.Fatalf("plain %q: %v", text, !want)
		}
	}
	check("")
	for length := 1; length <= 20; length++ {
		for at := range length {
			for c := range 256 {
				for _, around := range []byte{'!', '0', 0x7f, 0x80, 0xff} {
					text := []byte(strings.Repeat(string(rune(around)), length)[:length])
					text[at] = byte(c)
					check(string(text))
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.OneOf(rapid.ByteRange('-', '1'), rapid.ByteRange(0x1e, 0x22), rapid.Byte()), 0, 40).Draw(t, "text"))
		check(text)
	})
}

func TestEightDigits(t *testing.T) {
	check := func(text string) {
		t.Helper()
		want, err := strconv.ParseUint(text, 10, 64)
		if text[0] == '+' {
			err = strconv.ErrSyntax
		}
		if have, ok := eightDigits(bytes8(text)); ok != (err == nil) || ok && have != want {
			t.Fatalf("%q is %d %v, want %d %v", text, have, ok, want, err)
		}
	}
	for at := range 8 {
		for c := range 256 {
			for _, around := range []byte("059") {
				text := []byte(strings.Repeat(string(around), 8))
				text[at] = byte(c)
				check(string(text))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(fmt.Sprintf("%08d", rapid.IntRange(0, 99_999_999).Draw(t, "number")))
		check(string(rapid.SliceOfN(rapid.ByteRange('.', ';'), 8, 8).Draw(t, "text")))
	})
}
