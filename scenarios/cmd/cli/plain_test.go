package cli

import (
	"bytes"
	"testing"
)

// Goal: nothing that a cluster's objects hold moves a terminal's cursor or changes its colours. Method: a table of what stays and what is spelt.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"plain\tähem\n":           "plain\tähem\n",
		"\x1b[31mred":             `\x1b[31mred`,
		"a\rb\x07\x00\x7f":        `a\x0db\x07\x00\x7f`,
		"w\u202etxt.exe":          `w\u202etxt.exe`,
		"\u009b31m, not \xff\xc2": "\\x9b31m, not \xff\xc2",
	} {
		var out bytes.Buffer
		n, err := Plain(&out).Write([]byte(text))
		if out.String() != want || n != len(text) || err != nil {
			t.Errorf("%q comes out as %q, %d, %v", text, out.String(), n, err)
		}
	}
}
