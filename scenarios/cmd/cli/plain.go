package cli

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// PlainOutput has a command write by Plain from now on: one that prints what objects of a cluster say.
func PlainOutput(cmd *cobra.Command) {
	cmd.SetOut(Plain(cmd.OutOrStdout()))
	cmd.SetErr(Plain(cmd.ErrOrStderr()))
}

// Plain writes to w what a terminal may show: control characters but line breaks and tabs come out as \x1b and the like, and those that turn
// the direction of what follows as \u202e. Names, messages and annotations of a cluster's objects are whatever somebody has put there. No character may be split over two Writes.
func Plain(w io.Writer) io.Writer { return plain{w} }

type plain struct{ w io.Writer }

func (p plain) Write(text []byte) (int, error) {
	var clean []byte
	from := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		form := ""
		switch {
		case r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0:
			form = `\x%02x`
		case unicode.Is(unicode.Bidi_Control, r):
			form = `\u%04x`
		}
		if form != "" {
			clean = fmt.Appendf(append(clean, text[from:i]...), form, r)
			from = i + size
		}
		i += size
	}
	if clean = append(clean, text[from:]...); from == 0 {
		clean = text
	}
	if _, err := p.w.Write(clean); err != nil {
		return 0, err
	}
	return len(text), nil
}
