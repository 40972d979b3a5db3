package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Output is what a command prints to, and whether all of it was written.
type Output struct {
	// Writer is what to print to.
	io.Writer
	kept *keptWriter
}

// Kept remembers the first error of writing to w: commands print lines and look at none. A terminal stays what it is, so
// that it is known for one.
func Kept(w io.Writer) Output {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return Output{Writer: w}
	}
	k := &keptWriter{w: w}
	return Output{Writer: k, kept: k}
}

// Err is nil if all was written; where it was not, what was printed is not to be relied on.
func (o Output) Err() error {
	if o.kept == nil || o.kept.err == nil {
		return nil
	}
	return BadInput(fmt.Errorf("the output is not complete: %w", o.kept.err))
}

type keptWriter struct {
	w   io.Writer
	err error
}

func (k *keptWriter) Write(b []byte) (int, error) {
	n, err := k.w.Write(b)
	if err != nil && k.err == nil {
		k.err = err
	}
	return n, err
}
