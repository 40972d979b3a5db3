package oneline

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// Goal: whatever a message holds, it comes out as one line, and an error is still the error that it was. Method: all
// ways of breaking a line, and a joined error.
func TestOneLine(t *testing.T) {
	if have := Text("a\nb\r\nc\rd"); have != "a b c d" {
		t.Errorf("%q", have)
	}
	err := Error(errors.Join(errors.New("first"), fs.ErrExist, errors.New("odd\rone")))
	if err.Error() != "first; file already exists; odd one" || !errors.Is(err, fs.ErrExist) || strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("%q", err)
	}
	if Error(nil) != nil {
		t.Error("no error became one")
	}
}
